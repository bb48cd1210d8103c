// Join counters (H12): two threads run a small graph again and again. Every task runs once a pass, after all its
// predecessors, and reads their fields without atomics. The passes follow each other as in graph/run.hpp.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/graph/join_counter.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"

namespace {

using model::env;
using order = std::memory_order;

/// Bit j of to[i]: task i precedes task j. Task 0 is the source.
template <std::size_t N>
struct shape {
  std::array<unsigned, N> to;
  bool direct;  // a task with one predecessor needs no counter, as graphs are laid out
  constexpr bool edge(std::size_t i, std::size_t j) const { return (to[i] >> j & 1) != 0; }
  constexpr std::uint32_t predecessors(std::size_t j) const {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < N; ++i) n += edge(i, j) ? 1 : 0;
    return n;
  }
};

constexpr shape<4> diamond{{0b0110, 0b1000, 0b1000, 0}, true};
constexpr shape<4> wavefront_2x2{{0b0110, 0b1000, 0b1000, 0}, false};
constexpr shape<6> wavefront_2x3{{0b001010, 0b010100, 0b100000, 0b010000, 0b100000, 0}, true};
constexpr shape<3> chain{{0b010, 0b100, 0}, false};

template <auto Shape, int Passes>
struct graph {
  static constexpr std::size_t size = Shape.to.size();
  struct task {
    heist::detail::basic_join_counter<env> left;
    env::plain<int> passed{0};
  };

  std::array<task, size> tasks;
  env::atomic<std::size_t> published{0};  // the task that another thread may take; 0: none
  env::atomic<std::uint32_t> remaining{0};
  env::atomic<bool> finished{false};
  env::plain<int> pass{0};

  graph() {
    for (std::size_t i = 0; i < size; ++i) tasks[i].left.reset(Shape.predecessors(i));
  }

  void start_pass() {
    pass = pass + 1;
    remaining.store(size, order::relaxed);
  }

  static bool counted(std::size_t i) { return Shape.predecessors(i) > (Shape.direct ? 1 : 0); }

  /// The task that the same thread runs next; `none` if there is none.
  static constexpr std::size_t none = size;
  std::size_t run(std::size_t i, bool alone) {
    task& t = tasks[i];
    if (counted(i)) t.left.reset(Shape.predecessors(i));
    int const now = pass;
    model::check(t.passed == now - 1, "a task ran twice in a pass, or not at all in the last one");
    for (std::size_t p = 0; p < size; ++p) {
      if (Shape.edge(p, i)) model::check(tasks[p].passed == now, "a task ran before its predecessor");
    }
    t.passed = now;

    std::size_t next = none;
    for (std::size_t s = 0; s < size; ++s) {
      if (!Shape.edge(i, s) || (counted(s) && !tasks[s].left.arrive(alone))) continue;
      if (next == none) {
        next = s;
      } else {
        model::check(published.exchange(s, order::acq_rel) == 0, "a task was offered before the last one was taken");
      }
    }
    if (remaining.fetch_sub(1, order::acq_rel) != 1) return next;
    model::check(next == none, "a pass ended before its tasks");
    if (pass == Passes) {
      finished.store(true, order::release);
      return none;
    }
    start_pass();
    return 0;
  }

  void work(std::size_t first, bool alone) {
    for (std::size_t t = first;;) {
      while (t != none) t = run(t, alone);
      if (finished.load(order::acquire)) return;
      t = published.load(order::relaxed) != 0 ? published.exchange(0, order::acquire) : 0;
      if (t == 0) {
        t = none;
        env::read_again();
      }
    }
  }
};

template <auto Shape, int Passes, int Threads>
void passes(model::execution& t) {
  using graph_type = graph<Shape, Passes>;
  auto& g = t.make<graph_type>();
  g.start_pass();
  for (int i = 0; i < Threads; ++i) {
    t.thread([&g, i] { g.work(i == 0 ? 0 : graph_type::none, Threads == 1); });
  }
  t.finally([&g] {
    for (auto const& task : g.tasks) model::check(task.passed == Passes, "a task was left out");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};

  all.verify("H12 join counter: a thread alone, 3 passes", three, passes<wavefront_2x3, 3, 1>);
  all.verify("H12 join counter: a chain, 2 passes", three, passes<chain, 2, 2>);
  all.verify("H12 join counter: a diamond, 2 passes", three, passes<diamond, 2, 2>);
  all.verify("H12 join counter: 2x2 wavefront, 2 passes", three, passes<wavefront_2x2, 2, 2>);
  all.verify("H12 join counter: 2x3 wavefront, 2 passes", three, passes<wavefront_2x3, 2, 2>);
  return all.finish();
}
