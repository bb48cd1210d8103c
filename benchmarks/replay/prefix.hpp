// Prefix sums in two sweeps over a tree (Ladner and Fischer): up, the sum of each block; down, the sum before each
// block.
#pragma once

#include <heist/core/base/config.hpp>

#include <fmt/format.h>

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <string>
#include <utility>  // as_const
#include <vector>

#include "blocks.hpp"

namespace replay {

class prefix {
 public:
  static constexpr locality::description about{.name = "prefix",
                                               .problem = "prefix sums of n numbers, by two sweeps over a tree",
                                               .size_means = "numbers n",
                                               .smallest = 2,
                                               .largest = std::size_t{1} << 28,
                                               .test = 100'000,
                                               .usual = 131'072,
                                               .leaf = 8192,
                                               .steps = 1000};
  static std::size_t bytes_for(std::size_t n) { return 2 * n * sizeof(double); }

  explicit prefix(locality::settings const& s)
      : grain_{s.leaf < finer ? 1 : s.leaf / finer},
        numbers_(s.size),
        sums_(s.size),
        total_(grains()),
        before_(grains()) {
    locality::random_numbers random{1};
    for (double& x : numbers_) x = static_cast<double>(random.below(1024));  // whole, so that sums are exact
  }

  void prepare() { sums_.assign(sums_.size(), 0.0); }

  static constexpr std::size_t regions() { return 2; }  // locality
  /// In grains, of which the tree is made.
  block_size block() const { return {finer}; }

  template <class Run>
  void step(Run const& run, std::size_t) {
    box const all{{0, grains()}};
    run(0, all, block(), upwards{*this});
    before_[0] = 0;
    run(1, all, block(), downwards{*this});
  }
  void serial_step(std::size_t) {
    double sum = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) sums_[i] = sum += numbers_[i];
  }

  double work(std::size_t) const { return static_cast<double>(numbers_.size()); }
  std::size_t bytes() const { return bytes_for(numbers_.size()); }
  std::vector<double> const& result(std::size_t) const { return sums_; }

  std::string check(std::size_t) const {
    for (std::size_t i = 1; i < sums_.size(); ++i) {
      if (sums_[i] - sums_[i - 1] != numbers_[i]) return fmt::format("sum {} is {}", i, sums_[i]);
    }
    return {};
  }

 private:
  /// A node's sum stands at its last grain: the sums of all nodes that end there but one are of use no more.
  struct upwards {
    prefix& p;

    void operator()(box const& b) const {
      p.fall(b, *this, [&](range grain, std::size_t at) { p.add_up(grain, at); });
    }
    void after(two_parts const& parts) const {
      p.total_[parts.second.rows.last - 1] += p.total_[parts.first.rows.last - 1];
    }
  };

  /// The sum before a node is stored at its first grain.
  struct downwards {
    prefix& p;

    void operator()(box const& b) const {
      p.fall(b, *this, [&](range grain, std::size_t at) { p.spread(grain, at); });
    }
    void before(two_parts const& parts) const {
      p.before_[parts.second.rows.first] =
          p.before_[parts.first.rows.first] + std::as_const(p.total_)[parts.first.rows.last - 1];
    }
  };

  std::size_t grains() const { return block_size::count(numbers_.size(), grain_); }

  /// The rest of the tree, in sequence: whichever task did it, both sweeps see the same tree.
  template <class Sweep, class F>
  void fall(box const& b, Sweep const& sweep, F const& f) const {
    divide(
        serial_context{}, b, {1}, sweep,
        [&](serial_context, box const& one) {
          std::size_t const first = one.rows.first * grain_;
          f(range{first, std::min(first + grain_, numbers_.size())}, one.rows.first);
        },
        to_blocks{});
  }

  HEIST_NOINLINE void add_up(range grain, std::size_t at) {
    double sum = 0;
    for (std::size_t i = grain.first; i < grain.last; ++i) sum += numbers_[i];
    total_[at] = sum;
  }
  HEIST_NOINLINE void spread(range grain, std::size_t at) {
    double sum = before_[at];
    for (std::size_t i = grain.first; i < grain.last; ++i) sums_[i] = sum += numbers_[i];
  }

  std::size_t grain_;  // numbers
  std::vector<double> numbers_, sums_, total_, before_;
};

}  // namespace replay
