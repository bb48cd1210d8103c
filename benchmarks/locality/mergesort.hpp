// Merge sort (CAB): two halves are sorted and then merged, by tasks as well. A kernel, as examples/kernels has them.
#pragma once

#include <algorithm>  // sort, copy
#include <cstddef>    // size_t
#include <numeric>    // iota
#include <span>
#include <string>
#include <utility>  // swap
#include <vector>

#include "../../examples/kernels/multisort.hpp"
#include "regions.hpp"

namespace locality {

class mergesort {
 public:
  static constexpr kernels::description about{.name = "mergesort",
                                              .problem = "merge sort of a random permutation of n integers",
                                              .size_means = "n",
                                              .smallest = 0,
                                              .largest = 1'000'000'000,
                                              .test = 30'000,
                                              .usual = 262'144,
                                              .published = 1'048'576};
  static constexpr std::size_t branching = 2;
  static constexpr std::size_t serial_sort = 2048;
  static std::size_t bytes_for(std::size_t n) { return 2 * n * sizeof(int); }

  explicit mergesort(std::size_t n) : input_(n), values_(n), scratch_(n) {
    std::iota(input_.begin(), input_.end(), 0);
    kernels::random_numbers random{1};
    for (int& x : input_) std::swap(x, input_[random.below(n)]);
  }

  void prepare() { std::copy(input_.begin(), input_.end(), values_.begin()); }
  void serial() { std::sort(values_.begin(), values_.end()); }
  template <class Context>
  void parallel(Context ctx) {
    sort(ctx, std::span{values_}, std::span{scratch_}, false);
  }
  std::vector<int> const& result() const { return values_; }

  std::string check() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] != static_cast<int>(i)) return fmt::format("element {0} is {1} instead of {0}", i, values_[i]);
    }
    return {};
  }

 private:
  /// Sorts `values`, which `to_scratch` leaves in `scratch`.
  template <class Context>
  static void sort(Context ctx, std::span<int> values, std::span<int> scratch, bool to_scratch) {
    if (values.size() <= serial_sort) {
      footprint(ctx, bytes_for(values.size()) / (to_scratch ? 1 : 2));
      std::sort(values.begin(), values.end());
      if (to_scratch) std::copy(values.begin(), values.end(), scratch.begin());
      return;
    }
    std::size_t const half = values.size() / 2;
    ctx.fork_join([=](Context c) { sort(c, values.first(half), scratch.first(half), !to_scratch); },
                  [=](Context c) { sort(c, values.subspan(half), scratch.subspan(half), !to_scratch); });
    footprint(ctx, bytes_for(values.size()));
    std::span<int> const from = to_scratch ? values : scratch, to = to_scratch ? scratch : values;
    kernels::multisort::merge(ctx, from.first(half), from.subspan(half), to.data());
  }

  std::vector<int> input_, values_, scratch_;
};

}  // namespace locality
