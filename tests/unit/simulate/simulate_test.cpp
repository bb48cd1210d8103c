// heist/simulate.hpp: what holds for every policy, every program and every number of workers.
#include "heist/simulate.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;

namespace {

/// Checks that hold for every report.
void check_report(sim::program const& p, sim::report const& r) {
  CHECK(r.tasks == p.tasks_run());
  CHECK(r.time.work == p.work());
  CHECK(r.t1 == p.work());
  CHECK(r.t_inf == p.span());
  CHECK(static_cast<double>(r.makespan) >= r.lower_bound());
  CHECK(r.per_worker.size() == r.workers);
  std::uint64_t not_adding_up = 0;
  for (auto const& w : r.per_worker) not_adding_up += w.time.total() != r.makespan;
  CHECK(not_adding_up == 0);
  CHECK(r.steals <= r.attempts);
  CHECK(r.run_times.size() == p.runs().size());
  CHECK(r.cache.private_hits + r.cache.shared_hits + r.cache.memory == r.cache.accesses);
  for (auto const& s : r.series) CHECK(s.active + s.searching + s.asleep == r.workers);
}

}  // namespace

TEST_CASE("simulate: every task runs once, and every worker's time adds up", "[sim]") {
  for (auto const& p : small_programs()) {
    for (std::uint32_t const workers : {1u, 2u, 3u, 16u, 40u}) {
      for_each_policy([&]<class Policy>(char const* name) {
        INFO(p.name() << " on " << workers << " workers, " << name);
        check_report(p, heist::simulate<Policy>(p, {.workers = workers, .machine = four_sockets(), .seed = workers}));
      });
    }
  }
}

TEST_CASE("simulate: the same arguments give the same report, another seed another one", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 9, .leaf = sim::exponential(700), .leaf_bytes = 4096, .rounds = 3});
  for_each_policy([&]<class Policy>(char const* name) {
    INFO(name);
    sim::options wanted{.machine = four_sockets(), .seed = 5, .trace = true};
    wanted.costs.attempt = sim::exponential(60);
    auto const first = heist::simulate<Policy>(p, wanted);
    auto const second = heist::simulate<Policy>(p, wanted);
    CHECK(first == second);
    CHECK(first.to_json() == second.to_json());
    wanted.seed = 6;
    CHECK_FALSE(first == heist::simulate<Policy>(p, wanted));
  });
}

TEST_CASE("simulate: one worker takes the work and what the forks cost, to the tick", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 8, .leaf = sim::exponential(100), .inner = 3, .rounds = 2});
  std::uint64_t const forks = 2 * 255;
  sim::costs costs;
  costs.fork = 7;
  costs.join = 11;
  costs.continuation = 13;
  auto const parent_first = heist::simulate<policy::random>(p, {.workers = 1, .costs = costs});
  CHECK(parent_first.makespan == p.work() + forks * (7 + 11));
  CHECK(parent_first.time.fork_join == forks * (7 + 11));
  using child_first_policy = policy::with_order<policy::random, order::child_first>;
  auto const child_first = heist::simulate<child_first_policy>(p, {.workers = 1, .costs = costs});
  CHECK(child_first.makespan == p.work() + forks * 13);
  for (auto const& r : {parent_first, child_first}) {
    CHECK(r.attempts == 0);
    CHECK(r.sleeps == 0);
    CHECK(r.parks == 0);
  }
}

TEST_CASE("simulate: one worker runs a graph in the work and what its nodes cost", "[sim]") {
  auto const p = sim::random_graph({.nodes = 400});
  sim::costs costs;
  costs.node = 9;
  CHECK(heist::simulate(p, {.workers = 1, .costs = costs}).makespan == p.work() + 400 * 9);
  auto const chain = sim::chain({.nodes = 400});
  CHECK(heist::simulate(chain, {.workers = 8, .costs = costs}).makespan == chain.work() + 400 * 9);
}

TEST_CASE("simulate: trees with enough parallelism come near the greedy bound", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 13, .leaf = 10'000});
  for (std::uint32_t const workers : {2u, 16u, 64u}) {
    for_each_policy([&]<class Policy>(char const* name) {
      auto const r = heist::simulate<Policy>(p, {.workers = workers, .costs = {}});
      INFO(name << " on " << workers << ": " << r.text());
      // A steal takes some 300 ticks with the search for it, and a chain of them leads to each worker's first task.
      bool const waits = Policy::join_type::strategy != heist::join_strategy::park;
      CHECK(static_cast<double>(r.makespan) <= (waits ? 1.5 : 1.05) * (r.upper_bound() + 20 * 13 * 300));
    });
  }
}

TEST_CASE("simulate: with work that takes no time and costs of nothing a run ends", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 6, .leaf = 0, .rounds = 20});
  for_each_policy([&]<class Policy>(char const* name) {
    INFO(name);
    auto const r = heist::simulate<Policy>(p, {.machine = four_sockets(), .costs = sim::costs::nothing()});
    CHECK(r.tasks == 20 * 127);
    CHECK(r.t1 == 0);
    CHECK(r.speedup() >= 0);
  });
}

TEST_CASE("simulate: a long chain of runs and a deep tree need no deep stack", "[sim]") {
  auto const many = sim::balanced_tree({.depth = 0, .leaf = 0, .rounds = 100'000});
  CHECK(heist::simulate(many, {.workers = 2}).tasks == 100'000);
  auto const deep = sim::balanced_tree({.depth = 100'000, .branching = 1, .leaf = 1});
  for_each_policy([&]<class Policy>(char const* name) {
    INFO(name);
    CHECK(heist::simulate<Policy>(deep, {.workers = 2, .costs = sim::costs::nothing()}).tasks == 100'001);
  });
  auto const wide = sim::balanced_tree({.depth = 1, .branching = 100'000, .leaf = 0});
  for_each_policy([&]<class Policy>(char const* name) {
    INFO(name);
    CHECK(heist::simulate<Policy>(wide, {.workers = 2, .costs = sim::costs::nothing()}).tasks == 100'001);
  });
}

TEST_CASE("simulate: runs that are submitted from outside follow one another", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 4, .rounds = 10});
  for_each_policy([&]<class Policy>(char const* name) {
    INFO(name);
    sim::options wanted{.machine = four_sockets(), .entry = sim::entry::outside};
    auto const soon = heist::simulate<Policy>(p, wanted);
    check_report(p, soon);
    wanted.costs.submit = 1'000'000;  // long enough for all workers to fall asleep
    auto const late = heist::simulate<Policy>(p, wanted);
    check_report(p, late);
    CHECK(late.makespan >= 9'000'000);
    if (!Policy::idle_type::never_sleeps) CHECK(late.wakes >= 9);
  });
}

TEST_CASE("simulate: a thousand workers and a million tasks", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 19, .leaf = sim::exponential(1000)});
  CHECK(p.task_count() > 1'000'000);
  auto const r = heist::simulate<policy::sampling>(p, {.workers = 1024, .costs = sim::costs::wool_section_4()});
  CHECK(r.tasks == p.task_count());
  CHECK(r.speedup() > 800);
}

TEST_CASE("simulate: absurd numbers of workers are refused", "[sim]") {
  auto const p = sim::chain({});
  CHECK_THROWS_AS(heist::simulate(p, {.workers = sim::most_workers + 1}), heist::sim_error);
  CHECK_THROWS_AS(heist::simulate(p, {.workers = ~std::uint32_t{0}}), heist::sim_error);
  CHECK_THROWS_AS(heist::simulate(p, {.workers = 2, .machine = heist::topology::machine{}}), heist::topology_error);
  CHECK_THROWS_AS(heist::simulate(p, {.machine = heist::topology::machine{}}), heist::sim_error);
  CHECK(heist::simulate(p, {.workers = sim::most_workers}).tasks == 1000);
}

TEST_CASE("simulate: every order of nodes runs each once, and one worker takes the same time", "[sim]") {
  auto const p = sim::random_graph({.nodes = 500, .work = sim::exponential(300), .rounds = 2});
  sim::costs costs;
  for (auto const order :
       {sim::node_order::connected, sim::node_order::longest_by_count, sim::node_order::longest_by_work,
        sim::node_order::urgent_by_count, sim::node_order::urgent_by_work}) {
    INFO("order " << static_cast<int>(order));
    CHECK(heist::simulate(p, {.workers = 1, .costs = costs, .nodes = order}).makespan ==
          p.work() + 1000 * costs.node.mean);
    for (std::uint32_t const workers : {2u, 16u}) {
      auto const r = heist::simulate(p, {.workers = workers, .nodes = order});
      CHECK(r.tasks == 1000);
      CHECK(r.makespan >= p.span());
      CHECK(r.text() == heist::simulate(p, {.workers = workers, .nodes = order}).text());
    }
  }
}

TEST_CASE("simulate: what the end waits for begins first where nodes are ordered", "[sim]") {
  sim::program_builder b("a long chain among short tasks");
  std::uint32_t const first = b.add_graph(22);  // a root, 5 short tasks, a chain of 10, 6 short tasks
  for (std::uint32_t i = 0; i != 22; ++i) {
    b.begin(first + i);
    b.work(1000);
    if (i != 0) b.precede(first + (i > 6 && i < 16 ? i - 1 : 0), first + i);
  }
  auto const p = b.finish();
  auto const time = [&p](sim::node_order order) {
    return heist::simulate(p, {.workers = 2, .costs = sim::costs::nothing(), .nodes = order}).makespan;
  };
  CHECK(time(sim::node_order::connected) > time(sim::node_order::longest_by_count));
  CHECK(time(sim::node_order::longest_by_count) <= 12'000);
  CHECK(time(sim::node_order::urgent_by_work) <= 12'000);
}
