// 0-1 knapsack (CATS), with the same nodes in every run: a branch is cut if even the best conceivable filling stays
// below what taking the items in order would bring, a bound that nobody improves. A kernel, as examples/kernels has
// them; the one there shares the best value found, and its work depends on the schedule.
#pragma once

#include <algorithm>  // sort, max
#include <cstddef>    // size_t
#include <limits>
#include <string>
#include <vector>

#include "../../examples/kernels/kernel.hpp"

namespace locality {

class fixed_knapsack {
 public:
  static constexpr kernels::description about{.name = "knapsack",
                                              .problem = "the best choice of n items that fits, with a fixed bound",
                                              .size_means = "items n",
                                              .smallest = 1,
                                              .largest = 40,
                                              .test = 14,
                                              .usual = 28,
                                              .published = 28};

  /// Value and weight of an item differ by a constant, which makes choosing hard.
  explicit fixed_knapsack(std::size_t n) : items_(n) {
    kernels::random_numbers random{1};
    for (item& i : items_) {
      i.weight = 100 + static_cast<int>(random.below(900));
      i.value = i.weight + 100;
      capacity_ += i.weight;
    }
    capacity_ /= 2;
    std::sort(items_.begin(), items_.end(), [](item a, item b) { return a.value * b.weight > b.value * a.weight; });
    int room = capacity_;
    for (item const& i : items_) {
      if (i.weight > room) continue;
      room -= i.weight;
      at_least_ += i.value;
    }
  }

  void prepare() { result_ = -1; }
  void serial() { result_ = choose(kernels::serial_context{}, 0, capacity_, 0); }
  template <class Context>
  void parallel(Context ctx) {
    result_ = choose(ctx, 0, capacity_, 0);
  }
  int result() const { return result_; }

  /// By dynamic programming over all capacities.
  std::string check() const {
    std::vector<int> best(static_cast<std::size_t>(capacity_) + 1);
    for (item const& i : items_) {
      for (int room = capacity_; room >= i.weight; --room) {
        auto& here = best[static_cast<std::size_t>(room)];
        here = std::max(here, best[static_cast<std::size_t>(room - i.weight)] + i.value);
      }
    }
    return kernels::expect_equal(result_, best.back());
  }

 private:
  struct item {
    int value, weight;
  };

  template <class Context>
  int choose(Context ctx, std::size_t first, int room, int value) const {
    if (room < 0) return std::numeric_limits<int>::min();
    if (first == items_.size() || room == 0) return value;
    item const& next = items_[first];
    double const bound = value + static_cast<double>(room) * next.value / next.weight;
    if (bound < at_least_) return std::numeric_limits<int>::min();
    auto const [with, without] = ctx.fork_join(
        [=, this, &next](Context c) { return choose(c, first + 1, room - next.weight, value + next.value); },
        [=, this](Context c) { return choose(c, first + 1, room, value); });
    return std::max(with, without);
  }

  std::vector<item> items_;
  int capacity_ = 0;
  int at_least_ = 0;
  int result_ = -1;
};

}  // namespace locality
