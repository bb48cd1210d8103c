// Records the steals of a run and their thieves, and makes the run's steal tree.
#pragma once

#include <cstdint>
#include <utility>  // move
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/locality/policy/steal_tree.hpp"
#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

class steal_recorder {
 public:
  explicit steal_recorder(std::uint32_t workers) : entries_(workers) {}

  void begin_run(std::uint32_t body);
  /// `worker` begins with the rest of a frame, which called `child` last.
  void record(program const& p, std::uint32_t child, std::uint32_t worker, std::uint32_t victim, bool after_join);
  steal_tree finish_run() { return {entries_.size(), body_, std::move(steals_)}; }

 private:
  std::vector<std::uint32_t> entries_;  ///< entries of each worker
  std::uint32_t body_ = 0;
  std::vector<steal_tree::steal> steals_;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/steal_recorder.ipp"
#endif
