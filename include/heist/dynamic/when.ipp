// Bodies of when.hpp.
#pragma once

#include "heist/dynamic/when.hpp"

namespace heist::detail {

inline constexpr async_operations any_operations{{&describe_async, &wave_of_async}, &destroy_async<any_state>};
inline constexpr described any_what{&any_operations};

HEIST_COLD_BODY any_state::any_state(async_place const& at) noexcept
    : async_state<std::size_t>{nullptr, &any_what, at} {}

HEIST_BODY void any_state::finish(std::size_t which) noexcept {
  if (over.exchange(true, std::memory_order_relaxed)) return;  // relaxed: who is first owns the result
  result.fill([which] { return which; });
  finished.complete();
}

HEIST_BODY void any_link::wake_up(completion_waiter& self) noexcept {
  auto& link = static_cast<any_link&>(self);
  any_state& any = *link.of;
  any.finish(static_cast<std::size_t>(&link - any.links()));
  any.release();
}

HEIST_BODY any_state& make_any(async_base& first, std::size_t count) {
  core& home = home_of(first);
  any_state& any = *make_async<any_state>(home, count * sizeof(any_link));
  // The caller and each link.
  any.owners.store(static_cast<std::uint32_t>(1 + count), std::memory_order_relaxed);  // relaxed: nobody else has it
  for (std::size_t i = 0; i != count; ++i) ::new (static_cast<void*>(any.links() + i)) any_link{any};
  return any;
}

HEIST_BODY bool add_to_any(any_state& any, std::size_t index, std::size_t count, async_base* task) noexcept {
  if (task != nullptr && task->finished.enlist(any.links()[index])) return true;
  any.finish(index);
  // Those that are not enlisted give up their shares; the caller keeps its own.
  any.owners.fetch_sub(static_cast<std::uint32_t>(count - index), std::memory_order_relaxed);  // relaxed: not the last
  return false;
}

HEIST_COLD_BODY void refuse_any_of_nothing() {
  throw executor_error{
      "when_any() of an empty range would never be ready; fix it by asking whether there is anything to wait for."};
}

}  // namespace heist::detail
