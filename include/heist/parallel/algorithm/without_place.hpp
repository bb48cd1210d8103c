// The sentence for an algorithm that is called without an executor or a context.
#pragma once

#include <iterator>
#include <ranges>
#include <type_traits>

#include "heist/core/executor/task_callable.hpp"

namespace heist {
namespace detail {

/// A range or an iterator: never an executor or a context.
template <class T>
concept worked_on = std::ranges::range<T> || std::input_or_output_iterator<std::remove_cvref_t<T>>;

template <class First>
constexpr rejected reject_without_place() {
  static_assert(std::is_void_v<First>,
                "heist: this algorithm was called without the executor that it runs on, or in a task the context; fix "
                "it by the executor or context as the first argument, and the range behind it.");
  return {};
}

}  // namespace detail

// References to const and a pack: any algorithm of the same name fits better, those of std among them.
#define HEIST_WITHOUT_PLACE(name)                                 \
  template <detail::worked_on First, class... More>               \
  constexpr detail::rejected name(First const&, More const&...) { \
    return detail::reject_without_place<First>();                 \
  }
HEIST_WITHOUT_PLACE(adjacent_find)
HEIST_WITHOUT_PLACE(all_of)
HEIST_WITHOUT_PLACE(any_of)
HEIST_WITHOUT_PLACE(copy)
HEIST_WITHOUT_PLACE(copy_if)
HEIST_WITHOUT_PLACE(count)
HEIST_WITHOUT_PLACE(count_if)
HEIST_WITHOUT_PLACE(equal)
HEIST_WITHOUT_PLACE(exclusive_scan)
HEIST_WITHOUT_PLACE(fill)
HEIST_WITHOUT_PLACE(find)
HEIST_WITHOUT_PLACE(find_if)
HEIST_WITHOUT_PLACE(find_if_not)
HEIST_WITHOUT_PLACE(for_each)
HEIST_WITHOUT_PLACE(for_each_n)
HEIST_WITHOUT_PLACE(generate)
HEIST_WITHOUT_PLACE(group_by)
HEIST_WITHOUT_PLACE(histogram)
HEIST_WITHOUT_PLACE(inclusive_scan)
HEIST_WITHOUT_PLACE(is_sorted)
HEIST_WITHOUT_PLACE(max_element)
HEIST_WITHOUT_PLACE(merge)
HEIST_WITHOUT_PLACE(min_element)
HEIST_WITHOUT_PLACE(minmax_element)
HEIST_WITHOUT_PLACE(mismatch)
HEIST_WITHOUT_PLACE(none_of)
HEIST_WITHOUT_PLACE(nth_element)
HEIST_WITHOUT_PLACE(partial_sort)
HEIST_WITHOUT_PLACE(partition)
HEIST_WITHOUT_PLACE(reduce)
HEIST_WITHOUT_PLACE(remove_if)
HEIST_WITHOUT_PLACE(replace_if)
HEIST_WITHOUT_PLACE(reverse)
HEIST_WITHOUT_PLACE(sort)
HEIST_WITHOUT_PLACE(stable_sort)
HEIST_WITHOUT_PLACE(transform)
HEIST_WITHOUT_PLACE(transform_exclusive_scan)
HEIST_WITHOUT_PLACE(transform_inclusive_scan)
HEIST_WITHOUT_PLACE(transform_reduce)
HEIST_WITHOUT_PLACE(unique)
#undef HEIST_WITHOUT_PLACE

}  // namespace heist
