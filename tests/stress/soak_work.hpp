// The work of a soak: graphs and fork/join trees. Every task is counted when it is handed over, and again when it has
// run or is known not to run.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "heist/core/base/random.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/region.hpp"
#include "support/random_graph.hpp"
#include "support/yield.hpp"

namespace heist_test {

struct soak_counts {
  std::atomic<std::uint64_t> submitted{0}, executed{0}, cancelled{0};
  std::atomic<std::uint64_t> graphs{0}, trees{0}, followed{0}, thrown{0}, stopped{0}, executors{0};
  std::atomic<std::uint64_t> wrong{0};  ///< runs that ended without exception or stop and did not run everything

  /// Books an ended run, of which `done` of `asked` tasks have run. `cut`: it may have ended early.
  void book(std::uint64_t asked, std::uint64_t done, bool cut) {
    executed += done;
    if (done > asked || (!cut && done != asked)) {
      ++wrong;
    } else {
      cancelled += asked - done;
    }
  }
};

struct planted {};

/// A graph whose tasks count themselves; `ran` is this graph's own count for one run.
class counted_graph {
 public:
  counted_graph(random_engine& random, soak_counts& all) : all_{all} {
    auto const s = all_shapes[any_of(random, 0, all_shapes.size() - 1)];
    auto const plain = make_graph(s, any_size(random, heist::under_tsan ? 200 : 2000), random);
    std::vector<heist::task<>> tasks;
    for (std::uint32_t i = 0; i < plain.size; ++i) {
      auto const kind = any_of(random, 0, 99);
      tasks.push_back(graph.emplace([this, i, kind](heist::context c) { work(i, kind, c); }));
      if (kind == 99) tasks.back().limit(two_);
    }
    for (auto const& [from, to] : plain.edges) tasks[from].precede(tasks[to]);
    size = plain.size;
  }

  bool limits_given_back() const { return two_.available() == 2; }

  heist::task_graph graph;
  std::uint64_t size = 0;
  std::atomic<std::uint64_t> ran{0};
  std::atomic<std::uint32_t> fails_at{~0u};
  std::atomic<std::uint32_t> stops_at{~0u};
  std::stop_source stop;

 private:
  void work(std::uint32_t i, std::uint32_t kind, heist::context c) {
    ++ran;
    switch (kind) {
      case 0:
        c.fork_join([] { heist_test::yield(); }, [] {});
        break;
      case 1:
        inner(1, c, [&](auto const& count) { c.submit(count).get(); });
        break;
      case 2:
        inner(2, c, [&](auto const& count) {
          heist::task_graph local;
          auto a = local.emplace(count);
          a.precede(local.emplace(count));
          c.run(local).get();
        });
        break;
      case 3:
        heist_test::yield();
        break;
      default:
        break;
    }
    if (i == stops_at) stop.request_stop();
    if (i == fails_at) throw planted{};
  }

  /// Work that a task waits for, of so many tasks. A stop of the run reaches it.
  template <class Run>
  void inner(std::uint64_t asked, heist::context c, Run run) {
    std::atomic<std::uint64_t> done{0};
    all_.submitted += asked;
    bool cut = false;
    try {
      run([&done] { ++done; });
    } catch (heist::stopped_error const&) {
      cut = c.stop_requested();
    }
    all_.book(asked, done, cut);
  }

  soak_counts& all_;
  heist::limiter two_{2};
};

/// A fork/join tree, the same for the same seed.
struct counted_tree {
  std::uint64_t seed = 1;
  std::uint32_t depth = 5;
  std::uint64_t fails_at = ~0ull;  ///< its so many-th task to start throws
  std::uint64_t stops_at = ~0ull;  ///< its so many-th task to start stops the run
  std::stop_source stop{};
  std::atomic<std::uint64_t> ran{0};

  std::uint64_t size() const { return size_at(1, depth); }

  template <class Context>
  void operator()(Context ctx) {
    grow(ctx, 1, depth);
  }

 private:
  struct node {
    std::uint32_t kind;      ///< 0 to 4: a fork; 5, 6: a scope; 7: a task submitted and waited for
    std::uint32_t children;  ///< none: a leaf
  };
  node at(std::uint64_t id, std::uint32_t levels) const {
    if (levels == 0) return {0, 0};
    heist::fast_random random{seed * 1000003u + id};
    std::uint32_t const kind = random.below(8);
    return {kind, kind < 4 ? 2 : kind == 4 ? 3 : kind == 7 ? 1 : 1 + random.below(4)};
  }
  std::uint64_t size_at(std::uint64_t id, std::uint32_t levels) const {
    std::uint64_t n = 1;
    for (std::uint32_t c = 0; c != at(id, levels).children; ++c) n += size_at(id * 5 + c, levels - 1);
    return n;
  }

  template <class Context>
  void grow(Context ctx, std::uint64_t id, std::uint32_t levels) {
    if (ctx.stop_requested()) return;
    std::uint64_t const me = ran++;
    if (me == stops_at) stop.request_stop();
    if (me == fails_at) throw planted{};
    auto const child = [this, id, levels](std::uint32_t c) {
      return [this, at = id * 5 + c, levels](Context inner) { grow(inner, at, levels - 1); };
    };
    auto const [kind, children] = at(id, levels);
    if (children == 0) {
      for (auto n = id % 512; n != 0; --n) heist::os_env::relax();
    } else if (kind < 4) {
      ctx.fork_join(child(0), child(1));
    } else if (kind == 4) {
      ctx.fork_join(child(0), child(1), child(2));
    } else if (kind < 7) {
      heist::scope<Context> all{ctx};
      for (std::uint32_t c = 0; c != children; ++c) all.fork(child(c));
      all.join();
    } else {
      ctx.submit(child(0)).get();  // parks; it hears of stops meanwhile
    }
  }
};

/// Some runs of one graph, in one of the ways there are.
template <class Executor>
void run_graphs(Executor& ex, random_engine& random, soak_counts& all) {
  counted_graph g{random, all};
  auto const some_task = [&](double often) {
    return chance(random, often) && g.size != 0 ? any_of(random, 0, static_cast<std::uint32_t>(g.size - 1)) : ~0u;
  };
  for (std::uint32_t round = any_of(random, 1, 4); round != 0; --round) {
    std::uint64_t const asked = any_of(random, 1, 3) * g.size;
    g.fails_at = some_task(0.3);
    g.stops_at = some_task(0.2);
    g.stop = std::stop_source{};
    all.submitted += asked;
    ++all.graphs;
    auto run = ex.run_n(g.graph, g.size == 0 ? 1 : asked / g.size, heist::with{.stop = g.stop.get_token()}, [] {});
    if (chance(random, 0.1)) run.request_stop();
    bool cut = false;
    try {
      run.get();
    } catch (planted const&) {
      cut = true;
      ++all.thrown;
    } catch (heist::stopped_error const&) {  // counted below
    }
    if (run.stopped()) {
      cut = true;
      ++all.stopped;
    }
    all.book(asked, g.ran.exchange(0), cut);
    if (!g.limits_given_back()) ++all.wrong;
  }
}

/// One run of a tree, in a region if there is one.
template <class Executor>
void run_tree(Executor& ex, counted_tree& t, heist::region* r, soak_counts& all) {
  std::uint64_t const asked = t.size();
  all.submitted += asked;
  ++all.trees;
  bool cut = false;
  try {
    ex.invoke(heist::with{.stop = t.stop.get_token()}, [&](typename Executor::context_type c) {
      if (r == nullptr) {
        t(c);
      } else {
        c.invoke(*r, [&](auto inner) { t(inner); });
      }
    });
  } catch (planted const&) {
    cut = true;
    ++all.thrown;
  } catch (heist::stopped_error const&) {
    cut = true;
  }
  if (t.stop.stop_requested()) {
    cut = true;
    ++all.stopped;
  }
  all.book(asked, t.ran, cut);
}

/// Trees that throw or stop now and then; of one shape, if they are runs of one region.
template <class Executor>
void run_trees(Executor& ex, random_engine& random, heist::region* r, soak_counts& all) {
  std::uint64_t const seed = random();
  std::uint32_t const depth = any_of(random, 0, heist::under_tsan ? 4 : 6);
  for (std::uint32_t round = any_of(random, 1, 4); round != 0; --round) {
    counted_tree t{.seed = r != nullptr ? seed : random(), .depth = depth};
    auto const size = static_cast<std::uint32_t>(t.size());
    if (chance(random, 0.1)) t.fails_at = any_of(random, 0, size - 1);
    if (chance(random, 0.1)) t.stops_at = any_of(random, 0, size - 1);
    if (chance(random, 0.02)) t.stop.request_stop();
    run_tree(ex, t, r, all);
  }
}

/// Posts tasks that no thread waits for.
template <class Executor>
void post_some(Executor& ex, random_engine& random, soak_counts& all) {
  std::uint32_t const n = any_of(random, 0, 20);
  all.submitted += n;
  for (std::uint32_t k = 0; k < n; ++k) ex.post([&all] { ++all.executed; });
}

/// Futures of which one in ten has an exception, and every other one is dropped.
template <class Executor>
void submit_some(Executor& ex, random_engine& random, soak_counts& all) {
  std::uint32_t const n = any_of(random, 1, 100);
  all.submitted += n;
  std::vector<heist::future<void>> futures;
  for (std::uint32_t i = 0; i < n; ++i) {
    futures.push_back(ex.submit([&all, i] {
      ++all.executed;
      if (i % 10 == 9) throw planted{};
    }));
  }
  for (auto& f : futures) {
    if (chance(random, 0.5)) continue;
    try {
      f.get();
    } catch (planted const&) {
      ++all.thrown;
    }
  }
}

/// Waits for all work. The only exceptions that wait_idle() may report are planted ones.
template <class Executor>
void until_idle(Executor& ex) {
  try {
    ex.wait_idle();
  } catch (planted const&) {
  }
}

}  // namespace heist_test
