// What a worker does all day: Algorithms 2 to 5 of "An Efficient Work-Stealing Scheduler for Task Dependency Graph"
// (Lin, Huang and Wong). Exploit what there is, explore what others have, wait for more.
#pragma once

#include <cstdint>

#include "heist/base/env.hpp"
#include "heist/policy/idle.hpp"
#include "heist/policy/victim.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/fiber.hpp"
#include "heist/sched/worker.hpp"

namespace heist::detail {

/// The loop, for one policy and one observer. `Scheduler` gives victim(worker), idle(worker) and observer().
template <class Scheduler>
class worker_loop {
  using idle_type = typename Scheduler::idle_type;
  using observer_type = typename Scheduler::observer_type;
  static constexpr bool observed = observer_type::observes;
  static constexpr bool timed = observed && time_observer<observer_type>;

  /// A worker looks at the master queue after so many tasks of its own, so that work from outside is not starved.
  static constexpr std::uint32_t poll_interval = 64;

 public:
  /// Runs on fiber `self` until the executor stops (Algorithm 2). Every task that returns may have changed the fiber's
  /// worker, so the worker is read anew each time.
  static void run(fiber& self) {
    runnable* t = nullptr;
    do {
      exploit(t, self);
      t = wait_for_task(self);
    } while (t != nullptr);
  }

 private:
  static Scheduler& scheduler(fiber& self) noexcept { return static_cast<Scheduler&>(self.home); }

  /// Algorithm 3: runs tasks until the worker's deque is empty.
  static void exploit(runnable* t, fiber& self) {
    core& home = self.home;
    if (t != nullptr) become_active(*self.on);
    for (;;) {
      while (t != nullptr) {
        t = run_one(*t, self);
        worker& w = *self.on;
        if (--w.until_poll == 0) [[unlikely]]
          t = poll(t, w);
      }
      t = self.on->deque.pop();
      if (t != nullptr) continue;
      home.settle(*self.on);
      t = self.on->deque.pop();
      if (t == nullptr) break;
    }
    become_inactive(*self.on);
  }

  static runnable* run_one(runnable& t, fiber& self) {
    if constexpr (observed) {
      if (t.what == nullptr) return t.run(t, self);
      task_view const view = t.what->operations->describe(t);
      observer_type& observer = scheduler(self).observer();
      observer.task_begin(self.on->number, view);
      runnable* const next = t.run(t, self);
      observer.task_end(self.on->number, view);
      return next;
    } else {
      return t.run(t, self);
    }
  }

  /// Between two tasks, now and then: lets work from outside in, before `t`.
  static runnable* poll(runnable* t, worker& w) {
    w.until_poll = poll_interval;
    if (w.home.master.maybe_empty() && w.own_fibers.maybe_empty()) return t;
    worker& now = t != nullptr ? w.home.push(w, *t) : w;
    return now.home.take_submitted(now);
  }

  static void become_active(worker& w) {
    if (w.active) return;
    w.active = true;
    w.active_since = os_env::ticks();
    w.doing.store("active", std::memory_order_relaxed);  // relaxed: for people
    if constexpr (idle_type::helpers != 0) {
      w.help_wanted.store(idle_type::helpers, std::memory_order_relaxed);  // relaxed: a hint to thieves
    }
    w.home.gate.become_active();
  }
  static void become_inactive(worker& w) {
    if (!w.active) return;
    w.active = false;
    w.worked = os_env::ticks() - w.active_since;
    if constexpr (idle_type::helpers != 0) w.help_wanted.store(0, std::memory_order_relaxed);  // relaxed: as above
    w.home.gate.become_inactive();
  }

  /// Algorithm 5: returns the next task, sleeping until there is one, or null when the executor stops.
  static runnable* wait_for_task(fiber& self) {
    worker& w = *self.on;  // no task runs here: the fiber stays on its worker
    core& home = w.home;
    if constexpr (timed) scheduler(self).observer().search_begin(w.number, 0);
    home.gate.become_thief();
    for (;;) {
      w.doing.store("searching", std::memory_order_relaxed);  // relaxed: for people
      if (runnable* const t = explore(self); t != nullptr) {
        home.gate.found_work([&home] { return home.work_anywhere(); });
        if constexpr (timed) scheduler(self).observer().work_begin(w.number, 0);
        return t;
      }
      if (home.stopping()) {
        home.gate.wake_all();
        return nullptr;
      }
      home.give_up_fresh(w);
      idle_outcome const what = home.gate.try_sleep(
          w.number, [&] { return home.work_anywhere() || !w.own_fibers.maybe_empty() || home.stopping(); },
          [&w] {
            w.doing.store("asleep", std::memory_order_relaxed);  // relaxed: for people
            if constexpr (observed) static_cast<Scheduler&>(w.home).observer().sleep(w.number);
          },
          [&w] {
            w.doing.store("awake", std::memory_order_relaxed);  // relaxed: for people
            if constexpr (observed) static_cast<Scheduler&>(w.home).observer().wake(w.number);
          });
      if (what == idle_outcome::slept) home.gate.become_thief();
    }
  }

  /// Algorithm 4: steals until it has something, the idle policy gives up, or the executor stops.
  static runnable* explore(fiber& self) {
    worker& w = *self.on;
    core& home = w.home;
    auto& scheduler = static_cast<Scheduler&>(home);
    auto& idle = scheduler.idle(w);
    auto& victim = scheduler.victim(w);
    heist::victim::thief_view const me{w.number, static_cast<std::uint32_t>(home.workers.size())};
    idle.begin(me.workers, w.worked);
    w.worked = ~std::uint64_t{0};  // counts once: a search that follows a sleep starts afresh
    hold_back(w, idle.holdback());
    if (runnable* const t = home.take_submitted(w); t != nullptr) return t;
    while (!home.stopping()) {
      std::uint32_t const v = victim.next(me, w.random);
      if (v == w.number) {
        if (runnable* const t = home.take_submitted(w); t != nullptr) return t;
      } else {
        worker& robbed = *home.workers[v];
        if constexpr (timed) scheduler.observer().attempt(w.number);
        steal_result<runnable*> const loot = steal_from(robbed, self);
        victim.feedback(v, loot.status == steal_status::stolen ? heist::victim::outcome::stolen
                           : loot.status == steal_status::lost ? heist::victim::outcome::lost
                                                               : heist::victim::outcome::empty);
        if (loot.status == steal_status::stolen) {
          if constexpr (timed) scheduler.observer().success(w.number);
          if constexpr (observed) scheduler.observer().steal(w.number, v);
          return loot.item;
        }
        if constexpr (idle_type::helpers != 0) wake_helper_for(robbed);
      }
      switch (idle.failed()) {
        case idle::step::search:
          os_env::relax();
          break;
        case idle::step::pause:
          for (std::uint32_t i = idle.pauses(); i != 0; --i) os_env::relax();
          break;
        case idle::step::yield:
          os_env::yield();
          break;
        case idle::step::sleep:
          return nullptr;
      }
    }
    return nullptr;
  }

  /// Takes one thing from another worker: a runnable, a frame that has called a child, or a task that the fiber it runs
  /// on has forked. Where there is nothing it asks for more.
  static steal_result<runnable*> steal_from(worker& robbed, fiber& self) {
    if (!robbed.deque.maybe_empty()) {
      steal_result<runnable*> const loot = robbed.deque.steal();
      if (loot.status != steal_status::empty) return loot;
    }
    if (robbed.continuations.maybe_stealable()) {
      steal_status status = steal_status::empty;
      runnable* const frame = core::steal_continuation(robbed, status);
      if (status != steal_status::empty) return {status, frame};
    }
    fiber& from = *robbed.current.load(std::memory_order_acquire);  // acquire: see worker::current
    steal_result<fork_slot*> const slot = from.tasks.steal();
    if (slot.status == steal_status::stolen) return {slot.status, self.booty(*slot.item)};
    if (slot.status == steal_status::empty) {
      from.tasks.ask();
      robbed.continuations.ask();
    }
    return {slot.status, nullptr};
  }

  /// Leaves the others alone for a while. If work from outside is there already it is a crowd that comes one by one: to
  /// wait for more of it saves both sides the meeting. If it comes later it ends the pause.
  static void hold_back(worker& w, std::uint32_t pauses) {
    bool const crowd = !w.home.master.maybe_empty();
    for (; pauses != 0 && (crowd || w.home.master.maybe_empty()); --pauses) {
      pauses % 32 == 16 ? os_env::yield() : os_env::relax();  // a submitter may need this very core
    }
  }

  /// BWS: a thief that finds nothing at a busy worker wakes a sleeper on its behalf.
  static void wake_helper_for(worker& busy) {
    std::uint32_t wanted = busy.help_wanted.load(std::memory_order_relaxed);  // relaxed: a hint
    // relaxed: only the count itself matters
    if (wanted != 0 && busy.help_wanted.compare_exchange_strong(wanted, wanted - 1, std::memory_order_relaxed,
                                                                std::memory_order_relaxed)) {
      busy.home.gate.wake_one();
    }
  }
};

}  // namespace heist::detail
