// The loop of a worker: Algorithms 2 to 5 of "An Efficient Work-Stealing Scheduler for Task Dependency Graph" (Lin,
// Huang and Wong). It exploits its own tasks, explores those of other workers, and waits for more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>  // is_same
#include <utility>      // exchange

#include "heist/core/base/assert.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/fiber/control_words.hpp"
#include "heist/core/memory/stack.hpp"
#include "heist/core/observe/environment_trace.hpp"
#include "heist/core/policy/idle.hpp"
#include "heist/core/policy/search_step.hpp"
#include "heist/core/policy/victim.hpp"
#include "heist/core/policy/victim_watch.hpp"
#include "heist/core/scheduler/between_tasks.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/slot.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// The loop, for one policy and one observer. `Scheduler` gives victim(worker), idle(worker) and observer<Observer>().
template <class Scheduler, class Observer = typename Scheduler::observer_type>
class worker_loop {
  using idle_type = typename Scheduler::idle_type;
  using victim_type = typename Scheduler::victim_type;
  static constexpr bool is_sampling = heist::victim::sampling_policy<victim_type>;
  static constexpr bool observed = Observer::observes;
  static constexpr bool is_timed = observed && time_observer<Observer>;
  using search = typename Scheduler::search_type;
  static constexpr bool returns = std::is_same_v<victim_type, heist::victim::random> && !search::looks;

 public:
  /// Runs on fiber `self` until the executor stops (Algorithm 2). Every task that returns may have changed the fiber's
  /// worker, so the loop reads the worker again each time.
  static void run(fiber& self) {
    runnable* t = nullptr;
    do {
      exploit(t, self);
      t = wait_for_task(self);
    } while (t != nullptr);
  }

 private:
  friend search;

  static Scheduler& scheduler_of(fiber& self) noexcept { return static_cast<Scheduler&>(self.scheduler); }
  static Observer& observer(core& of) noexcept { return static_cast<Scheduler&>(of).template observer<Observer>(); }

  /// Algorithm 3: runs tasks until the worker's deque is empty.
  static void exploit(runnable* t, fiber& self) {
    core& scheduler = self.scheduler;
    if (t != nullptr) set_active(*self.worker);
    for (;;) {
      while (t != nullptr) {
        t = run_one(*t, self, scheduler);
        worker& w = *self.worker;
        if (--w.until_look == 0) [[unlikely]]
          t = look_back(t, w);
        if (t != nullptr && self.worker->notification.is_set()) [[unlikely]]
          t = handle_notification(t, *self.worker);  // last: a request that is due must not wait again
      }
      // A fiber that is suspended for requests lets this loop begin, or resume, with them.
      if (self.worker->active && self.worker->notification.is_set()) [[unlikely]]
        t = handle_notification(nullptr, *self.worker);
      if (t == nullptr) t = self.worker->deque.pop();
      t = search::next(*self.worker, t);
      if (t != nullptr) continue;
      scheduler.flush(*self.worker);
      t = self.worker->deque.pop();
      if constexpr (search::requests_first && !is_sampling) {
        if (t == nullptr && self.worker->active) t = scheduler.take_submitted(*self.worker);
      }
      if (t == nullptr) break;
    }
    set_inactive(*self.worker);
  }

  static runnable* run_one(runnable& t, fiber& self, core& scheduler) {
    keeps_modes const checked;
    self.running.store(&t, std::memory_order_relaxed);  // relaxed: read by the same thread, or for people
    if constexpr (!observed) {
      return t.run(t, self);
    } else if constexpr (std::is_same_v<Observer, optional_trace>) {
      return observer(scheduler) ? run_traced(t, self) : t.run(t, self);
    } else {
      return run_told(t, self);
    }
  }
  HEIST_COLD static runnable* run_traced(runnable& t, fiber& self) { return run_told(t, self); }

  /// Tells when the task begins and ends.
  static runnable* run_told(runnable& t, fiber& self) {
    if (t.what == nullptr) return t.run(t, self);
    task_view view;
    if (!t.what->operations->to_text(t, view)) return t.run(t, self);
    observer(self.scheduler).task_begin(self.worker->number, view);
    runnable* const next = t.run(t, self);
    observer(self.scheduler).task_end(self.worker->number, view);
    return next;
  }

  static void set_active(worker& w) {
    if (w.active) return;
    w.active = true;
    w.active_since = os_env::ticks();
    w.state.store(worker::running, std::memory_order_relaxed);  // relaxed: for people
    if constexpr (idle_type::helpers != 0) {
      w.help_wanted.store(idle_type::helpers, std::memory_order_relaxed);  // relaxed: a hint to thieves
    }
    w.gate->set_active();
  }
  static void set_inactive(worker& w) {
    if (!w.active) return;
    w.active = false;
    w.worked = os_env::ticks() - w.active_since;
    if constexpr (idle_type::helpers != 0) w.help_wanted.store(0, std::memory_order_relaxed);  // relaxed: as above
    w.gate->set_inactive();
  }

  /// Algorithm 5: returns the next task, sleeping until there is one, or null when the executor stops.
  static runnable* wait_for_task(fiber& self) {
    worker& w = *self.worker;  // no task runs here: the fiber stays on its worker
    core& scheduler = w.scheduler;
    if constexpr (is_timed) observer(self.scheduler).search_begin(w.number, 0);
    w.gate->start_stealing();
    search::search_begins(w);
    bool notified = false;
    for (runnable* left = nullptr;;) {
      w.state.store(worker::searching, std::memory_order_relaxed);  // relaxed: a hint
      if (runnable* const t = left != nullptr ? left : explore(self); t != nullptr) {
        bool const none_left = w.gate->found_work([&] { return scheduler.work_for(w); }, notified);
        if (none_left && scheduler.something_from_outside()) scheduler.notify_busy();
        search::search_ends(w);
        if constexpr (is_timed) observer(self.scheduler).work_begin(w.number, 0);
        return t;
      }
      if (scheduler.stopping()) return nullptr;
      scheduler.give_up_fibers(w);
      search::falls_asleep(w);
      std::uint64_t const since = os_env::ticks();
      idle_outcome const what = fall_asleep(w);
      search::is_awake(w);
      notified = what == idle_outcome::slept;
      if (!notified) scheduler.withdraw_gift();
      if (notified) {
        if constexpr (idle::sleep_told_policy<idle_type>) scheduler_of(self).idle(w).slept(os_env::ticks() - since);
        w.gate->start_stealing();
      }
      left = w.deque.pop();  // a task that a helper has left; the helper woke this worker for it
    }
  }

  /// Sleeps unless there is work. Asleep, a worker gives memory back, and helpers may carry it.
  static idle_outcome fall_asleep(worker& w) {
    core& scheduler = w.scheduler;
    scheduler.ask_all(w);
    bool const is_helper = w.has_helper;  // asked of itself, before a helper may carry it
    bool must_trim = false;               // it is the worker that gives memory back
    idle_outcome const what = w.gate->try_sleep(
        w.bed, [&] { return scheduler.work_for(w) || scheduler.stopping(); },
        [&w] {
          w.state.store(worker::asleep, std::memory_order_relaxed);  // relaxed: for people
          if constexpr (observed) observer(w.scheduler).sleep(w.number);
        },
        [&w, is_helper] {
          reclaim_slot(w, is_helper);
          w.state.store("awake", std::memory_order_relaxed);  // relaxed: for people
          if constexpr (observed) observer(w.scheduler).wake(w.number);
        },
        [&scheduler, &w, &must_trim, is_helper] {
          must_trim = scheduler.begin_trim();
          auto const limit = must_trim || w.deque.has_grown() ? core::trim_after : 0;
          release_slot(w, is_helper);  // last: a helper may carry it from here on
          return limit;
        },
        [&scheduler, &w, &must_trim, is_helper](auto still) {
          if (!is_helper && !keep_slot(w)) return;
          if (w.deque.has_grown())
            w.deque.shrink(still, [](auto* slots, std::size_t n) { give_pages_back(slots, n * sizeof *slots); });
          for (bool again = false; must_trim; again = true) {
            scheduler.trim(still, again);
            scheduler.end_trim();
            must_trim = still() && scheduler.begin_trim(true);  // other workers have fallen asleep meanwhile
          }
          release_slot(w, is_helper);
        });
    if (must_trim) scheduler.end_trim();
    return what;
  }

  /// Algorithm 4: steals until it has something, the idle policy gives up, or the executor stops.
  static runnable* explore(fiber& self) {
    worker& w = *self.worker;
    core& scheduler = w.scheduler;
    auto& typed = static_cast<Scheduler&>(scheduler);
    auto& idle = typed.idle(w);
    auto& victim = typed.victim(w);
    heist::victim::thief_view const me{w.number, static_cast<std::uint32_t>(scheduler.workers.size())};
    idle.begin(me.workers, w.worked);
    w.worked = ~std::uint64_t{0};  // counts once: a search that follows a sleep starts afresh
    if constexpr (search::requests_first) {
      let_gather(w);
      hold_back(w, idle.wake_delay());
    }
    if (runnable* const t = search::template look_first<worker_loop>(self); t != nullptr) return t;
    if (runnable* const t = scheduler.take_submitted(w); t != nullptr) return at_root(t, self);
    if constexpr (heist::victim::search_policy<victim_type>) victim.begin(me, w.random);
    for (std::uint32_t attempts = 1; !scheduler.stopping(); ++attempts) {
      if constexpr (search::looks) {
        if (runnable* const t = search::template look<worker_loop>(self); t != nullptr) return t;
        if (search_step::is_last_resort(attempts)) {
          if (runnable* const t = search::template last_resort<worker_loop>(self); t != nullptr) return t;
        }
      }
      if (!search::looks || attempts % search::far_attempts(w) == 0) {
        if (runnable* const t = attempt(victim, me, self); t != nullptr) return t;
      }
      if (search_step::opens_stacks(attempts)) {
        if (runnable* const t = take_unanswered(self); t != nullptr) return t;
        if (runnable* const t = scheduler.join_loop(w); t != nullptr) return at_root(t, self);
      }
      if (!pause(w, idle)) return search::template last_resort<worker_loop>(self);
    }
    return nullptr;
  }

  /// One attempt at the victim that `victim` names.
  HEIST_ALWAYS_INLINE static runnable* attempt(victim_type& victim, heist::victim::thief_view const& me, fiber& self) {
    worker& w = *self.worker;
    core& scheduler = w.scheduler;
    std::uint32_t const v =
        returns && w.returns()
            ? std::exchange(w.had_more, nullptr)->number
            : choose(victim, me, w, [&w](std::uint32_t u) -> worker& { return *w.scheduler.workers[u]; });
    HEIST_ASSERT(includes_all(v, me, w),
                 heist::victim::complaint<victim_type>(
                     "never names a worker that has work, or the injector although there is something in it; "
                     "fix its next() so that it names every worker from time to time, its own number too (V2)")
                     .c_str());
    if (v == w.number) {
      if (runnable* const t = scheduler.take_submitted(w); t != nullptr) return at_root(t, self);
    } else {
      worker& stolen_from = *scheduler.workers[v];
      if (runnable* const t = steal_from_victim(victim, v, stolen_from, self); t != nullptr) return t;
      if constexpr (idle_type::helpers != 0) wake_helper_for(stolen_from);
    }
    return at_root(scheduler.workers[v]->loops.enter(), self);
  }

  /// Opens the task stacks of owners that have been asked and run long tasks, and steals from one.
  HEIST_COLD static runnable* take_unanswered(fiber& self) {
    worker& w = *self.worker;
    worker* const stolen_from = w.scheduler.open_task_stacks(w);
    if (stolen_from == nullptr) return nullptr;
    steal_result<runnable*> const stolen_task = steal_from(*stolen_from, self, has_frames(*stolen_from, w));
    if (stolen_task.status != steal_status::stolen) return nullptr;
    if constexpr (is_timed) {
      observer(w.scheduler).attempt(w.number);
      observer(w.scheduler).success(w.number);
    }
    count_steal(w, *stolen_from);
    return stolen_task.item;
  }

  /// Takes the idle policy's step after a failed attempt. False: the worker is to sleep.
  HEIST_ALWAYS_INLINE static bool pause(worker& w, idle_type& idle) {
    if constexpr (!idle_type::never_sleeps) {
      if (w.scheduler.gives_place(w)) [[unlikely]]
        return false;
    }
    switch (idle.failed()) {
      case idle::step::search:
        os_env::relax();
        break;
      case idle::step::pause:
        for (std::uint32_t i = idle.pauses(); i != 0; --i) {
          os_env::relax();
          if (search::called(w)) break;
        }
        break;
      case idle::step::yield:
        os_env::yield();
        break;
      case idle::step::sleep:
        return false;
    }
    return true;
  }

  /// One attempt at `stolen_from`, which `victim` has named as `v`.
  static runnable* steal_from_victim(victim_type& victim, std::uint32_t v, worker& stolen_from, fiber& self) {
    worker& w = *self.worker;
    if constexpr (is_timed) observer(w.scheduler).attempt(w.number);
    steal_result<runnable*> const stolen_task = steal_from(stolen_from, self, has_frames(stolen_from, w));
    tell(victim, v, stolen_task.status, stolen_from);
    if (stolen_task.status != steal_status::stolen) return nullptr;
    if constexpr (is_timed) observer(w.scheduler).success(w.number);
    if constexpr (returns) w.had_more = stolen_from.deque.maybe_empty() ? nullptr : &stolen_from;
    count_steal(w, stolen_from);
    return stolen_task.item;
  }

  /// `w` has something that was `stolen_from`'s.
  static void count_steal(worker const& w, worker const& stolen_from) noexcept {
    if constexpr (observed) observer(w.scheduler).steal(w.number, stolen_from.number);
  }

  /// The worker to steal from, once the policy has seen the offers that it asks for. `named`: a worker by its number for `me`.
  template <class Named>
  static std::uint32_t choose(victim_type& victim, heist::victim::thief_view const& me, worker& w, Named named) {
    std::uint32_t v = 0;
    while (ask_for_victim(victim, me, w.random, v, check)) {
      if constexpr (is_sampling) {
        worker& seen = named(v);
        victim.looked(v, offer_of(seen, has_frames(seen, w)));
      }
    }
    return v;
  }
  static void check([[maybe_unused]] bool holds, [[maybe_unused]] victim_promise which) {
    HEIST_ASSERT(holds,
                 heist::victim::complaint<victim_type>(
                     which == victim_promise::names_a_worker
                         ? "names a worker that does not exist; fix its next() to stay below the number of workers "
                           "that it is told (V1)"
                         : "wants to look at the thief itself; fix its wants_look() to be false after next() has named "
                           "its own number (V4)")
                     .c_str());
  }
  /// Tells the policy the outcome of an attempt.
  static void tell(victim_type& victim, std::uint32_t v, steal_status status, worker& stolen_from) {
    tell_outcome(victim, v,
                 status == steal_status::stolen ? heist::victim::outcome::stolen
                 : status == steal_status::lost ? heist::victim::outcome::lost
                                                : heist::victim::outcome::empty,
                 [&stolen_from] {
                   // relaxed: advice to the policy
                   return stolen_from.state.load(std::memory_order_relaxed) == worker::searching;
                 });
  }
  /// Debug builds: see victim_watch.hpp.
  static bool includes_all(std::uint32_t v, heist::victim::thief_view const& me, worker& w) {
    return static_cast<Scheduler&>(w.scheduler).watch(w).includes_all(me, v, [&w](std::uint32_t u) {
      if (u == w.number) return !w.scheduler.requests.maybe_empty();
      worker& other = *w.scheduler.workers[u];
      return offer_of(other, has_frames(other, w)).tasks != 0;
    });
  }

  /// Does `stolen_from` let `w` have frames that have called a child?
  static bool has_frames(worker const& stolen_from, worker const& w) noexcept {
    return !search::in_groups || stolen_from.group == w.group;
  }

  /// The offer that steal_from() would find: searches in the same order, writes nothing and asks for nothing.
  ///
  /// The depth of a forked task is its place in its task stack, plus the depth at which that fiber began. It is too
  /// small where a frame has joined one child and forks again below the other, in the same slot. An entry of a deque
  /// (graph node, async, parked fiber) counts as the root of a computation of its own.
  static heist::victim::offer offer_of(worker& stolen_from, bool with_frames) noexcept {
    if (std::size_t const n = stolen_from.deque.size_snapshot(); n != 0) return {static_cast<std::uint32_t>(n), 0};
    if (with_frames) {
      if (auto const there = offer_of_continuations(stolen_from); there.tasks != 0) return there;
    }
    fiber const& from = *stolen_from.current.load(std::memory_order_acquire);  // acquire: see worker::current
    auto const there = from.tasks.public_snapshot();
    return {there.tasks, from.depth.load(std::memory_order_relaxed) + there.oldest};  // relaxed: a hint
  }

  static heist::victim::offer offer_of_continuations(worker& stolen_from) noexcept {
    auto const there = stolen_from.continuations.public_snapshot();
    return {there.tasks, stolen_from.depth.load(std::memory_order_relaxed) + there.oldest};  // relaxed: a hint
  }

  /// Notes how deep the task is that `self` runs next, for thieves that look at it.
  static void go_to_depth(fiber& self, std::uint32_t depth) noexcept {
    auto const standing = static_cast<std::uint32_t>(self.top() - self.tasks.first());
    self.depth.store(depth - standing, std::memory_order_relaxed);  // relaxed: a hint
    self.worker->depth.store(depth, std::memory_order_relaxed);     // relaxed: a hint
  }
  static runnable* at_root(runnable* t, fiber& self) noexcept {
    if constexpr (is_sampling) {
      if (t != nullptr) go_to_depth(self, 0);
    }
    return t;
  }

  /// Takes one thing from another worker: a runnable, a frame that has called a child (if `with_frames`), or a task that
  /// the fiber it runs on has forked. Asks for more where it finds nothing.
  static steal_result<runnable*> steal_from(worker& stolen_from, fiber& self, bool with_frames) {
    if (std::size_t const there = stolen_from.deque.size_snapshot(); there != 0) {
      if (there == 1 && stolen_from.just_woke()) return {steal_status::empty, nullptr};
      steal_result<runnable*> const stolen_task = stolen_from.deque.steal();
      if (stolen_task.status == steal_status::stolen) at_root(stolen_task.item, self);
      if (stolen_task.status != steal_status::empty) return stolen_task;
    }
    if (with_frames && stolen_from.continuations.maybe_stealable()) {
      std::uint32_t depth = 0;
      if constexpr (is_sampling) depth = offer_of_continuations(stolen_from).depth;
      steal_status status = steal_status::empty;
      runnable* const frame = core::steal_continuation(stolen_from, status);
      if constexpr (is_sampling) {
        if (status == steal_status::stolen) go_to_depth(self, depth);
      }
      if (status != steal_status::empty) return {status, frame};
    }
    fiber& from = *stolen_from.current.load(std::memory_order_acquire);  // acquire: see worker::current
    steal_result<fork_slot*> const slot = from.tasks.steal();
    if (slot.status == steal_status::stolen) {
      if constexpr (is_sampling) {
        auto const standing = static_cast<std::uint32_t>(slot.item - from.tasks.first());
        go_to_depth(self, from.depth.load(std::memory_order_relaxed) + standing + 1);  // relaxed: a hint
      }
      return {slot.status, self.as_runnable(*slot.item)};
    }
    if (slot.status == steal_status::empty) {
      from.tasks.ask();
      if (with_frames) stolen_from.continuations.ask();
    }
    return {slot.status, nullptr};
  }

  /// Leaves the other workers alone for a while. If work from outside is there already it is a crowd that comes one by
  /// one: to wait for more of it saves both sides the meeting. If it comes later it ends the pause.
  static void hold_back(worker& w, std::uint32_t pauses) {
    bool const burst = !w.scheduler.requests.maybe_empty();
    for (; pauses != 0 && (burst || !w.scheduler.something_from_outside()); --pauses) {
      if (search::called(w)) return;
      pauses % 32 == 16 ? os_env::yield() : os_env::relax();  // a submitter may need this very core
    }
  }

  /// BWS: a thief that finds nothing at a busy worker wakes a sleeper on its behalf.
  static void wake_helper_for(worker& busy) {
    std::uint32_t wanted = busy.help_wanted.load(std::memory_order_relaxed);  // relaxed: a hint
    // relaxed: only the count itself matters
    if (wanted != 0 && busy.help_wanted.compare_exchange_strong(wanted, wanted - 1, std::memory_order_relaxed,
                                                                std::memory_order_relaxed)) {
      busy.gate->wake_one();
    }
  }
};

}  // namespace heist::detail
