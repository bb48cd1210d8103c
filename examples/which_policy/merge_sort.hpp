// Merge sort: it sorts both halves and merges them. Merges split at the median of the longer part. Every leaf declares
// the bytes that it touches.
#pragma once

#include <algorithm>  // lower_bound, merge, sort, swap
#include <cstddef>    // size_t
#include <span>

namespace which_policy {

inline constexpr std::size_t sort_leaf = 2048;  // elements that are sorted, or merged, as one task

template <class Context>
void merge(Context ctx, std::span<int const> a, std::span<int const> b, int* to) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() + b.size() <= sort_leaf || b.empty()) {
    ctx.footprint(2 * (a.size() + b.size()) * sizeof(int));
    std::merge(a.begin(), a.end(), b.begin(), b.end(), to);
    return;
  }
  std::size_t const of_a = a.size() / 2;
  auto const of_b = static_cast<std::size_t>(std::lower_bound(b.begin(), b.end(), a[of_a]) - b.begin());
  ctx.fork_join([=](Context c) { merge(c, a.first(of_a), b.first(of_b), to); },
                [=](Context c) { merge(c, a.subspan(of_a), b.subspan(of_b), to + of_a + of_b); });
}

/// Sorts `values`. The result is in `values`, or with `is_to_scratch` in `scratch`, which has the same length.
template <class Context>
void sort(Context ctx, std::span<int> values, std::span<int> scratch, bool is_to_scratch) {
  if (values.size() <= sort_leaf) {
    ctx.footprint((is_to_scratch ? 2 : 1) * values.size() * sizeof(int));
    std::sort(values.begin(), values.end());
    if (is_to_scratch) std::copy(values.begin(), values.end(), scratch.begin());
    return;
  }
  std::size_t const half = values.size() / 2;
  ctx.fork_join([=](Context c) { sort(c, values.first(half), scratch.first(half), !is_to_scratch); },
                [=](Context c) { sort(c, values.subspan(half), scratch.subspan(half), !is_to_scratch); });
  std::span<int const> const from = is_to_scratch ? values : scratch;
  merge(ctx, from.first(half), from.subspan(half), (is_to_scratch ? scratch : values).data());
}

}  // namespace which_policy
