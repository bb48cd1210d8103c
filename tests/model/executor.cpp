// A whole executor (H13): from the start of its threads through runs of a small graph to its end, with each of the idle
// policies. The worker loop, the graph, its layout and its runs are the shipped lines; see README.md, "The world".
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/graph/task_graph.hpp"
#include "world/bounds.hpp"
#include "world/small_executor.hpp"

namespace {

using heist::detail::virtual_thread;
using model::env;

/// Bit j of to[i]: task i precedes task j.
struct shape {
  std::array<unsigned, 4> to;
  constexpr bool edge(std::size_t i, std::size_t j) const { return (to[i] >> j & 1) != 0; }
};
constexpr shape diamond{{0b0110, 0b1000, 0b1000, 0}};
constexpr shape crossing{{0b1100, 0b1000, 0, 0}};  // two chains, and an edge from the first to the second

/// The fields that the tasks write, without atomics.
template <shape Shape>
struct board {
  std::array<env::plain<int>, 4> passed;

  void work(std::size_t i) {
    int const now = passed[i] + 1;
    for (std::size_t p = 0; p < 4; ++p) {
      if (Shape.edge(p, i)) model::check(passed[p] == now, "a task ran before its predecessor, or twice");
    }
    passed[i] = now;
  }
  void build(heist::task_graph& g) {
    std::array<heist::task<>, 4> tasks;
    for (std::size_t i = 0; i < 4; ++i) tasks[i] = g.emplace([this, i] { work(i); });
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        if (Shape.edge(i, j)) tasks[i].precede(tasks[j]);
      }
    }
  }
  void check(int runs) {
    for (auto const& n : passed) model::check(n == runs, "a task was left out, or ran twice");
  }
};

/// A graph and an executor, from the beginning to the end of both, by a thread outside.
template <class Idle, shape Shape, std::size_t Workers, int Runs, std::size_t Passes = 1>
void life(model::execution& t) {
  auto& threads = t.make<std::array<virtual_thread, Workers>>();
  t.thread([&threads] {
    heist::detail::set_this_worker(nullptr);
    board<Shape> seen;
    heist::task_graph graph;
    seen.build(graph);
    world::scheduler<Idle, Workers> executor{threads.data()};
    for (int run = 1; run <= Runs; ++run) {
      heist::detail::start_access::run(graph, executor, Passes).get();
      seen.check(run * static_cast<int>(Passes));
    }
  });
  for (virtual_thread& thread : threads) {
    t.thread([&thread] { thread.main(); });
  }
}

/// Two threads outside, each with a graph. The first thread owns the executor, and destroys it as soon as both graphs
/// have run. The second thread may then still be leaving its submit call.
template <class Idle>
void two_outside(model::execution& t) {
  struct shared {
    explicit shared(virtual_thread* threads) : executor{threads} {}
    board<diamond> seen, others;
    heist::task_graph graph, other;
    heist::detail::completion other_ran;
    world::scheduler<Idle, 2> executor;
  };
  auto& threads = t.make<std::array<virtual_thread, 2>>();
  auto* const s = new shared{threads.data()};
  auto const one = s->graph.emplace([s] { s->seen.passed[0] = 1; });
  s->graph.emplace([s] { model::check(s->seen.passed[0] == 1, "a task ran before its predecessor"); }).succeed(one);
  s->other.emplace([s] {
    s->others.passed[0] = 1;
    s->other_ran.complete();
  });
  t.thread([s] {
    heist::detail::set_this_worker(nullptr);
    heist::detail::start_access::run(s->graph, s->executor, 1).get();
    heist::detail::wait_for(s->other_ran, 0);
    model::check(s->others.passed[0] == 1, "who waits does not see what was done");
    delete s;
  });
  t.thread([s] {
    heist::detail::set_this_worker(nullptr);
    static_cast<void>(heist::detail::start_access::run(s->other, s->executor, 1));
  });
  for (virtual_thread& thread : threads) {
    t.thread([&thread] { thread.main(); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  namespace idle = heist::idle;
  model::suite all{argc, argv};
  model::limits const weak = world::bounds(1, 1), one = world::bounds(1, 0);
  model::limits const wide{.config = {.steps = 4000}, .random_executions = 10'000};

  all.verify("H13 executor: a diamond, standard", weak, life<idle::standard, diamond, 2, 1>);
  all.verify("H13 executor: a diamond, adaptive", weak, life<idle::adaptive, diamond, 2, 1>);
  all.verify("H13 executor: a diamond, balanced", weak, life<idle::bws, diamond, 2, 1>);
  all.verify("H13 executor: a diamond, spinning", weak, life<idle::spinning, diamond, 2, 1>);
  all.verify("H13 executor: 2 chains, standard", one, life<idle::standard, crossing, 2, 1>);
  all.verify("H13 executor: 2 chains, adaptive", one, life<idle::adaptive, crossing, 2, 1>);
  all.verify("H13 executor: 2 chains, balanced", one, life<idle::bws, crossing, 2, 1>);
  all.verify("H13 executor: 2 chains, spinning", one, life<idle::spinning, crossing, 2, 1>);
  all.verify("H13 executor: 2 runs of 2 passes, standard", wide, life<idle::standard, crossing, 2, 2, 2>);
  all.verify("H13 executor: 2 runs of 2 passes, adaptive", wide, life<idle::adaptive, crossing, 2, 2, 2>);
  all.verify("H13 executor: 2 runs of 2 passes, balanced", wide, life<idle::bws, crossing, 2, 2, 2>);
  all.verify("H13 executor: 2 threads outside, standard", wide, two_outside<idle::standard>);
  all.verify("H13 executor: 2 threads outside, adaptive", wide, two_outside<idle::adaptive>);
  all.verify("H13 executor: 3 workers, standard", wide, life<idle::standard, diamond, 3, 1>);
  all.verify("H13 executor: 3 workers, adaptive", wide, life<idle::adaptive, diamond, 3, 1>);
  all.verify("H13 executor: 3 workers, balanced", wide, life<idle::bws, diamond, 3, 1>);
  all.verify("H13 executor: a diamond at random, standard", wide, life<idle::standard, diamond, 2, 1>);
  all.verify("H13 executor: a diamond at random, adaptive", wide, life<idle::adaptive, diamond, 2, 1>);
  all.verify("H13 executor: a diamond at random, balanced", wide, life<idle::bws, diamond, 2, 1>);
  all.verify("H13 executor: a diamond at random, spinning", wide, life<idle::spinning, diamond, 2, 1>);
  return all.finish();
}
