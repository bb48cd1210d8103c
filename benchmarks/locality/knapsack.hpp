// 0-1 knapsack (CATS), with the same nodes in every run. A branch is cut if even its best conceivable filling stays
// below a fixed bound: the value of taking the items in order. It is a kernel like those in examples/kernels. The
// kernel there shares the best value found, and its work depends on the schedule.
#pragma once

#include <algorithm>  // max
#include <cstddef>    // size_t
#include <limits>
#include <string>

#include "../../examples/kernels/kernel.hpp"
#include "../../examples/kernels/knapsack.hpp"

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

  explicit fixed_knapsack(std::size_t n) : of_{n} {
    int room = of_.capacity;
    for (auto const& i : of_.items) {
      if (i.weight > room) continue;
      room -= i.weight;
      at_least_ += i.value;
    }
  }

  void prepare() { result_ = -1; }
  void serial() { result_ = choose(kernels::serial_context{}, 0, of_.capacity, 0); }
  template <class Context>
  void parallel(Context ctx) {
    result_ = choose(ctx, 0, of_.capacity, 0);
  }
  int result() const { return result_; }

  std::string check() const { return kernels::expect_equal(result_, of_.best_value()); }

 private:
  template <class Context>
  int choose(Context ctx, std::size_t first, int room, int value) const {
    if (room < 0) return std::numeric_limits<int>::min();
    if (first == of_.items.size() || room == 0) return value;
    auto const& next = of_.items[first];
    double const bound = value + static_cast<double>(room) * next.value / next.weight;
    if (bound < at_least_) return std::numeric_limits<int>::min();
    auto const [with, without] = ctx.fork_join(
        [=, this, &next](Context c) { return choose(c, first + 1, room - next.weight, value + next.value); },
        [=, this](Context c) { return choose(c, first + 1, room, value); });
    return std::max(with, without);
  }

  kernels::knapsack_items of_;
  int at_least_ = 0;
  int result_ = -1;
};

}  // namespace locality
