// Measures graphs that run again and again on the same data: under policies with memory, under policy::random, and as
// blocks placed by hand. The unit is nanoseconds for an element and step.
#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../workers.hpp"
#include "by_hand.hpp"
#include "circuit.hpp"
#include "grids.hpp"
#include "matrix.hpp"
#include "peers.hpp"

namespace {

using namespace graph_locality;
using heist::replay_mode;

/// Something that runs a problem's steps.
struct candidate {
  std::string name;
  std::function<void()> run;  ///< one run: all steps
  std::vector<double> times;
  double stayed = 0;   ///< share of the tasks that were on the same worker in a run as in the run before
  double busiest = 0;  ///< and of those that the busiest worker had: where that is nearly all, staying is easy
};

struct graph_of {
  explicit graph_of(problem& p) { p.build(g); }
  heist::task_graph g;
};

template <class Policy>
std::function<void()> of_policy(problem& p, unsigned workers, std::function<void(heist::task_graph&)> settle,
                                int warmup = 5) {
  struct state {
    state(problem& of, unsigned n)
        : ex{{.workers = n, .squads = heist::squad_by::l2, .pin = heist::pinning::pus}}, graph{of} {}
    heist::executor<Policy> ex;
    graph_of graph;
  };
  auto const s = std::make_shared<state>(p, workers);
  for (int i = 0; i != warmup; ++i) s->ex.run(s->graph.g).get();
  if (settle) settle(s->graph.g);
  return [s] { s->ex.run(s->graph.g).get(); };
}

std::function<void(heist::task_graph&)> following(replay_mode mode) {
  return [mode](heist::task_graph& g) { g.follow(g.memory(), mode); };
}

/// Tasks are given to workers as the threads by hand have them.
std::function<void()> placed(problem& p, unsigned workers) {
  struct state {
    heist::executor<heist::policy::replay> ex;
    heist::task_graph g;
    explicit state(unsigned n) : ex{{.workers = n, .pin = heist::pinning::pus}} {}
  };
  auto const s = std::make_shared<state>(workers);
  auto tasks = p.build(s->g);
  for (std::size_t i = 0; i != tasks.size(); ++i) tasks[i].on_worker(p.owner(i, workers));
  s->g.follow_placement();
  return [s] { s->ex.run(s->g).get(); };
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

/// The threads by hand write no ledger: all of theirs stay, and two have as many.
void note_remaining(problem& p, candidate& c) {
  c.stayed = 1, c.busiest = 0.5;
  if (c.name == "by hand") return;
  std::size_t same = 0, all = 0, busiest = 0;
  c.run();
  for (int i = 0; i != 10; ++i) {
    auto const before = p.ran_on;
    c.run();
    for (std::size_t t = 0; t != before.size(); ++t) same += before[t] == p.ran_on[t], ++all;
    std::size_t first = 0;
    for (unsigned char const w : p.ran_on) first += w == 0;
    busiest += std::max(first, before.size() - first);
  }
  c.busiest = static_cast<double>(busiest) / static_cast<double>(all);
  c.stayed = static_cast<double>(same) / static_cast<double>(all);
}

void compare(problem& p, unsigned workers, int rounds, int runs) {
  std::vector<candidate> all;
  all.push_back({"by hand", by_hand(p, workers), {}, 0, 0});
  all.push_back({"random", of_policy<heist::policy::random>(p, workers, {}), {}, 0, 0});
  all.push_back({"cab", of_policy<heist::policy::cab>(p, workers, {}), {}, 0, 0});
  all.push_back({"cats", of_policy<heist::policy::cats>(p, workers, {}), {}, 0, 0});
  all.push_back({"replay, noted", of_policy<heist::policy::replay>(p, workers, {}), {}, 0, 0});
  all.push_back({"replay, strict_ordered",
                 of_policy<heist::policy::replay>(p, workers, following(replay_mode::strict_ordered)),
                 {}});
  all.push_back({"replay, strict_unordered",
                 of_policy<heist::policy::replay>(p, workers, following(replay_mode::strict_unordered)),
                 {}});
  all.push_back(
      {"replay, relaxed", of_policy<heist::policy::replay>(p, workers, following(replay_mode::relaxed)), {}, 0, 0});
  all.push_back({"replay, placed as by hand", placed(p, workers), {}, 0, 0});
  auto const say = [](heist::task_graph& g) { fmt::print("automatic: {}\n", g.explain()); };
  all.push_back({"automatic", of_policy<heist::policy::automatic>(p, workers, say, 100), {}, 0, 0});
#ifdef HEIST_BENCH_TASKFLOW
  all.push_back({"Taskflow", of_taskflow(p, workers), {}, 0, 0});
#endif
#ifdef HEIST_BENCH_TBB
  all.push_back({"oneTBB flow graph", of_tbb(p, workers), {}, 0, 0});
#endif
  for (int round = 0; round != rounds; ++round) {
    for (candidate& c : all) {
      c.run();
      auto const begin = std::chrono::steady_clock::now();
      for (int i = 0; i != runs; ++i) c.run();
      std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - begin;
      c.times.push_back(took.count() / runs / p.elements());
    }
  }
  for (candidate& c : all) note_remaining(p, c);
  double const hand = median(all.front().times);
  fmt::print("{}: {} tasks a run, {:.1f} MiB, {} workers\n", p.name(), p.tasks(), p.bytes() / 1048576.0, workers);
  for (candidate const& c : all)
    fmt::print("  {:26} {:7.3f} ns/element {:6.2f}  {:5.1f} % {:5.1f} %\n", c.name, median(c.times),
               median(c.times) / hand, 100 * c.stayed, 100 * c.busiest);
}

/// All ways give the serial result, bit by bit.
bool check(problem& p, unsigned workers) {
  auto const evaluate = [&](char const* name, std::function<void()> const& run) {
    p.reset();
    for (int i = 0; i != 3; ++i) run();
    auto const got = p.sum();
    p.reset();
    for (int i = 0; i != 3; ++i) p.run_serially();
    bool const same = p.sum() == got;
    fmt::print("{} {}: {}\n", p.name(), name, same ? "right" : "WRONG");
    return same;
  };
  bool right = evaluate("random", of_policy<heist::policy::random>(p, workers, {}));
  right &= evaluate("cab", of_policy<heist::policy::cab>(p, workers, {}));
  right &= evaluate("cats", of_policy<heist::policy::cats>(p, workers, {}));
  for (replay_mode const m : {replay_mode::strict_ordered, replay_mode::strict_unordered, replay_mode::relaxed})
    right &= evaluate("replay", of_policy<heist::policy::replay>(p, workers, following(m)));
  right &= evaluate("placed", placed(p, workers));
  right &= evaluate("automatic", of_policy<heist::policy::automatic>(p, workers, {}, 20));
#ifdef HEIST_BENCH_TASKFLOW
  right &= evaluate("Taskflow", of_taskflow(p, workers));
#endif
#ifdef HEIST_BENCH_TBB
  right &= evaluate("oneTBB", of_tbb(p, workers));
#endif
  return right & evaluate("by hand", by_hand(p, workers));
}

bool check_all(unsigned workers) {
  heat h{64 << 10, 8, 4};
  wavefront w{64 << 10, 8};
  cholesky c{64 << 10, 4};
  circuit m{"multiplier", timing::make_multiplier(8), 64 << 10};
  return check(h, workers) & check(w, workers) & check(c, workers) & check(m, workers);
}

int run(std::vector<std::string> arguments) {
  std::string list = "max";
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] != "--workers") continue;
    list = arguments[i + 1];
    auto const at = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(at, at + 2);
  }
  std::vector<std::size_t> const counts = bench::worker_list(list);
  if (arguments == std::vector<std::string>{"--check"}) {
    bool right = true;
    for (std::size_t const workers : counts) right = check_all(static_cast<unsigned>(workers)) && right;
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  std::vector<std::pair<std::string, timing::netlist>> circuits;
  circuits.emplace_back("timing of a 16 x 16 multiplier", timing::make_multiplier(16));
  for (std::string const& file : arguments) {
    if (file[0] == '-') {
      fmt::print(
          "bench_graph_locality [--check] [--workers LIST] [NETLIST.v ...]: measures with the circuits in these files; "
          "its README says what\nLIST: {}\n",
          bench::workers_syntax);
      return EXIT_FAILURE;
    }
    circuits.emplace_back("timing of " + file.substr(file.rfind('/') + 1), timing::read_verilog_file(file));
  }
  std::setbuf(stdout, nullptr);
  for (std::size_t const count : counts) {
    auto const workers = static_cast<unsigned>(count);
    for (std::size_t const mib : {2, 4, 8}) {
      heat h{mib << 20, 16, 16};
      compare(h, workers, 7, 20);
      wavefront w{mib << 20, 16};
      compare(w, workers, 7, 60);
      cholesky c{mib << 20, 10};
      compare(c, workers, 7, 8);
      for (auto const& [name, netlist] : circuits) {
        circuit n{name, netlist, mib << 20};
        compare(n, workers, 7, 40);
      }
    }
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (std::exception const& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return EXIT_FAILURE;
  }
}
