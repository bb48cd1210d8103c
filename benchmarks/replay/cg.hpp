// Conjugate gradients (NAS cg): a step of the inverse power method, which solves A z = x by 25 iterations.
#pragma once

#include <heist/core/base/config.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>    // abs, sqrt
#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "../locality/options.hpp"
#include "blocks.hpp"
#include "cg_matrix.hpp"

namespace replay {

class cg {
 public:
  static constexpr locality::description about{.name = "cg",
                                               .problem = "NAS conjugate gradients, a power step",
                                               .size_means = "rows n, of a class: 1400, 7000, 14000, 75000",
                                               .smallest = 1400,
                                               .largest = 75'000,
                                               .test = 1400,
                                               .usual = 7000,
                                               .leaf = 224,
                                               .steps = 30};
  static std::size_t bytes_for(std::size_t) { return 0; }
  /// The largest class that needs about so many bytes at most; otherwise the smallest.
  static std::size_t size_for_bytes(std::size_t bytes) {
    std::size_t best = about.smallest;
    for (cg_class const& c : classes) {
      std::size_t const elements = (c.nonzeros + 1) * (c.nonzeros + 1);
      if (c.n * (elements * (sizeof(double) + sizeof(std::uint32_t)) + 5 * sizeof(double)) <= bytes) best = c.n;
    }
    return best;
  }

  explicit cg(locality::settings const& s)
      : class_{class_of(s.size)},
        a_{make_cg_matrix(class_)},
        grain_{s.leaf < finer ? 1 : s.leaf / finer},
        first_sums_(block_size::count(s.size, grain_)),
        second_sums_(first_sums_.size()) {
    for (auto* v : {&x_, &z_, &r_, &p_, &q_}) v->resize(s.size);
  }

  void prepare() {
    x_.assign(x_.size(), 1.0);
    zeta_ = 0;
  }

  static constexpr std::size_t regions() { return 3; }  // locality
  /// In grains, each of which has sums of its own: so they are the same however the rows are divided.
  block_size block() const { return {finer}; }

  template <class Run>
  void step(Run const& run, std::size_t i) {
    box const all{{0, first_sums_.size()}};
    auto const in = [&](std::size_t region, auto const& compute) {
      run(region, all, block(), [this, &compute](box const& b) {
        for (std::size_t g = b.rows.first; g < b.rows.last; ++g) compute(g, rows_of(g));
      });
    };
    in(2, [this](std::size_t g, range rows) { start(g, rows); });
    double rho = sum(first_sums_);
    for (int iteration = 0; iteration < iterations; ++iteration) {
      in(0, [this](std::size_t g, range rows) { first_sums_[g] = multiply(rows); });
      double const alpha = rho / sum(first_sums_);
      in(1, [this, alpha](std::size_t g, range rows) { first_sums_[g] = advance(rows, alpha); });
      double const before = rho;
      rho = sum(first_sums_);
      double const beta = rho / before;
      in(2, [this, beta](std::size_t, range rows) { turn(rows, beta); });
    }
    in(1, [this](std::size_t g, range rows) { compare(g, rows); });
    double const zeta = class_.shift + 1 / sum(first_sums_);
    double const length = 1 / std::sqrt(sum(second_sums_));
    in(2, [this, length](std::size_t, range rows) {
      for (std::size_t k = rows.first; k < rows.last; ++k) x_[k] = length * z_[k];
    });
    if (i + 1 == class_.steps) zeta_ = zeta;
  }

  double work(std::size_t) const { return iterations * static_cast<double>(a_.value.size()); }
  std::size_t bytes() const {
    return a_.value.size() * (sizeof(double) + sizeof(std::uint32_t)) + 5 * x_.size() * sizeof(double);
  }
  std::vector<double> const& result(std::size_t) const { return x_; }

  /// The published eigenvalue.
  std::string check(std::size_t steps) const {
    if (steps < class_.steps || std::abs(zeta_ - class_.zeta) <= 1e-10) return {};
    return fmt::format("zeta is {:.13f} instead of {:.13f}", zeta_, class_.zeta);
  }

 private:
  static constexpr int iterations = 25;
  static constexpr std::array<cg_class, 4> classes{{{1400, 7, 10, 15, 8.5971775078648},
                                                    {7000, 8, 12, 15, 10.362595087124},
                                                    {14'000, 11, 20, 15, 17.130235054029},
                                                    {75'000, 13, 60, 75, 22.712745482631}}};

  static cg_class class_of(std::size_t n) {
    for (cg_class const& c : classes) {
      if (c.n == n) return c;
    }
    throw locality::wrong_input{fmt::format("cg: there is no class of {} rows; {}", n, about.size_means)};
  }

  range rows_of(std::size_t grain) const { return {grain * grain_, std::min((grain + 1) * grain_, x_.size())}; }
  static double sum(std::vector<double> const& parts) {
    double all = 0;
    for (double const part : parts) all += part;
    return all;
  }

  void start(std::size_t grain, range rows) {
    double square = 0;
    for (std::size_t k = rows.first; k < rows.last; ++k) {
      z_[k] = 0;
      p_[k] = r_[k] = x_[k];
      square += r_[k] * r_[k];
    }
    first_sums_[grain] = square;
  }

  /// q = A p; returns p q.
  HEIST_NOINLINE double multiply(range rows) {
    double product = 0;
    for (std::size_t k = rows.first; k < rows.last; ++k) {
      double row = 0;
      for (std::size_t e = a_.row_begin[k]; e < a_.row_begin[k + 1]; ++e) row += a_.value[e] * p_[a_.column[e]];
      q_[k] = row;
      product += p_[k] * row;
    }
    return product;
  }

  /// Moves z along p; returns the sum of the squares of the new residual.
  HEIST_NOINLINE double advance(range rows, double alpha) {
    double square = 0;
    for (std::size_t k = rows.first; k < rows.last; ++k) {
      z_[k] += alpha * p_[k];
      r_[k] -= alpha * q_[k];
      square += r_[k] * r_[k];
    }
    return square;
  }

  void turn(range rows, double beta) {
    for (std::size_t k = rows.first; k < rows.last; ++k) p_[k] = r_[k] + beta * p_[k];
  }

  void compare(std::size_t grain, range rows) {
    double product = 0, square = 0;
    for (std::size_t k = rows.first; k < rows.last; ++k) {
      product += x_[k] * z_[k];
      square += z_[k] * z_[k];
    }
    first_sums_[grain] = product;
    second_sums_[grain] = square;
  }

  cg_class class_;
  sparse_matrix a_;
  std::size_t grain_;  // rows
  std::vector<double> first_sums_, second_sums_;
  std::vector<double> x_, z_, r_, p_, q_;
  double zeta_ = 0;
};

}  // namespace replay
