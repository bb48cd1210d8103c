// Bodies of when.hpp.
#pragma once

#include "heist/parallel/async/when.hpp"

namespace heist::detail {

inline constexpr async_operations any_operations{{&text_of_async, &wave_of_async}, &destroy_async<any_state>};
inline constexpr described any_what{&any_operations};

HEIST_COLD_BODY any_state::any_state(async_place const& at) noexcept
    : async_state<std::size_t>{nullptr, &any_what, at} {}

HEIST_BODY void any_state::finish(std::size_t which) noexcept {
  inherited_stop::unlink(*this);
  if (over.exchange(true, std::memory_order_relaxed)) return;  // relaxed: the first thread owns the result
  result.fill([which] { return which; });
  finished.complete();
}

HEIST_BODY void any_link::wake_up(completion_waiter& self) noexcept {
  auto& link = static_cast<any_link&>(self);
  auto& any = static_cast<any_state&>(*link.of);
  any.finish(static_cast<std::size_t>(&link - any.first_link()));
  any.release();
}

HEIST_BODY any_state& make_any(async_base& first, std::size_t count) {
  core& scheduler = scheduler_of(first);
  interrupt_state const* const origin = interrupt_of_caller();
  std::size_t const more = origin != nullptr ? sizeof(inherited_stop) : 0;
  any_state& any = *make_async<any_state>(scheduler, count * sizeof(any_link) + more);
  // The caller and each link.
  any.owners.store(static_cast<std::uint32_t>(1 + count), std::memory_order_relaxed);  // relaxed: not shared yet
  for (std::size_t i = 0; i != count; ++i) ::new (static_cast<void*>(any.first_link() + i)) any_link{any};
  if (origin != nullptr) {
    any.links = static_cast<std::uint32_t>(count);
    inherited_stop::add(any, origin, nullptr, any.first_link());
  }
  return any;
}

HEIST_BODY bool add_to_any(any_state& any, std::size_t index, std::size_t count, async_base* task) noexcept {
  any_link& link = any.first_link()[index];
  link.on = task;
  if (task != nullptr && task->finished.add_entry(link)) return true;
  any.finish(index);
  // Those that are not enlisted give up their shares; the caller keeps its own.
  any.owners.fetch_sub(static_cast<std::uint32_t>(count - index), std::memory_order_relaxed);  // relaxed: not the last
  return false;
}

HEIST_COLD_BODY void reject_any_of_nothing() {
  throw executor_error{
      "when_any() of an empty range would never be ready; fix it by asking whether there is anything to wait for."};
}

}  // namespace heist::detail
