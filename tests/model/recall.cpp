// Graphs with a placement history (H20). Under squads, a task that belongs to another squad is given to that squad, and
// thieves search nearby first. Followed runs are relaxed or strict; there a run's lists of turns begin again. The files
// of locality/history/, graph/, locality/squads/near_search.ipp and the worker loop are the shipped ones; see
// README.md, "The world". A task that is left out keeps its run from ending, and a worker that sleeps through one
// leaves all workers asleep: a deadlock.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/suite.hpp"
#include "heist/core/policy/idle.hpp"
#include "heist/graph/task_graph.hpp"
#include "heist/locality/history/placement_history.hpp"
#include "world/bounds.hpp"
#include "world/extensions.hpp"
#include "world/small_executor.hpp"

namespace {

using heist::replay_mode;
using heist::detail::placement_history;
using heist::detail::task_past;
using heist::detail::virtual_thread;
using model::env;

/// Bit j of to[i]: task i precedes task j.
struct shape {
  std::size_t tasks;
  std::array<unsigned, 4> to;
  constexpr bool edge(std::size_t i, std::size_t j) const { return (to[i] >> j & 1) != 0; }
};
constexpr shape fan{3, {0b110, 0, 0, 0}};
constexpr shape apart{2, {0, 0, 0, 0}};
constexpr shape diamond{4, {0b0110, 0b1000, 0b1000, 0}};
constexpr shape crossing{4, {0b1100, 0b1000, 0, 0}};  // two chains, and an edge from the first to the second

/// The fields that the tasks write, without atomics.
template <shape Shape>
struct board {
  std::array<env::plain<int>, 4> passed;
  std::array<env::plain<std::uint32_t>, 4> where, nth;
  std::array<env::plain<std::uint32_t>, 4> begun;  // by worker

  void work(std::size_t i) {
    int const now = passed[i] + 1;
    for (std::size_t p = 0; p < Shape.tasks; ++p) {
      if (Shape.edge(p, i)) model::check(passed[p] == now, "a task ran before its predecessor, or twice");
    }
    passed[i] = now;
    std::uint32_t const worker = heist::detail::this_worker()->number;
    where[i] = worker;
    nth[i] = begun[worker];
    begun[worker] = nth[i] + 1;
  }
  heist::detail::graph_data& build(heist::task_graph& g) {
    std::array<heist::task<>, 4> tasks;
    for (std::size_t i = 0; i < Shape.tasks; ++i) tasks[i] = g.emplace([this, i] { work(i); });
    for (std::size_t i = 0; i < Shape.tasks; ++i) {
      for (std::size_t j = 0; j < Shape.tasks; ++j) {
        if (Shape.edge(i, j)) tasks[i].precede(tasks[j]);
      }
    }
    return *heist::detail::task_access::graph_of(tasks[0]);
  }
  void check(int runs) {
    for (std::size_t i = 0; i < Shape.tasks; ++i) model::check(passed[i] == runs, "a task was left out, or ran twice");
  }
};

/// Which workers are in which squad.
template <std::uint32_t... Squad>
struct squads {
  static std::vector<std::vector<std::uint32_t>> members() {
    std::vector<std::vector<std::uint32_t>> all;
    std::uint32_t number = 0;
    for (std::uint32_t const s : {Squad...}) {
      if (s >= all.size()) all.resize(s + 1);
      all[s].push_back(number++);
    }
    return all;
  }
};

/// For each task, the graph remembers the place that the last run gave it.
template <shape Shape>
void check_notes(board<Shape>& seen, placement_history const& known, heist::detail::core const& scheduler) {
  for (heist::detail::known_task const& t : known.tasks()) {
    std::uint32_t const worker = seen.where[t.index];
    model::check(t.past.worker == worker, "a task is remembered on a worker that did not have it");
    if (heist::detail::placement_of(scheduler).affinity_of_tasks() != heist::detail::task_affinity::squads) continue;
    model::check(t.past.squad == scheduler.workers[worker]->group,
                 "a task is remembered in a squad that did not have it");
  }
}

/// A thread outside builds a graph and runs it; `Script` names the order that its runs follow, and the conditions after
/// each run.
template <class Script>
void play(model::execution& t) {
  auto& threads = t.make<std::array<virtual_thread, Script::workers>>();
  t.thread([&threads] {
    heist::detail::set_this_worker(nullptr);
    board<Script::of> seen;
    heist::task_graph graph;
    heist::detail::graph_data& g = seen.build(graph);
    auto& known = static_cast<placement_history&>(g.keep_recall(heist::detail::make_unique<placement_history>()));
    Script::follow(g, known);
    world::scheduler<typename Script::idle, Script::workers, typename Script::search> executor{threads.data()};
    for (int run = 1; run <= Script::runs; ++run) {
      heist::detail::start_access::run(graph, executor, Script::passes).get();
      seen.check(run * Script::passes);
      check_notes(seen, known, executor);
      Script::check(seen);
    }
  });
  for (virtual_thread& thread : threads) {
    t.thread([&thread] { thread.main(); });
  }
}

using wakes = heist::idle::standard;
using keeps_awake = heist::idle::adaptive;

/// Workers in squads: those of `In`, one number for each worker.
template <class Idle, shape Of, int Runs, int Passes, std::uint32_t... In>
struct near {
  static constexpr shape of = Of;
  static constexpr std::size_t workers = sizeof...(In);
  static constexpr int runs = Runs, passes = Passes;
  using idle = Idle;
  using search = world::near_search<squads<In...>>;
  static void follow(heist::detail::graph_data&, placement_history&) {}
  static void check(board<Of>&) {}
};

/// A task's worker, and its place there.
struct place {
  std::uint32_t worker, nth;
};

/// Runs that follow a schedule.
template <class Idle, replay_mode Mode, shape Of, int Runs, int Passes, place... Places>
struct followed {
  static constexpr shape of = Of;
  static constexpr std::size_t workers = 2;
  static constexpr int runs = Runs, passes = Passes;
  using idle = Idle;
  using search = world::mail_space;
  static constexpr std::array<place, sizeof...(Places)> schedule{Places...};

  static void follow(heist::detail::graph_data& g, placement_history& known) {
    std::vector<task_past> tasks(schedule.size());
    for (std::size_t i = 0; i != schedule.size(); ++i) {
      tasks[i].worker = schedule[i].worker;
      tasks[i].place = schedule[i].nth;
    }
    known.follow(g, {std::move(tasks), heist::detail::shape_of(g), workers, Mode});
  }
  static void check(board<Of>& seen) {
    if (Mode == replay_mode::relaxed) return;
    for (std::size_t i = 0; i != schedule.size(); ++i)
      model::check(seen.where[i] == schedule[i].worker, "a task of a strict run was on another worker");
    if (Mode != replay_mode::strict_ordered) return;
    for (std::size_t i = 0; i != schedule.size(); ++i) {
      for (std::size_t j = 0; j != schedule.size(); ++j) {
        if (schedule[i].worker != schedule[j].worker || schedule[i].nth >= schedule[j].nth) continue;
        model::check(seen.nth[i] < seen.nth[j], "tasks of a worker were begun in another order than the one followed");
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  constexpr auto relaxed = replay_mode::relaxed;
  constexpr auto strict = replay_mode::strict_unordered;
  constexpr auto ordered = replay_mode::strict_ordered;
  model::suite all{argc, argv};
  model::limits const weak = world::bounds(1, 1), one = world::bounds(1, 0);
  model::limits const wide{.config = {.steps = 4000}, .random_executions = 10'000};

  // The smallest harnesses that find most faults come first.
  all.verify("H20 near: a fan, 2 squads", weak, play<near<wakes, fan, 1, 1, 0, 1>>);
  all.verify("H20 near: a fan, 1 squad", weak, play<near<wakes, fan, 1, 1, 0, 0>>);
  all.verify("H20 near: a fan, 2 squads, adaptive", weak, play<near<keeps_awake, fan, 1, 1, 0, 1>>);
  all.verify("H20 near: a diamond, 2 squads", one, play<near<wakes, diamond, 1, 1, 0, 1>>);
  all.verify("H20 near: 2 chains, 2 squads", one, play<near<wakes, crossing, 1, 1, 0, 1>>);
  all.verify("H20 near: a fan, 2 squads, 2 runs", one, play<near<wakes, fan, 2, 1, 0, 1>>);
  all.verify("H20 near: 2 chains, 2 squads, 2 runs of 2 passes", wide, play<near<wakes, crossing, 2, 2, 0, 1>>);
  all.verify("H20 near: a diamond, 3 workers in 2 squads", wide, play<near<wakes, diamond, 2, 1, 0, 1, 1>>);
  all.verify("H20 near: 2 chains, 3 workers in 2 squads, adaptive", wide,
             play<near<keeps_awake, crossing, 2, 1, 0, 0, 1>>);

  all.verify("H20 relaxed: a fan", weak,
             play<followed<wakes, relaxed, fan, 1, 1, place{0, 0}, place{0, 1}, place{1, 0}>>);
  all.verify("H20 strict: a fan", weak,
             play<followed<wakes, strict, fan, 1, 1, place{0, 0}, place{0, 1}, place{1, 0}>>);
  all.verify("H20 ordered: 2 tasks, 2 passes", weak,
             play<followed<wakes, ordered, apart, 1, 2, place{0, 0}, place{1, 0}>>);
  all.verify("H20 ordered: a fan, 2 passes", one,
             play<followed<wakes, ordered, fan, 1, 2, place{0, 0}, place{1, 1}, place{1, 0}>>);
  all.verify("H20 ordered: a fan, 2 runs", one,
             play<followed<wakes, ordered, fan, 2, 1, place{0, 0}, place{1, 0}, place{0, 1}>>);
  all.verify("H20 ordered: 2 chains, crosswise", one,
             play<followed<wakes, ordered, crossing, 1, 1, place{0, 0}, place{1, 0}, place{1, 1}, place{0, 1}>>);
  all.verify("H20 ordered: 2 chains, 2 runs of 2 passes", wide,
             play<followed<wakes, ordered, crossing, 2, 2, place{0, 0}, place{1, 0}, place{1, 1}, place{0, 1}>>);
  all.verify("H20 ordered: a diamond, adaptive", wide,
             play<followed<keeps_awake, ordered, diamond, 2, 2, place{0, 0}, place{1, 0}, place{0, 1}, place{1, 1}>>);
  all.verify("H20 relaxed: 2 chains, 2 runs of 2 passes", wide,
             play<followed<wakes, relaxed, crossing, 2, 2, place{0, 0}, place{1, 0}, place{1, 1}, place{0, 1}>>);
  all.verify("H20 strict: 2 chains, 2 runs of 2 passes", wide,
             play<followed<wakes, strict, crossing, 2, 2, place{0, 0}, place{1, 0}, place{1, 1}, place{0, 1}>>);
  return all.finish();
}
