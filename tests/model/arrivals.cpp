// Arrivals (H16): several arrivals resume one waiter. They are tested alone, in a task that comes after other tasks
// (parallel/async/after.ipp), and as the turns of a pipeline. The last harnesses test the lock for data that tasks use
// in any order.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/arrivals.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/parallel/flow/commute_lock.hpp"

namespace {

using model::env;
using arrivals = heist::detail::basic_arrivals<env>;
using completion = heist::detail::basic_completion<env>;

/// Each thread writes, and one resumes and sees the writes of all.
template <int Count>
void last_one(model::execution& t) {
  struct board {
    arrivals left;
    std::array<env::plain<int>, Count> written{};
    env::plain<int> gone_on{0};
  };
  auto& b = t.make<board>();
  b.left.expect(Count);
  for (int i = 0; i < Count; ++i) {
    t.thread([&b, i] {
      b.written[static_cast<std::size_t>(i)] = 7;
      if (!b.left.arrive()) return;
      for (auto const& w : b.written) model::check(w == 7, "the last one does not see what another did before it came");
      b.gone_on = b.gone_on + 1;
    });
  }
  t.finally([&b] { model::check(b.gone_on == 1, "not one went on"); });
}

/// Two threads that meet again and again. The second to arrive prepares the next round, and releases the first.
void rounds(model::execution& t) {
  struct board {
    arrivals left;
    completion again;
    env::plain<int> met{0};
  };
  auto& b = t.make<board>();
  b.left.expect(2);
  auto const meet = [&b] {
    if (!b.left.arrive()) return false;
    b.left.expect(2);
    b.met = b.met + 1;
    return true;
  };
  t.thread([&b, meet] {
    if (meet()) b.again.complete();
    while (!b.again.is_ready()) env::relax();
    static_cast<void>(meet());
  });
  t.thread([&b, meet] {
    if (meet()) b.again.complete();
    while (!b.again.is_ready()) env::relax();
    static_cast<void>(meet());
  });
  t.finally([&b] { model::check(b.met == 2, "a round had no end, or two"); });
}

/// A task with links to its predecessors, in its own block. The thread that runs the task frees the block, as
/// start_after() and complete_async() do.
template <int Count>
struct waiting_task {
  struct link : heist::detail::completion_waiter {
    link() noexcept : completion_waiter{&wake_up} {}
    waiting_task* of = nullptr;
    static void wake_up(completion_waiter& w) noexcept {
      waiting_task& task = *static_cast<link&>(w).of;
      if (task.left.arrive()) task.run();
    }
  };
  struct before {
    completion finished;
    env::plain<int> result{0};
  };

  arrivals left;
  std::array<link, Count> links;
  std::array<before*, Count> from{};
  env::atomic<int>* runs = nullptr;

  void run() {
    for (before* f : from) model::check(f->result == 7, "a task began before one that it comes after had ended");
    runs->fetch_add(1, std::memory_order_relaxed);
    delete this;
  }
  void start() {
    left.expect(Count);
    std::uint32_t over = 0;
    for (std::size_t i = 0; i != Count; ++i) {
      links[i].of = this;
      over += from[i]->finished.add_entry(links[i]) ? 0 : 1;
    }
    if (over == Count || (over != 0 && left.arrive(over))) run();
  }
};

template <int Count>
void after_several(model::execution& t) {
  using task = waiting_task<Count>;
  auto& before = t.make<std::array<typename task::before, Count>>();
  auto& runs = t.make<env::atomic<int>>(0);
  for (std::size_t i = 0; i != Count; ++i) {
    t.thread([&before, i] {
      before[i].result = 7;
      before[i].finished.complete();
    });
  }
  t.thread([&] {
    auto* const me = new task;
    me->runs = &runs;
    for (std::size_t i = 0; i != Count; ++i) me->from[i] = &before[i];
    me->start();
  });
  t.finally([&] { model::check(runs.load(std::memory_order_relaxed) == 1, "a task ran twice, or never"); });
}

/// Tasks take a lock, or stand in line. The task that gives the lock back runs the next task, as make_ready() would.
template <int Count>
void one_at_a_time(model::execution& t) {
  struct node {
    env::plain<node*> next{nullptr};
    env::plain<int> prepared{0};
  };
  struct board {
    heist::detail::commute_lock<node, env> lock;
    std::array<node, Count> nodes;
    env::plain<int> inside{0};
    env::plain<int> done{0};

    void run(node* n) {
      while (n != nullptr) {
        model::check(n->prepared == 7, "a task runs that was not ready");
        model::check(inside == 0, "two at a time");
        inside = 1;
        done = done + 1;
        inside = 0;
        n = lock.give_back();
      }
    }
  };
  auto& b = t.make<board>();
  for (std::size_t i = 0; i != Count; ++i) {
    t.thread([&b, i] {
      b.nodes[i].prepared = 7;
      if (b.lock.take(b.nodes[i])) b.run(&b.nodes[i]);
    });
  }
  t.finally([&b] { model::check(b.done == Count, "a task that stood in line was forgotten, or came twice"); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const spurious{.config = {.preemptions = 2, .spurious = 1}};

  all.verify("H16 arrivals: the last of 2 goes on", three, last_one<2>);
  all.verify("H16 arrivals: the last of 3 goes on", three, last_one<3>);
  all.verify("H16 arrivals: two rounds", three, rounds);
  all.verify("H16 arrivals: a task after 1", three, after_several<1>);
  all.verify("H16 arrivals: a task after 2", three, after_several<2>);
  all.verify("H16 commute lock: 2 tasks, one at a time", three, one_at_a_time<2>);
  all.verify("H16 commute lock: 3 tasks, one at a time", three, one_at_a_time<3>);
  all.verify("H16 commute lock: 3 tasks, exchanges that fail for no reason", spurious, one_at_a_time<3>);
  return all.finish();
}
