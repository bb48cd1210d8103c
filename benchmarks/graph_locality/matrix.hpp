// A matrix in tiles.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "problem.hpp"

namespace graph_locality {

/// Cholesky factors of a symmetric matrix in `side` x `side` tiles, of which the lower ones are kept. Each run starts
/// with a new copy of the matrix.
class cholesky final : public problem {
 public:
  cholesky(std::size_t bytes, std::size_t side) : side_{side}, last_(side * side, none) {
    std::size_t const tiles = side * (side + 1) / 2;
    while ((tile_ + 4) * (tile_ + 4) * tiles * 16 <= bytes) tile_ += 4;
    for (std::size_t i = 0; i != side; ++i) {
      for (std::size_t j = 0; j <= i; ++j) add(kind::take, i, j, 0);
    }
    for (std::size_t k = 0; k != side; ++k) {
      add(kind::potrf, k, k, k);
      for (std::size_t i = k + 1; i != side; ++i) add(kind::trsm, i, k, k, {at(k, k)});
      for (std::size_t i = k + 1; i != side; ++i) {
        for (std::size_t j = k + 1; j <= i; ++j) add(kind::update, i, j, k, {at(i, k), at(j, k)});
      }
    }
    reset();
  }
  std::string name() const override { return "cholesky"; }
  void reset() override {
    std::size_t const n = side_ * tile_;
    given_.assign(side_ * side_, {});
    for (std::size_t i = 0; i != side_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        auto& t = given_[at(i, j)];
        t.resize(tile_ * tile_);
        for (std::size_t r = 0; r != tile_; ++r) {
          for (std::size_t c = 0; c != tile_; ++c) {
            std::size_t const row = i * tile_ + r, column = j * tile_ + c;
            t[r * tile_ + c] = row == column ? static_cast<double>(n) : 1.0 / static_cast<double>(1 + (row ^ column));
          }
        }
      }
    }
    tiles_ = given_;
  }
  double sum() const override {
    double s = 0;
    for (auto const& t : tiles_) {
      for (std::size_t i = 0; i != t.size(); ++i) s += t[i] * static_cast<double>(i % 17 + 1);
    }
    return s;
  }
  std::vector<heist::task<>> build(heist::task_graph& g) override { return build_by_lists(g); }
  std::size_t tasks() const override { return all_.size(); }
  /// Rows of tiles in turn.
  unsigned owner(std::size_t i, unsigned n) const override { return static_cast<unsigned>(all_[i].i % n); }
  std::vector<std::size_t> before(std::size_t i) const override { return all_[i].before; }
  void do_task(std::size_t number) override {
    step const& s = all_[number];
    double* const a = tiles_[at(s.i, s.j)].data();
    switch (s.what) {
      case kind::take:
        tiles_[at(s.i, s.j)] = given_[at(s.i, s.j)];
        return;
      case kind::potrf:
        return factor(a);
      case kind::trsm:
        return solve(a, tiles_[at(s.k, s.k)].data());
      case kind::update:
        return subtract(a, tiles_[at(s.i, s.k)].data(), tiles_[at(s.j, s.k)].data());
    }
  }
  /// Multiplications.
  double elements() const override {
    auto const n = static_cast<double>(side_ * tile_);
    return n * n * n / 6;
  }
  double bytes() const override { return static_cast<double>(side_ * (side_ + 1) / 2 * tile_ * tile_ * 16); }

 private:
  enum class kind { take, potrf, trsm, update };
  struct step {
    kind what;
    std::size_t i, j, k;
    std::vector<std::size_t> before;
  };
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t at(std::size_t i, std::size_t j) const { return i * side_ + j; }

  /// A task that changes tile (i, j), and reads others.
  void add(kind what, std::size_t i, std::size_t j, std::size_t k, std::vector<std::size_t> const& reads = {}) {
    step s{what, i, j, k, {}};
    if (last_[at(i, j)] != none) s.before.push_back(last_[at(i, j)]);
    for (std::size_t const r : reads) {
      if (s.before.empty() || s.before.back() != last_[r]) s.before.push_back(last_[r]);
    }
    last_[at(i, j)] = all_.size();
    all_.push_back(std::move(s));
  }

  void factor(double* a) const {
    for (std::size_t k = 0; k != tile_; ++k) {
      double const root = a[k * tile_ + k] = std::sqrt(a[k * tile_ + k]);
      for (std::size_t i = k + 1; i != tile_; ++i) {
        double const x = a[i * tile_ + k] /= root;
        for (std::size_t j = k + 1; j <= i; ++j) a[i * tile_ + j] -= x * a[j * tile_ + k];
      }
      for (std::size_t j = k + 1; j != tile_; ++j) a[k * tile_ + j] = 0;
    }
  }
  /// a := a * l^-T
  void solve(double* a, double const* l) const {
    for (std::size_t r = 0; r != tile_; ++r) {
      double* const row = a + r * tile_;
      for (std::size_t c = 0; c != tile_; ++c) {
        double x = row[c];
        for (std::size_t k = 0; k != c; ++k) x -= row[k] * l[c * tile_ + k];
        row[c] = x / l[c * tile_ + c];
      }
    }
  }
  /// a := a - x * y^T
  void subtract(double* a, double const* x, double const* y) const {
    for (std::size_t r = 0; r != tile_; ++r) {
      for (std::size_t c = 0; c != tile_; ++c) {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        double const *const p = x + r * tile_, *const q = y + c * tile_;
        for (std::size_t k = 0; k != tile_; k += 4)
          s0 += p[k] * q[k], s1 += p[k + 1] * q[k + 1], s2 += p[k + 2] * q[k + 2], s3 += p[k + 3] * q[k + 3];
        a[r * tile_ + c] -= (s0 + s1) + (s2 + s3);
      }
    }
  }

  std::size_t side_, tile_ = 4;
  std::vector<step> all_;
  std::vector<std::size_t> last_;  ///< the task that changed each tile last
  std::vector<std::vector<double>> given_, tiles_;
};

}  // namespace graph_locality
