// A grid of numbers in blocks, each block a task.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "problem.hpp"

namespace graph_locality {

/// Five-point heat (Jacobi), two arrays, strips of rows, an even number of steps in a run.
class heat final : public problem {
 public:
  heat(std::size_t bytes, std::size_t row_blocks, std::size_t steps) : row_blocks_{row_blocks}, steps_{steps} {
    while ((n_ + 8) * (n_ + 8) * 16 <= bytes) n_ += 8;
    reset();
  }
  std::string name() const override { return "heat"; }
  void reset() override {
    for (auto& a : plate_) {
      a.assign(n_ * n_, 1.0);
      for (std::size_t i = 0; i != a.size(); ++i) a[i] += static_cast<double>(i * 7919 % 1000) / 1000;
    }
  }
  double sum() const override {
    double s = 0;
    for (std::size_t i = 0; i != n_ * n_; ++i) s += plate_[0][i] * static_cast<double>(i % 17 + 1);
    return s;
  }
  std::vector<heist::task<>> build(heist::task_graph& g) override { return build_by_lists(g); }
  std::size_t tasks() const override { return row_blocks_ * steps_; }
  unsigned owner(std::size_t i, unsigned n) const override {
    return static_cast<unsigned>(i % row_blocks_ * n / row_blocks_);
  }
  std::vector<std::size_t> before(std::size_t i) const override {
    std::vector<std::size_t> all;
    if (i < row_blocks_) return all;
    std::size_t const b = i % row_blocks_, above = i - row_blocks_;
    all.push_back(above);
    if (b > 0) all.push_back(above - 1);
    if (b + 1 < row_blocks_) all.push_back(above + 1);
    return all;
  }
  void do_task(std::size_t i) override {
    std::size_t const step = i / row_blocks_, b = i % row_blocks_;
    double const* const from = plate_[step % 2].data();
    double* const to = plate_[1 - step % 2].data();
    std::size_t const first = 1 + (n_ - 2) * b / row_blocks_, last = 1 + (n_ - 2) * (b + 1) / row_blocks_;
    for (std::size_t r = first; r != last; ++r) {
      double const* const at = from + r * n_;
      for (std::size_t c = 1; c + 1 < n_; ++c)
        to[r * n_ + c] = 0.5 * at[c] + 0.125 * (at[c - 1] + at[c + 1] + at[c - n_] + at[c + n_]);
    }
  }
  double elements() const override { return static_cast<double>((n_ - 2) * (n_ - 2) * steps_); }
  double bytes() const override { return static_cast<double>(n_ * n_ * 16); }

 private:
  std::size_t n_ = 8, row_blocks_, steps_;
  std::vector<double> plate_[2];
};

/// Gauss-Seidel in place: blocks of a square, each after the one above and the one to the left.
class wavefront final : public problem {
 public:
  wavefront(std::size_t bytes, std::size_t side) : side_{side} {
    while ((n_ + 8) * (n_ + 8) * 8 <= bytes) n_ += 8;
    reset();
  }
  std::string name() const override { return "wavefront"; }
  void reset() override {
    plate_.assign(n_ * n_, 1.0);
    for (std::size_t i = 0; i != plate_.size(); ++i) plate_[i] += static_cast<double>(i * 7919 % 1000) / 1000;
  }
  double sum() const override {
    double s = 0;
    for (std::size_t i = 0; i != plate_.size(); ++i) s += plate_[i] * static_cast<double>(i % 17 + 1);
    return s;
  }
  std::vector<heist::task<>> build(heist::task_graph& g) override { return build_by_lists(g); }
  std::size_t tasks() const override { return side_ * side_; }
  /// Columns of blocks side by side.
  unsigned owner(std::size_t i, unsigned n) const override { return static_cast<unsigned>(i % side_ * n / side_); }
  std::vector<std::size_t> before(std::size_t i) const override {
    std::vector<std::size_t> all;
    if (i >= side_) all.push_back(i - side_);
    if (i % side_ != 0) all.push_back(i - 1);
    return all;
  }
  void do_task(std::size_t i) override {
    std::size_t const row = i / side_, column = i % side_;
    std::size_t const r0 = 1 + (n_ - 2) * row / side_, r1 = 1 + (n_ - 2) * (row + 1) / side_;
    std::size_t const c0 = 1 + (n_ - 2) * column / side_, c1 = 1 + (n_ - 2) * (column + 1) / side_;
    for (std::size_t r = r0; r != r1; ++r) {
      double* const at = plate_.data() + r * n_;
      for (std::size_t c = c0; c != c1; ++c) at[c] = 0.5 * at[c] + 0.25 * at[c - n_] + 0.125 * (at[c + n_] + at[c + 1]);
    }
  }
  double elements() const override { return static_cast<double>((n_ - 2) * (n_ - 2)); }
  double bytes() const override { return static_cast<double>(n_ * n_ * 8); }

 private:
  std::size_t n_ = 8, side_;
  std::vector<double> plate_;
};

}  // namespace graph_locality
