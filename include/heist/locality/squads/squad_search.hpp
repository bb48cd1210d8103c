// How workers in squads look for work (CAB, Algorithm I; CATS, section 3.3; README.md, "Squads").
#pragma once

#include <cstdint>

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/extension/policy_config.hpp"
#include "heist/core/extension/search_of.hpp"
#include "heist/core/observe/observer.hpp"
#include "heist/core/policy/search_step.hpp"
#include "heist/core/policy/victim.hpp"
#include "heist/core/scheduler/worker.hpp"
#include "heist/locality/policy/tier_policies.hpp"
#include "heist/locality/squads/near_search.hpp"
#include "heist/locality/squads/squad_extension.hpp"

namespace heist::detail {

/// Makes the extension of a policy with tiers. Specialised where it is more than that.
template <class Policy>
struct squad_extension_maker {
  static constexpr bool keeps_options = false;

  template <class Scheduler>
  static unique_ptr<executor_extension> make(core& scheduler, counter_operations const* counters, squad_hook hook) {
    using tiers = typename Policy::tier_type;
    return make_unique<squad_extension>(scheduler, tiers::division, tier::has_history_squads<tiers>(), counters, hook);
  }
};

/// The extension of policies with tiers.
template <class Policy>
struct squad_search : no_search {
  static constexpr bool keeps_options = squad_extension_maker<Policy>::keeps_options;
  static constexpr bool looks = true;
  static constexpr bool in_groups = true;
  static constexpr bool examines_machine = true;
  static constexpr bool requests_first = false;
  /// Tasks of graphs that belong to another squad are given to a worker of it (locality/history/).
  static constexpr bool has_mail = true;

  /// For victims in the worker's own squad.
  template <class Victim>
  struct per_worker {
    [[no_unique_address]] Victim near;
  };

  template <class Scheduler>
  static unique_ptr<executor_extension> make(core& scheduler) {
    counter_operations const* counters = nullptr;
    if constexpr (tier::measuring_tier<typename Policy::tier_type>)
      counters = &counter_operations_of<typename Policy::tier_type::counter_type>;
    return squad_extension_maker<Policy>::template make<Scheduler>(scheduler, counters, hook<Scheduler>());
  }
  static void keep_options(core& scheduler, options const& wanted) {
    squad_extension_maker<Policy>::keep_options(scheduler, wanted);
  }

  static runnable* next(worker& w, runnable* t) noexcept {
    squad_member const& m = member_of(w);
    if (t == nullptr) return squads(w).take_ready(*m.in);  // step 1
    if (m.head) squads(w).head_leaves(*m.in);
    return t;
  }
  static void search_begins(worker& w) noexcept {
    if (squad_member const& m = member_of(w); m.head) squads(w).head_returns(*m.in);
  }
  static void search_ends(worker& w) noexcept {
    if (squad_member const& m = member_of(w); m.head) squads(w).head_leaves(*m.in);
  }
  static void falls_asleep(worker& w) noexcept {
    if (squad_member const& m = member_of(w); m.head) squads(w).head_falls_asleep(*m.in);
  }
  static void is_awake(worker& w) noexcept {
    if (squad_member const& m = member_of(w); m.head) squads(w).head_is_awake(*m.in);
  }
  static bool called(worker const& w) noexcept {
    squad_member const& m = member_of(w);
    return !w.mailbox.maybe_empty() || squads(w).called(*m.in, m.head);
  }

  template <class Loop>
  static runnable* look_first(fiber& self) {
    if constexpr (heist::victim::search_policy<typename Loop::victim_type>)
      near<Loop>(self).begin(view(member_of(*self.worker)), self.worker->random);
    return look<Loop>(self);
  }
  /// CAB's Algorithm I, one attempt: steps 2 to 6.
  template <class Loop>
  static runnable* look(fiber& self) {
    worker& w = *self.worker;
    squad_member const& m = member_of(w);
    if (runnable* const t = squads(w).take_ready(*m.in); t != nullptr) return t;
    if (squads_of(w.scheduler).has_graphs()) {
      if (runnable* const t = look_for_graphs<Loop>(self); t != nullptr) return t;
    }
    if (!m.in->pool.busy()) return m.head ? take_inter<Loop>(self) : nullptr;
    heist::victim::thief_view const me = view(m);  // step 3
    if (me.workers == 1) return nullptr;
    auto& victim = near<Loop>(self);
    std::uint32_t const v = Loop::choose(victim, me, w, [&m](std::uint32_t u) -> worker& { return *(*m.peers)[u]; });
    return v == m.place ? nullptr : Loop::steal_from_victim(victim, v, *(*m.peers)[v], self);
  }
  template <class Loop>
  static runnable* take_inter(fiber& self) {
    worker& w = *self.worker;
    std::uint32_t from = 0;
    runnable* const t = squads_of(w.scheduler).take_inter(w, from);
    if (t != nullptr && from != member_of(w).in->number)
      Loop::count_steal(w, *w.scheduler.workers[w.scheduler.where.squads().head[from]]);
    return Loop::at_root(t, self);
  }
  /// Tasks of graphs that have squads. Other squads' come when nothing else is found for a while.
  template <class Loop>
  static runnable* look_for_graphs(fiber& self) {
    worker& w = *self.worker;
    auto const found = look_near(w, *member_of(w).peers);
    if (found.had_it != nullptr && found.had_it != &w) Loop::count_steal(w, *found.had_it);
    return Loop::at_root(found.task, self);
  }
  /// Each attempt takes cache lines away from the victim. While squads have their own work, there are fewer.
  static std::uint32_t far_attempts(worker const& w) noexcept {
    squad_extension const& all = squads_of(w.scheduler);
    return all.has_graphs() ? search_step::last_resort : all.has_divisions() ? 8 : 1;
  }
  /// A head takes whatever there is.
  template <class Loop>
  static runnable* last_resort(fiber& self) {
    worker& w = *self.worker;
    squad_member& m = member_of(w);
    if (runnable* const t = w.scheduler.take_any_mail(); t != nullptr) return Loop::at_root(t, self);
    return m.head ? Loop::at_root(squads(w).head_take_any(*m.in, m.squad_was_busy), self) : nullptr;
  }

 private:
  static auto& squads(worker const& w) noexcept { return squads_of(w.scheduler).squads; }
  static heist::victim::thief_view view(squad_member const& m) noexcept {
    return {m.place, static_cast<std::uint32_t>(m.peers->size())};
  }
  template <class Loop>
  static auto& near(fiber& self) noexcept {
    return Loop::scheduler_of(self).of_search(*self.worker).near;
  }

  template <class Scheduler>
  static squad_hook hook() noexcept {
    using observer_type = typename Scheduler::observer_type;
    if constexpr (observer_type::observes && squad_observer<observer_type>) {
      return [](core& scheduler, worker& w, squad_task const& task, squad_event what) noexcept {
        observer_type& observer = static_cast<Scheduler&>(scheduler).observer();
        std::uint32_t const in = member_of(w).in->number;
        if (what == squad_event::enters) observer.inter_begin(w.number, in, &task, task.level);
        if (what == squad_event::leaves) observer.inter_end(w.number, in, &task);
        if (what == squad_event::moves) observer.intra_begin(w.number, in, &task);
      };
    } else {
      return nullptr;
    }
  }
};

template <class Policy>
requires(Policy::tier_type::division != tier_mode::none) struct search_of<Policy> {
  using type = squad_search<Policy>;
};

}  // namespace heist::detail
