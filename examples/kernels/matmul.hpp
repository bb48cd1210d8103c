// matmul: the product of two square integer matrices (Cilk-5). It is divided into eight half-sized products: four run
// in parallel, then the other four. Leaves are 32 x 32, as in tzcnt/runtime-benchmarks.
#pragma once

#include <vector>

#include "kernel.hpp"

namespace kernels {

class matmul {
 public:
  static constexpr description about{.name = "matmul",
                                     .problem = "C = A B for n x n integers, eight recursive products",
                                     .size_means = "n, a power of two",
                                     .smallest = 1,
                                     .largest = 8192,
                                     .test = 128,
                                     .usual = 512,
                                     .published = 1024,
                                     .power_of_two = true};
  static constexpr std::size_t leaf_size = 32;

  explicit matmul(std::size_t n) : n_{n}, a_(n * n), b_(n * n), c_(n * n) {
    random_numbers random{1};
    for (int& x : a_) x = static_cast<int>(random.below(100));
    for (int& x : b_) x = static_cast<int>(random.below(100));
  }

  void prepare() { c_.assign(n_ * n_, 0); }
  void serial() { forked(serial_context{}, a_.data(), b_.data(), c_.data(), n_, n_); }
  template <class Context>
  void parallel(Context ctx) {
    forked(ctx, a_.data(), b_.data(), c_.data(), n_, n_);
  }
  std::vector<int> const& result() const { return c_; }

  /// Freivalds' test: C x = A (B x) for random x, exactly, modulo 2^64. A wrong C fails with overwhelming probability.
  std::string check() const {
    random_numbers random{2};
    std::vector<std::uint64_t> x(n_);
    for (auto& value : x) value = random();
    return times(c_, x) == times(a_, times(b_, x)) ? std::string{} : "C is not the product of A and B";
  }

  /// C += A B for n x n parts of matrices with `stride` columns.
  static void leaf(int const* a, int const* b, int* c, std::size_t n, std::size_t stride) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < n; ++j) c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
      }
    }
  }

  template <class Context>
  static void forked(Context ctx, int const* a, int const* b, int* c, std::size_t n, std::size_t stride) {
    if (n <= leaf_size) {
      leaf(a, b, c, n, stride);
      return;
    }
    std::size_t const half = n / 2;
    std::size_t const down = half * stride;
    auto const product = [=](std::size_t of_a, std::size_t of_b, std::size_t of_c) {
      return [=](Context next) { forked(next, a + of_a, b + of_b, c + of_c, half, stride); };
    };
    ctx.fork_join(product(0, 0, 0), product(0, half, half), product(down, 0, down), product(down, half, down + half));
    ctx.fork_join(product(half, down, 0), product(half, down + half, half), product(down + half, down, down),
                  product(down + half, down + half, down + half));
  }

 private:
  std::vector<std::uint64_t> times(std::vector<int> const& matrix, std::vector<std::uint64_t> const& x) const {
    std::vector<std::uint64_t> y(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) y[i] += static_cast<std::uint64_t>(matrix[i * n_ + j]) * x[j];
    }
    return y;
  }

  std::size_t n_;
  std::vector<int> a_, b_, c_;
};

}  // namespace kernels
