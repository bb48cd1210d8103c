// The promises of distributed graphs, on processes: large values, exceptions, stops, graphs that differ, runs in
// flight.
#pragma once

#include <heist/distributed.hpp>
#include <heist/executor.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ranks_test {

inline void check(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

inline std::vector<unsigned> pattern(std::size_t size, unsigned seed) {
  std::vector<unsigned> v(size);
  for (std::size_t i = 0; i < size; ++i) v[i] = static_cast<unsigned>(i) * 2654435761u + seed;
  return v;
}

/// In each run as many values must be good here as are expected.
inline void runs_are_good(heist::executor<>& ex, heist::distributed_graph& g, std::atomic<int>& good, int expected,
                          int runs, char const* what) {
  for (int run = 0; run < runs; ++run) {
    good = 0;
    ex.run(g).get();
    check(good == expected, what);
  }
}

/// Values of every size, to every rank, three times.
inline void values_of_every_size(heist::world& world, heist::executor<>& ex) {
  int const n = world.size();
  heist::distributed_graph g{world};
  std::atomic<int> good{0};
  int expected = 0;
  for (std::size_t const size : {0u, 1u, 4u, 4093u, 4094u, 4095u, 4096u, 100'000u, 2'000'000u}) {
    auto const v = g.emplace(heist::on(0), [size] { return pattern(size, 7); });
    for (int r = 0; r < n; ++r) {
      g.emplace(
          heist::on(r), [&good, size](std::vector<unsigned> const& x) { good += x == pattern(size, 7); }, v);
    }
    ++expected;
  }
  runs_are_good(ex, g, good, expected, 3, "large and small values arrive as they were sent");
}

/// Vectors and strings of a few bytes.
inline void values_of_a_few_bytes(heist::world& world, heist::executor<>& ex) {
  int const n = world.size();
  heist::distributed_graph g{world};
  std::atomic<int> good{0};
  int expected = 0;
  for (int i = 0; i < 40; ++i) {
    std::string const text(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    auto const v = g.emplace(heist::on(i % n), [text] { return text; });
    g.emplace(
        heist::on((i + 1) % n), [&good, text](std::string const& x) { good += x == text; }, v);
    expected += (i + 1) % n == world.rank();
  }
  runs_are_good(ex, g, good, expected, 3, "values of a few bytes arrive as they were sent");
}

/// A value that another task of its rank takes and changes, after it was sent.
inline void value_changed_after_it_was_sent(heist::world& world, heist::executor<>& ex) {
  int const n = world.size();
  heist::distributed_graph g{world};
  std::atomic<int> good{0};
  for (int i = 0; i < 4 * n; ++i) {
    std::size_t const size = 20'000u << (i % 4);
    auto const v = g.emplace(heist::on(i % n), [size] { return pattern(size, 5); });
    g.emplace(
        heist::on((i + 1) % n), [&good, size](std::vector<unsigned> const& x) { good += x == pattern(size, 5); }, v);
    g.emplace([](std::vector<unsigned>&& x) { x.assign(x.size(), 0); }, heist::take(v));
  }
  runs_are_good(ex, g, good, 4, 5, "a value is sent before it is changed");
}

/// Many runs in flight.
inline void many_runs_in_flight(heist::world& world, heist::executor<>& ex) {
  int const n = world.size();
  heist::distributed_graph g{world};
  int sum = 0;
  auto v = g.emplace(heist::on(0), [] { return 1; });
  for (int i = 1; i <= 2 * n; ++i)
    v = g.emplace(
        heist::on(i % n), [](int x) { return x + 1; }, heist::take(v));
  g.emplace(
      heist::on(0), [&](int x) { sum += x; }, v);
  std::vector<heist::distributed_run> runs;
  for (int i = 0; i < 20; ++i) runs.push_back(ex.run(g));
  for (auto& r : runs) r.get();
  if (world.rank() == 0) check(sum == 20 * (2 * n + 1), "each run has run");
}

/// An exception on the last rank, then a good run.
inline void exception_and_good_run(heist::world& world, heist::executor<>& ex) {
  int const n = world.size();
  int const last = world.size() - 1;
  heist::distributed_graph g{world};
  bool fail = true;
  auto v = g.emplace(heist::on(last), [&]() -> int {
    if (fail) throw std::runtime_error{"boom"};
    return 1;
  });
  for (int r = 0; r < n; ++r)
    v = g.emplace(
        heist::on(r), [](int x) { return x; }, v);
  for (int i = 0; i < 3; ++i) {
    std::string text;
    try {
      ex.run(g).get();
    } catch (heist::distributed_error const& e) {
      text = e.what();
    }
    check(text == "rank " + std::to_string(last) + ": boom", "the exception is everybody's");
  }
  fail = false;
  ex.run(g).get();
}

/// A stop on one rank.
inline void stop_on_one_rank(heist::world& world, heist::executor<>& ex) {
  int const last = world.size() - 1;
  heist::distributed_graph g{world};
  auto const slow = g.emplace(heist::on(0), [](heist::context c) {
    while (!c.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  });
  g.emplace(
      heist::on(last), [] {}, slow);
  auto run = ex.run(g);
  if (world.rank() == last) run.request_stop();
  run.wait();
  check(run.stopped(), "a stop is everybody's");
}

/// Graphs that differ.
inline void graphs_that_differ(heist::world& world, heist::executor<>& ex) {
  int const n = world.size();
  heist::distributed_graph g{world};
  for (int i = 0; i <= world.rank(); ++i) g.emplace(heist::on(0), [] { return 1; });
  bool rejected = false;
  try {
    ex.run(g).get();
  } catch (heist::graph_error const&) {
    rejected = true;
  }
  check(rejected == (n > 1), "graphs that differ are refused");
}

inline int promises(heist::world& world) {
  heist::executor ex{2};
  values_of_every_size(world, ex);
  values_of_a_few_bytes(world, ex);
  value_changed_after_it_was_sent(world, ex);
  many_runs_in_flight(world, ex);
  exception_and_good_run(world, ex);
  stop_on_one_rank(world, ex);
  graphs_that_differ(world, ex);
  auto const all = world.members();
  check(static_cast<int>(all.size()) == world.size(), "all ranks are known");
  for (auto const& m : all) {
    if (world.rank() == 0) std::printf("rank %d on %s, process %ld\n", m.rank, m.host.c_str(), m.pid);
  }
  return 0;
}

}  // namespace ranks_test
