// multisort, also known as cilksort (Cilk-5, BOTS). It sorts four quarters, merges them in two pairs, and merges the
// results. Merges are parallel, too: they split at the median of the longer part. Below a threshold both are serial.
#pragma once

#include <algorithm>
#include <numeric>  // iota
#include <span>
#include <vector>

#include "kernel.hpp"

namespace kernels {

class multisort {
 public:
  static constexpr description about{.name = "multisort",
                                     .problem = "sort a random permutation of n integers, by parallel merging",
                                     .size_means = "n",
                                     .smallest = 0,
                                     .largest = 1'000'000'000,
                                     .test = 30'000,
                                     .usual = 2'000'000,
                                     .published = 33'554'432};
  static constexpr std::size_t serial_sort = 2048, serial_merge = 2048;  // as in BOTS

  explicit multisort(std::size_t n) : input_(n), values_(n), scratch_(n) {
    std::iota(input_.begin(), input_.end(), 0);
    random_numbers random{1};
    for (int& x : input_) std::swap(x, input_[random.below(n)]);
  }

  void prepare() { values_ = input_; }
  void serial() { sort(serial_context{}, std::span{values_}, std::span{scratch_}); }
  template <class Context>
  void parallel(Context ctx) {
    sort(ctx, std::span{values_}, std::span{scratch_});
  }
  std::vector<int> const& result() const { return values_; }

  std::string check() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] != static_cast<int>(i)) return fmt::format("element {0} is {1} instead of {0}", i, values_[i]);
    }
    return {};
  }

  template <class Context>
  static void sort(Context ctx, std::span<int> values, std::span<int> scratch) {
    if (values.size() < serial_sort) {
      std::sort(values.begin(), values.end());
      return;
    }
    std::size_t const quarter = values.size() / 4;
    auto const part = [=](std::span<int> of, std::size_t i) {
      return i == 3 ? of.subspan(3 * quarter) : of.subspan(i * quarter, quarter);
    };
    auto const sort_part = [=](std::size_t i) {
      return [=](Context c) { sort(c, part(values, i), part(scratch, i)); };
    };
    ctx.fork_join(sort_part(0), sort_part(1), sort_part(2), sort_part(3));
    auto const low = scratch.first(2 * quarter), high = scratch.subspan(2 * quarter);
    ctx.fork_join([=](Context c) { merge(c, part(values, 0), part(values, 1), low.data()); },
                  [=](Context c) { merge(c, part(values, 2), part(values, 3), high.data()); });
    merge(ctx, low, high, values.data());
  }

  template <class Context>
  static void merge(Context ctx, std::span<int const> a, std::span<int const> b, int* to) {
    if (a.size() < b.size()) std::swap(a, b);
    if (b.size() < serial_merge) {
      std::merge(a.begin(), a.end(), b.begin(), b.end(), to);
      return;
    }
    std::size_t const of_a = a.size() / 2;
    auto const of_b = static_cast<std::size_t>(std::lower_bound(b.begin(), b.end(), a[of_a]) - b.begin());
    ctx.fork_join([=](Context c) { merge(c, a.first(of_a), b.first(of_b), to); },
                  [=](Context c) { merge(c, a.subspan(of_a), b.subspan(of_b), to + of_a + of_b); });
  }

 private:
  std::vector<int> input_, values_, scratch_;
};

}  // namespace kernels
