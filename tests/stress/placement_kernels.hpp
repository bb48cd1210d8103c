// Kernels whose tasks know where they should run, and check it.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/topology.hpp>

#include <algorithm>  // copy, merge, shuffle, sort
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <numeric>  // iota
#include <optional>
#include <random>
#include <tuple>    // apply
#include <utility>  // index_sequence
#include <vector>

#include "support/slow.hpp"
#include "support/yield.hpp"

namespace placement_kernels {

using heist_test::slow;

// --- what tasks check themselves ---

/// Shared by the tasks of a run.
struct watch {
  explicit watch(heist::topology::squads const& squads) : squads{squads} {}

  void hold(bool right) {
    checks.fetch_add(1, std::memory_order_relaxed);                   // relaxed: a count
    if (!right) wrong_place.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  }

  /// Lets other workers in, which on two cores get no chance otherwise before a run is over.
  void linger() {
    std::size_t const n = visits.fetch_add(1, std::memory_order_relaxed);  // relaxed: any number will do
    for (std::size_t i = n * 2654435761u >> 7 & 3; i != 0; --i) heist_test::yield();
  }

  heist::topology::squads const& squads;
  std::atomic<std::size_t> checks{0}, wrong_place{0}, visits{0};
};

enum class division { flat, by_level, by_profile, by_hand };

/// Where a task is in its region's tree, as far as the kernel can work it out without asking the library.
struct place {
  watch* seen;
  division how = division::flat;
  std::uint32_t boundary = 0;                      ///< by_level, by_hand: the leaf inter-squad tasks' level
  heist::region_profile const* profile = nullptr;  ///< by_profile
  std::uint32_t level = 1;
  std::uint32_t entry = 0;
  std::uint32_t spawned = 0;
  std::optional<std::size_t> squad = std::nullopt;  ///< where its leaf inter-squad ancestor runs
  bool in_group = false;                            ///< a scope's child, which may run on any worker of its squad
  bool unknown = false;                             ///< the trace tells it

  bool tiers() const { return how != division::flat && !unknown; }
  bool leaf() const {
    if (how != division::by_profile) return level >= boundary;
    return entry == heist::region_profile::no_entry || (*profile)[entry].tier != heist::task_tier::inter;
  }

  /// The first thing that a task does.
  template <class Context>
  void arrive(Context c) {
    seen->linger();
    if (!tiers()) return;
    if (!squad) {
      if (!in_group) seen->hold(seen->squads.head[c.squad_id()] == c.worker_id());
      if (in_group || leaf()) squad = c.squad_id();
    }
    stay(c);
  }
  /// Anywhere in a task.
  template <class Context>
  void stay(Context c) const {
    if (tiers() && squad) seen->hold(c.squad_id() == *squad);
  }

  place child() {
    place p = *this;
    p.spawned = 0;
    p.in_group = false;
    ++p.level;
    if (how == division::by_profile) p.entry = profile->lookup(entry, spawned);
    ++spawned;
    return p;
  }
  template <class Context>
  place child_of_scope(Context c) {
    place p = child();
    if (!tiers() || squad) return p;
    if (how == division::by_hand) p.squad = c.squad_id();  // of a frame that makes no inter-squad tasks by this
    if (how == division::by_level) {
      p.in_group = true;
      p.unknown = p.level < boundary;  // depends on how many children there are
    }
    return p;
  }
};

/// Forks f(context, place) ...; by hand, inter-squad tasks above the boundary.
template <class Context, class... F>
auto fork(Context c, place& p, F... f) {
  place const children[] = {(static_cast<void>(f), p.child())...};
  auto const all = [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto task = [&](auto& function, place const& of) {
      return [&function, of](Context d) {
        place mine = of;
        mine.arrive(d);
        auto const result = function(d, mine);
        mine.stay(d);
        return result;
      };
    };
    if (p.how == division::by_hand && !p.leaf()) return c.inter_fork(task(f, children[I])...);
    return c.fork_join(task(f, children[I])...);
  };
  auto const sum = std::apply([](auto... x) { return (x + ...); }, all(std::index_sequence_for<F...>{}));
  p.stay(c);
  return sum;
}

// --- kernels: kernel(context, place) -> long, and the expected result ---

/// So much for the cache of a squad, of which there is 1 MiB, as makes four of them a leaf inter-squad task for CATS.
inline constexpr std::uint64_t leaf_bytes = 256 << 10;

struct fib {
  static constexpr char const* name = "fib";
  static long serial(long n) { return n < 2 ? n : serial(n - 1) + serial(n - 2); }
  long expected() const { return serial(n); }
  void prepare() {}

  template <class Context>
  long operator()(Context c, place& p) const {
    return run(c, p, n);
  }
  template <class Context>
  static long run(Context c, place& p, long n) {
    if (n < 8) {
      c.footprint(leaf_bytes);
      return serial(n);
    }
    return fork(
        c, p, [n](Context d, place& q) { return run(d, q, n - 1); },
        [n](Context d, place& q) { return run(d, q, n - 2); });
  }
  long n = slow ? 13 : 16;
};

/// Five points to one, rows halved.
struct heat {
  static constexpr char const* name = "heat";
  static constexpr long rows = 64, columns = 40, grain = 2;

  void prepare() { make(from, to); }
  static void make(std::vector<long>& from, std::vector<long>& to) {
    from.assign(rows * columns, 0);
    to.assign(rows * columns, 0);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<long>(i * 2654435761u % 1000);
  }
  static long row(std::vector<long> const& a, std::vector<long>& b, long y) {
    long sum = 0;
    for (long x = 0; x < columns; ++x) {
      auto const at = [&](long i, long j) {
        return i < 0 || i >= rows || j < 0 || j >= columns ? 0 : a[static_cast<std::size_t>(i * columns + j)];
      };
      long const value = (4 * at(y, x) + at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1)) / 8;
      b[static_cast<std::size_t>(y * columns + x)] = value;
      sum += value;
    }
    return sum;
  }
  long expected() const {
    std::vector<long> a, b;
    make(a, b);
    long sum = 0;
    for (long y = 0; y < rows; ++y) sum += row(a, b, y);
    return sum;
  }
  template <class Context>
  long operator()(Context c, place& p) {
    return run(c, p, 0, rows);
  }
  template <class Context>
  long leaf(Context c, long first, long last) {
    c.footprint(leaf_bytes);
    long sum = 0;
    for (long y = first; y < last; ++y) sum += row(from, to, y);
    return sum;
  }
  template <class Context>
  long run(Context c, place& p, long first, long last) {
    if (last - first <= grain) return leaf(c, first, last);
    long const middle = (first + last) / 2;
    return fork(
        c, p, [=, this](Context d, place& q) { return run(d, q, first, middle); },
        [=, this](Context d, place& q) { return run(d, q, middle, last); });
  }
  std::vector<long> from, to;
};

/// The unbalanced tree of CATS' Algorithm 1.
struct unbalanced_heat : heat {
  static constexpr char const* name = "heat-ub";
  template <class Context>
  long operator()(Context c, place& p) {
    return run(c, p, 0, rows);
  }
  template <class Context>
  long run(Context c, place& p, long first, long last) {
    if (last - first <= 4) return leaf(c, first, last);
    long const middle = (first + last) / 2;
    return fork(
        c, p, [=, this](Context d, place& q) { return run2(d, q, first, middle); },
        [=, this](Context d, place& q) { return run(d, q, middle, last); });
  }
  template <class Context>
  long run2(Context c, place& p, long first, long last) {
    if (last - first <= 4) return leaf(c, first, last);
    long const quarter = (last - first) / 4;
    return fork(
        c, p, [=, this](Context d, place& q) { return run(d, q, first, first + quarter); },
        [=, this](Context d, place& q) { return run(d, q, first + quarter, first + 2 * quarter); },
        [=, this](Context d, place& q) { return run2(d, q, first + 2 * quarter, first + 3 * quarter); },
        [=, this](Context d, place& q) { return run(d, q, first + 3 * quarter, last); });
  }
};

/// Merges two at a time; the result is the number of elements that are where they belong.
struct mergesort {
  static constexpr char const* name = "mergesort";
  static constexpr long size = 4096, grain = 128;

  void prepare() {
    values.resize(size);
    buffer.resize(size);
    std::iota(values.begin(), values.end(), 0L);
    std::shuffle(values.begin(), values.end(), std::mt19937_64{5});
  }
  long expected() const { return size; }
  template <class Context>
  long operator()(Context c, place& p) {
    sort(c, p, 0, size);
    long right = 0;
    for (long i = 0; i < size; ++i) right += values[static_cast<std::size_t>(i)] == i;
    return right;
  }
  template <class Context>
  long sort(Context c, place& p, long first, long last) {
    auto const at = [](std::vector<long>& v, long i) { return v.begin() + i; };
    if (last - first <= grain) {
      c.footprint(leaf_bytes);
      std::sort(at(values, first), at(values, last));
      return 0;
    }
    long const middle = (first + last) / 2;
    fork(
        c, p, [=, this](Context d, place& q) { return sort(d, q, first, middle); },
        [=, this](Context d, place& q) { return sort(d, q, middle, last); });
    std::merge(at(values, first), at(values, middle), at(values, middle), at(values, last), at(buffer, first));
    std::copy(at(buffer, first), at(buffer, last), at(values, first));
    return 0;
  }
  std::vector<long> values, buffer;
};

/// A scope with many children, each of which forks.
template <class Context>
void many(Context c, place& p, int children, std::atomic<long>& n) {
  heist::scope s{c};
  for (int i = 0; i < children; ++i) {
    s.fork([&n, of = p.child_of_scope(c)](Context d) {
      place mine = of;
      mine.arrive(d);
      n.fetch_add(fib::run(d, mine, 10), std::memory_order_relaxed);  // relaxed: the scope's join orders it
      mine.stay(d);
    });
  }
  s.join();
  p.stay(c);
}

struct flat_scope {
  static constexpr char const* name = "flat scope";
  static constexpr int children = slow ? 40 : 100;
  void prepare() {}
  long expected() const { return 2 * children * 55; }
  template <class Context>
  long operator()(Context c, place& p) const {
    std::atomic<long> n{0};
    many(c, p, children, n);
    many(c, p, children, n);  // the same frame once more
    return n;
  }
};

/// Scopes in the frames of a fork_join tree.
struct scopes_in_forks {
  static constexpr char const* name = "scopes in forks";
  static constexpr int depth = slow ? 4 : 5, children = 6;
  void prepare() {}
  long expected() const { return ((1 << depth) - 1) * children * 55; }
  template <class Context>
  long operator()(Context c, place& p) const {
    std::atomic<long> n{0};
    tree(c, p, depth, n);
    return n;
  }
  template <class Context>
  static long tree(Context c, place& p, int left, std::atomic<long>& n) {
    if (left == 0) return 0;
    fork(
        c, p, [&n, left](Context d, place& q) { return tree(d, q, left - 1, n); },
        [&n, left](Context d, place& q) { return tree(d, q, left - 1, n); });
    many(c, p, children, n);
    return 0;
  }
};

}  // namespace placement_kernels
