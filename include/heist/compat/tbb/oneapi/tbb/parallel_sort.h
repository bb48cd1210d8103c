// parallel_sort.
#pragma once

#include <functional>  // less
#include <iterator>    // begin, end

#include "heist/algorithm.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/division.hpp"

namespace tbb {

/// As std::sort, by heist::sort.
template <class Iterator, class Compare>
void parallel_sort(Iterator first, Iterator last, Compare const& less) {
  task_group_context group;
  detail::run_group(group, [&] { heist::sort(*heist::current_executor(), first, last, less); });
}
template <class Iterator>
void parallel_sort(Iterator first, Iterator last) {
  parallel_sort(first, last, std::less<>{});
}
template <class Range, class Compare>
requires(requires(Range& r) { std::begin(r); }) void parallel_sort(Range&& range, Compare const& less) {
  parallel_sort(std::begin(range), std::end(range), less);
}
template <class Range>
requires(requires(Range& r) { std::begin(r); }) void parallel_sort(Range&& range) {
  parallel_sort(std::begin(range), std::end(range));
}

}  // namespace tbb
