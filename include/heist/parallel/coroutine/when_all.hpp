// when_all() of coroutines: they run at the same time (README.md, "Several at once").
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <functional>  // reference_wrapper
#include <tuple>
#include <type_traits>
#include <utility>  // move
#include <variant>  // monostate
#include <vector>

#include "heist/core/base/result.hpp"
#include "heist/parallel/coroutine/coroutine.hpp"
#include "heist/parallel/coroutine/resumption.hpp"

namespace heist {
namespace detail {

struct coroutine_access {
  template <class T>
  static coroutine_promise<T>& promise(coroutine<T> const& c) noexcept {
    return c.handle_.promise();
  }
  template <class T>
  static coroutine_group::member member(coroutine<T> const& c) {
    if (!c.handle_) reject_second_await();
    auto& its = c.handle_.promise();
    return {c.handle_, &its, &its.room};
  }
  template <class T>
  static void rethrow(coroutine<T> const& c) {
    if (promise(c).exception) std::rethrow_exception(std::move(promise(c).exception));
  }
  template <class T>
  static decltype(auto) take(coroutine<T> const& c) {
    if constexpr (std::is_void_v<T>) {
      return std::monostate{};
    } else {
      return promise(c).result.take();
    }
  }
};

/// co_await of a fixed number of coroutines.
template <class... T>
class [[nodiscard]] all_of_coroutines {
 public:
  explicit all_of_coroutines(coroutine<T>&&... of) noexcept : of_{std::move(of)...} {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> awaiting) {
    std::array<coroutine_group::member, sizeof...(T)> const all =
        std::apply([](auto const&... c) { return std::array{coroutine_access::member(c)...}; }, of_);
    return group_.begin(awaiting, scheduler_of_promise(awaiting.promise()), task_of_promise(awaiting.promise()),
                        all.data(), sizeof...(T));
  }
  std::tuple<value_or_monostate<T>...> await_resume() {
    return std::apply(
        [](auto const&... c) {
          (coroutine_access::rethrow(c), ...);
          return std::tuple<value_or_monostate<T>...>{coroutine_access::take(c)...};
        },
        of_);
  }

 private:
  std::tuple<coroutine<T>...> of_;
  coroutine_group group_;
};

/// co_await of as many as a vector has.
template <class T>
class [[nodiscard]] all_of_vector {
 public:
  explicit all_of_vector(std::vector<coroutine<T>>&& of) noexcept : of_{std::move(of)} {}

  bool await_ready() const noexcept { return of_.empty(); }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> awaiting) {
    std::vector<coroutine_group::member> all;
    all.reserve(of_.size());
    for (auto const& c : of_) all.push_back(coroutine_access::member(c));
    return group_.begin(awaiting, scheduler_of_promise(awaiting.promise()), task_of_promise(awaiting.promise()),
                        all.data(), static_cast<std::uint32_t>(all.size()));
  }
  auto await_resume() {
    for (auto const& c : of_) coroutine_access::rethrow(c);
    if constexpr (!std::is_void_v<T>) {
      using kept = std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>, T>;
      std::vector<kept> values;
      values.reserve(of_.size());
      for (auto const& c : of_) values.push_back(coroutine_access::take(c));
      return values;
    }
  }

 private:
  std::vector<coroutine<T>> of_;
  coroutine_group group_;
};

}  // namespace detail

/// co_await heist::when_all(a(), b()): the coroutines run at the same time, on the executor of the awaiting one, or if
/// that has none, of the calling worker. Returns a tuple of their values, std::monostate for void, when all have ended.
/// If some have failed, the await throws the first exception in this order. On a thread outside it throws executor_error.
///
/// The first begins at once on the calling thread, each other one as a task: an idle worker takes the last, the caller
/// goes on with the second.
template <class First, class... More>
auto when_all(coroutine<First> first, coroutine<More>... more) {
  return detail::all_of_coroutines<First, More...>{std::move(first), std::move(more)...};
}

/// The same of a vector of coroutines. Returns a vector of their values, with std::reference_wrapper for references; void
/// if they are void.
template <class T>
auto when_all(std::vector<coroutine<T>> all) {
  return detail::all_of_vector<T>{std::move(all)};
}

}  // namespace heist
