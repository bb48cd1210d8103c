// Multigrid (NAS mg; NAS report RNR-94-007, section 3.3.3). A step is a V-cycle for the Poisson equation on a cube
// whose opposite faces meet, and the new residual.
#pragma once

#include <heist/core/base/config.hpp>

#include <fmt/format.h>

#include <algorithm>  // partial_sort
#include <array>
#include <bit>      // has_single_bit, countr_zero
#include <cmath>    // abs, sqrt
#include <cstddef>  // size_t
#include <numeric>  // iota
#include <string>
#include <vector>

#include "../locality/options.hpp"
#include "blocks.hpp"
#include "mg_grid.hpp"
#include "nas_random.hpp"

namespace replay {

class mg {
 public:
  static constexpr locality::description about{.name = "mg",
                                               .problem = "NAS multigrid, a V-cycle",
                                               .size_means = "rows n of an n x n x n cube, a power of two",
                                               .smallest = 4,
                                               .largest = longest_mg_row,
                                               .test = 32,
                                               .usual = 64,
                                               .leaf = 8,
                                               .steps = 40};
  static std::size_t bytes_for(std::size_t n) { return 3 * n * n * n * sizeof(double); }
  static std::size_t size_for_bytes(std::size_t bytes) {
    std::size_t n = about.smallest;
    while (2 * n <= about.largest && bytes_for(2 * n) <= bytes) n *= 2;
    return n;
  }

  explicit mg(locality::settings const& s) : v_{checked(s.size)}, leaf_{s.leaf} {
    for (std::size_t n = 2; n <= s.size; n *= 2) {
      u_.emplace_back(n);
      r_.emplace_back(n);
    }
    place_charges();
  }

  void prepare() {
    for (mg_grid& u : u_) u.clear();
    r_.back() = v_;
    norm_ = 0;
  }

  /// One for each resolution.
  std::size_t regions() const { return u_.size(); }  // locality
  /// Planes and rows.
  block_size block() const { return {leaf_, leaf_}; }

  template <class Run>
  void step(Run const& run, std::size_t i) {
    auto const on = [&](std::size_t level, auto const& compute) {
      std::size_t const n = u_[level].size();
      run(level, box{{0, n}, {0, n}}, block(), [&compute](box const& b) {
        for (std::size_t p = b.rows.first; p < b.rows.last; ++p) {
          for (std::size_t q = b.columns.first; q < b.columns.last; ++q) compute(p, q);
        }
      });
    };
    std::size_t const finest = u_.size() - 1;
    for (std::size_t k = finest; k > 0; --k)
      on(k - 1, [this, k](std::size_t p, std::size_t q) { project(r_[k], r_[k - 1], p, q); });
    on(0, [this](std::size_t p, std::size_t q) { smooth(r_[0], u_[0], p, q, 0); });
    for (std::size_t k = 1; k <= finest; ++k) {
      double const keep = k == finest ? 1 : 0;  // keeps u of the finest grid; other grids are corrections from zero
      mg_grid const& right = k == finest ? v_ : r_[k];
      on(k, [this, k, keep](std::size_t p, std::size_t q) { interpolate(u_[k - 1], u_[k], p, q, keep); });
      on(k, [this, k, &right](std::size_t p, std::size_t q) { residual(u_[k], right, r_[k], p, q); });
      on(k, [this, k](std::size_t p, std::size_t q) { smooth(r_[k], u_[k], p, q, 1); });
    }
    on(finest, [this, finest](std::size_t p, std::size_t q) { residual(u_[finest], v_, r_[finest], p, q); });
    if (i + 1 == published_steps) norm_ = norm(r_[finest]);
  }

  double work(std::size_t) const { return static_cast<double>(v_.size() * v_.size() * v_.size()); }
  std::size_t bytes() const { return bytes_for(v_.size()); }
  mg_grid const& result(std::size_t) const { return u_.back(); }

  /// The published norm of the residual, for the sizes that have one.
  std::string check(std::size_t steps) const {
    if (steps < published_steps) return {};
    for (auto const& [n, wanted] : {std::pair{32, 0.5307707005734e-04}, {128, 0.6467329375339e-05}}) {
      if (v_.size() == static_cast<std::size_t>(n) && !(std::abs(norm_ - wanted) <= 1e-8 * wanted))
        return fmt::format("the residual's norm is {:.13e} instead of {:.13e}", norm_, wanted);
    }
    return norm_ < 1 ? std::string{} : fmt::format("the residual's norm is {}", norm_);
  }

 private:
  static constexpr std::size_t published_steps = 4;

  static std::size_t checked(std::size_t n) {
    if (!std::has_single_bit(n)) throw locality::wrong_input{fmt::format("mg: the size must be a power of two: {}", n)};
    return n;
  }

  /// The ten largest of n x n x n random numbers become 1, the ten smallest -1, all others 0.
  void place_charges() {
    constexpr std::ptrdiff_t charges = 10;
    std::size_t const n = v_.size();
    std::vector<double> numbers(n * n * n);
    nas_random random;
    for (double& x : numbers) x = random();
    std::vector<std::size_t> places(numbers.size());
    auto const put = [&](double charge, auto const& order) {
      std::iota(places.begin(), places.end(), std::size_t{0});
      std::partial_sort(places.begin(), places.begin() + charges, places.end(), order);
      for (std::ptrdiff_t k = 0; k < charges; ++k) {
        std::size_t const place = places[static_cast<std::size_t>(k)];
        double* const row = v_.row(place / (n * n), place / n);
        row[1 + place % n] = charge;
        mg_grid::close(row, n);
      }
    };
    put(-1, [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    put(1, [&](std::size_t a, std::size_t b) { return numbers[a] > numbers[b]; });
  }

  static double norm(mg_grid const& g) {
    std::size_t const n = g.size();
    double sum = 0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = 0; q < n; ++q) {
        for (std::size_t i = 1; i <= n; ++i) sum += g.row(p, q)[i] * g.row(p, q)[i];
      }
    }
    return std::sqrt(sum / static_cast<double>(n * n * n));
  }

  // The operators, each for one row of its result.

  /// r = v - A u.
  HEIST_NOINLINE static void residual(mg_grid const& u, mg_grid const& v, mg_grid& r, std::size_t p, std::size_t q) {
    mg_around const around{u, p, q};
    double const *here = u.row(p, q), *wanted = v.row(p, q);
    double* const to = r.row(p, q);
    for (std::size_t i = 1; i <= u.size(); ++i)
      to[i] = wanted[i] + 8.0 / 3.0 * here[i] - 1.0 / 6.0 * around.two(i) - 1.0 / 12.0 * around.three(i);
    mg_grid::close(to, u.size());
  }

  /// u = keep u + S r.
  HEIST_NOINLINE static void smooth(mg_grid const& r, mg_grid& u, std::size_t p, std::size_t q, double keep) {
    mg_around const around{r, p, q};
    double const* const here = r.row(p, q);
    double* const to = u.row(p, q);
    for (std::size_t i = 1; i <= r.size(); ++i)
      to[i] = keep * to[i] - 3.0 / 8.0 * here[i] + 1.0 / 32.0 * around.one(here, i) - 1.0 / 64.0 * around.two(i);
    mg_grid::close(to, r.size());
  }

  /// The coarse residual: the fine one around the element that stands there.
  HEIST_NOINLINE static void project(mg_grid const& fine, mg_grid& coarse, std::size_t p, std::size_t q) {
    mg_around const around{fine, 2 * p + 1, 2 * q + 1};
    double const* const here = fine.row(2 * p + 1, 2 * q + 1);
    double* const to = coarse.row(p, q);
    for (std::size_t i = 1; i <= coarse.size(); ++i)
      to[i] =
          0.5 * here[2 * i] + 0.25 * around.one(here, 2 * i) + 0.125 * around.two(2 * i) + 0.0625 * around.three(2 * i);
    mg_grid::close(to, coarse.size());
  }

  /// The fine u: keep u, and the mean of the coarse elements nearest to it. Odd planes and rows stand on coarse ones,
  /// even ones between two.
  HEIST_NOINLINE static void interpolate(mg_grid const& coarse, mg_grid& fine, std::size_t p, std::size_t q,
                                         double keep) {
    double const* const lower_left = coarse.row((p + 1) / 2 - 1, (q + 1) / 2 - 1);
    double const* const lower_right = coarse.row((p + 1) / 2 - 1, q / 2);
    double const* const upper_left = coarse.row(p / 2, (q + 1) / 2 - 1);
    double const* const upper_right = coarse.row(p / 2, q / 2);
    double* const to = fine.row(p, q);
    auto const mean = [&](std::size_t i) {
      return 0.25 * ((lower_left[i] + lower_right[i]) + (upper_left[i] + upper_right[i]));
    };
    for (std::size_t i = 0; i < coarse.size(); ++i) {
      double const before = mean(i), here = mean(i + 1);
      to[2 * i + 1] = keep * to[2 * i + 1] + 0.5 * (before + here);
      to[2 * i + 2] = keep * to[2 * i + 2] + here;
    }
    mg_grid::close(to, fine.size());
  }

  mg_grid v_;
  std::vector<mg_grid> u_, r_;
  std::size_t leaf_;
  double norm_ = 0;  // norm of the residual after the published number of steps
};

}  // namespace replay
