// strassen: the product of two square matrices of doubles by seven half-sized products (Cilk-5, BOTS), in Winograd's
// form with fifteen additions. Below a threshold it uses the schoolbook product.
#pragma once

#include <algorithm>  // fill_n
#include <cmath>      // abs
#include <memory>
#include <vector>

#include "kernel.hpp"

namespace kernels {

class strassen {
 public:
  static constexpr description about{.name = "strassen",
                                     .problem = "C = A B for n x n doubles, seven recursive products",
                                     .size_means = "n, a power of two",
                                     .smallest = 1,
                                     .largest = 8192,
                                     .test = 256,
                                     .usual = 512,
                                     .published = 4096,
                                     .power_of_two = true};
  static constexpr std::size_t leaf_size = 64;  // as in BOTS

  /// A square part of a matrix, which is stored row by row.
  template <class T>
  struct part {
    T* data;
    std::size_t stride;

    T& operator()(std::size_t row, std::size_t column) const { return data[row * stride + column]; }
    part quarter(std::size_t row, std::size_t column, std::size_t size) const {
      return {&(*this)(row * size, column * size), stride};
    }
    operator part<T const>() const { return {data, stride}; }
  };
  using input = part<double const>;
  using output = part<double>;

  explicit strassen(std::size_t n) : n_{n}, a_(n * n), b_(n * n), c_(n * n) {
    random_numbers random{1};
    for (double& x : a_) x = random.unit();
    for (double& x : b_) x = random.unit();
  }

  void prepare() { c_.assign(n_ * n_, -1); }
  void serial() { parallel(serial_context{}); }
  template <class Context>
  void parallel(Context ctx) {
    product(ctx, {a_.data(), n_}, {b_.data(), n_}, {c_.data(), n_}, n_);
  }
  std::vector<double> const& result() const { return c_; }

  /// Freivalds' test: C x = A (B x) for random x, up to rounding.
  std::string check() const {
    random_numbers random{2};
    std::vector<double> x(n_);
    for (double& value : x) value = random.unit();
    auto const got = times(c_, x), wanted = times(a_, times(b_, x));
    for (std::size_t i = 0; i < n_; ++i) {
      if (!(std::abs(got[i] - wanted[i]) <= 1e-9 * wanted[i]))
        return fmt::format("row {} of C x is {} instead of {}", i, got[i], wanted[i]);
    }
    return {};
  }

  static void leaf(input a, input b, output c, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      std::fill_n(&c(i, 0), n, 0.0);
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < n; ++j) c(i, j) += a(i, k) * b(k, j);
      }
    }
  }

  template <class Context>
  static void product(Context ctx, input a, input b, output c, std::size_t n) {
    if (n <= leaf_size) {
      leaf(a, b, c, n);
      return;
    }
    std::size_t const half = n / 2;
    auto const a11 = a.quarter(0, 0, half), a12 = a.quarter(0, 1, half), a21 = a.quarter(1, 0, half),
               a22 = a.quarter(1, 1, half);
    auto const b11 = b.quarter(0, 0, half), b12 = b.quarter(0, 1, half), b21 = b.quarter(1, 0, half),
               b22 = b.quarter(1, 1, half);
    auto const c11 = c.quarter(0, 0, half), c12 = c.quarter(0, 1, half), c21 = c.quarter(1, 0, half),
               c22 = c.quarter(1, 1, half);
    temporaries const more{half};
    auto const s1 = more[0], s2 = more[1], s3 = more[2], s4 = more[3], t1 = more[4], t2 = more[5], t3 = more[6],
               t4 = more[7], p1 = more[8], p5 = more[9], p6 = more[10];
    for (std::size_t i = 0; i < half; ++i) {
      for (std::size_t j = 0; j < half; ++j) {
        s1(i, j) = a21(i, j) + a22(i, j);
        s2(i, j) = s1(i, j) - a11(i, j);
        s3(i, j) = a11(i, j) - a21(i, j);
        s4(i, j) = a12(i, j) - s2(i, j);
        t1(i, j) = b12(i, j) - b11(i, j);
        t2(i, j) = b22(i, j) - t1(i, j);
        t3(i, j) = b22(i, j) - b12(i, j);
        t4(i, j) = t2(i, j) - b21(i, j);
      }
    }
    auto const multiply = [half](input x, input y, output z) {
      return [=](Context next) { product(next, x, y, z, half); };
    };
    // A product that is used in one quarter of C only is computed in that quarter.
    ctx.fork_join(multiply(a11, b11, p1), multiply(a12, b21, c11), multiply(s4, b22, c12), multiply(a22, t4, c21),
                  multiply(s1, t1, p5), multiply(s2, t2, p6), multiply(s3, t3, c22));
    for (std::size_t i = 0; i < half; ++i) {
      for (std::size_t j = 0; j < half; ++j) {
        double const u2 = p1(i, j) + p6(i, j);
        double const u3 = u2 + c22(i, j);
        double const u4 = u2 + p5(i, j);
        c11(i, j) += p1(i, j);
        c12(i, j) += u4;
        c21(i, j) = u3 - c21(i, j);
        c22(i, j) = u3 + p5(i, j);
      }
    }
  }

 private:
  /// Memory for eleven quarters.
  class temporaries {
   public:
    explicit temporaries(std::size_t size)
        : size_{size}, data_{std::make_unique_for_overwrite<double[]>(11 * size * size)} {}
    output operator[](std::size_t i) const { return {data_.get() + i * size_ * size_, size_}; }

   private:
    std::size_t size_;
    std::unique_ptr<double[]> data_;
  };

  std::vector<double> times(std::vector<double> const& matrix, std::vector<double> const& x) const {
    std::vector<double> y(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) y[i] += matrix[i * n_ + j] * x[j];
    }
    return y;
  }

  std::size_t n_;
  std::vector<double> a_, b_, c_;
};

}  // namespace kernels
