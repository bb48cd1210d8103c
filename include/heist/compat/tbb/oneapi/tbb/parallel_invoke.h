// parallel_invoke.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // invoke
#include <tuple>
#include <utility>  // forward, index_sequence

#include "heist/compat/tbb/oneapi/tbb/detail/division.hpp"

namespace tbb {

namespace detail {

inline void invoke_all(task_group_context&) noexcept {}
template <class F>
void invoke_all(task_group_context& group, F& f) noexcept {
  run_in(group, [&] { std::invoke(f); });
}
template <class F, class... More>
void invoke_all(task_group_context& group, F& f, More&... more) noexcept {
  run_in(group, [&] { fork([&] { invoke_all(group, f); }, [&] { invoke_all(group, more...); }); });
}

template <class Tuple, std::size_t... I>
void invoke_with_context(Tuple all, std::index_sequence<I...>) {
  task_group_context& group = std::get<sizeof...(I)>(all);
  run_group(group, [&] { invoke_all(group, std::get<I>(all)...); });
}

}  // namespace detail

/// Calls all functions, in parallel where workers are free. The last argument may be a task_group_context.
template <class F, class G, class... More>
void parallel_invoke(F&& f, G&& g, More&&... more) {
  using last = std::tuple_element_t<sizeof...(More) + 1, std::tuple<F&&, G&&, More&&...>>;
  if constexpr (std::is_same_v<std::remove_cvref_t<last>, task_group_context>) {
    detail::invoke_with_context(std::forward_as_tuple(f, g, more...), std::make_index_sequence<sizeof...(More) + 1>{});
  } else {
    task_group_context group;
    detail::run_group(group, [&] { detail::invoke_all(group, f, g, more...); });
  }
}

}  // namespace tbb
