// Lines of waiters: a lock with an owner and a semaphore, whose waiters are served, or leave at any time.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/waiter_queue.hpp"

#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"
#include "heist/core/sync/owned_lock.hpp"
#include "heist/core/sync/permits.hpp"
#include "line_waiter.hpp"

namespace {

using model::env;
using order = std::memory_order;
using heist::detail::wait_end;
using wake_list = heist::detail::wake_list<env>;

using lock_waiter = model::line_waiter<heist::detail::lock_waiter<env>>;
using permit_waiter = model::line_waiter<>;

struct owned {
  heist::detail::owned_lock<env, 2> lock;
  env::plain<int> inside{0};
  env::plain<int> entries{0};
  model::stop_of_waiter<lock_waiter> stop;

  /// True: the caller has the lock.
  bool acquire(int who, bool strict, bool may_leave) {
    auto const mine = static_cast<std::uintptr_t>(who + 1) * 4;
    if (lock.try_acquire(mine)) return true;
    lock_waiter w{mine, strict};
    if (may_leave) stop.begin(w);
    wait_end end = lock.acquire_or_enter(w);
    while (end == wait_end::none) {
      w.wait();
      end = lock.contend(w);
    }
    if (may_leave) stop.end();
    return end == wait_end::completed;
  }
  void release(int who) {
    auto const mine = static_cast<std::uintptr_t>(who + 1) * 4;
    if (lock.try_release(mine)) return;
    model::check(lock.owner() == mine, "somebody else has the lock");
    wake_list notified;
    lock.release_to_next(notified);
  }
  void work(int who, bool strict = false, bool may_leave = false) {
    if (!acquire(who, strict, may_leave)) return;
    model::check(lock.owner() == static_cast<std::uintptr_t>(who + 1) * 4, "the owner is another one");
    model::check(inside == 0, "two are inside");
    inside = 1;
    entries = entries + 1;
    inside = 0;
    release(who);
  }
  auto leave() {
    return [this](lock_waiter& w) {
      wake_list notified;
      lock.leave(w, wait_end::stopped, notified);
    };
  }
};

/// Each enters as often as it wants, alone.
template <int Threads, int Times, int Insist = 0>
void alone(model::execution& t) {
  auto& s = t.make<owned>();
  for (int i = 0; i != Threads; ++i) {
    t.thread([&s, i] {
      for (int k = 0; k != Times; ++k) s.work(i, i < Insist);
    });
  }
  t.finally([&s] {
    model::check(s.entries == Threads * Times, "an entry is missing");
    model::check(s.lock.owner() == 0, "the lock is not free");
    model::check(s.lock.try_acquire(4), "it cannot be taken");
  });
}

/// A thread has the lock, and keeps it. The thread that waits leaves when it is told to, at any time.
void leaves_for_certain(model::execution& t) {
  auto& s = t.make<owned>();
  model::check(s.lock.try_acquire(800), "it is free");
  t.thread([&s] { model::check(!s.acquire(0, false, true), "two have the lock"); });
  t.thread([&s] { s.stop.wait_and_stop(s.leave()); });
}

/// One thread is told to leave at any time. The other threads still enter.
template <bool Strict>
void one_leaves(model::execution& t) {
  auto& s = t.make<owned>();
  t.thread([&s] { s.work(0, Strict, true); });
  t.thread([&s] { s.work(1); });
  t.thread([&s] { s.work(2); });
  t.thread([&s] { s.stop.stop(s.leave()); });
  t.finally([&s] {
    model::check(s.entries >= 2, "an entry is missing");
    model::check(s.lock.owner() == 0, "the lock is not free");
    model::check(s.lock.try_acquire(4), "it cannot be taken");
  });
}

struct counted {
  explicit counted(int free) noexcept : all{static_cast<std::uint32_t>(free), 3} {}
  heist::detail::permits<env> all;
  env::atomic<int> taken{0};
  env::atomic<int> entries{0};
  model::stop_of_waiter<permit_waiter> stop;

  void work(int free, std::uint32_t count, bool may_leave = false) {
    permit_waiter w;
    w.needs = count;
    if (may_leave) stop.begin(w);
    wait_end end = all.take_or_enter(w);
    if (end == wait_end::none) {
      w.wait();
      end = w.end;
    }
    if (may_leave) stop.end();
    if (end != wait_end::completed) return;
    auto const n = static_cast<int>(count);
    model::check(taken.fetch_add(n, order::relaxed) + n <= free, "too many are inside");
    entries.fetch_add(1, order::relaxed);
    taken.fetch_sub(n, order::relaxed);
    wake_list notified;
    all.give(count, notified);
  }
  auto leave() {
    return [this](permit_waiter& w) {
      wake_list notified;
      all.leave(w, wait_end::stopped, notified);
    };
  }
};

/// One thread wants two permits of two; the other threads want one.
template <int Others>
void needs_much(model::execution& t) {
  auto& s = t.make<counted>(2);
  t.thread([&s] { s.work(2, 2); });
  for (int i = 0; i != Others; ++i) t.thread([&s] { s.work(2, 1); });
  t.finally([&s] {
    model::check(s.entries.load(order::relaxed) == Others + 1, "an entry is missing");
    model::check(s.all.available() == 2, "a permit is lost");
    model::check(!s.all.has_waiters(), "somebody waits");
  });
}

/// Step by step: a waiter that wants one permit does not overtake one that wants two. It goes when that one leaves.
void in_order(model::execution& t) {
  auto& s = t.make<counted>(1);
  t.thread([&s] {
    permit_waiter much, little, late;
    much.needs = 2;
    model::check(s.all.take_or_enter(much) == wait_end::none, "two of one");
    model::check(!s.all.try_take(1), "one that waits is overtaken");
    model::check(s.all.take_or_enter(little) == wait_end::none, "one that waits is overtaken");
    {
      wake_list notified;
      s.all.leave(much, wait_end::timed_out, notified);
    }
    model::check(much.end == wait_end::timed_out && much.notified.is_ready(), "it has not left");
    model::check(little.end == wait_end::completed && little.notified.is_ready(), "those behind it do not go");
    {
      wake_list notified;
      s.all.leave(late, wait_end::stopped, notified);
    }
    model::check(s.all.take_or_enter(late) == wait_end::stopped, "it waits though it was told not to");
  });
}

/// One that wants much is told to leave: those behind it go on, and no permit is lost.
void leaves_line(model::execution& t) {
  auto& s = t.make<counted>(2);
  t.thread([&s] { s.work(2, 2, true); });
  t.thread([&s] { s.work(2, 1); });
  t.thread([&s] { s.stop.stop(s.leave()); });
  t.finally([&s] {
    model::check(s.entries.load(order::relaxed) >= 1, "an entry is missing");
    model::check(s.all.available() == 2, "a permit is lost");
    model::check(!s.all.has_waiters(), "somebody waits");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};
  model::limits const heavy{.config = {.preemptions = 2, .odd_failures = 0}, .heavy = true};
  all.verify("owned lock: 2 threads, three times", three, alone<2, 3>);
  all.verify("owned lock: 3 threads", three, alone<3, 1>);
  all.verify("owned lock: 3 threads, twice", two, alone<3, 2>);
  all.verify("owned lock: 3 threads, one insists", three, alone<3, 1, 1>);
  all.verify("owned lock: one leaves", heavy, one_leaves<false>);
  all.verify("owned lock: one that insists leaves", heavy, one_leaves<true>);
  all.verify("owned lock: one leaves that nobody serves", three, leaves_for_certain);
  all.verify("permits: step by step", three, in_order);
  all.verify("permits: one wants all, one wants one", three, needs_much<1>);
  all.verify("permits: one wants all, two want one", three, needs_much<2>);
  all.verify("permits: one that wants all leaves", two, leaves_line);
  return all.finish();
}
