// Bodies of deadline.hpp.
#pragma once

#include "heist/parallel/primitives/deadline.hpp"

#include <optional>

#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

struct counting_limit final : time_limit, timed_call {
  struct stops {
    std::stop_source* source;
    void operator()() const noexcept { source->request_stop(); }
  };

  explicit counting_limit(std::stop_token const& stop)
      : time_limit{[](time_limit& self) noexcept { delete static_cast<counting_limit*>(&self); }, {}},
        timed_call{[](timed_call& self) noexcept { static_cast<counting_limit&>(self).source.request_stop(); }} {
    token = source.get_token();
    if (stop.stop_possible()) other.emplace(stop, stops{&source});
  }
  ~counting_limit() {
    if (counts) unset_timer(*this);
  }

  std::stop_source source;
  std::optional<std::stop_callback<stops>> other;
  bool counts = false;
};

HEIST_COLD_BODY running_limit start_limit(core& scheduler, std::stop_token const& stop, std::int64_t when) {
  auto made = make_unique<counting_limit>(stop);
  if (when <= os_env::nanoseconds()) {
    made->source.request_stop();
  } else {
    set_timer(scheduler, *made, when);
    made->counts = true;
  }
  return running_limit{made.release()};
}

}  // namespace heist::detail
