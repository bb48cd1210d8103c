// knapsack: the most valuable choice of items that can be carried, by branch and bound (Cilk-5, BOTS). The tasks
// share the best value so far. The number of visited nodes depends on the schedule; the result does not.
#pragma once

#include <algorithm>  // sort, max
#include <atomic>
#include <limits>
#include <vector>

#include "kernel.hpp"

namespace kernels {

/// Items whose value is their weight plus a constant, which makes the choice hard. They are sorted by value per weight,
/// the highest first.
struct knapsack_items {
  struct item {
    int value, weight;
  };

  explicit knapsack_items(std::size_t n) : items(n) {
    random_numbers random{1};
    int total = 0;
    for (item& i : items) {
      i.weight = 100 + static_cast<int>(random.below(900));
      i.value = i.weight + 100;
      total += i.weight;
    }
    capacity = total / 2;
    std::sort(items.begin(), items.end(), [](item a, item b) { return a.value * b.weight > b.value * a.weight; });
  }

  /// Computes the best value by dynamic programming over all capacities.
  int best_value() const {
    std::vector<int> best(static_cast<std::size_t>(capacity) + 1);
    for (item const& i : items) {
      for (int room = capacity; room >= i.weight; --room) {
        auto& here = best[static_cast<std::size_t>(room)];
        here = std::max(here, best[static_cast<std::size_t>(room - i.weight)] + i.value);
      }
    }
    return best.back();
  }

  std::vector<item> items;
  int capacity = 0;
};

class knapsack {
 public:
  static constexpr description about{.name = "knapsack",
                                     .problem = "the best choice of n items that fits, by branch and bound",
                                     .size_means = "items n",
                                     .smallest = 1,
                                     .largest = 64,
                                     .test = 18,
                                     .usual = 40,
                                     .published = 44};

  explicit knapsack(std::size_t n) : of_{n} {}

  void prepare() {
    result_ = -1;
    best_.store(std::numeric_limits<int>::min(), std::memory_order_relaxed);  // relaxed: no task runs yet
  }
  void serial() { parallel(serial_context{}); }
  template <class Context>
  void parallel(Context ctx) {
    result_ = choose(ctx, 0, of_.capacity, 0);
  }
  int result() const { return result_; }

  std::string check() const { return expect_equal(result_, of_.best_value()); }

  /// The best value with the items from `first` on and `room` left. If that is below the best value so far, the result
  /// may be too small.
  template <class Context>
  int choose(Context ctx, std::size_t first, int room, int value) {
    if (room < 0) return std::numeric_limits<int>::min();
    if (first == of_.items.size() || room == 0) return value;
    knapsack_items::item const& next = of_.items[first];
    double const bound = value + static_cast<double>(room) * next.value / next.weight;
    if (bound < best_.load(std::memory_order_relaxed)) return std::numeric_limits<int>::min();  // relaxed: a hint
    auto const [without, with] = ctx.fork_join(
        [=, this](Context c) { return choose(c, first + 1, room, value); },
        [=, this, &next](Context c) { return choose(c, first + 1, room - next.weight, value + next.value); });
    int const best = std::max(without, with);
    int known = best_.load(std::memory_order_relaxed);  // relaxed: no other data depends on it, here or below
    while (best > known && !best_.compare_exchange_weak(known, best, std::memory_order_relaxed)) {
    }
    return best;
  }

 private:
  knapsack_items of_;
  std::atomic<int> best_{0};
  int result_ = -1;
};

}  // namespace kernels
