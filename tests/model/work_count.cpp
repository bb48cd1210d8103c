// The count of work under way. A waiter resumes only after all units that had begun have ended and are visible, with
// the units that they have begun. Units that begin later do not delay the waiter. The thread that destroys the executor
// then waits for visitors that are still inside.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/work_count.hpp"

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
  using count = heist::detail::work_count<Env>;
  count work;
  env::plain<int> results[max_units];
  env::plain<unsigned> wave_of[max_units];
  env::atomic<int> handed{0};  // how many units another worker has been handed
  env::atomic<bool> has_waited{false};

  explicit board(std::size_t workers) : work{workers} {}

  void hand_over() { handed.fetch_add(1, order::release); }
  void receive(int nth) {
    while (handed.load(order::acquire) < nth) env::read_again();
  }
  void run(std::size_t unit) { results[unit] = 7; }
  void check(std::size_t units, std::size_t first = 0) {
    for (std::size_t i = first; i < units; ++i) model::check(results[i] == 7, "the wait is over, though a unit is not");
  }
  /// As core::wait_idle(), by a thread outside.
  void wait() {
    typename count::waiter me;
    if (!work.wait(me)) return;
    heist::detail::thread_waiter<Env, 0> sleeper;
    if (me.over.add_entry(sleeper)) sleeper.wait();
  }
  /// As wait(), and tells the other threads afterwards.
  void wait_and_say_so() {
    wait();
    has_waited.store(true, order::release);
  }
  /// Returns when the waves have changed places, or the thread in wait_and_say_so() has waited.
  void change_of_waves() {
    while (work.current_wave() == 0 && !has_waited.load(order::acquire)) env::read_again();
  }
  /// The report of a worker that has ended these units.
  struct tally {
    std::uint64_t of[2]{};
    void add(unsigned wave) { count::count_end(of, wave); }
  };
  void ended(std::size_t worker, tally const& all) { work.ended(worker, all.of[0], all.of[1]); }
  void ended(std::size_t worker, unsigned wave) {
    tally one;
    one.add(wave);
    ended(worker, one);
  }
};

/// Every worker ends one unit, the first one of `First`; waiters wait.
template <class Env, std::size_t Workers, int Waiters, unsigned First = 0>
void last_units(model::execution& t) {
  auto& b = t.make<board<Env>>(Workers);
  for (std::size_t w = 0; w < Workers; ++w) b.work.add_work(w, w == 0 ? First : 0);
  for (std::size_t w = 0; w < Workers; ++w) {
    t.thread([&b, w] {
      b.run(w);
      b.ended(w, w == 0 ? First : 0);
    });
  }
  for (int i = 0; i < Waiters; ++i) {
    t.thread([&b] {
      b.wait();
      b.check(Workers);
    });
  }
}

/// A unit of `Wave` begins another one, of `Second`, which a second worker ends, perhaps before the first has ended.
/// `Guessed`: its wave is not known, and it joins the older one, whichever that is.
template <unsigned Wave, unsigned Second, bool Guessed = false>
void begun_inside(model::execution& t) {
  auto& b = t.make<board<env>>(std::size_t{2});
  b.work.add_work(0, Wave);
  t.thread([&b] {
    unsigned const second = Guessed ? b.work.current_wave() ^ 1 : Second;
    b.wave_of[1] = second;
    b.work.add_work(0, second);
    b.hand_over();
    b.run(0);
    b.ended(0, Wave);
  });
  t.thread([&b] {
    b.receive(1);
    b.run(1);
    b.ended(1, b.wave_of[1]);
  });
  t.thread([&b] {
    b.wait();
    b.check(2);
  });
}

/// The second one, of both waves, begins a third, on the worker of the first.
template <unsigned First>
void begun_inside_twice(model::execution& t) {
  constexpr unsigned both = heist::detail::work_count<env>::both;
  struct machine : board<env> {
    env::atomic<bool> back{false};
    machine() : board<env>{2} {}
  };
  auto& b = t.make<machine>();
  b.work.add_work(0, First);
  t.thread([&b] {
    board<env>::tally mine;
    b.work.add_work(0, both);
    b.hand_over();
    b.run(0);
    mine.add(First);
    b.ended(0, mine);
    while (!b.back.load(order::acquire)) env::read_again();
    b.run(2);
    mine.add(both);
    b.ended(0, mine);
  });
  t.thread([&b] {
    b.receive(1);
    b.work.add_work(1, both);
    b.back.store(true, order::release);
    b.run(1);
    b.ended(1, both);
  });
  t.thread([&b] {
    b.wait();
    b.check(3);
  });
}

/// A thread outside begins a unit and waits for it; then once more.
template <int Times, bool Visits>
void from_outside(model::execution& t) {
  auto& b = t.make<board<env>>(std::size_t{1});
  t.thread([&b] {
    board<env>::tally mine;
    for (int i = 0; i < Times; ++i) {
      b.receive(i + 1);
      b.run(static_cast<std::size_t>(i));
      mine.add(b.wave_of[i]);
      b.ended(0, mine);
    }
  });
  t.thread([&b] {
    for (int i = 0; i < Times; ++i) {
      unsigned const wave = b.work.current_wave();
      b.wave_of[i] = wave;
      if (Visits) {
        b.work.enter(1, wave);
        b.hand_over();
        b.work.leave(wave);
      } else {
        b.work.started_outside(wave);
        b.hand_over();
      }
      b.wait();
      b.check(static_cast<std::size_t>(i + 1));
    }
  });
}

/// A thread outside begins a unit while another waits, perhaps of a wave that is the newer one no longer, and waits.
/// `Late`: it begins when the waves have changed places.
template <class Env, bool Late>
void started_concurrently(model::execution& t) {
  auto& b = t.make<board<Env>>(std::size_t{1});
  b.work.add_work(0, 0);
  t.thread([&b] {
    typename board<Env>::tally mine;
    b.run(0);
    mine.add(0);
    b.ended(0, mine);
    b.receive(1);
    b.run(1);
    mine.add(b.wave_of[1]);
    b.ended(0, mine);
  });
  t.thread([&b] {
    b.wait_and_say_so();
    b.check(1);
  });
  t.thread([&b] {
    if (Late) b.change_of_waves();
    unsigned const wave = b.work.current_wave();
    b.wave_of[1] = wave;
    b.work.started_outside(wave);
    b.hand_over();
    b.wait();
    b.check(2);
  });
}

/// The unit that begins when the waves have changed places never ends; the earlier waiter resumes. `Begins`: the unit
/// begins another unit, on a worker.
template <class Env, bool Begins>
void never_ends(model::execution& t) {
  auto& b = t.make<board<Env>>(std::size_t{2});
  b.work.add_work(0, 0);
  t.thread([&b] {
    b.run(0);
    b.ended(0, 0);
  });
  t.thread([&b] {
    b.wait_and_say_so();
    b.check(1);
  });
  t.thread([&b] {
    b.change_of_waves();
    unsigned const wave = b.work.current_wave();
    b.work.started_outside(wave);
    if (Begins) {
      b.work.add_work(1, wave);
      b.ended(1, wave);
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
    e->work.enter(1, 0);
    e->hand_over();
    e->submitted.fetch_add(1, order::relaxed);  // as the idle gate is told of it
    e->inside = 1;
    e->work.leave(0);
  });
  t.thread([e, &o] {
    e->receive(1);
    e->run(0);
    o.told.store(true, order::release);
    e->ended(0, 0);
    while (!e->stop.load(order::acquire)) env::read_again();
    o.joined.store(true, order::release);
  });
  t.thread([e, &o] {
    while (!o.told.load(order::acquire)) env::read_again();
    e->wait();
    e->check(1);
    e->work.wait_for_visitors();
    e->stop.store(true, order::release);
    while (!o.joined.load(order::acquire)) env::read_again();
    delete e;
  });
}

/// The destructor closes while a thread comes with a unit. The unit is refused, or it has ended when the closing thread
/// has waited.
template <class Env>
void closed(model::execution& t) {
  auto& b = t.make<board<Env>>(std::size_t{1});
  auto& accepted = t.make<env::atomic<int>>(0);  // 1: yes, 2: no
  auto& stopped = t.make<env::atomic<bool>>(false);
  t.thread([&] {
    bool const in = b.work.enter_open(1, 0);
    accepted.store(in ? 1 : 2, order::release);
    model::check(!in || !stopped.load(order::relaxed), "let in although nobody runs it any more");
    if (in) b.work.leave(0);
  });
  t.thread([&] {
    while (accepted.load(order::acquire) == 0) env::read_again();
    if (accepted.load(order::relaxed) == 2) return;
    b.run(0);
    b.work.ended(0, 1, 0);
  });
  t.thread([&] {
    b.work.close();
    b.wait();
    b.work.wait_for_visitors();
    stopped.store(true, order::relaxed);
    if (accepted.load(order::relaxed) == 1) b.check(1);
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  constexpr unsigned both = heist::detail::work_count<env>::both;
  // With three threads a CAS fails for a reason only: that it may fail without one is covered by the smaller ones.
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};
  model::limits const one{.config = {.preemptions = 1, .odd_failures = 0}};
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const stepwise{.config = {.preemptions = 2, .odd_failures = 0, .stepwise = true}};
  model::limits const spurious{.config = {.preemptions = 2, .spurious = 1, .odd_failures = 0}};

  all.verify("work count: 1 worker, 1 waiter", three, last_units<env, 1, 1>);
  all.verify("work count: from outside, twice", three, from_outside<2, false>);
  all.verify("work count: a visitor waits", three, from_outside<1, true>);
  all.verify("work count: destroyed while a visitor leaves", three, destroyed_after_a_visit);
  all.verify("work count: a later unit never ends", two, never_ends<env, false>);
  all.verify("work count: the same, and begins others", two, never_ends<env, true>);
  all.verify("work count: 2 waiters", two, last_units<env, 1, 2>);
  all.verify("work count: 2 waiters, a unit of both", two, last_units<env, 1, 2, both>);
  all.verify("work count: a unit begun inside a unit", two, begun_inside<0, 0>);
  all.verify("work count: the same in the older wave", two, begun_inside<1, 1>);
  all.verify("work count: the same, of both waves", two, begun_inside<0, both>);
  all.refute("work count: the same, in the wave that seems older", two, "data race", begun_inside<0, 0, true>);
  all.verify("work count: two begun one inside the other", two, begun_inside_twice<0>);
  all.verify("work count: the same in the older wave", two, begun_inside_twice<1>);
  all.verify("work count: begun outside while somebody waits", one, started_concurrently<env, false>);
  all.verify("work count: begun outside in the new wave", two, started_concurrently<env, true>);
  all.verify("work count: 2 workers end the last units", two, last_units<env, 2, 1>);
  all.verify("work count: the same, heavy fences stepwise", stepwise, last_units<env, 2, 1>);
  all.verify("work count: the same, futex returns early", spurious, last_units<env, 2, 1>);
  all.verify("work count: the same without membarrier", two, last_units<symmetric_env, 2, 1>);
  all.verify("work count: the same, a unit of each wave", two, last_units<env, 2, 1, 1>);
  all.verify("work count: the same, one unit of both", two, last_units<env, 2, 1, both>);
  all.verify("work count: closed while a visitor comes", two, closed<env>);
  all.verify("work count: the same without membarrier", two, closed<symmetric_env>);
  return all.finish();
}
