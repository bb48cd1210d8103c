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

/// A fixed number of coroutines.
template <class... T>
class tuple_of_coroutines {
 public:
  explicit tuple_of_coroutines(coroutine<T>&&... of) noexcept : of_{std::move(of)...} {}

  bool empty() const noexcept { return false; }
  std::array<coroutine_group::member, sizeof...(T)> members() const {
    return std::apply([](auto const&... c) { return std::array{coroutine_access::member(c)...}; }, of_);
  }
  std::tuple<value_or_monostate<T>...> results() const {
    return std::apply(
        [](auto const&... c) {
          (coroutine_access::rethrow(c), ...);
          return std::tuple<value_or_monostate<T>...>{coroutine_access::take(c)...};
        },
        of_);
  }

 private:
  std::tuple<coroutine<T>...> of_;
};

/// As many as a vector has.
template <class T>
class vector_of_coroutines {
 public:
  explicit vector_of_coroutines(std::vector<coroutine<T>>&& of) noexcept : of_{std::move(of)} {}

  bool empty() const noexcept { return of_.empty(); }
  std::vector<coroutine_group::member> members() const {
    std::vector<coroutine_group::member> all;
    all.reserve(of_.size());
    for (auto const& c : of_) all.push_back(coroutine_access::member(c));
    return all;
  }
  auto results() const {
    for (auto const& c : of_) coroutine_access::rethrow(c);
    if constexpr (!std::is_void_v<T>) {
      using kept = std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>,
                                      std::remove_const_t<T>>;
      std::vector<kept> values;
      values.reserve(of_.size());
      for (auto const& c : of_) values.push_back(coroutine_access::take(c));
      return values;
    }
  }

 private:
  std::vector<coroutine<T>> of_;
};

/// The result of when_all(). It is awaited once, in the same expression or by std::move.
template <class Coroutines>
class [[nodiscard]] all_of_coroutines {
 public:
  template <class... Of>
  explicit all_of_coroutines(Of&&... of) noexcept : of_{std::move(of)...} {}

  auto operator co_await() && noexcept { return awaiter{*this}; }

 private:
  struct awaiter {
    bool await_ready() const noexcept { return all.of_.empty(); }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> awaiting) {
      auto const members = all.of_.members();
      all.group_.begin(awaiting, scheduler_of_promise(awaiting.promise()), task_of_promise(awaiting.promise()),
                       members.data(), static_cast<std::uint32_t>(members.size()));
      return transfer(awaiting, members[0].handle);
    }
    decltype(auto) await_resume() { return all.of_.results(); }
    all_of_coroutines& all;
  };

  Coroutines of_;
  coroutine_group group_;
};

}  // namespace detail

/// co_await heist::when_all(a(), b()): runs the coroutines at the same time, and returns a tuple of their values when all
/// have ended (std::monostate for void). If some fail, the await throws the first exception in this order, when all have
/// ended. Their frames, with their arguments, live until then.
///
/// The first coroutine begins at once on the calling thread, each other one as a task. The executor is that of the
/// awaiting coroutine, or if it has none, of the calling worker. If the calling thread is no worker either, the await
/// throws executor_error. An idle worker takes the last coroutine. The calling worker runs the second when the first has
/// ended or is suspended.
///
/// Threads  as co_await of a coroutine. Cost  a task for each coroutine but the first.
template <class First, class... More>
auto when_all(coroutine<First> first, coroutine<More>... more) {
  return detail::all_of_coroutines<detail::tuple_of_coroutines<First, More...>>{std::move(first), std::move(more)...};
}

/// The same of a vector of coroutines. Returns a vector of their values, with std::reference_wrapper for references; void
/// if they are void.
template <class T>
auto when_all(std::vector<coroutine<T>> all) {
  return detail::all_of_coroutines<detail::vector_of_coroutines<T>>{std::move(all)};
}

}  // namespace heist
