// mandelbrot: a picture of the Mandelbrot set, divided into four quarters down to small tiles. The cost of a tile is
// unknown in advance: points of the set take all iterations.
#pragma once

#include <array>
#include <cmath>  // abs, cos
#include <fstream>
#include <numbers>  // pi
#include <stdexcept>
#include <vector>

#include "kernel.hpp"

namespace kernels {

class mandelbrot {
 public:
  static constexpr description about{.name = "mandelbrot",
                                     .problem = "n x n pixels of [-2, 0.5] x [-1.25, 1.25], up to 1000 iterations",
                                     .size_means = "n",
                                     .smallest = 1,
                                     .largest = 20'000,
                                     .test = 70,
                                     .usual = 400,
                                     .published = 4000};
  static constexpr int most_iterations = 1000;
  static constexpr std::size_t tile = 32;

  explicit mandelbrot(std::size_t n) : n_{n} {}

  void prepare() { iterations_.assign(n_ * n_, -1); }
  void serial() { all_pixels({0, 0, n_, n_}); }
  template <class Context>
  void parallel(Context ctx) {
    forked(ctx, {0, 0, n_, n_});
  }
  std::vector<int> const& result() const { return iterations_; }

  /// Checks that the numbers are exactly symmetric to the real axis, and that the area is close to the known one.
  std::string check() const {
    std::size_t inside = 0;
    for (std::size_t y = 0; y < n_; ++y) {
      for (std::size_t x = 0; x < n_; ++x) {
        int const here = iterations_[y * n_ + x];
        inside += here == most_iterations;
        if (here < 0) return fmt::format("pixel {}, {} is missing", x, y);
        if (here != iterations_[(n_ - 1 - y) * n_ + x]) return fmt::format("pixel {}, {} is not symmetric", x, y);
      }
    }
    double const area = 6.25 * static_cast<double>(inside) / static_cast<double>(n_ * n_);
    if (n_ >= 64 && std::abs(area - 1.5066) > 0.1) return fmt::format("the area is {} instead of 1.5066", area);
    return {};
  }

  /// Writes the picture as a binary PPM file.
  void write_drawing(std::string const& file) const {
    std::string pixels;
    pixels.reserve(3 * iterations_.size());
    for (int const i : iterations_) {
      for (unsigned char const channel : color(i)) pixels += static_cast<char>(channel);
    }
    std::ofstream out{file, std::ios::binary};
    out << "P6\n" << n_ << ' ' << n_ << "\n255\n" << pixels;
    if (!out.flush()) throw std::runtime_error{fmt::format("{}: the file cannot be written", file)};
  }

 private:
  struct area {
    std::size_t left, top, right, bottom;
  };

  /// The number of iterations after which the point is known to escape.
  int escape(std::size_t column, std::size_t row) const {
    double const step = 2.5 / static_cast<double>(n_);
    double const x0 = -2 + (static_cast<double>(column) + 0.5) * step;
    // Written so that row and n - 1 - row give exactly opposite numbers.
    double const y0 = (2 * static_cast<double>(row) + 1 - static_cast<double>(n_)) * (step / 2);
    double x = 0, y = 0;
    for (int i = 0; i < most_iterations; ++i) {
      double const xx = x * x, yy = y * y;
      if (xx + yy > 4) return i;
      y = 2 * x * y + y0;
      x = xx - yy + x0;
    }
    return most_iterations;
  }

  void all_pixels(area const& a) {
    for (std::size_t y = a.top; y < a.bottom; ++y) {
      for (std::size_t x = a.left; x < a.right; ++x) iterations_[y * n_ + x] = escape(x, y);
    }
  }

  template <class Context>
  void forked(Context ctx, area a) {
    if (a.right - a.left <= tile && a.bottom - a.top <= tile) {
      all_pixels(a);
      return;
    }
    std::size_t const x = a.left + (a.right - a.left) / 2;
    std::size_t const y = a.top + (a.bottom - a.top) / 2;
    auto const quarter = [this](area q) { return [this, q](Context c) { forked(c, q); }; };
    ctx.fork_join(quarter({a.left, a.top, x, y}), quarter({x, a.top, a.right, y}), quarter({a.left, y, x, a.bottom}),
                  quarter({x, y, a.right, a.bottom}));
  }

  static std::array<unsigned char, 3> color(int iterations) {
    if (iterations == most_iterations) return {0, 0, 0};
    auto const channel = [&](double phase) {
      double const turn = std::sqrt(static_cast<double>(iterations)) / 8 + phase;
      return static_cast<unsigned char>(127.5 - 127.5 * std::cos(2 * std::numbers::pi * turn));
    };
    return {channel(0), channel(0.1), channel(0.25)};
  }

  std::size_t n_;
  std::vector<int> iterations_;
};

}  // namespace kernels
