// fib: Fibonacci numbers by the naive recursion (BOTS). It does little else than fork, so it measures the cost of a
// fork.
#pragma once

#include "kernel.hpp"

namespace kernels {

class fib {
 public:
  static constexpr description about{.name = "fib",
                                     .problem = "the n-th Fibonacci number, by naive recursion",
                                     .size_means = "n",
                                     .smallest = 0,
                                     .largest = 60,
                                     .test = 16,
                                     .usual = 33,
                                     .published = 39};

  explicit fib(std::size_t n) : n_{static_cast<long>(n)} {}

  void prepare() { result_ = -1; }
  void serial() { result_ = plain(n_); }
  template <class Context>
  void parallel(Context ctx) {
    result_ = forked(ctx, n_);
  }
  long result() const { return result_; }

  std::string check() const {
    long a = 0, b = 1;
    for (long i = 0; i < n_; ++i) b += std::exchange(a, b);
    return expect_equal(result_, a);
  }

  static long plain(long n) { return n < 2 ? n : plain(n - 1) + plain(n - 2); }

  template <class Context>
  static long forked(Context ctx, long n) {
    if (n < 2) return n;
    auto const [a, b] =
        ctx.fork_join([=](Context c) { return forked(c, n - 1); }, [=](Context c) { return forked(c, n - 2); });
    return a + b;
  }

 private:
  long n_;
  long result_ = -1;
};

}  // namespace kernels
