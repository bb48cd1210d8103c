// What a policy adds to executors whose graphs have a placement history.
#pragma once

#include <cstdint>

#include "heist/core/extension/executor_extension.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

/// Where the tasks of a graph belong.
enum class task_affinity { squads, workers };

/// Threads  any.
class placement_extension : public graph_extension {
 public:
  virtual task_affinity affinity_of_tasks() const noexcept = 0;
  /// Does the policy count cache misses, as far as is known?
  virtual bool counts_misses() const noexcept { return false; }
  /// The cache misses of the core that `w` runs on, since some moment. By `w`.
  virtual std::uint64_t read_misses(worker& /*w*/) noexcept { return 0; }
  /// A run of such a graph begins, and ends.
  virtual void graph_begins() noexcept {}
  virtual void graph_ends() noexcept {}

 protected:
  ~placement_extension() = default;
};

/// Of an executor whose graphs have a placement history.
inline placement_extension& placement_of(core const& scheduler) noexcept {
  return static_cast<placement_extension&>(*scheduler.extension->graphs);
}

}  // namespace heist::detail
