// The count of work under way: wait_idle returns, and not before everything has ended and is visible; whoever destroys
// the executor then waits for visitors that are still inside.
#undef NDEBUG  // the assertions of the shipped code are part of what is proved
#include "heist/sched/work_count.hpp"

#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"

namespace {

using model::env;
using model::symmetric_env;
using order = std::memory_order;

constexpr std::size_t max_units = 3;

template <class Env>
struct board {
  heist::work_count<Env> work;
  env::plain<int> results[max_units];
  env::atomic<int> handed{0};  // how many units another worker has handed over

  explicit board(std::size_t workers) : work{workers} {}

  void hand_over() { handed.fetch_add(1, order::release); }
  void receive(int nth) {
    while (handed.load(order::acquire) < nth) env::read_again();
  }
  void run(std::size_t unit) { results[unit] = 7; }
  void check(std::size_t units) {
    for (std::size_t i = 0; i < units; ++i) model::check(results[i] == 7, "idle, though a unit has not ended");
  }
};

/// Every worker ends one unit; waiters wait.
template <class Env, std::size_t Workers, int Waiters>
void last_units(model::execution& t) {
  auto& b = t.make<board<Env>>(Workers);
  for (std::size_t w = 0; w < Workers; ++w) b.work.began(w);
  for (std::size_t w = 0; w < Workers; ++w) {
    t.thread([&b, w] {
      b.run(w);
      b.work.ended(w, 1);
    });
  }
  for (int i = 0; i < Waiters; ++i) {
    t.thread([&b] {
      b.work.wait_idle();
      b.check(Workers);
    });
  }
}

/// A unit begins another one, which a second worker ends, perhaps before the first has ended.
void begun_inside(model::execution& t) {
  auto& b = t.make<board<env>>(std::size_t{2});
  b.work.began(0);
  t.thread([&b] {
    b.work.began(0);
    b.hand_over();
    b.run(0);
    b.work.ended(0, 1);
  });
  t.thread([&b] {
    b.receive(1);
    b.run(1);
    b.work.ended(1, 1);
  });
  t.thread([&b] {
    b.work.wait_idle();
    b.check(2);
  });
}

/// A thread outside begins a unit and waits for it; then once more.
template <int Times, bool Visits>
void from_outside(model::execution& t) {
  auto& b = t.make<board<env>>(std::size_t{1});
  t.thread([&b] {
    for (int i = 0; i < Times; ++i) {
      b.receive(i + 1);
      b.run(static_cast<std::size_t>(i));
      b.work.ended(0, static_cast<std::uint64_t>(i + 1));
    }
  });
  t.thread([&b] {
    for (int i = 0; i < Times; ++i) {
      if (Visits) {
        b.work.enter(1);
        b.hand_over();
        b.work.leave();
      } else {
        b.work.began_outside();
        b.hand_over();
      }
      b.work.wait_idle();
      b.check(static_cast<std::size_t>(i + 1));
    }
  });
}

/// A visitor's task tells the owner of the executor to destroy it, while the visitor is still inside.
void destroyed_after_a_visit(model::execution& t) {
  struct executor : board<env> {
    env::atomic<bool> stop{false};
    env::atomic<int> submitted{0};
    env::plain<int> inside{0};
    executor() : board<env>{1} {}
  };
  struct outer {
    env::atomic<bool> told{false}, joined{false};
  };
  auto& o = t.make<outer>();
  auto* const e = new executor;
  t.thread([e] {
    e->work.enter(1);
    e->hand_over();
    e->submitted.fetch_add(1, order::relaxed);  // as the idle gate is told of it
    e->inside = 1;
    e->work.leave();
  });
  t.thread([e, &o] {
    e->receive(1);
    e->run(0);
    o.told.store(true, order::release);
    e->work.ended(0, 1);
    while (!e->stop.load(order::acquire)) env::read_again();
    o.joined.store(true, order::release);
  });
  t.thread([e, &o] {
    while (!o.told.load(order::acquire)) env::read_again();
    e->work.wait_idle();
    e->check(1);
    e->work.wait_for_visitors();
    e->stop.store(true, order::release);
    while (!o.joined.load(order::acquire)) env::read_again();
    delete e;
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.rules = {.preemptions = 3}};
  model::limits const stepwise{.rules = {.preemptions = 3, .stepwise = true}};
  model::limits const spurious{.rules = {.preemptions = 3, .spurious = 1}};

  all.prove("work count: 1 worker, 1 waiter", three, last_units<env, 1, 1>);
  all.prove("work count: 2 workers end the last units", three, last_units<env, 2, 1>);
  all.prove("work count: the same, heavy fences stepwise", stepwise, last_units<env, 2, 1>);
  all.prove("work count: the same, futex returns early", spurious, last_units<env, 2, 1>);
  all.prove("work count: the same without membarrier", three, last_units<symmetric_env, 2, 1>);
  all.prove("work count: 2 waiters", three, last_units<env, 1, 2>);
  all.prove("work count: a unit begun inside a unit", three, begun_inside);
  all.prove("work count: from outside, twice", three, from_outside<2, false>);
  all.prove("work count: a visitor waits", three, from_outside<1, true>);
  all.prove("work count: destroyed while a visitor leaves", three, destroyed_after_a_visit);
  return all.finish();
}
