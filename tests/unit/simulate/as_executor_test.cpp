// locality/policy/followed_tree.hpp: the executor and the simulator run the same programs along the same steal trees,
// and make the same decisions.
#include <chrono>
#include <cstddef>  // size_t
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>  // move
#include <vector>

#include "heist/core/base/random.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/simulate.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist::replay_mode;
using heist::steal_tree;
namespace sim = heist::sim;

namespace {

using replaying = heist::executor<heist::policy::replay>;

/// A program as a list of tasks, of which 0 is the root: for each of its forks the numbers of its children.
struct plan {
  std::vector<std::vector<std::vector<std::uint32_t>>> forks;

  plan(std::uint32_t seed, int depth) { add(seed, depth); }

 private:
  std::uint32_t add(std::uint32_t seed, int levels) {
    auto const here = static_cast<std::uint32_t>(forks.size());
    forks.emplace_back();
    heist::fast_random random{seed * 1000003ull + here};
    if (levels == 0) return here;
    std::uint32_t const stages = 1 + random.below(2);
    for (std::uint32_t s = 0; s != stages; ++s) {
      std::vector<std::uint32_t> children;
      std::uint32_t const n = 2 + random.below(2);
      for (std::uint32_t i = 0; i != n; ++i) children.push_back(add(seed, random.below(4) == 0 ? 0 : levels - 1));
      forks[here].push_back(std::move(children));
    }
    return here;
  }
};

/// The worker of each stretch of a task; a stretch starts at the task's begin or at a join.
struct account {
  std::map<std::uint32_t, std::vector<std::size_t>> workers_of;   ///< a task
  std::map<std::size_t, std::vector<std::uint32_t>> in_order_on;  ///< a worker
  steal_tree made;
  bool order_given_up = false;

  void note(std::size_t worker, std::uint32_t task) {
    workers_of[task].push_back(worker);
    in_order_on[worker].push_back(task);
  }
};

struct real_run {
  plan const& p;
  account& to;
  std::mutex m;

  void note(std::size_t worker, std::uint32_t task) {
    std::lock_guard const lock{m};
    to.note(worker, task);
  }
  template <class Context>
  void run(Context ctx, std::uint32_t task) {
    note(ctx.worker_id(), task);
    for (auto const& children : p.forks[task]) {
      auto const child = [&](std::size_t i) { return [this, c = children[i]](Context below) { run(below, c); }; };
      if (children.size() == 2) {
        ctx.fork_join(child(0), child(1));
      } else {
        ctx.fork_join(child(0), child(1), child(2));
      }
      note(ctx.worker_id(), task);
    }
  }
};

account real(replaying& ex, plan const& p, steal_tree const* follow = nullptr,
             replay_mode mode = replay_mode::relaxed) {
  account a;
  region r;
  if (follow != nullptr) r.follow(*follow, mode);
  real_run run{p, a, {}};
  ex.invoke(r, [&](auto ctx) { run.run(ctx, 0); });
  a.made = r.tree();
  a.order_given_up = r.explain().find("was given up") != std::string::npos;
  return a;
}

sim::program program_of(plan const& p) {
  sim::program_builder b("as planned");
  std::vector<std::uint32_t> planned(p.forks.size());  // the simulator's number of each task
  planned[0] = b.add_tree();
  for (std::uint32_t t = 0; t != p.forks.size(); ++t) {  // parents come first
    b.begin(planned[t]);
    b.work(100 + 7 * (t % 11));
    for (auto const& children : p.forks[t]) {
      std::uint32_t const first = b.fork(static_cast<std::uint32_t>(children.size()));
      for (std::uint32_t i = 0; i != children.size(); ++i) planned[children[i]] = first + i;
      b.work(20);
    }
  }
  return b.finish();
}

account simulated(plan const& p, std::uint32_t workers, std::uint64_t seed, steal_tree const* follow = nullptr,
                  replay_mode mode = replay_mode::relaxed) {
  auto const program = program_of(p);
  auto const r = heist::simulate<heist::policy::replay>(
      program, {.workers = workers, .seed = seed, .trace = true, .follow = follow, .mode = mode});
  // In the order of the plan, as its numbers are found.
  std::vector<std::uint32_t> planned(program.task_count());
  std::vector<std::uint32_t> of_plan{0};
  for (std::uint32_t t = 0; t != p.forks.size(); ++t) {
    of_plan.resize(p.forks.size());
    std::uint32_t const mine = of_plan[t];
    planned[mine] = t;
    std::uint32_t stage = 0;
    for (auto const& children : p.forks[t]) {
      std::uint32_t const first = program.stage_at(mine, stage++).first_child;
      for (std::uint32_t i = 0; i != children.size(); ++i) of_plan[children[i]] = first + i;
    }
  }
  account a;
  std::map<std::int64_t, std::vector<std::pair<std::size_t, std::uint32_t>>> by_time;
  for (std::size_t w = 0; w != workers; ++w) {
    for (std::size_t i = 0; i != r.recording->event_count(w); ++i) {
      auto const& e = r.recording->event_at(w, i);
      if (e.what != heist::event_kind::task_begin) continue;
      auto const task = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(e.id) - 1);
      by_time[e.ns].emplace_back(w, planned[task]);
    }
  }
  for (auto const& [when, all] : by_time)
    for (auto const& [worker, task] : all) a.note(worker, task);
  a.made = r.trees.at(0);
  for (auto const& note : r.notes) a.order_given_up |= note.find("was given up") != std::string::npos;
  return a;
}

void check_same(account const& executed, account const& imagined) {
  CHECK(executed.order_given_up == imagined.order_given_up);
  if (executed.order_given_up) return;
  CHECK(executed.workers_of == imagined.workers_of);
  CHECK(executed.in_order_on == imagined.in_order_on);
  CHECK(executed.made == imagined.made);
}

constexpr std::uint32_t plans = heist::under_tsan || heist::under_asan ? 5 : 20;

}  // namespace

TEST_CASE("as the executor: in the order of a tree every worker does the same, one after the other", "[sim]") {
  for (std::uint32_t const workers : {1u, 2u, 4u}) {
    replaying ex{workers};
    heist_test::watchdog guard{ex, 120s};
    std::size_t stolen = 0, moved = 0;
    for (std::uint32_t seed = 0; seed != plans; ++seed) {
      plan const p{seed, 4};
      for (auto const& tree :
           {simulated(p, workers, seed).made, simulated(p, workers, seed + 100).made, real(ex, p).made}) {
        CAPTURE(workers, seed, tree.to_json());
        stolen += tree.steal_count(), moved += tree.join_count();
        auto const executed = real(ex, p, &tree, replay_mode::strict_ordered);
        check_same(executed, simulated(p, workers, 1, &tree, replay_mode::strict_ordered));
        CHECK(executed.made == tree);
        CHECK_FALSE(executed.order_given_up);
      }
    }
    if (workers != 1) CHECK((stolen > plans && moved > plans));
  }
}

TEST_CASE("as the executor: the tree of another program is passed over, or given up, at the same places", "[sim]") {
  replaying ex{4};
  heist_test::watchdog guard{ex, 120s};
  int kept = 0, given_up = 0;
  for (std::uint32_t seed = 0; seed != plans; ++seed) {
    plan const p{seed, 3}, other{seed + 1000, 4};
    for (std::uint32_t const recorded_by : {2u, 3u, 4u}) {
      auto pruned = simulated(p, recorded_by, seed).made;
      pruned.prune(40);
      for (auto const& tree : {simulated(other, recorded_by, seed).made, pruned}) {
        CAPTURE(recorded_by, seed, tree.to_json());
        auto const executed = real(ex, p, &tree, replay_mode::strict_ordered);
        check_same(executed, simulated(p, 4, 1, &tree, replay_mode::strict_ordered));
        ++(executed.order_given_up ? given_up : kept);
      }
    }
  }
  CAPTURE(kept, given_up);
  CHECK(kept > 0);
}

TEST_CASE("as the executor: a tree of more workers is followed without order, and its tasks run in the same places",
          "[sim]") {
  for (std::uint32_t const workers : {1u, 2u, 3u}) {
    replaying ex{workers};
    heist_test::watchdog guard{ex, 120s};
    for (std::uint32_t seed = 0; seed != plans; ++seed) {
      plan const p{seed, 4};
      auto const tree = simulated(p, 5, seed).made;
      for (auto const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered}) {
        CAPTURE(workers, seed, tree.to_json());
        CHECK(real(ex, p, &tree, mode).workers_of == simulated(p, workers, 1, &tree, mode).workers_of);
      }
    }
  }
}

TEST_CASE("as the executor: trees made by hand", "[sim]") {
  replaying ex{3};
  heist_test::watchdog guard{ex, 120s};
  plan p{0, 0};
  p.forks = {{{1, 2}}, {{3, 4}}, {{5, 6}}, {}, {}, {{7, 8}}, {{9, 10}}, {}, {}, {}, {}};
  steal_tree const all[] = {
      {3, 0, {{{0, 0}, 1, 0, 0, false}}},                         // a steal without those above it
      {3, 1, {{{0}, 2, 1, 0, false}, {{1}, 2, 1, 1, true}}},      // the join waits for no worker
      {3, 0, {{{0}, 1, 0, 3, false}, {{1, 0}, 2, 1, 7, false}}},  // gaps
      {3, 0, {{{0}, 1, 0, 1, false}, {{0, 4}, 1, 0, 0, false}}},  // a place that does not come
      {3, 0, {{{0}, 1, 0, 0, true}, {{1}, 1, 0, 1, false}}},      // of a program with other forks
      {3, 0, {{{0}, 1, 0, 1, false}, {{1, 0}, 2, 1, 0, false}, {{1, 1, 0}, 1, 2, 0, false}}},  // in no order
  };
  for (auto const& tree : all) {
    CAPTURE(tree.to_json());
    bool const impossible = &tree == &all[5];
    auto const executed = real(ex, p, &tree, replay_mode::strict_ordered);
    CHECK(executed.order_given_up == impossible);
    check_same(executed, simulated(p, 3, 1, &tree, replay_mode::strict_ordered));
    CHECK(real(ex, p, &tree, replay_mode::strict_unordered).workers_of ==
          simulated(p, 3, 1, &tree, replay_mode::strict_unordered).workers_of);
  }
}
