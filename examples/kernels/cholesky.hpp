// cholesky: factorises a sparse symmetric matrix, A = L L^T (Cilk-5, Wool). The matrix is a quad-tree: a part without
// nonzeros is an empty pointer, and leaves are 4 x 4 blocks. As in Wool's Table 1, there are four nonzeros per row, at
// random places.
#pragma once

#include <algorithm>  // min
#include <array>
#include <cmath>  // sqrt, abs
#include <memory>
#include <stdexcept>
#include <variant>
#include <vector>

#include "kernel.hpp"

namespace kernels {

class cholesky {
 public:
  static constexpr description about{.name = "cholesky",
                                     .problem = "factorise a sparse symmetric n x n matrix kept as a quad-tree",
                                     .size_means = "rows n",
                                     .smallest = 1,
                                     .largest = 8000,
                                     .test = 100,
                                     .usual = 1000,
                                     .published = 2000};
  static constexpr int block_depth = 2;
  static constexpr std::size_t block_size = std::size_t{1} << block_depth;

  struct node;
  using tree = std::unique_ptr<node>;  // empty: all zero
  using block = std::array<std::array<double, block_size>, block_size>;
  using quarters = std::array<tree, 4>;  // 00, 01, 10, 11
  struct node {
    std::variant<quarters, block> content;

    tree& operator[](std::size_t i) { return std::get<quarters>(content)[i]; }
    tree const& operator[](std::size_t i) const { return std::get<quarters>(content)[i]; }
    block& leaf() { return std::get<block>(content); }
    block const& leaf() const { return std::get<block>(content); }
  };

  explicit cholesky(std::size_t n) : n_{n} {
    constexpr std::size_t nonzeros_per_row = 4;
    while (std::size_t{1} << depth_ < n) ++depth_;
    for (std::size_t i = 0; i < std::size_t{1} << depth_; ++i) at(a_, depth_, i, i) = 1;  // beyond n: the identity
    random_numbers random{1};
    std::size_t const below_diagonal = std::min(n * (nonzeros_per_row - 1), n * (n - 1) / 2);
    for (std::size_t i = 0; i < below_diagonal;) {
      std::size_t const row = random.below(n), column = random.below(n);
      if (row <= column) continue;
      double& element = at(a_, depth_, row, column);
      if (element != 0) continue;
      element = 0.1;
      ++i;
    }
  }

  void prepare() { l_ = copy(a_); }
  void serial() { factorise(serial_context{}, depth_, *l_); }
  template <class Context>
  void parallel(Context ctx) {
    factorise(ctx, depth_, *l_);
  }

  /// The nonzeros of L in the order of the tree.
  std::vector<double> result() const {
    std::vector<double> values;
    for_each(l_, depth_, 0, 0, [&](std::size_t, std::size_t, double value) { values.push_back(value); });
    return values;
  }

  /// Checks that L (L^T x) = A x for random x, up to rounding.
  std::string check() const {
    random_numbers random{2};
    std::vector<double> x(std::size_t{1} << depth_);
    for (double& value : x) value = random.unit();
    auto wanted = x, upper = x, got = x;
    for (auto* y : {&wanted, &upper, &got}) y->assign(x.size(), 0);
    for_each(a_, depth_, 0, 0, [&](std::size_t row, std::size_t column, double value) {
      wanted[row] += value * x[column];
      if (row != column) wanted[column] += value * x[row];
    });
    for_each(l_, depth_, 0, 0, [&](std::size_t row, std::size_t column, double v) { upper[column] += v * x[row]; });
    for_each(l_, depth_, 0, 0, [&](std::size_t row, std::size_t column, double v) { got[row] += v * upper[column]; });
    for (std::size_t i = 0; i < n_; ++i) {
      if (!(std::abs(got[i] - wanted[i]) <= 1e-9))
        return fmt::format("row {} of L L^T x is {} instead of {}", i, got[i], wanted[i]);
    }
    return {};
  }

  /// a becomes its own Cholesky factor; only the lower triangle is read and written.
  template <class Context>
  static void factorise(Context ctx, int depth, node& a) {
    if (depth == block_depth) {
      factorise(a.leaf());
      return;
    }
    --depth;
    if (a[2] == nullptr) {
      ctx.fork_join([&](Context c) { factorise(c, depth, *a[0]); }, [&](Context c) { factorise(c, depth, *a[3]); });
      return;
    }
    factorise(ctx, depth, *a[0]);
    back_substitute(ctx, depth, *a[2], *a[0]);
    subtract_product(ctx, depth, true, *a[2], *a[2], a[3]);
    factorise(ctx, depth, *a[3]);
  }

  /// b becomes the solution X of X L^T = b.
  template <class Context>
  static void back_substitute(Context ctx, int depth, node& b, node const& l) {
    if (depth == block_depth) {
      back_substitute(b.leaf(), l.leaf());
      return;
    }
    --depth;
    auto const row = [&b, &l, depth](std::size_t left) {
      return [&b, &l, depth, left](Context c) {
        tree &first = b[left], &second = b[left + 1];
        if (first != nullptr) {
          back_substitute(c, depth, *first, *l[0]);
          if (l[2] != nullptr) subtract_product(c, depth, false, *first, *l[2], second);
        }
        if (second != nullptr) back_substitute(c, depth, *second, *l[3]);
      };
    };
    ctx.fork_join(row(0), row(2));
  }

  /// r -= a b^T; `lower`: only the lower triangle of r.
  template <class Context>
  static void subtract_product(Context ctx, int depth, bool lower, node const& a, node const& b, tree& r) {
    if (depth == block_depth) {
      if (r == nullptr) r = std::make_unique<node>(node{block{}});
      subtract_product(lower, a.leaf(), b.leaf(), r->leaf());
      return;
    }
    --depth;
    if (r == nullptr) r = std::make_unique<node>();
    // Subtracts a(i, k) b(j, k)^T from quarter (i, j) of r, for k = 0, then for k = 1.
    for (std::size_t k : {0u, 1u}) {
      auto const quarter = [&, depth, lower, k](std::size_t i, std::size_t j) {
        return [&, depth, lower, i, j, k](Context c) {
          if (lower && i < j) return;
          tree const &left = a[2 * i + k], &right = b[2 * j + k];
          if (left != nullptr && right != nullptr)
            subtract_product(c, depth, lower && i == j, *left, *right, (*r)[2 * i + j]);
        };
      };
      ctx.fork_join(quarter(0, 0), quarter(0, 1), quarter(1, 0), quarter(1, 1));
    }
    auto const& content = std::get<quarters>(r->content);
    if (content[0] == nullptr && content[1] == nullptr && content[2] == nullptr && content[3] == nullptr) r.reset();
  }

  // The same three functions for blocks.

  static void factorise(block& b) {
    for (std::size_t k = 0; k < block_size; ++k) {
      if (!(b[k][k] > 0)) throw std::runtime_error{"cholesky: the matrix is not positive definite"};
      double const root = std::sqrt(b[k][k]);
      for (std::size_t i = k; i < block_size; ++i) b[i][k] /= root;
      for (std::size_t j = k + 1; j < block_size; ++j) {
        for (std::size_t i = j; i < block_size; ++i) b[i][j] -= b[i][k] * b[j][k];
      }
    }
  }

  static void back_substitute(block& b, block const& l) {
    for (std::size_t i = 0; i < block_size; ++i) {
      for (std::size_t j = 0; j < block_size; ++j) {
        for (std::size_t k = 0; k < i; ++k) b[j][i] -= l[i][k] * b[j][k];
        b[j][i] /= l[i][i];
      }
    }
  }

  static void subtract_product(bool lower, block const& a, block const& b, block& r) {
    for (std::size_t i = 0; i < block_size; ++i) {
      for (std::size_t j = 0; j < (lower ? i + 1 : block_size); ++j) {
        for (std::size_t k = 0; k < block_size; ++k) r[i][j] -= a[i][k] * b[j][k];
      }
    }
  }

 private:
  /// Returns the element, and creates its block if it is missing.
  static double& at(tree& t, int depth, std::size_t row, std::size_t column) {
    if (depth <= block_depth) {
      if (t == nullptr) t = std::make_unique<node>(node{block{}});
      return t->leaf()[row][column];
    }
    if (t == nullptr) t = std::make_unique<node>();
    std::size_t const half = std::size_t{1} << --depth;
    return at((*t)[2 * (row / half) + column / half], depth, row % half, column % half);
  }

  static tree copy(tree const& t) {
    if (t == nullptr) return nullptr;
    if (auto const* leaf = std::get_if<block>(&t->content)) return std::make_unique<node>(node{*leaf});
    auto result = std::make_unique<node>();
    for (std::size_t i = 0; i < 4; ++i) (*result)[i] = copy((*t)[i]);
    return result;
  }

  template <class F>
  static void for_each(tree const& t, int depth, std::size_t row, std::size_t column, F const& f) {
    if (t == nullptr) return;
    if (depth == block_depth) {
      for (std::size_t i = 0; i < block_size; ++i) {
        for (std::size_t j = 0; j < block_size; ++j) {
          if (t->leaf()[i][j] != 0) f(row + i, column + j, t->leaf()[i][j]);
        }
      }
      return;
    }
    std::size_t const half = std::size_t{1} << --depth;
    for (std::size_t i = 0; i < 4; ++i) for_each((*t)[i], depth, row + i / 2 * half, column + i % 2 * half, f);
  }

  std::size_t n_;
  int depth_ = block_depth;
  tree a_, l_;
};

}  // namespace kernels
