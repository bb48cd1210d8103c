// The runs of a graph under policy::automatic: which way it is run next, and what each way remembers of it.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <iterator>  // size
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/graph/recall.hpp"
#include "heist/locality/automatic/ways.hpp"
#include "heist/locality/history/placement_history.hpp"

namespace heist::detail {

/// Kept by the graph. Runs that start while other runs are in progress or in line go to the same executor and are not
/// measured. Runs whose number of passes is unknown are not measured either.
class graph_trials final : public graph_tuner {
 public:
  HEIST_BODY graph_trials(core& scheduler, others& by);
  HEIST_BODY ~graph_trials() override;

  HEIST_BODY core& run_starts(graph_data& g, core& asked, std::size_t passes) override;
  HEIST_BODY void run_ends(run_state const* r) noexcept override;
  HEIST_BODY void detach(graph_data& g) noexcept override;
  HEIST_BODY void forget() noexcept override;
  HEIST_BODY std::string explain() const override;

 private:
  static constexpr std::size_t ways = std::size(ways_for_graphs);

  void start_anew(core& scheduler, others& by);
  void choose(graph_data& g, std::size_t passes);
  /// not_now: another thread runs the graph, or the executor is not made.
  enum class readiness { ready, not_now, impossible };

  readiness make_ready(std::size_t way, graph_data& g);
  bool install(std::size_t way, graph_data& g);

  mutable spin_lock<> lock_;  ///< guards all; held while a decision is made, not while executors are
  others* others_;
  core* scheduler_;
  std::uint64_t executor_;
  tuner tuner_;
  std::array<unique_ptr<graph_recall>, ways + 1> histories_;  ///< all but the one that the graph has
  std::size_t installed_ = ways;  ///< the way whose history the graph has; ways: none of these
  std::array<bool, ways> follows_{};
  std::array<bool, ways> stale_{};  ///< the history is of an earlier executor
  std::uint32_t layout_count_ = 0;  ///< graph_data::layout_count of the last run: another one, and tasks have changed
  std::size_t running_ = 0;         ///< runs that were started and have not ended
  bool shows_ = false;              ///< the run in progress is alone, and of a known length
  core* there_;
  std::size_t way_ = 0, passes_ = 0;
  std::int64_t start_time_ = 0;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/automatic/graph_trials.ipp"
#endif
