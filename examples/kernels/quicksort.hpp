// quicksort, as Lace's benchmark of that name: partitions around the middle element, then sorts both parts in parallel,
// down to single elements. The partition is serial, so parallelism grows from one.
#pragma once

#include <algorithm>  // sort
#include <span>
#include <vector>

#include "kernel.hpp"

namespace kernels {

class quicksort {
 public:
  static constexpr description about{.name = "quicksort",
                                     .problem = "sort n random integers, forking down to single elements",
                                     .size_means = "n",
                                     .smallest = 0,
                                     .largest = 1'000'000'000,
                                     .test = 5'000,
                                     .usual = 2'000'000,
                                     .published = 100'000'000};

  explicit quicksort(std::size_t n) : input_(n) {
    random_numbers random{1};
    for (int& x : input_) x = static_cast<int>(random() >> 33);
  }

  void prepare() { values_ = input_; }
  void serial() { plain(values_); }
  template <class Context>
  void parallel(Context ctx) {
    forked(ctx, std::span{values_});
  }
  std::vector<int> const& result() const { return values_; }

  std::string check() const {
    auto sorted = input_;
    std::sort(sorted.begin(), sorted.end());
    return values_ == sorted ? std::string{} : "the numbers are not in order, or not the same as before";
  }

  static void plain(std::span<int> values) {
    if (values.size() < 2) return;
    auto const [low, high] = partition(values);
    plain(low);
    plain(high);
  }

  template <class Context>
  static void forked(Context ctx, std::span<int> values) {
    if (values.size() < 2) return;
    auto const parts = partition(values);
    ctx.fork_join([low = parts.low](Context c) { forked(c, low); },
                  [high = parts.high](Context c) { forked(c, high); });
  }

 private:
  struct parts {
    std::span<int> low, high;  // an element between them is in its place
  };

  static parts partition(std::span<int> values) {
    int const pivot = values[values.size() / 2];
    std::size_t left = 0, end = values.size();
    while (left < end) {
      if (values[left] < pivot) {
        ++left;
      } else if (values[end - 1] > pivot) {
        --end;
      } else {
        std::swap(values[left++], values[--end]);
      }
    }
    // If the last swap was of one element with itself, left is end + 1.
    return {values.first(std::min(left, end)), values.subspan(std::max(left, end))};
  }

  std::vector<int> input_, values_;
};

}  // namespace kernels
