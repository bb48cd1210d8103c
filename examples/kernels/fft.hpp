// fft: the discrete Fourier transform of 2^k complex numbers (Cilk-5). With n = r m, the input is unshuffled into r
// parts, and each part is transformed. Then m transforms of r numbers each combine the parts, which were multiplied by
// powers of the root of unity. Every step is parallel.
#pragma once

#include <array>
#include <cmath>    // cos, sin, hypot
#include <numbers>  // pi
#include <vector>

#include "kernel.hpp"

namespace kernels {

class fft {
 public:
  static constexpr description about{.name = "fft",
                                     .problem = "discrete Fourier transform of 2^k complex numbers",
                                     .size_means = "k",
                                     .smallest = 0,
                                     .largest = 28,
                                     .test = 11,
                                     .usual = 19,
                                     .published = 26};
  static constexpr std::size_t unshuffle_grain = 16, twiddle_grain = 128, root_grain = 128;  // as in Cilk-5

  struct complex {
    double re, im;
    friend complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
    friend complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
    friend complex operator*(complex a, complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
    bool operator==(complex const&) const = default;
  };

  explicit fft(std::size_t k) : input_(std::size_t{1} << k), in_(input_.size()), out_(in_.size()), roots_(in_.size()) {
    random_numbers random{1};
    for (complex& x : input_) x = {random.unit(), random.unit()};
  }

  void prepare() {
    in_ = input_;
    out_.assign(in_.size(), complex{});
  }
  void serial() { parallel(serial_context{}); }
  template <class Context>
  void parallel(Context ctx) {
    for_range(ctx, 0, in_.size(), root_grain, [this](std::size_t i) { roots_[i] = root(i, roots_.size()); });
    transform(ctx, in_.size(), in_.data(), out_.data());
  }
  std::vector<complex> const& result() const { return out_; }

  /// Checks a few numbers of the result by the definition.
  std::string check() const {
    std::size_t const n = input_.size();
    random_numbers random{2};
    for (int i = 0; i < 4; ++i) {
      std::size_t const k = random.below(n);
      complex sum{};
      for (std::size_t j = 0; j < n; ++j) sum = sum + input_[j] * root(j * k % n, n);
      complex const error = sum - out_[k];
      if (!(std::hypot(error.re, error.im) <= 1e-12 * static_cast<double>(n) + 1e-12))
        return fmt::format("number {} is {}{:+}i instead of {}{:+}i", k, out_[k].re, out_[k].im, sum.re, sum.im);
    }
    return {};
  }

  /// exp(-2 pi i k / n)
  static complex root(std::size_t k, std::size_t n) {
    double const angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    return {std::cos(angle), -std::sin(angle)};
  }

  /// The number of parts of a transform.
  static std::size_t radix(std::size_t n) {
    if (n % 16 == 0 && n > 4096) return 16;
    if (n == 512) return 16;
    return 8;
  }

  /// The transform of R numbers, `stride` apart.
  template <std::size_t R>
  static void small(complex const* in, std::size_t stride, complex* out) {
    if constexpr (R == 1) {
      *out = *in;
    } else {
      static std::array<complex, R / 2> const powers = [] {
        std::array<complex, R / 2> result;
        for (std::size_t k = 0; k < R / 2; ++k) result[k] = root(k, R);
        return result;
      }();
      std::array<complex, R / 2> even, odd;
      small<R / 2>(in, 2 * stride, even.data());
      small<R / 2>(in + stride, 2 * stride, odd.data());
      for (std::size_t k = 0; k < R / 2; ++k) {
        complex const turned = odd[k] * powers[k];
        out[k] = even[k] + turned;
        out[k + R / 2] = even[k] - turned;
      }
    }
  }

  /// Transforms `in` to `out`, and overwrites `in`.
  template <class Context>
  void transform(Context ctx, std::size_t n, complex* in, complex* out) const {
    switch (n) {
      case 1:
        return small<1>(in, 1, out);
      case 2:
        return small<2>(in, 1, out);
      case 4:
        return small<4>(in, 1, out);
      case 8:
        return small<8>(in, 1, out);
      case 16:
        return small<16>(in, 1, out);
      case 32:
        return small<32>(in, 1, out);
      default:
        return radix(n) == 16 ? divide<16>(ctx, n, in, out) : divide<8>(ctx, n, in, out);
    }
  }

 private:
  template <std::size_t R, class Context>
  void divide(Context ctx, std::size_t n, complex* in, complex* out) const {
    std::size_t const m = n / R;
    for_range(ctx, 0, m, unshuffle_grain, [=](std::size_t i) {
      for (std::size_t j = 0; j < R; ++j) out[j * m + i] = in[i * R + j];
    });
    scope_of<Context> parts{ctx};
    for (std::size_t j = 0; j < R; ++j) {
      parts.fork([=, this](Context c) { transform(c, m, out + j * m, in + j * m); });
    }
    parts.join();
    std::size_t const step = roots_.size() / n;
    for_range(ctx, 0, m, twiddle_grain, [=, this](std::size_t i) {
      std::array<complex, R> turned, sums;
      for (std::size_t j = 0; j < R; ++j) turned[j] = in[j * m + i] * roots_[i * j * step];
      small<R>(turned.data(), 1, sums.data());
      for (std::size_t j = 0; j < R; ++j) out[j * m + i] = sums[j];
    });
  }

  std::vector<complex> input_, in_, out_, roots_;
};

}  // namespace kernels
