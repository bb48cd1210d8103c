// Checks of the callables of a graph's tasks and conditions (core/executor/task_callable.hpp).
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>  // begin, end
#include <stop_token>
#include <type_traits>

#include "heist/core/executor/task_callable.hpp"

namespace heist {

template <class T>
class task;

namespace detail {

template <class...>
struct types {};
template <class... A, class... B>
types<A..., B...> operator+(types<A...>, types<B...>);

/// The argument that a task gets from one that leaves a T: nothing for void.
template <class T>
using value_taken =
    std::conditional_t<std::is_void_v<T>, types<>, types<std::add_lvalue_reference_t<std::add_const_t<T>>>>;

/// The same for a task that takes the values of other tasks.
template <class F, class... T>
struct as_consumer {
  template <class... Values>
  static constexpr callable_fault fault_of(types<Values...>) noexcept {
    if constexpr ((std::is_same_v<T, rejected> || ...)) {
      return callable_fault::of_another;
    } else {
      return fault_of_kept_with_result<context, F, Values...>();
    }
  }
  static constexpr callable_fault fault = fault_of(decltype((types<>{} + ... + value_taken<T>{})){});
};

/// As above, of what emplace() is given; where values are given away or come as ranges, instantiation says the rest.
template <class F, class... Inputs>
struct consumer_of {
  static constexpr callable_fault fault = callable_fault::none;
};
template <class F, class... T>
struct consumer_of<F, task<T>...> : as_consumer<F, T...> {};

namespace found_as_by_for {
using std::begin;
using std::end;
template <class R>
concept range_of_numbers = requires(R const& r) {
  { *begin(r) } -> std::convertible_to<std::int64_t>;
  end(r);
};
}  // namespace found_as_by_for

enum class condition_fault { none, no_number, boolean, no_range };

/// The result of a condition's callable; none if it cannot be called, which as_child reports.
template <class F>
struct as_condition {
  static constexpr condition_fault fault_of() noexcept {
    if constexpr (fault_of_kept<context, F>() == callable_fault::none) {
      using result = std::remove_cv_t<task_result<context, std::decay_t<F>>>;
      if constexpr (std::is_same_v<result, bool>) return condition_fault::boolean;
      if constexpr (!std::is_integral_v<result>) return condition_fault::no_number;
    }
    return condition_fault::none;
  }
  static constexpr condition_fault fault = fault_of();
};
template <class F>
struct as_multi_condition {
  static constexpr condition_fault fault_of() noexcept {
    if constexpr (fault_of_kept<context, F>() == callable_fault::none) {
      using result = std::remove_cvref_t<task_result<context, std::decay_t<F>>>;
      if constexpr (!found_as_by_for::range_of_numbers<result>) return condition_fault::no_range;
    }
    return condition_fault::none;
  }
  static constexpr condition_fault fault = fault_of();
};

/// Is there no fault? Otherwise a sentence says what is wrong.
template <class As>
constexpr bool chooses() noexcept {
  constexpr condition_fault fault = As::fault;
  static_assert(fault != condition_fault::no_number,
                "heist: a condition returns the number of its successor; fix it by returning an int.");
  static_assert(fault != condition_fault::boolean,
                "heist: a condition that returns bool would run successor 0 for false and 1 for true, which is seldom "
                "meant; fix it by returning an int: the number of the successor.");
  static_assert(fault != condition_fault::no_range,
                "heist: a multi condition returns a range of numbers, those of its successors; fix it by returning a "
                "std::vector<int>, or by emplace_condition().");
  return fault == condition_fault::none;
}

/// heist::with, known by its members: graphs do without its header.
template <class T>
inline constexpr bool is_with = requires(T t) {
  typename T::submit_option_tag;
  t.priority;
  t.worker;
};

/// Can these stand behind the graph in run()? Otherwise a sentence says so.
template <class... Options>
constexpr bool options_of_run() noexcept {
  constexpr bool right = ((is_with<std::decay_t<Options>> || callable_plain<std::decay_t<Options>>)&&...);
  constexpr bool once = (std::size_t{is_with<std::decay_t<Options>>} + ... + std::size_t{0}) <= 1;
  static_assert(
      right,
      "heist: what follows the graph in run() is a heist::with, or a callable without parameters, which is called when "
      "the run has ended; fix the argument: run_n() runs it several times, and a stop token is passed as "
      "heist::with{.stop = token}.");
  static_assert(once, "heist: run() is given two heist::with; fix it by one that has all options.");
  return right && once;
}

/// Can run_until() ask this? Otherwise a sentence says so.
template <class Predicate>
constexpr bool predicate_of_run() noexcept {
  constexpr bool right = std::is_invocable_r_v<bool, std::decay_t<Predicate>&>;
  static_assert(right,
                "heist: run_until() asks `done()` after each run, which returns bool; fix it by passing such a "
                "callable, without parameters.");
  return right;
}

}  // namespace detail
}  // namespace heist
