// A region: the memory of a repeated phase of a program (the principle of persistence).
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // shared_ptr
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>  // forward

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_function.hpp"
#include "heist/core/extension/loop_region.hpp"
#include "heist/fwd.hpp"
#include "heist/locality/policy/adaptation.hpp"
#include "heist/locality/policy/profile.hpp"
#include "heist/locality/policy/replay_mode.hpp"
#include "heist/locality/policy/steal_tree.hpp"
#include "heist/locality/region/path_memory.hpp"

namespace heist {

/// Options of a region, all with defaults.
struct region_options {
  std::size_t branching = 0;  ///< into how many parts a task divides its data (B of CAB's Eq. 4); 0: unknown
  std::size_t bytes = 0;      ///< all data that the phase touches (S_d); 0: unknown
  /// CAB's boundary level by hand: 1 is the region's body, 0 is traditional stealing.
  std::optional<std::uint32_t> boundary_level = std::nullopt;
  /// No boundary level: the inter-squad tasks are the children of ctx.inter_fork.
  bool tiers_by_hand = false;
  /// The name of its runs in traces and reports. It must live as long as the executor, as a literal does.
  char const* name = "region";
};

namespace detail {
struct region_access;
}

/// The memory of a phase that runs again and again on the same data: a time step, a sweep. Under policy::cab its
/// options determine the boundary level. Under policy::cats its first run is profiled. Both policies remember which
/// squad ran each inter-squad task, so that the next run finds the data in the same cache. Policies without memory
/// ignore the region. Under policy::replay it records the steal tree of its last run, and can follow a steal tree
/// ("Optimizing Data Locality for Fork/Join Programs Using Constrained Work Stealing", SC 2014): its own, of another
/// region, or from a file.
///
/// Threads  one run at a time: a second one throws region_error. Call the other members between runs.
class region {
 public:
  // --- Make ---

  region() : region{region_options{}} {}
  explicit region(region_options wanted);
  region(region const&) = delete;
  region& operator=(region const&) = delete;

  // --- What is known ---

  region_options const& options() const noexcept { return options_; }

  /// One sentence on how its last run was divided, and why. Empty before the first run, and under policies without
  /// tiers. Under policy::automatic: the fastest way so far. Under policy::replay: the reason if there is no steal
  /// tree.
  std::string const& explain() const noexcept { return note_; }
  /// The boundary level of its last run, under policy::cab.
  std::optional<std::uint32_t> boundary_level() const noexcept { return level_; }
  /// The measurements of CATS; text() returns a table. Empty before the first run under policy::cats.
  region_profile const& profile() const noexcept { return profile_; }

  /// The steals of its last run under policy::replay that ended without an exception. Empty before the first, and
  /// under other policies. It does not have forks by heist::fork_join, which has no context.
  steal_tree const& tree() const noexcept { return tree_; }

  // --- Replay ---

  /// This and all later runs under policy::replay follow `tree`: they repeat its steals at the same places, as mail.
  ///
  /// The program need not be the recorded one. Steals at places that it does not reach are skipped, and deeper forks
  /// run with the frame above (Rules 4.1, 4.2). For a tree of p workers on q < p workers, worker w is w mod q, and
  /// strict_ordered becomes strict_unordered. If another program cannot keep the order of the tree, the run ignores
  /// the order, and explain() says so. In strict modes forks below the last steal are plain calls on the stack of the
  /// task: size it as for a serial program (options::stack_size).
  ///
  /// Throws region_error during a run, steal_tree_error for the tree of no run; bad_alloc.
  void follow(steal_tree tree, replay_mode mode);
  /// In this and all later runs under policy::replay, tasks move only by ctx.designate. Throws region_error during a
  /// run.
  void follow_designations();
  /// Ends follow(), follow_designations() and adapt(). Throws region_error during a run.
  void unfollow();
  /// In this and all later runs under policy::replay the region refines its schedule until it is good (see
  /// adaptation). With ctx.may_be_stolen() it makes tasks as coarse as the load allows (VI). Throws region_error
  /// during a run.
  void adapt(adaptation_options wanted = {});
  /// The same, and data follow the schedule (V). After a run that found another tree, the region runs
  /// `initializer(context)` strictly in the order of that tree, before the next run. redistribute() says what an
  /// initialiser does. The times of runs do not contain it. If it throws, the exception leaves invoke(), and the body
  /// is not called.
  template <class F>
  requires(std::is_invocable_v<F&, context const&>) void adapt(F&& initializer, adaptation_options wanted = {}) {
    adapt(wanted);
    initializer_ = std::forward<F>(initializer);
  }
  /// The state of adapt().
  adaptation const& adapted() const noexcept { return adaptation_; }

  // --- Times and profile ---

  /// The times of its last run under policy::replay.
  run_times const& times() const noexcept { return times_; }

  /// The next run under policy::cats is profiled.
  void reprofile() noexcept { profile_wanted_ = true; }

  /// The profile as JSON, for another process.
  std::string to_json() const { return profile_.to_json(); }
  /// Reads a text of to_json(). Throws region_error for a text that is cut, of another version or inconsistent. The
  /// next run drops a profile of a machine with other squads, and its note says so.
  void from_json(std::string_view text);

 private:
  friend struct detail::region_access;
  enum class following { nothing, tree, designations, itself };

  region_options options_;
  std::string note_;
  std::optional<std::uint32_t> level_;
  region_profile profile_;
  bool profile_wanted_ = true;
  steal_tree tree_;
  following following_ = following::nothing;
  steal_tree followed_;
  replay_mode mode_ = replay_mode::relaxed;
  adaptation adaptation_;
  unique_function<void(context const&)> initializer_;  ///< of adapt(); null: data stay where they are
  bool data_settled_ = false;                          ///< they have followed the last tree
  run_times times_;

  os_env::atomic<bool> running_{false};
  std::uint64_t planned_for_ = 0;  ///< the executor for which note_ and level_ hold; ~: only squad_of_ does; 0: none
  std::optional<std::uint32_t> scheduler_;  ///< the squad where its body runs
  detail::path_memory squad_of_;            ///< which squad ran which inter-squad task
  std::shared_ptr<void> trials_;            ///< results of policy::automatic (locality/automatic/)
  std::shared_ptr<void> recorded_;          ///< records of the last run for the next one (locality/replay/)
};

namespace detail {

/// While a region is in use.
struct region_access {
  explicit region_access(region& used) : r{used} { begin(used); }
  region_access(region_access const&) = delete;
  region_access& operator=(region_access const&) = delete;
  ~region_access() { end(r); }

  /// The squad that ran the task of this path last, or `fallback`.
  std::uint32_t squad_of(std::uint64_t path, std::uint32_t fallback, std::size_t squads) const;
  /// `once`: unless something is remembered already.
  void remember(std::uint64_t path, std::uint32_t number, bool once = false) const noexcept {
    r.squad_of_.remember(path, number, once);
  }

  std::optional<std::uint32_t>& scheduler() const noexcept { return r.scheduler_; }
  std::string& explanation() const noexcept { return r.note_; }
  std::optional<std::uint32_t>& level() const noexcept { return r.level_; }
  region_profile& profile() const noexcept { return r.profile_; }
  steal_tree& tree() const noexcept { return r.tree_; }
  using following_kind = region::following;
  following_kind& following() const noexcept { return r.following_; }
  steal_tree& followed() const noexcept { return r.followed_; }
  replay_mode& mode() const noexcept { return r.mode_; }
  adaptation& adapted() const noexcept { return r.adaptation_; }
  run_times& times() const noexcept { return r.times_; }
  bool& profile_wanted() const noexcept { return r.profile_wanted_; }
  std::shared_ptr<void>& trials() const noexcept { return r.trials_; }
  std::shared_ptr<void>& recorded() const noexcept { return r.recorded_; }
  std::uint64_t& planned_for() const noexcept { return r.planned_for_; }
  void forget_squads() const noexcept;
  /// Before a run: moves the data of adapt() to where the run will use them.
  static void move_data(region& r, context const& c) {
    if (r.initializer_) [[unlikely]]
      run_initializer(r, c);
  }
  static void run_initializer(region& r, context const& c);
  /// Throws region_error if it is in use.
  static void begin(region& r);
  static void end(region& r) noexcept {
    r.running_.store(false, std::memory_order_release);  // release: for the next run
  }
  /// Between runs.
  void make_room(std::size_t more = 0) const { r.squad_of_.make_room(more); }

  region& r;
};

/// loop_region::call. Its body is in region_entry.ipp.
void enter_region_of_loop(region& r, context const& c, loop_region::body b, void* of);

}  // namespace detail

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/locality/region/region.ipp"
#endif
