// A graph that remembers: it assigns its tasks to workers by its notes on earlier runs, and takes notes for later runs
// (README.md).
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <optional>
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/extension/resume_rule.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/graph/run.hpp"  // and bodies of graph_data
#include "heist/locality/history/division.hpp"
#include "heist/locality/history/known_task.hpp"
#include "heist/locality/history/placement_extension.hpp"
#include "heist/locality/policy/replay_mode.hpp"
#include "heist/locality/policy/turn_lists.hpp"

namespace heist::detail {

/// How a run places its tasks.
enum class recall_way {
  squads,   ///< parts of the graph have squads
  noted,    ///< it runs freely
  relaxed,  ///< each task has a worker that gets it first,
  strict,   ///< and no other worker does,
  in_order  ///< and in a given order
};

/// The tasks of a memory that a run follows, in the order of creation.
struct followed_tasks {
  std::vector<task_past> tasks;
  std::uint64_t shape = 0;    ///< of the graph
  std::uint32_t workers = 0;  ///< number of workers of the recording executor
  replay_mode mode = replay_mode::relaxed;
  std::uint64_t only_on = 0;  ///< the serial of the executor that follows it; 0: all
};

class placement_history final : public graph_recall {
 public:
  placement_history() noexcept;
  HEIST_BODY ~placement_history() override;

  HEIST_BODY void check(graph_data const& g, core const& scheduler) override;
  HEIST_BODY bool pass_begins(graph_data& g, core& scheduler) noexcept override;
  HEIST_BODY runnable* begin(fiber& self) override;
  HEIST_BODY runnable* finish(record& r, fiber& self) override;
  HEIST_BODY void run_ends(run_state& r) noexcept override;
  HEIST_BODY void detach(graph_data& g) noexcept override;
  HEIST_BODY void forget() noexcept override;
  std::string explain() const override { return note_; }

  // --- between runs, by graph_memory ---

  void follow(graph_data const& g, followed_tasks what);
  std::vector<known_task> const& tasks() const noexcept { return tasks_; }
  std::uint32_t workers() const noexcept { return workers_; }
  std::uint32_t squads() const noexcept { return squads_; }

 private:
  /// The rule for all fibers of a strict run: a fiber stays on its worker, which begins its next task meanwhile.
  class keep_worker final : public resume_rule {
   public:
    explicit keep_worker(placement_history& of) noexcept : of_{of} {}
    HEIST_BODY void make_ready(fiber& f) noexcept override;
    HEIST_BODY deferred_call left(fiber& f) noexcept override;

   private:
    placement_history& of_;
  };
  struct alignas(cache_line_size) started_tasks {
    std::uint32_t count = 0;
  };
  /// The state for which the tasks' homes were arranged.
  struct layout_key {
    std::uint32_t layout_count = 0, hints = 0, follows = 0;
    std::uint64_t executor = 0;
    friend bool operator==(layout_key const&, layout_key const&) = default;
  };

  // --- arranging (plan.ipp), before a pass ---
  layout_key wanted(graph_data const& g, core const& scheduler) const noexcept;
  void plan(graph_data& g, core& scheduler);
  void put_in_order(graph_data& g);
  void count_values(graph_data const& g) noexcept;
  void match_tasks(graph_data& g);
  void choose_way(graph_data const& g, core const& scheduler);
  void plan_squads(graph_data const& g, core const& scheduler);
  void plan_placement(graph_data const& g);
  void plan_followed(graph_data const& g);
  bool plan_order(graph_data const& g);
  bool order_can_be_kept(graph_data const& g, std::vector<std::vector<std::uint32_t>> const& lists) const;
  std::uint32_t worker_of_squad(std::uint32_t squad, std::uint32_t nth) const noexcept;

  // --- running ---
  static runnable* run(runnable& task, fiber& self);
  static runnable* run_known(runnable& item, fiber& self);
  known_task& of(record const& r) noexcept { return tasks_[static_cast<std::size_t>(&r - graph_->records)]; }
  bool may_begin(known_task& t, fiber& self) noexcept;
  void begins(known_task& t, worker const& w) noexcept;
  /// Sends a task to where it belongs. True if that is the calling worker, which is to run it or keep() it.
  bool is_placed_here(known_task& t, worker& w) noexcept;
  void give_to_squad(known_task& t, std::uint32_t squad, core& scheduler) noexcept;
  void keep(record& r, fiber& self);
  bool must_enqueue(known_task& t) noexcept;
  void left_queue(known_task& t, fiber& self) noexcept;
  static void weigh_value(known_task& t) noexcept;
  known_task* give_turn_on(known_task& t) noexcept;
  void admit_next(known_task* t, core& scheduler) noexcept;
  bool is_strict() const noexcept { return way_ >= recall_way::strict; }

  graph_data* graph_ = nullptr;  ///< the graph of the pass in progress
  recall_way way_ = recall_way::noted;
  std::vector<known_task> tasks_;                    ///< by position
  std::vector<started_tasks> started_;               ///< by worker
  std::vector<std::vector<std::uint32_t>> members_;  ///< workers by squad
  graph_division parts_;
  std::optional<turn_lists<known_task>> lists_;
  keep_worker rule_{*this};
  std::int64_t epoch_ = 0;
  std::uint32_t workers_ = 0, squads_ = 0;
  bool weighs_values_ = false;             ///< tasks of this pass note how large their values are
  bool counts_misses_ = false;             ///< and count misses
  placement_extension* in_run_ = nullptr;  ///< told that a run began
  bool wrapped_ = false;                   ///< the records run by way of run()
  std::uint32_t wrapped_layout_ = 0;
  layout_key arranged_;
  bool is_followed_on(core const& scheduler) const noexcept {
    return followed_ && (followed_->only_on == 0 || followed_->only_on == scheduler.serial());
  }
  std::uint64_t passes_ = 0, order_due_ = 0;  ///< since it was arranged; when times order successors the next time
  std::optional<followed_tasks> followed_;
  std::uint32_t follows_ = 0;  ///< how often that has changed
  std::string note_;
  spin_lock<> lock_;  ///< guards the next one
  layout_key checked_;
};

/// The numbers of the graph's edges, in one: differs where graphs differ, but for luck.
std::uint64_t shape_of(graph_data const& g);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/history/placement_history.ipp"
#include "heist/locality/history/plan.ipp"
#endif
