// Distributed graphs on ranks of one process, whose messages come late, in any order, twice, or not at all.
#include <heist/distributed/graph.hpp>
#include <heist/executor.hpp>
#include <heist/fork_join.hpp>
#include <heist/tiers.hpp>
#include <heist/topology.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/random_distributed.hpp"
#include "support/ranks.hpp"
#include "support/texts.hpp"

using heist::distributed::faults;
using heist_test::expect;
using heist_test::on_ranks;
using heist_test::wrong;

namespace {

template <class Context>
long sum(Context c, int const* from, std::size_t n) {
  if (n <= 50) return std::accumulate(from, from + n, 0L);
  auto const [a, b] = c.fork_join([=](Context half) { return sum(half, from, n / 2); },
                                  [=](Context half) { return sum(half, from + n / 2, n - n / 2); });
  return a + b;
}

}  // namespace

TEST_CASE("random graphs on ranks leave what one process leaves", "[distributed]") {
  wrong = 0;
  for (int const ranks : {1, 2, 4}) {
    for (unsigned late : {0u, 20u}) {
      std::uint64_t const messages = on_ranks(ranks, faults{.late = late, .twice = 3}, {}, [&](heist::world& w) {
        // Ranks with different numbers of workers, one of them with one.
        heist::executor ex{static_cast<std::size_t>(1 + w.rank() % 2)};
        for (unsigned seed = 0; seed < 50; ++seed)
          wrong += heist_test::random_distributed{seed + late, ranks, 40}.play(w, ex);
      });
      CHECK((messages > 0) == (ranks > 1));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("one template builds a graph for one process and for many", "[distributed]") {
  heist::executor ex{2};
  heist_test::random_distributed plan{4, 3, 60};
  heist::task_graph g;
  auto const made = plan.build(g);
  ex.run(g).get();
  CHECK(made.size() == 60);
}

TEST_CASE("a graph that is destroyed by a task waits for its run, also where there is no stack to wait on",
          "[distributed]") {
  wrong = 0;
  on_ranks(2, {}, {}, [&](heist::world& w) {
    heist::executor ex{1}, alone{heist::options{.workers = 1, .max_fibers = 1}};
    auto g = std::make_unique<heist::distributed_graph>(w);
    g->emplace(heist::on(1), [] { std::this_thread::sleep_for(std::chrono::milliseconds{50}); });
    auto const run = ex.run(*g);
    alone.submit([&] { g.reset(); }).get();
    expect(run.is_ready());
    run.get();
  });
  CHECK(wrong == 0);
}

TEST_CASE("several runs are in flight, of several graphs, and end in order", "[distributed]") {
  wrong = 0;
  on_ranks(3, faults{.late = 50, .twice = 5}, {}, [&](heist::world& w) {
    heist::executor ex{2};
    heist::distributed_graph a{w}, b{w};
    std::atomic<int> round{0};  // of two graphs, which run beside each other
    for (auto* g : {&a, &b}) {
      auto v = g->emplace(heist::on(0), [] { return 1; });
      for (int i = 1; i < 10; ++i)
        v = g->emplace(
            heist::on(i % w.size()), [](int x) { return x + 1; }, v);
      g->emplace(
          heist::on(0), [&](int x) { round += x; }, v);
    }
    for (int i = 0; i < 5; ++i) {
      std::vector<heist::distributed_run> runs;
      for (int k = 0; k < 4; ++k) runs.push_back(ex.run(k % 2 == 0 ? a : b));
      for (auto& r : runs) r.get();
    }
    if (w.rank() == 0) expect(round == 200);
  });
  CHECK(wrong == 0);
}

TEST_CASE("an exception is everybody's, with rank and text; where it came from it is nested", "[distributed]") {
  wrong = 0;
  on_ranks(3, {}, {}, [&](heist::world& w) {
    heist::executor ex{2};
    heist::distributed_graph g{w};
    bool fail = true;
    auto v = g.emplace(heist::on(1), [&]() -> int {
      if (fail) throw std::invalid_argument{"boom"};
      return 1;
    });
    for (int i = 0; i < 10; ++i)
      v = g.emplace(
          heist::on(i % 3), [](int x) { return x + 1; }, v);
    for (int i = 0; i < 5; ++i) {
      try {
        ex.run(g).get();
        expect(false);
      } catch (heist::distributed_error const& e) {
        expect(e.rank == 1 && e.what_there == "boom" && std::string{e.what()} == "rank 1: boom");
        bool nested = false;
        try {
          std::rethrow_if_nested(e);
        } catch (std::invalid_argument const&) {
          nested = true;
        }
        expect(nested == (w.rank() == 1));
      }
      if (v.here()) expect(heist_test::error_text_of<heist::graph_error>([&] { v.result(); }) != "accepted");
    }
    fail = false;
    ex.run(g).get();
    if (v.here()) expect(v.result() == 11);
  });
  CHECK(wrong == 0);
}

TEST_CASE("a stop on one rank ends the run on all, by handle and by token", "[distributed]") {
  wrong = 0;
  on_ranks(3, faults{.late = 20}, {}, [&](heist::world& w) {
    heist::executor ex{1};
    heist::distributed_graph g{w};
    std::atomic<bool> may_end{false};
    // Runs until it is told to stop, on rank 2; the others wait for its value.
    auto const slow = g.emplace(heist::on(2), [&](heist::context c) {
      while (!c.stop_requested() && !may_end) std::this_thread::yield();
      return 1;
    });
    auto const after = g.emplace(
        heist::on(0), [](int x) { return x; }, slow);
    for (int i = 0; i < 5; ++i) {
      std::stop_source s;
      auto run = i % 2 == 0 ? ex.run(g) : ex.run(g, heist::with{.stop = s.get_token()});
      if (w.rank() == 1) i % 2 == 0 ? run.request_stop() : static_cast<void>(s.request_stop());
      run.wait();
      expect(run.stopped() && run.is_ready());
    }
    may_end = true;
    auto run = ex.run(g);
    run.get();
    expect(!run.stopped());
    if (after.here()) expect(after.result() == 1);
  });
  CHECK(wrong == 0);
}

TEST_CASE("graphs that differ are refused on all ranks before anything runs", "[distributed]") {
  wrong = 0;
  on_ranks(3, {}, {}, [&](heist::world& w) {
    heist::executor ex{1};
    auto const rejected = [&](auto build) {
      heist::distributed_graph g{w};
      bool ran = false;
      build(g, ran);
      std::string const text = heist_test::error_text_of<heist::graph_error>([&] { ex.run(g).get(); });
      expect(text.find("rank 2 has built another graph than rank 0") != std::string::npos && !ran);
    };
    rejected([&](auto& g, bool& ran) {  // the number of tasks
      for (int i = 0; i < (w.rank() == 2 ? 3 : 2); ++i) g.emplace(heist::on(0), [&] { ran = true; });
    });
    rejected([&](auto& g, bool& ran) {  // the place
      g.emplace(heist::on(w.rank() == 2 ? 1 : 0), [&] { ran = true; });
    });
    rejected([&](auto& g, bool& ran) {  // the type
      w.rank() == 2 ? static_cast<void>(g.emplace(heist::on(0), [&] { return ran = true, 1; }))
                    : static_cast<void>(g.emplace(heist::on(0), [&] { return ran = true, 1.0; }));
    });
    rejected([&](auto& g, bool& ran) {  // an edge
      auto const a = g.emplace(heist::on(0), [] { return 1; });
      auto const b = g.emplace(heist::on(0), [] { return 2; });
      g.emplace(
          heist::on(1), [&](int) { ran = true; }, w.rank() == 2 ? a : b);
    });
    // The ranks also agree on tasks that are added after a run.
    heist::distributed_graph g{w};
    g.emplace(heist::on(0), [] {});
    ex.run(g).get();
    if (w.rank() == 2) g.emplace(heist::on(0), [] {});
    g.emplace(heist::on(0), [] {});
    expect(heist_test::error_text_of<heist::graph_error>([&] { ex.run(g).get(); }).find("rank 2") != std::string::npos);
  });
  CHECK(wrong == 0);
}

TEST_CASE("what a distributed graph cannot do is refused in one sentence", "[distributed]") {
  wrong = 0;
  on_ranks(2, {}, {}, [&](heist::world& w) {
    heist::executor ex{1};
    heist::distributed_graph g{w}, other{w};
    auto a = g.emplace(heist::on(0), [] { return 1; });
    auto b = g.emplace(heist::on(1), [] { return 2; });
    auto const theirs = other.emplace(heist::on(0), [] { return 1; });
    auto const says = [&](std::string const& part, auto f) {
      std::string const text = heist_test::error_text_of<heist::graph_error>(f);
      expect(text.find(part) != std::string::npos && text.find("fix it") != std::string::npos);
    };
    a.name("first");
    says("task #1 'first'", [&] { a.precede(b); });
    says("world of 2 ranks", [&] { g.emplace(heist::on(2), [] {}); });
    says("world of 2 ranks", [&] { g.emplace(heist::on(-1), [] {}); });
    says("another distributed graph", [&] { g.emplace([](int) {}, theirs); });
    says("empty range", [&] { g.emplace([](heist::values<int>) {}, heist::each(std::vector<heist::placed<int>>{})); });
    says("run_n", [&] { ex.run_n(g, 2); });
    says(w.rank() == 0 ? "is on rank 1" : "is on rank 0", [&] { w.rank() == 0 ? b.result() : a.result(); });
    g.emplace([](int&&) {}, heist::take(a));
    says("taken twice", [&] {
      g.emplace(
          heist::on(1), [](int&&) {}, heist::take(a));
    });
    auto c = g.emplace(heist::on(1), [] {});
    c.succeed(b);  // on one rank there is an order
    ex.run(g).get();
    ex.run(other).get();
  });
  CHECK(wrong == 0);
}

TEST_CASE("an order without a value crosses as an argument; a value is sent once to a rank", "[distributed]") {
  wrong = 0;
  on_ranks(2, {}, {}, [&](heist::world& w) {
    heist::executor ex{1};
    heist::distributed_graph g{w};
    auto const made = g.emplace(heist::on(0), [] { return 5; });
    auto const nothing = g.emplace(heist::on(0), [] {});
    std::atomic<int> sum{0};
    for (int i = 0; i < 10; ++i)
      g.emplace(
          heist::on(1), [&](int x) { sum += x; }, made, nothing);
    expect(g.values_out() == (w.rank() == 0 ? 2u : 0u) && g.values_in() == (w.rank() == 1 ? 2u : 0u) && g.size() == 12);
    ex.run(g).get();
    if (w.rank() == 1) expect(sum == 50);
  });
  CHECK(wrong == 0);
}

TEST_CASE("the k-th message is lost: what waits says so and ends, wherever it was", "[distributed][silence]") {
  std::mutex lock;
  bool named = false;
  for (std::uint64_t k = 1; k <= 40; ++k) {
    wrong = 0;
    std::string said;
    heist::world_options options;
    options.silence = 0.3;
    options.silence_ends = true;
    options.on_silence = [&](std::string const& text) {
      std::lock_guard const guard{lock};
      said += text;
    };
    int ended = 0;
    std::uint64_t const messages = on_ranks(2, faults{.lose = k}, options, [&](heist::world& w) {
      heist::executor ex{1};
      try {
        heist::distributed_graph g{w};
        auto v = g.emplace(heist::on(0), [] { return 0; });
        for (int i = 1; i < 6; ++i) {
          v = g.emplace(
              heist::on(i % 2), [](int x) { return x + 1; }, v);
          v.name("step " + std::to_string(i));
        }
        for (int i = 0; i < 3; ++i) {
          ex.run(g).get();
          if (v.here()) expect(v.result() == 5);
        }
      } catch (heist::distributed_error const&) {
      } catch (heist::graph_error const& e) {  // after a run whose end was lost
        expect(std::string{e.what()}.find("out of step") != std::string::npos);
      }
      std::lock_guard const guard{lock};
      ++ended;
    });
    INFO("message " << k << ": " << said);
    CHECK(ended == 2);
    CHECK(wrong == 0);
    CHECK((k > messages || !said.empty()));
    if (said.find("the value of task #") != std::string::npos && said.find("'step ") != std::string::npos &&
        said.find("from rank ") != std::string::npos && said.find("(run ") != std::string::npos)
      named = true;
  }
  CHECK(named);
}

TEST_CASE("the k-th message comes late, twice, or after the next: nothing is seen of it", "[distributed]") {
  wrong = 0;
  std::uint64_t messages = 1;
  for (std::uint64_t k = 1; k <= messages; ++k) {
    for (faults const& f : {faults{.doubled = k}, faults{.delayed = k}, faults{.overtaken = k}}) {
      messages = on_ranks(2, f, {}, [&](heist::world& w) {
        heist::executor ex{1};
        heist::distributed_graph g{w};
        auto v = g.emplace(heist::on(0), [] { return 0; });
        for (int i = 1; i < 6; ++i) {
          v = g.emplace(
              heist::on(i % 2), [](int x) { return x + 1; }, v);
        }
        std::vector<heist::distributed_run> runs;
        for (int i = 0; i < 3; ++i) runs.push_back(ex.run(g));
        for (auto& r : runs) r.get();
        if (v.here()) expect(v.result() == 5);
      });
    }
  }
  CHECK(messages > 20);
  CHECK(wrong == 0);
}

namespace {

struct block {
  std::array<int, 5000> x;
};

/// The value goes to all other ranks. The task of rank 0 that takes it changes it.
template <class T>
void changed_where_it_was_made(heist::distributed_graph& g, int ranks, T const& x) {
  auto const v = g.emplace(heist::on(0), [x] { return x; });
  for (int r = 1; r < ranks; ++r) {
    auto const got = g.emplace(
        heist::on(r), [x](T const& y) { return expect(std::memcmp(&x[0], &y[0], sizeof x[0] * x.size()) == 0), y; }, v);
    g.emplace([](T&& y) { y[0] += 1; }, heist::take(got));
  }
  g.emplace([](T&& y) { std::fill(y.begin(), y.end(), typename T::value_type{}); }, heist::take(v));
}

}  // namespace

TEST_CASE("a large value is sent before the task that takes it there changes it", "[distributed]") {
  wrong = 0;
  for (faults const& f : {faults{}, faults{.late = 200}, faults{.late = 20, .twice = 2}}) {
    for (std::size_t const window : {std::size_t{64} << 20, std::size_t{1} << 15}) {
      heist::world_options options;
      options.window = window;
      on_ranks(3, f, options, [&](heist::world& w) {
        heist::executor ex{static_cast<std::size_t>(1 + w.rank() % 2)};
        heist::distributed_graph g{w};
        for (std::size_t const size : {2'000u, 17'000u, 100'000u}) {
          changed_where_it_was_made(g, 3, std::vector<double>(size, 0.5));
          changed_where_it_was_made(g, 3, std::string(size, 'x'));
        }
        auto const flat = g.emplace(heist::on(0), [] { return block{{1, 2, 3}}; });
        g.emplace(
            heist::on(1), [](block const& b) { expect(b.x[2] == 3 && b.x[4999] == 0); }, flat);
        std::vector<heist::distributed_run> runs;
        for (int i = 0; i < 5; ++i) runs.push_back(ex.run(g));
        for (auto& r : runs) r.get();
      });
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a task comes first from which the longest path leads to the end, over all ranks", "[distributed]") {
  wrong = 0;
  on_ranks(2, {}, {}, [&](heist::world& w) {
    heist::executor ex{1};
    heist::distributed_graph g{w};
    std::vector<int> order;  // of rank 0's one worker
    for (int i = 0; i < 3; ++i) {
      auto const a = g.emplace(heist::on(0), [&order, i] { return order.push_back(i), i; });
      g.emplace([](int x) { return x; }, a);  // the path of two tasks ends here
    }
    auto v = g.emplace(heist::on(0), [&order] { return order.push_back(3), 3; });
    for (int i = 0; i < 5; ++i)
      v = g.emplace(
          heist::on(1), [](int x) { return x; }, v);
    for (int run = 0; run < 3; ++run) {
      order.clear();
      ex.run(g).get();
      expect(w.rank() != 0 || (order.size() == 4 && order[0] == 3));
    }
  });
  on_ranks(2, {}, {}, [&](heist::world& w) {  // a graph that grows has other ways, if only on another rank
    heist::executor ex{1};
    heist::distributed_graph g{w};
    std::vector<int> order;
    std::vector<heist::placed<int>> last;
    auto const grow = [&](std::size_t which, int by) {
      for (int i = 0; i < by; ++i)
        last[which] = g.emplace(
            heist::on(1), [](int x) { return x; }, last[which]);
    };
    for (int i = 0; i < 3; ++i) last.push_back(g.emplace(heist::on(0), [&order, i] { return order.push_back(i), i; }));
    grow(0, 3), grow(1, 2), grow(2, 1);
    for (std::size_t const first : {0u, 2u, 1u}) {
      order.clear();
      ex.run(g).get();
      expect(w.rank() != 0 || order[0] == static_cast<int>(first));
      grow(first == 0 ? 2 : 1, 10 * static_cast<int>(1 + first));
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("an edge_list knows the ways of all tasks, near and far", "[distributed]") {
  std::minstd_rand random{7};
  heist::distributed::edge_list list;
  std::vector<std::vector<std::uint32_t>> inputs(40'001);
  for (std::uint32_t t = 1; t <= 40'000; ++t) {
    list.add_task();
    for (std::uint32_t i = random() % 4; t > 1 && i != 0; --i) {
      std::uint32_t const reach = std::min<std::uint32_t>(t - 1, 1u << (random() % 16));
      std::uint32_t const from = random() % 8 == 0 ? t - reach : t - 1 - static_cast<std::uint32_t>(random() % reach);
      list.add_input(from);
      inputs[t].push_back(from);
    }
  }
  for (int i = 0; i < 1000; ++i) {
    auto const a = static_cast<std::uint32_t>(1 + random() % 40'000),
               b = static_cast<std::uint32_t>(1 + random() % 40'000);
    list.add_order(a, b);
    if (a < b) inputs[b].push_back(a);
  }
  std::vector<std::uint32_t> ways(40'001, 1);
  for (std::uint32_t t = 40'000; t != 0; --t) {
    for (std::uint32_t const from : inputs[t]) ways[from] = std::max(ways[from], ways[t] + 1);
  }
  CHECK(list.ways() == ways);
}

TEST_CASE("a run with large values is stopped, fails or misses a message, and its graph can go",
          "[distributed][silence]") {
  wrong = 0;
  std::uint64_t messages = 1;
  for (std::uint64_t k = 1; k <= messages; ++k) {
    bool const loses = k % 3 == 0;  // with silence_ends values are copied, otherwise lent
    heist::world_options const options{
        .silence = loses ? 0.05 : 60.0, .silence_ends = loses, .on_silence = [](std::string const&) {}};
    messages = on_ranks(2, {.late = 10, .lose = loses ? k : 0}, options, [&](heist::world& w) {
      heist::executor ex{2};
      heist::distributed_graph g{w};
      auto v = g.emplace(heist::on(0), [] { return std::vector<int>(10'000); });
      for (int i = 1; i < 6; ++i) {
        v = g.emplace(
            heist::on(i % 2),
            [k, i](std::vector<int> x) {
              if (k % 3 == 1 && k % 6 == static_cast<unsigned>(i)) throw std::runtime_error{"boom"};
              return x;
            },
            v);
      }
      try {
        auto const run = ex.run(g);
        if (k % 3 == 2 && w.rank() == static_cast<int>(k % 2)) run.request_stop();
        run.get();
      } catch (heist::error const&) {
      } catch (heist::stopped_error const&) {
      }
    });
  }
  CHECK(messages > 5);
  CHECK(wrong == 0);
}

TEST_CASE("a task forks, in squads, and into memory of its rank", "[distributed]") {
  wrong = 0;
  on_ranks(2, faults{.late = 10}, {}, [&](heist::world& w) {
    heist::executor<heist::policy::cab> squads{{.workers = 4,
                                                .machine = heist::topology::parse("package:2 core:2 pu:1"),
                                                .squads = heist::squad_by::package,
                                                .stack_size = std::size_t{256} << 10}};
    heist::executor ex{2};
    heist::distributed_graph g{w};
    std::vector<heist::placed<long>> sums;
    for (int i = 0; i < 12; ++i) {
      auto const numbers = g.emplace(heist::on(i % 2), [i] {
        std::vector<int> all(1000);
        std::iota(all.begin(), all.end(), i);
        return all;
      });
      sums.push_back(g.emplace(
          heist::on((i / 2) % 2), [](auto c, std::vector<int> const& v) { return sum(c, v.data(), v.size()); },
          numbers));
    }
    long total = 0;
    g.emplace(
        heist::on(1), [&](heist::values<long> all) { total = std::accumulate(all.begin(), all.end(), 0L); },
        heist::each(sums));
    for (int run = 0; run < 6; ++run) {
      total = 0;
      // One rank under another policy than the other.
      if (run % 2 == w.rank()) {
        squads.run(g).get();
      } else {
        ex.run(g).get();
      }
      if (w.rank() == 1) expect(total == 12 * 499'500L + 1000 * 66);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("a sender does not fill the receiver's memory", "[distributed]") {
  wrong = 0;
  heist::world_options options;
  options.window = 64 * 1024;
  on_ranks(2, faults{.late = 20}, options, [&](heist::world& w) {
    heist::executor ex{2};
    heist::distributed_graph g{w};
    std::atomic<std::size_t> sum{0};
    for (int i = 0; i < 200; ++i) {
      std::size_t const size =
          i == 77 ? 1'000'000 : 1000u + static_cast<unsigned>(i) * 37u;  // one is larger than the window
      auto const v = g.emplace(heist::on(0), [size] { return std::vector<char>(size, 'x'); });
      g.emplace(
          heist::on(1), [&](std::vector<char>&& x) { sum += x.size(); }, heist::take(v));
    }
    for (int run = 0; run < 3; ++run) ex.run(g).get();
    auto const most = heist::distributed::detail::world_access::most_in_flight(w);
    if (w.rank() == 0) expect(most <= 64 * 1024 / 2 + 1'001'000 && most > 0);
    if (w.rank() == 1) expect(sum > 3 * 1'000'000);
  });
  CHECK(wrong == 0);
}

TEST_CASE("a graph that the receiver has not begun does not delay another graph", "[distributed]") {
  wrong = 0;
  heist::world_options options{.silence = 30, .silence_ends = true, .on_silence = [](std::string const&) {}};
  options.window = 64 * 1024;
  on_ranks(2, faults{.late = 20}, options, [&](heist::world& w) {
    heist::executor ex{2};
    heist::distributed_graph a{w}, b{w};
    for (int i = 0; i < 8; ++i) {
      auto const v = a.emplace(heist::on(0), [] { return std::vector<char>(20'000, 'a'); });
      a.emplace(
          heist::on(1), [](std::vector<char> const& x) { expect(x.size() == 20'000); }, v);
    }
    auto const v = b.emplace(heist::on(0), [] { return 1; });
    b.emplace(
        heist::on(1), [](int x) { expect(x == 1); }, v);
    ex.run(a).get();  // the ranks agree on each graph before its first run
    ex.run(b).get();
    for (int run = 0; run < 3; ++run) {
      if (w.rank() == 0) {
        auto const first = ex.run(a);
        ex.run(b).get();
        first.get();
      } else {
        ex.run(b).get();
        ex.run(a).get();
      }
    }
  });
  CHECK(wrong == 0);
}

namespace {

struct fragile {
  int n = 0;
};

}  // namespace

template <>
struct heist::wire<fragile> {
  static void pack(heist::distributed::writer& to, fragile const& x) {
    if (x.n == 1) throw std::runtime_error{"not packed"};
    to.write(&x.n, sizeof x.n);
  }
  static fragile unpack(heist::distributed::reader& from) {
    fragile x;
    from.read(&x.n, sizeof x.n);
    if (x.n == 2) throw std::runtime_error{"not unpacked"};
    return x;
  }
};

TEST_CASE("a value that cannot be packed or unpacked ends the run", "[distributed]") {
  wrong = 0;
  on_ranks(2, {}, {}, [&](heist::world& w) {
    heist::executor ex{1};
    heist::distributed_graph g{w};
    int n = 0;
    auto const v = g.emplace(heist::on(0), [&] { return fragile{n}; });
    auto const got = g.emplace(
        heist::on(1), [](fragile const& x) { return x.n; }, v);
    for (n = 0; n < 4; ++n) {
      std::string text;
      try {
        ex.run(g).get();
      } catch (heist::distributed_error const& e) {
        text = e.what();
      }
      expect(text == (n == 1 ? "rank 0: not packed" : n == 2 ? "rank 1: not unpacked" : ""));
      if (n == 3 && got.here()) expect(got.result() == 3);
    }
  });
  CHECK(wrong == 0);
}
