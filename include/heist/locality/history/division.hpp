// A graph divided: which squad gets which of its tasks, and which tasks go from squad to squad together.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"

namespace heist::detail {

struct graph_data;
struct known_task;

/// Parts: connected tasks of one squad. A squad without work takes a ready task of another one's part, and the rest of
/// that part comes after it.
///
/// Threads  squad() and take() by any worker; make() between passes.
class graph_division {
 public:
  /// Gives each task that has no squad yet (known_task::past) one of `squads`, and divides all into parts. Assigns the
  /// tasks of each level (same distance from the start, in tasks) evenly to the squads. A task goes to the squad that
  /// owns most of its predecessors. Tasks without a predecessor in a squad are laid side by side, in order of creation.
  /// Cost: linear in edges, times squads. Throws bad_alloc.
  void make(graph_data const& g, std::vector<known_task>& tasks, std::uint32_t squads);

  std::size_t size() const noexcept { return count_; }
  std::uint32_t squad(std::uint32_t part) const noexcept {
    return squad_of_[part].load(std::memory_order_relaxed);  // relaxed: advice
  }
  /// Its tasks come to `squad` from now on.
  void take(std::uint32_t part, std::uint32_t squad) noexcept {
    squad_of_[part].store(squad, std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  std::unique_ptr<os_env::atomic<std::uint32_t>[]> squad_of_;
  std::size_t count_ = 0;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/history/division.ipp"
#endif
