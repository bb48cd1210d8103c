// Finite differences in the time domain, on a plane (PolyBench's fdtd-2d): the electric field from the magnetic one,
// then the magnetic one from that.
#pragma once

#include <heist/core/base/config.hpp>

#include <fmt/format.h>

#include <cmath>    // abs
#include <cstddef>  // size_t
#include <string>

#include "../locality/plate.hpp"
#include "blocks.hpp"

namespace replay {

class fdtd {
 public:
  static constexpr locality::description about{.name = "fdtd-2d",
                                               .problem = "finite differences in the time domain, three n x n fields",
                                               .size_means = "rows n",
                                               .smallest = 3,
                                               .largest = 32'768,
                                               .test = 200,
                                               .usual = 296,
                                               .leaf = 19,
                                               .steps = 1000};
  static constexpr std::size_t sweeps_per_step = 2;
  static std::size_t bytes_for(std::size_t n) { return 3 * n * n * sizeof(double); }

  explicit fdtd(locality::settings const& s) : ex_{s.size}, ey_{s.size}, hz_{s.size}, leaf_{s.leaf} {}

  void prepare() {
    std::size_t const n = hz_.size();
    auto const scaled = [n](std::size_t i, std::size_t j) {
      return static_cast<double>(i) * static_cast<double>(j) / static_cast<double>(n);
    };
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        ex_[i][j] = scaled(i, j + 1);
        ey_[i][j] = scaled(i, j + 2);
        hz_[i][j] = scaled(i, j + 3);
      }
    }
  }

  static constexpr std::size_t regions() { return 2; }  // locality
  block_size block() const { return {leaf_}; }

  template <class Run>
  void step(Run const& run, std::size_t t) {
    box const all{{0, hz_.size()}};
    run(0, all, block(), [this, t](box const& b) { electric(t, b.rows); });
    run(1, all, block(), [this](box const& b) { magnetic(b.rows); });
  }

  double work(std::size_t) const { return 3 * static_cast<double>(hz_.size() * hz_.size()); }
  std::size_t bytes() const { return bytes_for(hz_.size()); }
  locality::plate const& result(std::size_t) const { return hz_; }

  /// The scheme is stable: what comes in over the edge stays of its size.
  std::string check(std::size_t) const {
    for (std::size_t i = 0; i < hz_.size(); ++i) {
      for (std::size_t j = 0; j < hz_.size(); ++j) {
        if (!(std::abs(hz_[i][j]) < 1e6)) return fmt::format("element {}, {} is {}", i, j, hz_[i][j]);
      }
    }
    return {};
  }

 private:
  static constexpr std::size_t period = 500;  // steps after which the source begins again

  void electric(std::size_t t, range rows) {
    for (std::size_t i = rows.first; i < rows.last; ++i) {
      if (i == 0) {
        for (std::size_t j = 0; j < ey_.size(); ++j) ey_[0][j] = static_cast<double>(t % period);
      } else {
        less_difference(ey_[i], hz_[i], hz_[i - 1], hz_.size());
      }
      less_difference(ex_[i] + 1, hz_[i] + 1, hz_[i], hz_.size() - 1);
    }
  }

  HEIST_NOINLINE static void less_difference(double* to, double const* plus, double const* minus, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) to[j] -= 0.5 * (plus[j] - minus[j]);
  }

  void magnetic(range rows) {
    std::size_t const n = hz_.size();
    for (std::size_t i = rows.first; i < rows.last && i + 1 < n; ++i)
      circulation(hz_[i], ex_[i], ey_[i], ey_[i + 1], n);
  }

  HEIST_NOINLINE static void circulation(double* hz, double const* ex, double const* ey, double const* below,
                                         std::size_t n) {
    for (std::size_t j = 0; j + 1 < n; ++j) hz[j] -= 0.7 * (ex[j + 1] - ex[j] + below[j] - ey[j]);
  }

  locality::plate ex_, ey_, hz_;
  std::size_t leaf_;
};

}  // namespace replay
