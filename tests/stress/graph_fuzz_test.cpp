// Random graphs on every idle policy and many workers, against a sequential oracle. HEIST_SEED repeats a run,
// HEIST_SECONDS says how long (default: a few seconds).
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>   // printf
#include <cstdlib>  // getenv
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <heist/heist.hpp>

#include "support/catch.hpp"
#include "support/graph_oracle.hpp"
#include "support/random_graph.hpp"
#include "support/watchdog.hpp"

namespace {

using heist_test::any_of;
using heist_test::chance;
using heist_test::graph_oracle;
using heist_test::plain_graph;
using heist_test::random_engine;
using heist_test::shape;

std::uint64_t environment_number(char const* name, std::uint64_t otherwise) {
  char const* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// What a task does besides computing its value.
enum class extra : std::uint8_t {
  nothing,
  fails,         ///< throws node_failure before it leaves its value
  stops,         ///< requests the run's stop after it has left its value
  forks,         ///< computes its value in the second branch of nested fork_joins
  submits,       ///< computes its value in an async task and waits for it
  runs_a_graph,  ///< waits for a run of a small graph of its own
  yields,
  allocates,
  spins
};

struct node_failure {
  std::uint32_t node;
};

/// Memory that tasks share without atomics: the edges of the graph must order it, and TSan sees if they do not.
struct memory {
  explicit memory(std::uint32_t size) : values(size), ran(size), finished(size) {}
  void clear() {
    std::fill(values.begin(), values.end(), 0);
    std::fill(ran.begin(), ran.end(), 0);
    std::fill(finished.begin(), finished.end(), 0);
  }
  std::vector<std::uint64_t> values;
  std::vector<std::uint32_t> ran, finished;
};

/// A graph of heist that computes what the oracle does.
class computation {
 public:
  computation(plain_graph const& plain, random_engine& random, double lively)
      : oracle{plain}, data{plain.size}, extras(plain.size, extra::nothing) {
    for (auto& e : extras) {
      if (chance(random, lively)) e = static_cast<extra>(any_of(random, 3, 8));
    }
    std::vector<heist::task<>> tasks;
    tasks.reserve(plain.size);
    for (std::uint32_t i = 0; i < plain.size; ++i) tasks.push_back(add(i, random));
    for (auto const& [from, to] : plain.edges) tasks[from].precede(tasks[to]);
  }

  /// Chooses nodes that throw or stop in the next runs.
  void plant(random_engine& random, bool throwing, bool stopping) {
    for (std::uint32_t i = 0; throwing && i < any_of(random, 1, 3); ++i) extras[any(random)] = extra::fails;
    for (std::uint32_t i = 0; stopping && i < any_of(random, 1, 3); ++i) extras[any(random)] = extra::stops;
  }

  heist::task_graph graph;
  graph_oracle const oracle;
  memory data;
  std::vector<extra> extras;
  std::stop_source stop;

 private:
  std::uint32_t any(random_engine& random) const {
    return any_of(random, 0, static_cast<std::uint32_t>(extras.size() - 1));
  }

  heist::task<> add(std::uint32_t i, random_engine& random) {
    auto work = [this, i](heist::context c) { run_node(i, c); };
    if (!chance(random, 0.02)) return graph.emplace(work);
    auto inner = std::make_unique<heist::task_graph>();  // the node as a graph of three
    auto before = inner->emplace([] {});
    auto middle = inner->emplace(work);
    auto after = inner->emplace([] {});
    middle.succeed(before).precede(after);
    parts_.push_back(std::move(inner));
    return graph.compose(*parts_.back());
  }

  std::uint64_t compute(std::uint32_t i) const {
    std::uint64_t sum = 0;
    oracle.for_each_predecessor(i, [&](std::uint32_t p) { sum += data.values[p]; });
    return heist_test::node_value(i, sum);
  }

  void run_node(std::uint32_t i, heist::context c) {
    ++data.ran[i];
    std::uint64_t value = 0;
    switch (extras[i]) {
      case extra::nothing:
      case extra::stops:
        value = compute(i);
        break;
      case extra::fails:
        throw node_failure{i};
      case extra::forks:
        c.fork_join([&](heist::context d) { d.fork_join([] {}, [] { std::this_thread::yield(); }); },
                    [&] { value = compute(i); }, [] {});
        break;
      case extra::submits:
        value = c.submit([&](heist::context d) { return d.submit([&] { return compute(i); }).get(); }).get();
        break;
      case extra::runs_a_graph: {
        heist::task_graph local;
        auto a = local.emplace([&] { return compute(i); });
        auto b = local.emplace([&](std::uint64_t v) { value = v; }, a);
        local.emplace([] {}).succeed(b);
        c.run(local).get();
        break;
      }
      case extra::yields:
        std::this_thread::yield();
        value = compute(i);
        break;
      case extra::allocates: {
        auto const copy = std::make_unique<std::uint64_t>(compute(i));
        value = *copy;
        break;
      }
      case extra::spins:
        for (int k = 0; k < 200; ++k) heist::os_env::relax();
        value = compute(i);
        break;
    }
    data.values[i] = value;
    ++data.finished[i];
    if (extras[i] == extra::stops) stop.request_stop();
  }

  std::vector<std::unique_ptr<heist::task_graph>> parts_;
};

struct tally {
  std::uint64_t graphs = 0, tasks = 0, thrown = 0, stopped = 0;
} total;

/// Clean runs, a run with faults, and clean runs again. Returns what went wrong, or nothing.
template <class Executor>
std::string examine(Executor& ex, plain_graph const& plain, random_engine& random) {
  computation c{plain, random, chance(random, 0.5) ? 0.05 : 0.0};
  if (!c.oracle.acyclic()) return "the generator made a cycle";
  ++total.graphs;
  std::uint32_t const times = any_of(random, 1, 2);
  ex.run(c.graph).get();
  if (std::string const bad = c.oracle.complete(c.data.ran, c.data.values, 1); !bad.empty()) return "first run: " + bad;
  c.data.clear();
  ex.run_n(c.graph, times).get();
  if (std::string const bad = c.oracle.complete(c.data.ran, c.data.values, times); !bad.empty())
    return "second: " + bad;
  total.tasks += plain.size * std::uint64_t{1 + times};

  if (plain.size != 0) {
    auto const harmless = c.extras;
    bool const throwing = chance(random, 0.6), stopping = !throwing || chance(random, 0.3);
    c.plant(random, throwing, stopping);
    c.data.clear();
    auto run = ex.run(c.graph, c.stop.get_token());
    bool caught = false;
    try {
      run.get();
    } catch (node_failure const& failure) {
      caught = true;
      ++total.thrown;
      if (c.extras[failure.node] != extra::fails) return "an exception of a node that does not throw";
      if (c.data.ran[failure.node] != 1) return "an exception of a node that has not run";
    }
    if (run.stopped()) ++total.stopped;
    if (run.stopped() != c.stop.stop_requested()) return "stopped() does not say whether a stop was requested";
    bool failed = false;
    for (std::uint32_t i = 0; i < plain.size; ++i) failed |= c.extras[i] == extra::fails && c.data.ran[i] != 0;
    if (failed != caught) return failed ? "an exception was lost" : "an exception from nowhere";
    std::string bad = c.oracle.partial(c.data.ran, c.data.values, c.data.finished);
    if (bad.empty() && !caught && !run.stopped()) bad = c.oracle.complete(c.data.ran, c.data.values, 1);
    if (!bad.empty()) return "cut run: " + bad;
    c.extras = harmless;
  }

  c.data.clear();
  ex.run(c.graph).get();
  std::string const bad = c.oracle.complete(c.data.ran, c.data.values, 1);
  return bad.empty() ? bad : "run after the cut one: " + bad;
}

using clock = std::chrono::steady_clock;

struct budget {
  std::uint64_t seed;
  double seconds;
  std::uint32_t largest;
};

template <class Idle>
void fuzz(char const* policy, std::size_t workers, std::uint64_t seed, budget const& spend) {
  using executor = heist::executor<heist::policy::with_idle<heist::policy::random, Idle>>;
  random_engine random{seed};
  auto const end =
      clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>{spend.seconds / 16});
  executor ex{heist::options{.workers = workers}};
  heist_test::watchdog dog{ex, std::chrono::seconds{60}};
  for (std::size_t i = 0; i < heist_test::all_shapes.size() + 1 || clock::now() < end; ++i) {
    // Each shape once; then one of the largest; then what comes.
    bool const round_of_shapes = i < heist_test::all_shapes.size();
    shape const s = round_of_shapes ? heist_test::all_shapes[i]
                                    : heist_test::all_shapes[any_of(random, 2, heist_test::all_shapes.size() - 1)];
    std::uint32_t const size = i == heist_test::all_shapes.size()
                                   ? spend.largest
                                   : heist_test::any_size(random, round_of_shapes ? 300 : spend.largest / 10);
    std::uint64_t const graph_seed = random();
    std::string const what = std::string{"HEIST_SEED="} + std::to_string(spend.seed) + " idle " + policy + ", " +
                             std::to_string(workers) + " workers, " + heist_test::name_of(s) + " of " +
                             std::to_string(size) + ", graph seed " + std::to_string(graph_seed);
    dog.section(what);
    random_engine graph_random{graph_seed};
    plain_graph const plain = heist_test::make_graph(s, size, graph_random);
    std::string const bad = examine(ex, plain, graph_random);
    INFO(what);
    REQUIRE(bad == "");
  }
}

template <class Idle>
void fuzz_with_all_workers(char const* policy, std::uint64_t number) {
  budget const spend{environment_number("HEIST_SEED", std::random_device{}()),
                     static_cast<double>(environment_number("HEIST_SECONDS", heist::under_tsan ? 12 : 8)),
                     heist::under_tsan   ? 4'000u
                     : heist::under_asan ? 20'000u
                                         : 100'000u};
  for (std::size_t const workers : {1u, 2u, 4u, 16u}) {
    fuzz<Idle>(policy, workers, spend.seed * 64 + number * 16 + workers - 1, spend);
  }
  std::printf("seed %llu, %s: so far %llu graphs, %llu tasks in complete runs, %llu exceptions, %llu stops\n",
              static_cast<unsigned long long>(spend.seed), policy, static_cast<unsigned long long>(total.graphs),
              static_cast<unsigned long long>(total.tasks), static_cast<unsigned long long>(total.thrown),
              static_cast<unsigned long long>(total.stopped));
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("random graphs equal the oracle: default_idle", "[stress][graph]") {
  fuzz_with_all_workers<heist::idle::default_idle>("default_idle", 0);
}
TEST_CASE("random graphs equal the oracle: adaptive", "[stress][graph]") {
  fuzz_with_all_workers<heist::idle::adaptive>("adaptive", 1);
}
TEST_CASE("random graphs equal the oracle: balanced", "[stress][graph]") {
  fuzz_with_all_workers<heist::idle::balanced>("balanced", 2);
}
TEST_CASE("random graphs equal the oracle: always_awake", "[stress][graph]") {
  fuzz_with_all_workers<heist::idle::always_awake>("always_awake", 3);
}
