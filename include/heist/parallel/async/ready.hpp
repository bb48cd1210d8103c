// Futures that are ready from the start.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/errors.hpp"
#include "heist/core/executor/future.hpp"

namespace heist {
namespace detail {

template <class R>
struct ready_state final : async_state<R> {
  explicit ready_state(async_place const& at) noexcept : async_state<R>{nullptr, &what_it_is, at} {
    this->owners.store(1, std::memory_order_relaxed);  // relaxed: no other thread has it
  }

 private:
  static constexpr async_operations operations_of_it{{&text_of_async, &wave_of_async}, &destroy_async<ready_state>};
  static constexpr described what_it_is{&operations_of_it};
};

/// `fill(state)` gives it a result or an exception.
template <class R, class Fill>
future<R> make_ready(Fill&& fill) {
  auto* const ready = make_async_of_none<ready_state<R>>();
  future<R> made = future_access::make<R>(*ready);  // destroys it if fill() throws
  fill(*ready);
  ready->finished.complete();
  return made;
}

[[noreturn]] HEIST_RARE inline void reject_no_exception() {
  throw executor_error{
      "make_exceptional_future() got a std::exception_ptr without an exception; fix it by std::make_exception_ptr(), "
      "or by std::current_exception() in a catch clause."};
}

}  // namespace detail

/// Returns a future with the value `v`. It belongs to no executor and costs one block of memory. Its executor is asked
/// for by then() and when_all(): use submit(heist::after(future), f) instead of then().
template <class T>
auto make_ready_future(T&& v) -> future<std::decay_t<T>> {
  using value = std::decay_t<T>;
  return detail::make_ready<value>(
      [&](detail::async_state<value>& to) { to.result.fill([&]() -> value { return std::forward<T>(v); }); });
}
/// The same without a value.
template <class = void>
future<void> make_ready_future() {
  return detail::make_ready<void>([](detail::async_state<void>& to) { to.result.fill([] {}); });
}

/// Returns a future whose get() rethrows `e`. The exception is lost if no get() fetches it. Throws executor_error for a
/// null pointer.
template <class T>
future<T> make_exceptional_future(std::exception_ptr e) {
  if (!e) detail::reject_no_exception();
  return detail::make_ready<T>([&](detail::async_state<T>& to) { to.fail_with(std::move(e)); });
}

}  // namespace heist
