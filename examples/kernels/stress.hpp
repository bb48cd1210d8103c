// stress: adjustable parallelism and grain (Wool, Fig. 2). Trees of depth d run one after the other. A leaf spins for n
// iterations of two cycles and touches no memory.
#pragma once

#include "kernel.hpp"

namespace kernels {

class stress {
 public:
  static constexpr description about{.name = "stress",
                                     .problem = "trees of depth d in turn, each leaf spins 256 iterations; 2^16 leaves",
                                     .size_means = "depth d",
                                     .smallest = 0,
                                     .largest = 16,
                                     .test = 10,
                                     .usual = 10,
                                     .published = 10};
  static constexpr std::uint64_t leaf_iterations = 256;
  static constexpr std::size_t all_leaves = std::size_t{1} << 16;  // Wool's Table 1: 2^26

  explicit stress(std::size_t depth) : depth_{depth} {}

  void prepare() { result_ = 0; }
  void serial() {
    for (std::size_t i = 0; i < all_leaves >> depth_; ++i) result_ += plain(depth_, i << depth_);
  }
  template <class Context>
  void parallel(Context ctx) {
    for (std::size_t i = 0; i < all_leaves >> depth_; ++i) result_ += forked(ctx, depth_, i << depth_);
  }
  std::uint64_t result() const { return result_; }

  std::string check() const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < all_leaves; ++i) sum += leaf(i);
    return expect_equal(result_, sum);
  }

  /// Each iteration is an addition and an exclusive or that depend on each other.
  static std::uint64_t leaf(std::uint64_t number) {
    std::uint64_t x = number;
    for (std::uint64_t i = 0; i < leaf_iterations; ++i) x = (x + number) ^ i;
    return x;
  }

  static std::uint64_t plain(std::size_t depth, std::uint64_t first) {
    if (depth == 0) return leaf(first);
    return plain(depth - 1, first) + plain(depth - 1, first + (std::uint64_t{1} << (depth - 1)));
  }

  template <class Context>
  static std::uint64_t forked(Context ctx, std::size_t depth, std::uint64_t first) {
    if (depth == 0) return leaf(first);
    auto const [a, b] =
        ctx.fork_join([=](Context c) { return forked(c, depth - 1, first); },
                      [=](Context c) { return forked(c, depth - 1, first + (std::uint64_t{1} << (depth - 1))); });
    return a + b;
  }

 private:
  std::size_t depth_;
  std::uint64_t result_ = 0;
};

}  // namespace kernels
