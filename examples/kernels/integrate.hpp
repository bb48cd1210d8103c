// integrate: the integral of (x^2 + 1) x from 0 to n (Cilk-5). It halves an interval until a halving changes the area
// of the trapezoids by less than 10^-9.
#pragma once

#include <cmath>  // abs, pow

#include "kernel.hpp"

namespace kernels {

class integrate {
 public:
  static constexpr description about{.name = "integrate",
                                     .problem = "the integral of (x^2 + 1) x from 0 to n by adaptive halving",
                                     .size_means = "n",
                                     .smallest = 1,
                                     .largest = 10'000,
                                     .test = 5,
                                     .usual = 500,
                                     .published = 10'000};
  static constexpr double tolerance = 1e-9;

  explicit integrate(std::size_t n) : n_{static_cast<double>(n)} {}

  static double f(double x) { return (x * x + 1) * x; }

  void prepare() { result_ = -1; }
  void serial() { result_ = plain(0, f(0), n_, f(n_), 0); }
  template <class Context>
  void parallel(Context ctx) {
    result_ = forked(ctx, 0, f(0), n_, f(n_), 0);
  }
  double result() const { return result_; }

  std::string check() const {
    double const wanted = n_ * n_ * (n_ * n_ / 4 + 0.5);
    // About 1000 n^(4/3) intervals add an error below the tolerance each.
    double const bound = tolerance * 1000 * std::pow(n_, 4.0 / 3) + 1e-10 * wanted;
    return std::abs(result_ - wanted) <= bound ? std::string{} : expect_equal(result_, wanted);
  }

  static double plain(double x1, double y1, double x2, double y2, double area) {
    auto const [half, x0, y0, left, right] = halve(x1, y1, x2, y2);
    double const refined = left + right;
    if (std::abs(refined - area) < tolerance) return refined;
    double const a = plain(x1, y1, x0, y0, left);
    return a + plain(x0, y0, x2, y2, right);
  }

  template <class Context>
  static double forked(Context ctx, double x1, double y1, double x2, double y2, double area) {
    auto const h = halve(x1, y1, x2, y2);
    // Lambdas copy numbers more cheaply than parts of an object.
    double const x0 = h.x0, y0 = h.y0, left = h.left, right = h.right;
    double const refined = left + right;
    if (std::abs(refined - area) < tolerance) return refined;
    auto const [a, b] = ctx.fork_join([=](Context c) { return forked(c, x1, y1, x0, y0, left); },
                                      [=](Context c) { return forked(c, x0, y0, x2, y2, right); });
    return a + b;
  }

 private:
  struct halves {
    double half, x0, y0, left, right;
  };

  static halves halve(double x1, double y1, double x2, double y2) {
    double const half = (x2 - x1) / 2;
    double const x0 = x1 + half;
    double const y0 = f(x0);
    return {half, x0, y0, (y1 + y0) / 2 * half, (y0 + y2) / 2 * half};
  }

  double n_;
  double result_ = -1;
};

}  // namespace kernels
