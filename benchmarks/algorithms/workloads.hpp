// The measurements of any peer: a class with loop(n, f), sum, scan, sort, find and sweeps. The table leaves out
// functions that a peer lacks.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace bench {

/// As wide as a cache line.
struct wide {
  std::int64_t key;
  std::int64_t more[7];
  friend auto operator<=>(wide const& x, wide const& y) { return x.key <=> y.key; }
  friend bool operator==(wide const& x, wide const& y) { return x.key == y.key; }
};

/// Doubles whose fourth power decides nothing; integers in several orders; strings; rows of a sparse matrix.
struct data {
  /// Half of it is in each of two second-level caches of 1 MiB.
  static constexpr std::size_t plate_size = 196'608, sweeps = 50;

  explicit data(std::size_t elements) : n{elements}, a(n), b(n), out(n) {
    std::mt19937_64 random{1};
    for (std::size_t i = 0; i != n; ++i) a[i] = b[i] = static_cast<double>(random() % 1000);
    given.resize(n);
    for (auto& x : given) x = static_cast<std::int64_t>(random());
    structs.resize(n / 8);
    for (auto& w : structs) w.key = static_cast<std::int64_t>(random());
    words.resize(n / 8);
    for (auto& w : words) w = "key " + std::to_string(random());
    cost.resize(n / 256 + 1);
    for (auto& c : cost) c = static_cast<std::uint32_t>(random() % 512);
    begin.push_back(0);
    for (std::size_t r = 0; begin.back() < n; ++r) begin.push_back(std::min(n, begin.back() + (r % 37 == 0 ? 300 : 3)));
  }
  std::size_t n;
  std::vector<double> a, b, out;
  std::vector<std::int64_t> given, sorted;
  std::vector<wide> structs, sorted_structs;
  std::vector<std::string> words, sorted_words;
  std::vector<double> plate = std::vector<double>(plate_size, 1.0);  ///< data of the repeated loop
  std::vector<std::uint32_t> cost;
  std::vector<std::size_t> begin;  ///< of rows
  double result = 0;
};

inline double expensive(double x, std::size_t steps) {
  for (std::size_t k = 0; k != steps; ++k) x = std::sqrt(x + 1.0);
  return x;
}

enum class row {
  cheap,
  expensive_body,
  triangular,
  random_cost,
  nested,
  sparse,
  sum,
  scan,
  find,
  sort_random,
  sort_sorted,
  sort_equal,
  sort_strings,
  sort_structs,
  short_loop,
  repeated,
  in_region
};
inline constexpr struct {
  row which;
  char const* name;
} rows[] = {{row::cheap, "for_each, cheap"},
            {row::expensive_body, "for_each, dear"},
            {row::triangular, "triangular"},
            {row::random_cost, "random cost"},
            {row::nested, "nested"},
            {row::sparse, "sparse rows"},
            {row::sum, "reduce"},
            {row::scan, "inclusive_scan"},
            {row::find, "find, at 3/4"},
            {row::sort_random, "sort, random"},
            {row::sort_sorted, "sort, sorted"},
            {row::sort_equal, "sort, equal"},
            {row::sort_strings, "sort, strings"},
            {row::sort_structs, "sort, 64-byte structs"},
            {row::short_loop, "1000 short iterations"},
            {row::repeated, "repeated loop in L2"},
            {row::in_region, "the same, in a region"}};

/// Before each measurement, outside of it.
inline void prepare(row which, data& d) {
  if (which == row::sort_random) d.sorted = d.given;
  if (which == row::sort_equal) d.sorted.assign(d.n, 7);
  if (which == row::sort_sorted) {
    d.sorted = d.given;
    std::sort(d.sorted.begin(), d.sorted.end());
  }
  if (which == row::sort_structs) d.sorted_structs = d.structs;
  if (which == row::sort_strings) d.sorted_words = d.words;
}

/// The same loop over and over. A peer's own `sweep(n, times, f)` keeps the parts where they are.
template <class Peer, class F>
void sweep(Peer& peer, std::size_t n, F f) {
  if constexpr (requires { peer.sweep(n, data::sweeps, f); }) {
    peer.sweep(n, data::sweeps, f);
  } else {
    for (std::size_t k = 0; k != data::sweeps; ++k) peer.loop(n, f);
  }
}

/// Peers without something say so.
template <class Peer>
bool has(row which) {
  if constexpr (requires { typename Peer::only_sweeps; }) return which == row::repeated || which == row::in_region;
  switch (which) {
    case row::scan:
      return requires(Peer & p, std::vector<double> & v) {
        p.scan(v, v);
      };
    case row::find:
      return requires(Peer & p, std::vector<std::int64_t> & v) {
        p.find(v, 1);
      };
    case row::sort_random:
    case row::sort_sorted:
    case row::sort_equal:
    case row::sort_strings:
    case row::sort_structs:
      return requires(Peer & p, std::vector<wide> & v) {
        p.sort(v);
      };
    case row::nested:
      return !requires {
        typename Peer::does_not_nest;
      };
    default:
      return true;
  }
}

template <class Peer, class V>
void sort(Peer& peer, V& v) {
  if constexpr (requires { peer.sort(v); }) peer.sort(v);
}

template <class Peer>
void run(row which, data& d, Peer& peer) {
  double *const a = d.a.data(), *const b = d.b.data(), *const out = d.out.data();
  switch (which) {
    case row::cheap:
      return peer.loop(d.n, [=](std::size_t i) { out[i] = a[i] * 0.5 + b[i]; });
    case row::expensive_body:
      return peer.loop(d.n / 256, [=](std::size_t i) { out[i] = expensive(a[i], 256); });
    case row::triangular: {
      auto const n = static_cast<std::size_t>(std::sqrt(static_cast<double>(d.n)));
      return peer.loop(n, [=](std::size_t i) { out[i] = expensive(a[i], i); });
    }
    case row::random_cost: {
      auto const* const cost = d.cost.data();
      return peer.loop(d.n / 256, [=](std::size_t i) { out[i] = expensive(a[i], cost[i]); });
    }
    case row::nested: {
      std::size_t const n = d.n / 1024;
      return peer.loop(n, [=, &peer](std::size_t i) {
        peer.loop(256, [=](std::size_t k) { out[i * 256 + k] = expensive(a[i * 256 + k], 4); });
      });
    }
    case row::sparse: {
      auto const* const begin = d.begin.data();
      return peer.loop(d.begin.size() - 1, [=](std::size_t r) {
        double sum = 0;
        for (std::size_t k = begin[r]; k != begin[r + 1]; ++k) sum += a[k] * b[k];
        out[r] = sum;
      });
    }
    case row::sum:
      d.result = peer.sum(d.a);
      return;
    case row::scan:
      if constexpr (requires { peer.scan(d.a, d.out); }) peer.scan(d.a, d.out);
      return;
    case row::find:
      if constexpr (requires { peer.find(d.given, 1); })
        d.result = static_cast<double>(peer.find(d.given, d.given[d.n / 4 * 3]));
      return;
    case row::sort_random:
    case row::sort_sorted:
    case row::sort_equal:
      return sort(peer, d.sorted);
    case row::sort_strings:
      return sort(peer, d.sorted_words);
    case row::sort_structs:
      return sort(peer, d.sorted_structs);
    case row::repeated:
    case row::in_region: {
      double* const plate = d.plate.data();
      auto const body = [plate](std::size_t i) { plate[i] = plate[i] * 0.999 + 0.001; };
      if constexpr (requires { peer.sweep_in_region(d.n, data::sweeps, body); }) {
        if (which == row::in_region) return peer.sweep_in_region(d.plate.size(), data::sweeps, body);
      }
      return sweep(peer, d.plate.size(), body);
    }
    case row::short_loop:
      return peer.loop(std::min<std::size_t>(d.n, 1000), [=](std::size_t i) { out[i] = a[i] * 0.5 + b[i]; });
  }
}

/// A peer with its workers, behind a pointer.
struct runner {
  virtual ~runner() = default;
  virtual bool has(row which) const = 0;
  virtual void run(row which, data& d) = 0;
  /// Runs `body`, with the functions that it calls, as a task of its own. A peer without tasks calls it.
  virtual void inside(void (*body)(void*), void* env) { body(env); }
};
template <class Peer>
struct runner_of : runner {
  explicit runner_of(std::size_t workers) : peer{workers} {}
  bool has(row which) const override { return bench::has<Peer>(which); }
  void run(row which, data& d) override { bench::run(which, d, peer); }
  void inside(void (*body)(void*), void* env) override {
    if constexpr (requires { peer.inside(body, env); }) {
      peer.inside(body, env);
    } else {
      body(env);
    }
  }
  Peer peer;
};

}  // namespace bench
