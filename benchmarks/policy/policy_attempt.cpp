// Measures the cost of a failed steal attempt with each victim policy, and with a loop written by hand for random
// victims. No worker has tasks to steal; a thief among so many workers (--workers=LIST) tries 1000 times. The counter `value` is ns for each
// attempt.
//
// Each row is 1000 calls of a function of its own, named try_..., which are a million attempts. Callgrind of valgrind
// counts their instructions where the processor's counters cannot be read.
#include <benchmark/benchmark.h>

#include <heist/core/base/config.hpp>
#include <heist/core/sync/work_deque.hpp>
#include <heist/policy.hpp>
#include <heist/topology.hpp>

#include <algorithm>  // copy, min
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>  // invalid_argument
#include <string>
#include <string_view>
#include <vector>

#include "../workers.hpp"

namespace {

constexpr int attempts = 1000;

using deque = heist::detail::work_deque<int*>;
using heist::detail::steal_status;

/// Workers that have nothing.
struct burst {
  std::uint32_t self;  ///< the thief
  std::vector<std::unique_ptr<deque>> deques;
  int* submitted = nullptr;

  explicit burst(std::uint32_t workers) : self{std::min(3u, workers - 1)} {
    for (std::uint32_t i = 0; i != workers; ++i) deques.push_back(std::make_unique<deque>());
  }
};

/// The attempt of a loop that knows that its victims are random.
HEIST_NOINLINE int* try_by_hand(burst& others, heist::fast_random& random) {
  auto const count = static_cast<std::uint32_t>(others.deques.size());
  std::uint32_t const self = others.self;
  for (int i = 0; i != attempts; ++i) {
    std::uint32_t const v = random.below(count);
    if (v == self) {
      if (others.submitted != nullptr) return others.submitted;
    } else {
      auto const loot = others.deques[v]->steal();
      if (loot.status == steal_status::stolen) return loot.item;
    }
  }
  return nullptr;
}

/// The same for any policy, driven as the worker loop does.
template <class Victim>
HEIST_NOINLINE int* try_by_policy(burst& others, heist::fast_random& random, Victim& victim) {
  using heist::victim::outcome;
  std::uint32_t const self = others.self;
  heist::victim::thief_view const me{self, static_cast<std::uint32_t>(others.deques.size())};
  if constexpr (heist::victim::search_policy<Victim>) victim.begin(me, random);
  for (int i = 0; i != attempts; ++i) {
    std::uint32_t v = victim.next(me, random);
    if constexpr (heist::victim::sampling_policy<Victim>) {
      while (victim.wants_look()) {
        victim.looked(v, {static_cast<std::uint32_t>(others.deques[v]->size_snapshot()), 0});
        v = victim.next(me, random);
      }
    }
    if (v == self) {
      if (others.submitted != nullptr) return others.submitted;
    } else {
      auto const loot = others.deques[v]->steal();
      victim.feedback(v, loot.status == steal_status::stolen ? outcome::stolen
                         : loot.status == steal_status::lost ? outcome::lost
                                                             : outcome::empty);
      if (loot.status == steal_status::stolen) return loot.item;
      if constexpr (heist::victim::thief_counting_policy<Victim>) victim.met_thief(v);
    }
  }
  return nullptr;
}

template <class F>
void measure(benchmark::State& state, F run) {
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  for (auto _ : state) {
    int* const got = run();
    benchmark::DoNotOptimize(got);
  }
  double const ns = std::chrono::duration<double, std::nano>(clock::now() - begin).count();
  state.counters["value"] = ns / attempts / static_cast<double>(state.iterations());
}

void by_hand(benchmark::State& state, std::uint32_t workers) {
  burst others{workers};
  heist::fast_random random{1};
  measure(state, [&] { return try_by_hand(others, random); });
}

template <class Victim>
void by_policy(benchmark::State& state, std::uint32_t workers) {
  burst others{workers};
  heist::fast_random random{1};
  Victim victim;
  if constexpr (heist::victim::placed_policy<Victim>) {
    auto const machine = heist::topology::parse("package:4 l3:1 core:16 pu:1");
    victim.place({others.self, workers}, machine,
                 heist::topology::make_squads(machine, heist::squad_by::package, workers));
  }
  measure(state, [&] { return try_by_policy(others, random, victim); });
}

void add(std::string const& name, std::uint32_t workers, void (*run)(benchmark::State&, std::uint32_t)) {
  benchmark::RegisterBenchmark(fmt::format("{}/p{}", name, workers).c_str(),
                               [=](benchmark::State& s) { run(s, workers); })
      ->Iterations(1000)
      ->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view workers_option = "--workers=";
  std::string list = "64";  // described, not started
  if (argc > 1 && std::string_view{argv[1]}.starts_with(workers_option)) {
    list = std::string_view{argv[1]}.substr(workers_option.size());
    std::copy(argv + 2, argv + argc, argv + 1);
    --argc;
  }
  std::vector<std::size_t> counts;
  try {
    counts = bench::worker_list(list);
  } catch (std::invalid_argument const& e) {
    fmt::print(stderr, "bench_policy_attempt: {}\n", e.what());
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (std::size_t const count : counts) {
    auto const workers = static_cast<std::uint32_t>(count);
    add("by_hand", workers, &by_hand);
    add("random", workers, &by_policy<heist::victim::random>);
    add("permuted", workers, &by_policy<heist::victim::permuted>);
    add("victim_set", workers, &by_policy<heist::victim::victim_set<>>);
    add("sampling", workers, &by_policy<heist::victim::sampling<>>);
    add("sampling_victim_set", workers, &by_policy<heist::victim::sampling_victim_set<>>);
    add("hierarchical", workers, &by_policy<heist::victim::hierarchical>);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
