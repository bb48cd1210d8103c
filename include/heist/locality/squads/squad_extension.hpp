// The squads of an executor whose policy divides programs into tiers, its workers' places in them, and what their cores
// count.
#pragma once

#include <pthread.h>  // pthread_t

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <span>
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/fork/fork_extension.hpp"
#include "heist/core/policy/tier.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/locality/counters/counter_handle.hpp"
#include "heist/locality/history/placement_extension.hpp"
#include "heist/locality/squads/squad_set.hpp"

namespace heist::detail {

using squad = basic_squad<pooled_runnable, queued_runnable>;

/// Where a worker is.
struct squad_member {
  squad* in = nullptr;
  std::vector<worker*> const* peers = nullptr;  ///< all in its squad
  std::uint32_t place = 0;                      ///< its own in that list
  bool head = false;
  bool squad_was_busy = false;  ///< the inter-squad task that it takes does not keep its squad busy
  counter_handle counters;      ///< counters of its os thread; opened when they are read
  ::pthread_t counted_by{};     ///< the os thread that opened them
};
inline squad_member& member_of(worker const& w) noexcept {
  return *static_cast<squad_member*>(w.extension_data);
}

/// Events of a fiber in the tiers.
enum class squad_event {
  enters,  ///< an inter-squad task begins on it, or is resumed after its children
  leaves,  ///< its inter-squad task has ended, or waits for inter-squad children
  moves    ///< its worker resumes it, within the subtree of an inter-squad task
};

/// An inter-squad task, while it or its subtree runs. Its subtree stays in its squad. If a frame of the subtree waits,
/// any member may resume it, by way of squad::ready. The task itself comes back through its squad's pool.
class squad_task final : public resume_rule {
 public:
  squad* in = nullptr;      ///< the squad that runs it
  bool occupies = false;    ///< the squad is busy with it
  bool suspended = false;   ///< it waits for inter-squad children
  std::uint32_t level = 0;  ///< in the region's tree: the region's body is 1

  HEIST_BODY void make_ready(fiber& f) noexcept override;
  HEIST_BODY deferred_call left(fiber& f) noexcept override;
  HEIST_BODY void returned(fiber& f, worker& w) noexcept override;
  HEIST_BODY void* wait_outside_begins() noexcept override;
  HEIST_BODY void wait_outside_ends(void* squad) noexcept override;

  class squad_extension* extension = nullptr;
};

/// Told what a fiber does that observers of squads want to know; null without an observer.
using squad_hook = void (*)(core& scheduler, worker& w, squad_task const& task, squad_event what) noexcept;

/// The task whose subtree runs on `f`, where the policy has tiers; null outside of all.
inline squad_task* task_of(fiber const& f) noexcept {
  return f.interrupt == nullptr ? nullptr : static_cast<squad_task*>(f.interrupt->resumes);
}

/// The children that a scope has collected and not dealt to the squads. A head that finds nothing else claims it.
class undistributed_children {
 public:
  /// Under the extension's lock. True if they have waited long enough: then the caller is the one to deal them, and the
  /// scope lives until it has.
  virtual bool claim() noexcept = 0;
  virtual void distribute_claimed() noexcept = 0;

  undistributed_children* next = nullptr;  ///< the extension's, as the next
  undistributed_children* previous = nullptr;

 protected:
  ~undistributed_children() = default;
};

/// Threads  every member by any worker.
class squad_extension : public executor_extension,
                        public fork_extension,
                        public placement_extension,
                        public sleep_extension {
 public:
  squad_extension(core& scheduler, tier_mode how, bool has_history, counter_operations const* counters,
                  squad_hook hook) noexcept
      : tiers{how}, has_history_squads{has_history}, scheduler_{scheduler}, counters_{counters}, hook_{hook} {
    sleep = this;
    graphs = this;
    forks = this;
  }

  /// One squad for each of the machine's, each with a gate, all in one ring.
  HEIST_BODY idle_gate<>* make_gates(core& scheduler, idle_config config) override;
  HEIST_BODY bool may_take(worker const& thief) const noexcept override;
  HEIST_BODY std::uint32_t thieves() const noexcept override;
  HEIST_BODY std::string state_text() const override;
  task_affinity affinity_of_tasks() const noexcept override { return task_affinity::squads; }
  HEIST_BODY unique_ptr<graph_recall> make_recall() const override;
  HEIST_BODY bool counts_misses() const noexcept override;
  std::uint64_t read_misses(worker& w) noexcept override { return read_counters(w).private_misses; }
  void graph_begins() noexcept override { graphs_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: advice
  void graph_ends() noexcept override { graphs_.fetch_sub(1, std::memory_order_relaxed); }    // relaxed: as above
  /// A region runs whose tree the squads divide; and does no longer.
  void division_begins() noexcept { divisions_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: as above
  void division_ends() noexcept { divisions_.fetch_sub(1, std::memory_order_relaxed); }    // relaxed: as above
  bool has_divisions() const noexcept {
    return divisions_.load(std::memory_order_relaxed) != 0;  // relaxed: as above
  }
  /// Does a graph run whose tasks have squads?
  bool has_graphs() const noexcept { return graphs_.load(std::memory_order_relaxed) != 0; }  // relaxed: as above

  HEIST_BODY place_to_fork way_of_fork(fiber& of, fork_slot* position, bool divide) noexcept override;
  HEIST_BODY void fork(fiber& self, fork_slot* position, std::span<erased_child* const> children) override;
  HEIST_BODY fork_way way_of_scope(fiber& self, fork_slot* position) noexcept override;
  HEIST_BODY unique_ptr<extension_scope> make_scope(scope_base& of, bool remote) override;
  HEIST_BODY bool may_queue(fiber const& here, fork_way way) const noexcept override;
  HEIST_BODY unique_ptr<region_visit> enter(region& r, fiber& self, fork_slot* position) override;
  HEIST_BODY bool has_history(fork_slot* position) const noexcept override;
  HEIST_BODY std::size_t workers_of_part() const noexcept override;
  HEIST_BODY void footprint(fork_slot* position, std::uint64_t bytes) noexcept override;

  /// A run of `r`, divided as `how` says; tasks of a divided run enter none.
  HEIST_BODY unique_ptr<region_visit> enter_by(tier_mode how, region& r, fiber& self, fork_slot* position);
  static bool is_in_tier(fiber const& self, fork_slot* position) noexcept {
    return context_access::mark_at(position) != position_mark::plain || self.rule_of_task() != nullptr;
  }

  /// The task that keeps `w`'s squad busy has ended, or waits for inter-squad children.
  void release(worker& w, squad_task& task) noexcept;
  /// Something that the head of `w`'s squad, which is `w`, may take, and the squad that had it; null if the squad is
  /// busy, or after an attempt that failed.
  pooled_runnable* take_inter(worker& w, std::uint32_t& from) noexcept;
  /// Deals what some scope has collected for long enough; false if there is none.
  bool distribute_collected() noexcept;
  void add_entry(undistributed_children& of_scope) noexcept;
  void leave(undistributed_children& of_scope) noexcept;
  void tell(worker& w, squad_task const& task, squad_event what) noexcept {
    if (hook_ != nullptr) hook_(scheduler_, w, task, what);
  }

  /// How much cache each squad has to itself; 0 if that is not known.
  std::uint64_t cache_bytes() const noexcept { return cache_bytes_; }
  bool on_several_nodes() const noexcept { return on_several_nodes_; }
  /// The counts of the core that `w` runs on. By `w`; its first call opens the counters.
  counter_values read_counters(worker& w) noexcept;
  /// After the first read_counters() of some worker.
  bool counters_available() const noexcept { return counters_available_; }
  std::string const& counters_why_not() const noexcept { return counters_why_not_; }
  /// The event counted as a miss of a private cache; empty if the source does not say.
  std::string const& counters_event() const noexcept { return counters_event_; }

  tier_mode const tiers;
  bool const has_history_squads;  ///< in regions: which ran which inter-squad task
  squad_set<pooled_runnable, queued_runnable> squads;

 protected:
  core& scheduler_;

 private:
  std::vector<squad_member> members_;  // by worker
  std::vector<std::vector<worker*>> peers_;
  std::uint64_t cache_bytes_ = 0;
  bool on_several_nodes_ = false;
  os_env::atomic<std::uint32_t> graphs_{0}, divisions_{0};
  counter_operations const* const counters_;
  squad_hook const hook_;
  spin_lock<> undistributed_lock_;  // guards the next
  undistributed_children* undistributed_ = nullptr;
  mutable spin_lock<> lock_;  // guards the rest
  bool counters_known_ = false, counters_available_ = false;
  std::string counters_why_not_, counters_event_;
};

inline squad_extension& squads_of(core const& scheduler) noexcept {
  return static_cast<squad_extension&>(*scheduler.extension);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/squads/squad_extension.ipp"
#endif
