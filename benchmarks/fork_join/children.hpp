// For contexts over libraries that know nothing of results: the children of a fork_join, each with room for its result.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>  // move
#include <variant>  // monostate

namespace bench {

/// Refers to f, which the caller of fork_join keeps until all children are done.
template <class F, class Context>
struct child {
  using returned = std::invoke_result_t<F&, Context>;
  using result = std::conditional_t<std::is_void_v<returned>, std::monostate, returned>;

  F& f;
  result value;

  void run(Context context) {
    if constexpr (std::is_void_v<returned>) {
      f(context);
    } else {
      value = f(context);
    }
  }
};

/// The return value of fork_join: the results of children that have run.
template <class... Child>
auto results(std::tuple<Child...>& children) {
  return std::apply([](auto&... c) { return std::tuple<typename Child::result...>{std::move(c.value)...}; }, children);
}

/// Calls spawn(child) for every child but the last, and last(child) for that one.
template <class... Child, class Spawn, class Last>
void all_but_last(std::tuple<Child...>& children, Spawn const& spawn, Last const& last) {
  constexpr std::size_t spawned = sizeof...(Child) - 1;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (spawn(std::get<I>(children)), ...);
  }
  (std::make_index_sequence<spawned>{});
  last(std::get<spawned>(children));
}

}  // namespace bench
