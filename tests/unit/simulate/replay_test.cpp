// heist/tools/simulate/following.hpp, steal_recorder.hpp: runs recorded as steal trees, and followed.
#include <cstddef>  // size_t
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>  // pair
#include <vector>

#include "support/catch.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;
using heist::replay_mode;
using heist::steal_tree;

namespace {

constexpr replay_mode all_modes[] = {replay_mode::strict_ordered, replay_mode::strict_unordered, replay_mode::relaxed};

sim::report run(sim::program const& p, sim::options wanted, steal_tree const* follow = nullptr,
                replay_mode mode = replay_mode::relaxed) {
  wanted.follow = follow;
  wanted.mode = mode;
  return heist::simulate<policy::replay>(p, wanted);
}

/// A tree of forks in two stages: after the first join half of the work is still to be done.
sim::program two_forks_each(std::uint32_t depth) {
  sim::program_builder b("two forks each");
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{b.add_tree(), 0}};
  while (!open.empty()) {
    auto const [task, level] = open.back();
    open.pop_back();
    b.begin(task);
    b.work(level == depth ? 500 + 37 * (task % 11) : 3);
    if (level == depth) continue;
    for (int i = 0; i != 2; ++i) {
      std::uint32_t const first = b.fork(3);
      b.work(20);
      for (std::uint32_t c = first; c != first + 3; ++c) open.emplace_back(c, level + 1);
    }
  }
  return b.finish();
}

/// Which workers have worked in each task that works at all, in the order of time.
auto workers_of_tasks(sim::program const& p, sim::report const& r) {
  std::map<std::uint64_t, std::map<std::int64_t, std::uint32_t>> found;
  for (std::uint32_t w = 0; w != r.workers; ++w) {
    for (std::size_t i = 0; i != r.recording->event_count(w); ++i) {
      auto const& e = r.recording->event_at(w, i);
      auto const task = reinterpret_cast<std::uintptr_t>(e.id) - 1;  // as sim::recording names them
      if (e.what != heist::event_kind::task_begin) continue;
      if (p.stage_at(static_cast<std::uint32_t>(task), 0).work != 0) found[task][e.ns] = w;
    }
  }
  std::map<std::uint64_t, std::vector<std::uint32_t>> in_order;
  for (auto const& [task, moments] : found)
    for (auto const& [when, worker] : moments) in_order[task].push_back(worker);
  return in_order;
}

/// Place, worker and victim of each steal; sequence numbers count entries after joins too, which depend on time.
auto steals_of(steal_tree const& tree) {
  std::vector<std::tuple<std::vector<std::uint32_t>, std::uint32_t, std::uint32_t>> all;
  for (auto const& s : tree.steals())
    if (!s.after_join) all.emplace_back(s.place, s.worker, s.victim);
  return all;
}

std::vector<sim::program> programs_of_one_run() {
  std::vector<sim::program> all;
  all.push_back(sim::balanced_tree({.depth = 9, .leaf = sim::exponential(900)}));
  all.push_back(sim::balanced_tree({.depth = 4, .branching = 5, .leaf = sim::fixed(2000)}));
  all.push_back(sim::uts({.root_children = 50}));
  all.push_back(sim::heat({.rows = 200, .columns = 64, .steps = 1, .leaf_rows = 4}));
  all.push_back(two_forks_each(3));
  return all;
}

}  // namespace

TEST_CASE("replay: a run under policy::replay yields a tree for each run of the program", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 8, .leaf = sim::exponential(900), .rounds = 3});
  auto const r = run(p, {.workers = 6});
  REQUIRE(r.trees.size() == 3);
  for (auto const& tree : r.trees) {
    CHECK(tree.worker_count() == 6);
    CHECK(tree.steal_count() > 5);
    CHECK(tree == steal_tree::from_json(tree.to_json()));
  }
  CHECK(r.trees[0].body_worker() == 0);
  CHECK(r.trees[0].steal_count() + r.trees[1].steal_count() + r.trees[2].steal_count() <= r.steals);
  CHECK(heist::simulate(p, {.workers = 6}).trees.empty());
  CHECK(run(p, {.workers = 1}).trees[0].steal_count() == 0);
}

TEST_CASE("replay: strictly followed, every task runs where it ran, and nobody steals", "[sim]") {
  for (auto const& p : programs_of_one_run()) {
    for (std::uint32_t const workers : {2u, 5u, 16u}) {
      for (std::uint64_t const seed : {1u, 2u, 3u}) {
        CAPTURE(p.name(), workers, seed);
        sim::options const wanted{.workers = workers, .seed = seed, .trace = true};
        auto const first = run(p, wanted);
        auto const& tree = first.trees.at(0);
        for (auto const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered}) {
          auto const again = run(p, wanted, &tree, mode);
          CHECK(again.notes.empty());
          CHECK(again.tasks == p.tasks_run());
          CHECK(again.attempts == 0);
          CHECK(again.donations == tree.steal_count());
          CHECK((workers_of_tasks(p, again) == workers_of_tasks(p, first)));
          CHECK((steals_of(again.trees.at(0)) == steals_of(tree)));
          CHECK((again == run(p, wanted, &tree, mode)));
          // A run that follows the new recording ends at the same time.
          CHECK(run(p, wanted, &again.trees.at(0), mode).makespan == again.makespan);
        }
      }
    }
  }
}

TEST_CASE("replay: in order, and where scheduling costs nothing, a run takes as long as when it was recorded",
          "[sim]") {
  auto const p = sim::balanced_tree({.depth = 9, .leaf = sim::exponential(10'000)});
  for (std::uint32_t const workers : {2u, 7u, 32u}) {
    for (std::uint64_t const seed : {1u, 2u, 3u}) {
      sim::options wanted{.workers = workers, .seed = seed};
      wanted.costs = sim::costs::nothing();
      auto const first = run(p, wanted);
      auto const again = run(p, wanted, &first.trees.at(0), replay_mode::strict_ordered);
      CAPTURE(workers, seed, first.makespan, again.makespan);
      // In the recorded run thieves had to try, once a tick; donated work arrives at once.
      CHECK(again.makespan <= first.makespan);
      CHECK(static_cast<double>(again.makespan) > 0.999 * static_cast<double>(first.makespan));
    }
  }
}

TEST_CASE("replay: a tree of another depth or of other workers is followed to the end (Rule 4.1)", "[sim]") {
  auto const small = sim::balanced_tree({.depth = 6, .leaf = sim::exponential(900)});
  auto const large = sim::balanced_tree({.depth = 10, .leaf = sim::exponential(900)});
  for (std::uint32_t const recorded_by : {3u, 8u, 11u}) {
    auto const of_small = run(small, {.workers = recorded_by}).trees.at(0);
    auto const of_large = run(large, {.workers = recorded_by}).trees.at(0);
    for (std::uint32_t const workers : {1u, 3u, 8u, 16u}) {
      for (auto const mode : all_modes) {
        CAPTURE(recorded_by, workers, static_cast<int>(mode));
        auto const deeper = run(large, {.workers = workers}, &of_small, mode);
        CHECK(deeper.tasks == large.tasks_run());
        auto const flatter = run(small, {.workers = workers}, &of_large, mode);
        CHECK(flatter.tasks == small.tasks_run());
        CHECK(deeper == run(large, {.workers = workers}, &of_small, mode));
        CHECK(flatter == run(small, {.workers = workers}, &of_large, mode));
      }
    }
    // Relaxed fixes what the tree lacks: workers that it does not know steal.
    auto const free = run(large, {.workers = 16});
    auto const fixed = run(large, {.workers = 16}, &of_small, replay_mode::relaxed);
    CHECK(static_cast<double>(fixed.makespan) < 1.15 * static_cast<double>(free.makespan));
  }
}

TEST_CASE("replay: the tree of another program is followed as far as it goes, in every mode", "[sim]") {
  auto const trees = [] {
    std::vector<steal_tree> all;
    for (auto const& p : programs_of_one_run()) all.push_back(run(p, {.workers = 7}).trees.at(0));
    return all;
  }();
  for (auto const& p : small_programs()) {
    for (auto const& tree : trees) {
      for (auto const mode : all_modes) {
        for (auto const how : {sim::entry::inside, sim::entry::outside}) {
          CAPTURE(p.name(), static_cast<int>(mode), static_cast<int>(how));
          CHECK(run(p, {.workers = 7, .entry = how}, &tree, mode).tasks == p.tasks_run());
        }
      }
    }
  }
}

TEST_CASE("replay: strict_ordered passes over what does not come, and says when it gives up its order", "[sim]") {
  auto const wanted = sim::balanced_tree({.depth = 3, .leaf = sim::fixed(1000)});
  // Worker 1 gets first what this program does not have, then half of it.
  steal_tree const without{2, 0, {{{0, 0, 0, 0, 0, 0}, 1, 0, 0}, {{0}, 1, 0, 1}}};
  CHECK(run(wanted, {.workers = 2}, &without, replay_mode::strict_ordered).notes.empty());
  // Worker 1 gets first what worker 2 has to do behind what worker 1 gets next.
  steal_tree const tree{3, 0, {{{0}, 1, 0, 1}, {{1, 0}, 2, 1, 0}, {{1, 1, 0}, 1, 2, 0}}};
  auto const r = run(wanted, {.workers = 3}, &tree, replay_mode::strict_ordered);
  CHECK(r.tasks == wanted.tasks_run());
  CHECK(r.attempts == 0);
  REQUIRE(r.notes.size() == 1);
  CHECK(r.notes[0].find("was given up") != std::string::npos);
  CHECK(run(wanted, {.workers = 3}, &tree, replay_mode::strict_unordered).notes.empty());
}

TEST_CASE("replay: relaxed, what lies in a busy worker's buffer is taken by others that find nothing else", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 1, .branching = 3, .leaf = sim::fixed(1'000'000)});
  steal_tree const tree{2, 0, {{{0}, 1, 0, 0}, {{1}, 0, 1, 0}}};  // the third leaf to the worker of the first
  CHECK(run(p, {.workers = 2}, &tree, replay_mode::relaxed).makespan > 2'000'000);
  CHECK(run(p, {.workers = 3}, &tree, replay_mode::relaxed).makespan < 1'100'000);
  CHECK(run(p, {.workers = 3}, &tree, replay_mode::strict_unordered).makespan > 2'000'000);
}

TEST_CASE("replay: a graph of a program that is followed is nobody's but the thieves'", "[sim]") {
  sim::program_builder b("a tree, then a graph");
  std::uint32_t const root = b.add_tree();
  b.begin(root);
  std::uint32_t const leaves = b.fork(2);
  for (std::uint32_t i = 0; i != 2; ++i) b.begin(leaves + i), b.work(1000);
  std::uint32_t const nodes = b.add_graph(4);
  for (std::uint32_t i = 0; i != 4; ++i) b.begin(nodes + i), b.work(1'000'000);
  auto const p = b.finish();
  steal_tree const tree{4, 0, {{{0}, 1, 0, 0}}};
  for (auto const mode : all_modes) {
    CAPTURE(static_cast<int>(mode));
    CHECK(run(p, {.workers = 4}, &tree, mode).makespan < 1'200'000);
  }
}

TEST_CASE("replay: a tree made by hand puts tasks where it says", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 2, .leaf = sim::fixed(1000)});  // four leaves
  steal_tree const quarters{4, 0, {{{0}, 2, 0, 0}, {{0, 0}, 1, 0, 0}, {{1, 0}, 3, 2, 0}}};
  for (auto const mode : all_modes) {
    auto const r = run(p, {.workers = 4}, &quarters, mode);
    for (auto const& w : r.per_worker) CHECK(w.time.work == 1000);
    CHECK(r.trees.at(0).steal_count() == 3);
  }
}

TEST_CASE("replay: what cannot be followed is refused", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 3, .leaf = sim::fixed(10)});
  steal_tree const nothing;
  CHECK_THROWS_AS(run(p, {.workers = 2}, &nothing), heist::sim_error);
  auto const tree = run(p, {.workers = 2}).trees.at(0);
  CHECK_THROWS_AS(heist::simulate(p, {.workers = 2, .follow = &tree}), heist::sim_error);
}
