// UTS, the Unbalanced Tree Search: counts the nodes of an unpredictable tree. SHA-1 of a node and a child's number
// decides how many children the child has. The sample trees are the published T1, T3 and T3L.
#pragma once

#include <algorithm>  // min
#include <array>
#include <cmath>  // log, floor

#include "kernel.hpp"

namespace kernels {

/// SHA-1 of messages that fit into one block, on words instead of bytes.
class sha1 {
 public:
  using digest = std::array<std::uint32_t, 5>;

  /// The digest of `Words` big-endian words.
  template <std::size_t Words>
  static digest of(std::array<std::uint32_t, Words> const& message) {
    static_assert(Words < 14, "the padding needs three more words of the block");
    block w{};
    for (std::size_t i = 0; i < Words; ++i) w[i] = message[i];
    w[Words] = 0x80000000;
    w[15] = static_cast<std::uint32_t>(Words * 32);
    digest v = initial;
    rounds(v, w, std::make_index_sequence<80>{});
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += initial[i];
    return v;
  }

 private:
  using block = std::array<std::uint32_t, 16>;
  static constexpr digest initial{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

  static constexpr std::uint32_t rotate(std::uint32_t x, int by) { return x << by | x >> (32 - by); }

  template <std::size_t... T>
  [[gnu::always_inline]] static inline void rounds(digest& v, block& w, std::index_sequence<T...>) {
    (round<T>(v, w), ...);
  }

  /// Each round renames the five words instead of moving them. After 80 rounds, a multiple of five, every word has its
  /// first name again.
  template <std::size_t T>
  [[gnu::always_inline]] static inline void round(digest& v, block& w) {
    constexpr std::size_t turn = 80 - T;
    std::uint32_t const a = v[turn % 5], c = v[(turn + 2) % 5], d = v[(turn + 3) % 5];
    std::uint32_t& b = v[(turn + 1) % 5];
    std::uint32_t& e = v[(turn + 4) % 5];
    if constexpr (T >= 16) {
      w[T % 16] = rotate(w[(T + 13) % 16] ^ w[(T + 8) % 16] ^ w[(T + 2) % 16] ^ w[T % 16], 1);
    }
    std::uint32_t mixed;
    if constexpr (T < 20) {
      mixed = ((b & (c ^ d)) ^ d) + 0x5a827999;
    } else if constexpr (T < 40) {
      mixed = (b ^ c ^ d) + 0x6ed9eba1;
    } else if constexpr (T < 60) {
      mixed = ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
    } else {
      mixed = (b ^ c ^ d) + 0xca62c1d6;
    }
    e += rotate(a, 5) + mixed + w[T % 16];
    b = rotate(b, 30);
  }
};

/// Fixed geometric law: at every depth below `deepest` the expected number of children is b.
struct uts_t1_tree {
  static constexpr description about{.name = "uts_t1",
                                     .problem = "nodes of the UTS tree T1: geometric, b = 4, seed 19",
                                     .size_means = "depth limit (T1: 10)",
                                     .smallest = 1,
                                     .largest = 15,
                                     .test = 5,
                                     .usual = 10,
                                     .published = 10};
  static constexpr std::uint32_t seed = 19;
  static constexpr std::uint64_t nodes = 4'130'071;

  static int children(std::size_t deepest, std::size_t depth, double uniform) {
    constexpr double expected = 4;
    constexpr int most = 100;
    if (depth >= deepest) return 0;
    static double const log_of_none = std::log(1 - 1 / (1 + expected));
    return std::min(most, static_cast<int>(std::floor(std::log(1 - uniform) / log_of_none)));
  }
};

/// Binomial law: the root has `of_root` children, every other node M with probability q, otherwise none.
template <int M>
int binomial_children(std::size_t of_root, std::size_t depth, double uniform, double q) {
  if (depth == 0) return static_cast<int>(of_root);
  return uniform < q ? M : 0;
}

struct uts_t3_tree {
  static constexpr description about{.name = "uts_t3",
                                     .problem = "nodes of the UTS tree T3: binomial, q = 0.124875, m = 8, seed 42",
                                     .size_means = "children of the root (T3: 2000)",
                                     .smallest = 1,
                                     .largest = 100'000,
                                     .test = 10,
                                     .usual = 2000,
                                     .published = 2000,
                                     .stack = std::size_t{16} << 20};
  static constexpr std::uint32_t seed = 42;
  static constexpr std::uint64_t nodes = 4'112'897;

  static int children(std::size_t of_root, std::size_t depth, double uniform) {
    return binomial_children<8>(of_root, depth, uniform, 0.124875);
  }
};

/// Nearly all of T3L is below child 128 of its root, so trees of smaller sizes are tiny.
struct uts_t3l_tree {
  static constexpr description about{.name = "uts_t3l",
                                     .problem = "nodes of the UTS tree T3L: binomial, q = 0.200014, m = 5, seed 7",
                                     .size_means = "children of the root (T3L: 2000)",
                                     .smallest = 1,
                                     .largest = 100'000,
                                     .test = 10,
                                     .usual = 100,
                                     .published = 2000,
                                     .stack = std::size_t{128} << 20};
  static constexpr std::uint32_t seed = 7;
  static constexpr std::uint64_t nodes = 111'345'631;

  static int children(std::size_t of_root, std::size_t depth, double uniform) {
    return binomial_children<5>(of_root, depth, uniform, 0.200014);
  }
};

template <class Tree>
class uts {
 public:
  static constexpr description about = Tree::about;

  struct node {
    sha1::digest state;
    std::size_t depth;
  };

  explicit uts(std::size_t size) : size_{size} {}

  void prepare() { result_ = 0; }
  void serial() { result_ = plain(root()); }
  template <class Context>
  void parallel(Context ctx) {
    result_ = forked(ctx, root());
  }
  std::uint64_t result() const { return result_; }

  /// The answer is known for the published size; other sizes are not checked.
  std::string check() const { return size_ == about.published ? expect_equal(result_, Tree::nodes) : std::string{}; }

  static node root() { return {sha1::of(std::array<std::uint32_t, 5>{0, 0, 0, 0, Tree::seed}), 0}; }

  static node child(node const& of, std::uint32_t number) {
    auto const& s = of.state;
    return {sha1::of(std::array<std::uint32_t, 6>{s[0], s[1], s[2], s[3], s[4], number}), of.depth + 1};
  }

  int children(node const& of) const {
    double const uniform = (of.state[4] & 0x7fffffff) / 2147483648.0;
    return Tree::children(size_, of.depth, uniform);
  }

  std::uint64_t plain(node const& from) const {
    std::uint64_t nodes = 1;
    auto const count = static_cast<std::uint32_t>(children(from));
    for (std::uint32_t i = 0; i < count; ++i) nodes += plain(child(from, i));
    return nodes;
  }

  template <class Context>
  std::uint64_t forked(Context ctx, node const& from) const {
    auto const count = static_cast<std::uint32_t>(children(from));
    return count == 0 ? 1 : 1 + subtrees(ctx, from, 0, count);
  }

 private:
  /// Runs one task for each of the children [first, last), and forks them by halving.
  template <class Context>
  std::uint64_t subtrees(Context ctx, node const& from, std::uint32_t first, std::uint32_t last) const {
    if (last - first == 1) return forked(ctx, child(from, first));
    std::uint32_t const middle = first + (last - first) / 2;
    auto const [a, b] =
        ctx.fork_join([this, &from, first, middle](Context c) { return subtrees(c, from, first, middle); },
                      [this, &from, middle, last](Context c) { return subtrees(c, from, middle, last); });
    return a + b;
  }

  std::size_t size_;
  std::uint64_t result_ = 0;
};

using uts_t1 = uts<uts_t1_tree>;
using uts_t3 = uts<uts_t3_tree>;
using uts_t3l = uts<uts_t3l_tree>;

}  // namespace kernels
