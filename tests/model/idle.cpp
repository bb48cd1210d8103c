// The idle protocol (H10): no worker sleeps while there is work that it may take. Workers here are as in
// sched/worker_loop.hpp, except that a task, once taken, keeps its worker busy for ever: work conservation then means
// that as many workers wake up as there are tasks.
#undef NDEBUG  // the assertions of the shipped code are part of what is proved
#include "heist/sched/idle_gate.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/sync/master_queue.hpp"
#include "heist/sync/work_deque.hpp"

namespace {

using model::env;
using order = std::memory_order;

struct task {
  task* next = nullptr;
  env::plain<int> payload{0};
  env::plain<int> taken{0};
};

constexpr heist::idle_rules wakes_on_push{false, false, true};
constexpr heist::idle_rules keeps_a_thief{false, true, false};

/// What may happen besides pushes; nobody looks at what does not.
enum class also { nothing, outside, stop };

template <class Env, also Also>
struct executor {
  executor(std::size_t workers, heist::idle_rules rules) : gate{workers, rules} {}

  heist::idle_gate<Env> gate;
  heist::work_deque<task*, Env> deque{2};  // of the worker that has the first task
  heist::master_queue<task, Env> master;
  env::atomic<bool> stop{false};
  std::array<task, 2> tasks;
  env::plain<int> done{0};

  task& make(std::size_t i) {
    tasks[i].payload = 7;
    return tasks[i];
  }
  static void run(task& t) {
    model::check(t.payload == 7, "a task came out without what was written before");
    model::check(t.taken == 0, "a task ran twice");
    t.taken = 1;
  }

  /// By the deque's owner.
  void push(std::size_t i) {
    model::check(deque.push(&make(i)), "push failed");
    gate.pushed();
  }
  void submit(std::size_t i) {
    master.push(make(i));
    gate.submitted();
  }

  bool work_anywhere() const { return (Also == also::outside && !master.maybe_empty()) || !deque.maybe_empty(); }
  bool stopping() const { return Also == also::stop && stop.load(order::acquire); }

  task* explore() {
    if (Also == also::outside) {
      if (task* const t = master.take_all()) return t;
    }
    return deque.steal().item;
  }

  /// The life of a worker without tasks, until it has one or the executor stops. `looks`: it has not looked before.
  task* search(std::size_t me, bool looks = true) {
    gate.become_thief();
    for (;; looks = true) {
      if (task* const t = looks ? explore() : nullptr) {
        gate.found_work([this] { return work_anywhere(); });
        return t;
      }
      if (stopping()) {
        gate.wake_all();
        return nullptr;
      }
      auto const outcome = gate.try_sleep(
          me, [this] { return work_anywhere() || stopping(); }, [] {}, [] {});
      if (outcome == heist::idle_outcome::slept) {
        gate.become_thief();
      } else {
        Env::relax();
      }
    }
  }
};

/// A busy worker pushes as many tasks as there are thieves. `Looks`: the thieves have not looked before.
template <class Env, int Thieves, bool Looks>
void pushed(model::execution& t) {
  auto& e = t.make<executor<Env, also::nothing>>(std::size_t{Thieves + 1}, wakes_on_push);
  t.thread([&e] {
    for (std::size_t i = 0; i < Thieves; ++i) e.push(i);
  });
  for (std::size_t w = 0; w < Thieves; ++w) {
    t.thread([&e, w] { e.run(*e.search(w, Looks)); });
  }
}

/// A thread outside submits a task to a worker that may be about to sleep.
template <class Env, bool KeepsThief>
void submitted(model::execution& t) {
  auto& e = t.make<executor<Env, also::outside>>(std::size_t{1}, KeepsThief ? keeps_a_thief : wakes_on_push);
  t.thread([&e] { e.submit(0); });
  t.thread([&e] { e.run(*e.search(0)); });
}

/// The first task, from outside, pushes another before it keeps its worker busy. Nobody is told of a push where a
/// thief is kept awake instead: the worker that becomes active makes sure that there is one.
template <class Env, bool KeepsThief, bool Looks>
void submitted_then_pushed(model::execution& t) {
  auto& e = t.make<executor<Env, also::outside>>(std::size_t{2}, KeepsThief ? keeps_a_thief : wakes_on_push);
  t.thread([&e] { e.submit(0); });
  for (std::size_t w = 0; w < 2; ++w) {
    t.thread([&e, w] {
      task* const found = e.search(w, Looks);
      e.run(*found);
      if (found != &e.tasks[0]) return;
      e.gate.become_active();
      e.push(1);
    });
  }
}

/// A worker is active already and pushes; thieves may be about to sleep. The last thief that finds a task makes sure
/// that there is another thief.
template <int Thieves, bool Looks>
void kept_thief(model::execution& t) {
  auto& e = t.make<executor<env, also::nothing>>(std::size_t{Thieves + 1}, keeps_a_thief);
  t.thread([&e] {
    e.gate.become_active();
    for (std::size_t i = 0; i < Thieves; ++i) e.push(i);
  });
  for (std::size_t w = 0; w < Thieves; ++w) {
    t.thread([&e, w] {
      e.run(*e.search(w + 1, Looks));
      e.gate.become_active();
    });
  }
}

/// Whoever sleeps when the executor stops wakes up.
template <bool KeepsThief>
void stopped(model::execution& t) {
  auto& e = t.make<executor<env, also::stop>>(std::size_t{2}, KeepsThief ? keeps_a_thief : wakes_on_push);
  t.thread([&e] {
    e.stop.store(true, order::release);
    e.gate.wake_all();
  });
  for (std::size_t w = 0; w < 2; ++w) {
    t.thread([&e, w] { model::check(e.search(w) == nullptr, "there was no task"); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  // In the larger ones a CAS fails for a reason only (that it may fail without one is covered by the smaller ones), and
  // workers have looked in vain already when they start.
  model::limits const three{.rules = {.preemptions = 3}};
  model::limits const two{.rules = {.preemptions = 2, .odd_failures = 0}};
  model::limits const three_plain{.rules = {.preemptions = 3, .odd_failures = 0}};
  model::limits const wide{.rules = {.steps = 1000}, .random_executions = 100'000};

  all.prove("H10 idle: a push wakes a thief", three, pushed<env, 1, true>);
  all.prove("H10 idle: the same without membarrier", three, pushed<model::symmetric_env, 1, true>);
  all.prove("H10 idle: a submission wakes", three, submitted<env, false>);
  all.prove("H10 idle: a submission wakes (adaptive)", three, submitted<env, true>);
  all.prove("H10 idle: an active worker keeps a thief", three, kept_thief<1, true>);
  all.prove("H10 idle: an active worker keeps a thief, 2 thieves", two, kept_thief<2, false>);
  all.prove("H10 idle: the same, random", wide, kept_thief<2, true>);
  all.prove("H10 idle: a stop wakes everybody", three_plain, stopped<false>);
  all.prove("H10 idle: a stop wakes everybody (adaptive)", three_plain, stopped<true>);
  all.prove("H10 idle: 2 pushes wake 2 thieves", two, pushed<env, 2, false>);
  all.prove("H10 idle: 2 pushes wake 2 thieves, random", wide, pushed<env, 2, true>);
  all.prove("H10 idle: submitted, then pushed", three_plain, submitted_then_pushed<env, false, false>);
  all.prove("H10 idle: submitted, then pushed (adaptive)", two, submitted_then_pushed<env, true, false>);
  return all.finish();
}
