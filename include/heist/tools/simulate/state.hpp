// The state of a simulation at one moment, and the advance of its time.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/policy/tier.hpp"
#include "heist/core/topology/machine.hpp"
#include "heist/core/topology/squads.hpp"
#include "heist/tools/simulate/division.hpp"
#include "heist/tools/simulate/event_queue.hpp"
#include "heist/tools/simulate/following.hpp"
#include "heist/tools/simulate/gate.hpp"
#include "heist/tools/simulate/memory.hpp"
#include "heist/tools/simulate/node_order.hpp"
#include "heist/tools/simulate/options.hpp"
#include "heist/tools/simulate/program.hpp"
#include "heist/tools/simulate/recording.hpp"
#include "heist/tools/simulate/report.hpp"
#include "heist/tools/simulate/series.hpp"
#include "heist/tools/simulate/sim_error.hpp"
#include "heist/tools/simulate/squad_pools.hpp"
#include "heist/tools/simulate/steal_recorder.hpp"
#include "heist/tools/simulate/task_state.hpp"
#include "heist/tools/simulate/worker.hpp"

namespace heist::sim {

/// The values of a policy.
struct policy_values {
  fork_order order;
  join_strategy join;
  tier_mode tiers;
  idle_config idle;
  bool has_history_squads;
};

/// The machine of the options; if they name none, one core for each worker. Throws sim_error.
topology::machine machine_of(options const& wanted);

/// How many workers the options mean. Throws sim_error.
std::uint32_t workers_of(options const& wanted, topology::machine const& m);
/// The workers of a simulation on the machine's PUs, in the squads that it wants.
topology::squads squads_of(options const& wanted, topology::machine const& m, std::size_t workers);

class state {
 public:
  state(state const&) = delete;
  state& operator=(state const&) = delete;

 protected:
  struct waker {
    state* all;
    void operator()(std::uint32_t worker) const { all->wake(all->workers_[worker]); }
  };
  using gates_type = gates<waker>;

  state(program const& p, options const& wanted, policy_values policy);
  ~state() = default;

  bool has_tiers() const noexcept { return policy_.tiers != tier_mode::none; }
  std::uint32_t gate_of(worker const& w) const noexcept { return has_tiers() ? w.squad : 0; }
  costs const& cost() const noexcept { return wanted_.costs; }
  static ticks draw(duration d, worker& w) noexcept { return d.draw(w.cost_random); }

  /// From now on `w`, whose turn it is, does something for so long; then comes `next`.
  void advance(worker& w, ticks time, activity what, step next);
  /// The same for one that waits, at a certain time.
  void rouse(worker& w, ticks when, step next) {
    w.next = next;
    queue_.add(when, w.number);
  }

  /// Notes where the time since its last event has gone.
  void account(worker& w) noexcept;
  /// Accounts the last search as a steal.
  void was_steal(worker& w) noexcept {
    share(w) -= last_;
    w.told.time.steal += last_;
  }
  static ticks& share(worker& w) noexcept;

  void advance_to(ticks time) {
    series_.advance_to(time, {now_, active_, count_ - active_ - asleep_, asleep_});
    now_ = time;
  }

  /// It has been notified.
  void wake(worker& w);

  // --- items that every worker may take ---

  void push(worker& w, item i);
  item pop(worker& w) noexcept;
  void submit(item i);
  item take_submitted() noexcept;

  /// At the end, once.
  report finish();

  region_memory& region_of(run const& r) noexcept { return r.region == none ? no_region_ : regions_[r.region]; }

  program const& program_;
  options const wanted_;
  policy_values const policy_;
  topology::machine const machine_;
  std::uint32_t const count_;
  topology::squads const placed_;
  cache_sizes const sizes_;
  memory memory_;
  ordered_nodes nodes_;
  gates_type gates_;
  squad_pools<gates_type> squads_;
  std::vector<worker> workers_;
  std::vector<task_state> tasks_;
  std::vector<inter_state> inter_;
  std::vector<region_memory> regions_;
  region_memory no_region_;
  division_info info_;
  pool<item> master_;
  following follow_;
  std::optional<steal_recorder> steal_recorder_;  ///< where the policy's order is recorded

  event_queue queue_;
  ticks now_ = 0;
  worker* acting_ = nullptr;    ///< the worker whose turn it is
  bool has_next_step_ = false;  ///< advance() has been called in this turn
  ticks due_ = 0;               ///< when it is this worker's turn again
  ticks last_ = 0;              ///< accounted last
  std::uint64_t open_ = 0;      ///< things that every worker may take
  std::uint64_t frames_ = 0;    ///< continuations that can be stolen
  std::uint32_t active_ = 0, asleep_ = 0;

  std::size_t run_ = 0;  ///< that runs
  ticks run_start_time_ = 0;
  std::uint32_t nodes_left_ = 0;  ///< of a graph, that have not ended
  bool profiles_ = false;         ///< the run is profiled
  bool finished_ = false;
  series series_;
  report told_;
  std::optional<recording> recording_;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/state.ipp"
#endif
