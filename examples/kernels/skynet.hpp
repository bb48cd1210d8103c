// skynet: a tree of ten children per node whose leaves are numbered and summed (tzcnt/runtime-benchmarks: 10^8 leaves;
// the original: 10^6).
#pragma once

#include "kernel.hpp"

namespace kernels {

class skynet {
 public:
  static constexpr description about{.name = "skynet",
                                     .problem = "the sum of the numbers of 10^d leaves, ten children per node",
                                     .size_means = "depth d",
                                     .smallest = 0,
                                     .largest = 9,
                                     .test = 4,
                                     .usual = 7,
                                     .published = 8};

  explicit skynet(std::size_t depth) {
    for (std::size_t i = 0; i < depth; ++i) leaves_ *= 10;
  }

  void prepare() { result_ = 0; }
  void serial() { result_ = plain(0, leaves_); }
  template <class Context>
  void parallel(Context ctx) {
    result_ = forked(ctx, 0, leaves_);
  }
  std::uint64_t result() const { return result_; }
  std::string check() const { return expect_equal(result_, leaves_ * (leaves_ - 1) / 2); }

  static std::uint64_t plain(std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) return first;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 10; ++i) sum += plain(first + i * (leaves / 10), leaves / 10);
    return sum;
  }

  template <class Context>
  static std::uint64_t forked(Context ctx, std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) return first;
    std::uint64_t const part = leaves / 10;
    auto const child = [=](std::uint64_t i) { return [=](Context c) { return forked(c, first + i * part, part); }; };
    auto const sums = ctx.fork_join(child(0), child(1), child(2), child(3), child(4), child(5), child(6), child(7),
                                    child(8), child(9));
    return std::apply([](auto... sum) { return (... + sum); }, sums);
  }

 private:
  std::uint64_t leaves_ = 1;
  std::uint64_t result_ = 0;
};

}  // namespace kernels
