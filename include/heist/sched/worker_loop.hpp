// What a worker does all day: Algorithms 2 to 5 of "An Efficient Work-Stealing Scheduler for Task Dependency Graph"
// (Lin, Huang and Wong). Exploit what there is, explore what others have, wait for more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heist/base/assert.hpp"
#include "heist/base/env.hpp"
#include "heist/memory/stack.hpp"
#include "heist/policy/idle.hpp"
#include "heist/policy/victim.hpp"
#include "heist/policy/victim_watch.hpp"
#include "heist/sched/between_tasks.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/fiber.hpp"
#include "heist/sched/worker.hpp"

namespace heist::detail {

/// The loop, for one policy and one observer. `Scheduler` gives victim(worker), idle(worker) and observer().
template <class Scheduler>
class worker_loop {
  using idle_type = typename Scheduler::idle_type;
  using victim_type = typename Scheduler::victim_type;
  static constexpr bool samples = heist::victim::sampling_policy<victim_type>;
  using observer_type = typename Scheduler::observer_type;
  static constexpr bool observed = observer_type::observes;
  static constexpr bool timed = observed && time_observer<observer_type>;
  static constexpr bool has_tiers = Scheduler::has_tiers;

  /// Frames are given to workers: each takes its own before it robs, and others' when it finds nothing else.
  static constexpr bool gives = Scheduler::gives;

  /// After so many attempts a head takes what belongs to another squad, too. Some tens of microseconds under
  /// default_idle, shortly before it would sleep: the owner gets the time to come for it.
  static constexpr std::uint32_t last_interval = 48;

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
        if (--w.until_look == 0) [[unlikely]]
          t = look_back(t, w);
        if (t != nullptr && self.on->attention.raised()) [[unlikely]]
          t = attend(t, *self.on);  // last: what is due must not wait again
      }
      // A fiber that makes way for requests lets this loop begin, or go on, with them.
      if (self.on->active && self.on->attention.raised()) [[unlikely]]
        t = attend(nullptr, *self.on);
      if (t == nullptr) t = self.on->deque.pop();
      if constexpr (has_tiers) {
        if (t == nullptr) {
          t = home.squads.take_ready(*self.on->in);
        } else if (self.on->head) {
          home.squads.head_leaves(*self.on->in);
        }
      }
      if (t != nullptr) continue;
      home.settle(*self.on);
      t = self.on->deque.pop();
      if constexpr (!has_tiers && !samples) {
        if (t == nullptr && self.on->active) t = home.take_submitted(*self.on);
      }
      if (t == nullptr) break;
    }
    become_inactive(*self.on);
  }

  static runnable* run_one(runnable& t, fiber& self) {
    self.running.store(&t, std::memory_order_relaxed);  // relaxed: read by the same thread, or for people
    if constexpr (observed) {
      if (t.what == nullptr) return t.run(t, self);
      task_view view;
      if (!t.what->operations->describe(t, view)) return t.run(t, self);
      observer_type& observer = scheduler(self).observer();
      observer.task_begin(self.on->number, view);
      runnable* const next = t.run(t, self);
      observer.task_end(self.on->number, view);
      return next;
    } else {
      return t.run(t, self);
    }
  }

  static void become_active(worker& w) {
    if (w.active) return;
    w.active = true;
    w.active_since = os_env::ticks();
    w.doing.store(worker::running, std::memory_order_relaxed);  // relaxed: for people
    if constexpr (idle_type::helpers != 0) {
      w.help_wanted.store(idle_type::helpers, std::memory_order_relaxed);  // relaxed: a hint to thieves
    }
    w.gate->become_active();
  }
  static void become_inactive(worker& w) {
    if (!w.active) return;
    w.active = false;
    w.worked = os_env::ticks() - w.active_since;
    if constexpr (idle_type::helpers != 0) w.help_wanted.store(0, std::memory_order_relaxed);  // relaxed: as above
    w.gate->become_inactive();
  }

  /// Algorithm 5: returns the next task, sleeping until there is one, or null when the executor stops.
  static runnable* wait_for_task(fiber& self) {
    worker& w = *self.on;  // no task runs here: the fiber stays on its worker
    core& home = w.home;
    if constexpr (timed) scheduler(self).observer().search_begin(w.number, 0);
    w.gate->become_thief();
    if constexpr (has_tiers) {
      if (w.head) home.squads.head_returns(*w.in);
    }
    for (;;) {
      w.doing.store(worker::searching, std::memory_order_relaxed);  // relaxed: a hint
      if (runnable* const t = explore(self); t != nullptr) {
        if (w.gate->found_work([&] { return home.work_for(w); }) && !home.requests.maybe_empty()) home.call_attention();
        if constexpr (has_tiers) {
          if (w.head) home.squads.head_leaves(*w.in);
        }
        if constexpr (timed) scheduler(self).observer().work_begin(w.number, 0);
        return t;
      }
      if (home.stopping()) {
        w.gate->wake_all();
        return nullptr;
      }
      home.give_up_fibers(w);
      if constexpr (has_tiers) {
        if (w.head) home.squads.head_falls_asleep(*w.in);
      }
      bool trims = false;  // it is the one who gives memory back
      idle_outcome const what = w.gate->try_sleep(
          w.number, [&] { return home.work_for(w) || home.stopping(); },
          [&w] {
            w.doing.store("asleep", std::memory_order_relaxed);  // relaxed: for people
            if constexpr (observed) static_cast<Scheduler&>(w.home).observer().sleep(w.number);
          },
          [&w] {
            w.doing.store("awake", std::memory_order_relaxed);  // relaxed: for people
            if constexpr (observed) static_cast<Scheduler&>(w.home).observer().wake(w.number);
          },
          [&home, &w, &trims] {
            trims = home.begin_trim();
            return trims || w.deque.has_grown() ? core::trim_after : 0;
          },
          [&home, &w, &trims](auto still) {
            if (w.deque.has_grown())
              w.deque.shrink(still, [](auto* slots, std::size_t n) { give_pages_back(slots, n * sizeof *slots); });
            while (trims) {
              home.trim(still);
              home.end_trim();
              trims = still() && home.begin_trim();  // others have fallen asleep meanwhile
            }
          });
      if (trims) home.end_trim();
      if constexpr (has_tiers) {
        if (w.head) home.squads.head_is_awake(*w.in);
      }
      if (what == idle_outcome::slept) w.gate->become_thief();
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
    if constexpr (has_tiers) {
      if constexpr (heist::victim::search_policy<victim_type>)
        scheduler.near_victim(w).begin(view_of_squad(w), w.random);
      if (runnable* const t = look_in_squad(self); t != nullptr) return t;
    } else {
      let_gather(w);
      hold_back(w, idle.holdback());
    }
    if (runnable* const t = home.take_submitted(w); t != nullptr) return at_root(t, self);
    if constexpr (heist::victim::search_policy<victim_type>) victim.begin(me, w.random);
    for (std::uint32_t attempts = 1; !home.stopping(); ++attempts) {
      if constexpr (has_tiers) {
        if (runnable* const t = look_in_squad(self); t != nullptr) return t;
        if (attempts % last_interval == 0) {
          if (runnable* const t = take_any(w, self); t != nullptr) return t;
        }
      }
      if constexpr (gives) {
        if (called(w)) {
          if (runnable* const t = home.take_submitted(w); t != nullptr) return at_root(t, self);
        }
        if (attempts % last_interval == 0) {
          if (runnable* const t = home.take_donated(); t != nullptr) return at_root(t, self);
        }
      }
      std::uint32_t const v = choose(victim, me, w, [&home](std::uint32_t u) -> worker& { return *home.workers[u]; });
      HEIST_ASSERT(leaves_nobody_out(v, me, w),
                   heist::victim::complaint<victim_type>(
                       "never names a worker that has work, or the injector although there is something in it; "
                       "mend its next() so that it names everybody from time to time, its own number too (V2)")
                       .c_str());
      if (v == w.number) {
        if (runnable* const t = home.take_submitted(w); t != nullptr) return at_root(t, self);
      } else {
        worker& robbed = *home.workers[v];
        if constexpr (timed) scheduler.observer().attempt(w.number);
        steal_result<runnable*> const loot = steal_from(robbed, self, !has_tiers || robbed.in == w.in);
        tell(victim, v, loot.status, robbed);
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
          for (std::uint32_t i = idle.pauses(); i != 0; --i) {
            os_env::relax();
            if constexpr (has_tiers) {
              if (home.squads.called(*w.in, w.head)) break;
            }
            if constexpr (gives) {
              if (called(w)) break;
            }
          }
          break;
        case idle::step::yield:
          os_env::yield();
          break;
        case idle::step::sleep:
          if constexpr (has_tiers) return take_any(w, self);
          if constexpr (gives) return at_root(home.take_donated(), self);
          return nullptr;
      }
    }
    return nullptr;
  }

  /// Whom to rob. Shows the policy the offers that it wants to see before it says. `named`: a worker by its number in
  /// `me`'s view.
  template <class Named>
  static std::uint32_t choose(victim_type& victim, heist::victim::thief_view const& me, worker& w, Named named) {
    std::uint32_t v = ask(victim, me, w);
    if constexpr (samples) {
      while (victim.wants_look()) {
        HEIST_ASSERT(v != me.self,
                     heist::victim::complaint<victim_type>(
                         "wants to look at the thief itself; mend its wants_look() to be false after next() has named "
                         "its own number (V4)")
                         .c_str());
        worker& seen = named(v);
        victim.looked(v, offer_of(seen, !has_tiers || seen.in == w.in));
        v = ask(victim, me, w);
      }
    }
    return v;
  }
  static std::uint32_t ask(victim_type& victim, heist::victim::thief_view const& me, worker& w) {
    std::uint32_t const v = victim.next(me, w.random);
    HEIST_ASSERT(v < me.workers, heist::victim::complaint<victim_type>(
                                     "names a worker that does not exist; mend its next() to stay below the number of "
                                     "workers that it is told (V1)")
                                     .c_str());
    return v;
  }
  /// What came of it.
  static void tell(victim_type& victim, std::uint32_t v, steal_status status, worker& robbed) {
    victim.feedback(v, status == steal_status::stolen ? heist::victim::outcome::stolen
                       : status == steal_status::lost ? heist::victim::outcome::lost
                                                      : heist::victim::outcome::empty);
    if constexpr (heist::victim::thief_counting_policy<victim_type>) {
      // relaxed: advice to the policy
      if (status == steal_status::empty && robbed.doing.load(std::memory_order_relaxed) == worker::searching)
        victim.met_thief(v);
    }
  }
  /// Debug builds: see victim_watch.hpp.
  static bool leaves_nobody_out(std::uint32_t v, heist::victim::thief_view const& me, worker& w) {
    return static_cast<Scheduler&>(w.home).watch(w).leaves_nobody_out(me, v, [&w](std::uint32_t u) {
      if (u == w.number) return !w.home.requests.maybe_empty();
      worker& other = *w.home.workers[u];
      return offer_of(other, !has_tiers || other.in == w.in).tasks != 0;
    });
  }

  /// What steal_from() would find: looked for in the same order, and nothing written or asked for.
  ///
  /// The depth of a forked task is where it stands in its task stack, plus the depth at which that fiber began. It is
  /// too small where a frame has joined one child and forks again below the other, in the same slot. What is in a deque
  /// (graph nodes, asyncs, parked fibers) counts as the root of a computation of its own.
  static heist::victim::offer offer_of(worker& robbed, bool with_frames) noexcept {
    if (std::size_t const n = robbed.deque.size_snapshot(); n != 0) return {static_cast<std::uint32_t>(n), 0};
    if (with_frames) {
      if (auto const there = offer_of_continuations(robbed); there.tasks != 0) return there;
    }
    fiber const& from = *robbed.current.load(std::memory_order_acquire);  // acquire: see worker::current
    auto const there = from.tasks.public_snapshot();
    return {there.tasks, from.depth.load(std::memory_order_relaxed) + there.oldest};  // relaxed: a hint
  }

  static heist::victim::offer offer_of_continuations(worker& robbed) noexcept {
    auto const there = robbed.continuations.public_snapshot();
    return {there.tasks, robbed.depth.load(std::memory_order_relaxed) + there.oldest};  // relaxed: a hint
  }

  /// Notes how deep the task is that `self` runs next, for those who look at it.
  static void go_to_depth(fiber& self, std::uint32_t depth) noexcept {
    auto const standing = static_cast<std::uint32_t>(self.top() - self.tasks.first());
    self.depth.store(depth - standing, std::memory_order_relaxed);  // relaxed: a hint
    self.on->depth.store(depth, std::memory_order_relaxed);         // relaxed: a hint
  }
  static runnable* at_root(runnable* t, fiber& self) noexcept {
    if constexpr (samples) {
      if (t != nullptr) go_to_depth(self, 0);
    }
    return t;
  }

  /// Takes one thing from another worker: a runnable, a frame that has called a child, or a task that the fiber it runs
  /// on has forked. Where there is nothing it asks for more.
  /// `with_frames`: frames that have called a child, too.
  static steal_result<runnable*> steal_from(worker& robbed, fiber& self, bool with_frames) {
    if (!robbed.deque.maybe_empty()) {
      steal_result<runnable*> const loot = robbed.deque.steal();
      if (loot.status == steal_status::stolen) at_root(loot.item, self);
      if (loot.status != steal_status::empty) return loot;
    }
    if (with_frames && robbed.continuations.maybe_stealable()) {
      std::uint32_t depth = 0;
      if constexpr (samples) depth = offer_of_continuations(robbed).depth;
      steal_status status = steal_status::empty;
      runnable* const frame = core::steal_continuation(robbed, status);
      if constexpr (samples) {
        if (status == steal_status::stolen) go_to_depth(self, depth);
      }
      if (status != steal_status::empty) return {status, frame};
    }
    fiber& from = *robbed.current.load(std::memory_order_acquire);  // acquire: see worker::current
    steal_result<fork_slot*> const slot = from.tasks.steal();
    if (slot.status == steal_status::stolen) {
      if constexpr (samples) {
        auto const standing = static_cast<std::uint32_t>(slot.item - from.tasks.first());
        go_to_depth(self, from.depth.load(std::memory_order_relaxed) + standing + 1);  // relaxed: a hint
      }
      return {slot.status, self.booty(*slot.item)};
    }
    if (slot.status == steal_status::empty) {
      from.tasks.ask();
      if (with_frames) robbed.continuations.ask();
    }
    return {slot.status, nullptr};
  }

  /// CAB's Algorithm I, one attempt: steps 2 to 6. Step 1 is exploit().
  static runnable* look_in_squad(fiber& self) {
    worker& w = *self.on;
    core& home = w.home;
    if (runnable* const t = home.squads.take_ready(*w.in); t != nullptr) return t;
    if (w.in->pool.busy()) {  // step 3
      heist::victim::thief_view const me = view_of_squad(w);
      if (me.workers == 1) return nullptr;
      auto& scheduler = static_cast<Scheduler&>(home);
      auto& victim = scheduler.near_victim(w);
      std::uint32_t const v = choose(victim, me, w, [&w](std::uint32_t u) -> worker& { return *(*w.mates)[u]; });
      if (v == w.place) return nullptr;
      worker& robbed = *(*w.mates)[v];
      steal_result<runnable*> const loot = steal_from(robbed, self, true);
      tell(victim, v, loot.status, robbed);
      if (loot.status != steal_status::stolen) return nullptr;
      if constexpr (observed) scheduler.observer().steal(w.number, robbed.number);
      return loot.item;
    }
    return w.head ? at_root(home.take_inter(w), self) : nullptr;
  }

  static heist::victim::thief_view view_of_squad(worker const& w) noexcept {
    return {w.place, static_cast<std::uint32_t>(w.mates->size())};
  }

  /// What a head takes when it has found nothing else.
  static runnable* take_any(worker& w, fiber& self) {
    return w.head ? at_root(w.home.squads.head_take_any(*w.in, w.takes_beside), self) : nullptr;
  }

  /// Is there something that only this worker takes, or it before all others?
  static bool called(worker const& w) noexcept { return !w.own_fibers.maybe_empty() || !w.donated.maybe_empty(); }

  /// Leaves the others alone for a while. If work from outside is there already it is a crowd that comes one by one: to
  /// wait for more of it saves both sides the meeting. If it comes later it ends the pause.
  static void hold_back(worker& w, std::uint32_t pauses) {
    bool const crowd = !w.home.requests.maybe_empty();
    for (; pauses != 0 && (crowd || w.home.requests.maybe_empty()); --pauses) {
      if constexpr (gives) {
        if (called(w)) return;
      }
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
