// What is noted of the steals of a run: where frames are in the computation, and a log that each thief writes for
// itself.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // move
#include <vector>

#include "heist/base/config.hpp"
#include "heist/observe/steal_tree.hpp"
#include "heist/sched/fork_slot.hpp"

namespace heist::detail {

/// The steals of one run.
///
/// Threads  note() by any worker for itself; tree() when the run has ended, which comes after all of them: a thief goes
///          on with the frame after noting it, and the run ends after the frame.
/// Cost     of a steal: the frames from the run's body to the stolen one.
class steal_log {
 public:
  /// Throws bad_alloc.
  explicit steal_log(std::size_t workers) : of_worker_(workers) {}

  /// `thief` has taken from `victim` the frame of `parent` that has called its child number `branch`.
  static void note(frame_record const* parent, std::uint32_t branch, std::uint32_t thief,
                   std::uint32_t victim) noexcept;

  /// No memory for a part of it.
  bool incomplete() const noexcept {
    for (auto const& log : of_worker_)
      if (log.incomplete) return true;
    return false;
  }

  /// Of a run whose body `body` began. Throws bad_alloc.
  steal_tree tree(std::uint32_t body) const {
    std::vector<steal_tree::steal> steals;
    for (std::uint32_t thief = 0; thief != of_worker_.size(); ++thief) {
      auto const* from = of_worker_[thief].branches.data();
      std::uint32_t sequence = 0;
      for (entry const& e : of_worker_[thief].entries) {
        steals.push_back({{from, from + e.length}, thief, e.victim, sequence++});
        from += e.length;
      }
    }
    return steal_tree{of_worker_.size(), body, std::move(steals)};
  }

 private:
  struct entry {
    std::uint32_t victim;
    std::uint32_t length;  ///< of its place, in branches
  };
  struct alignas(cache_line_size) own_log {
    std::vector<entry> entries;           ///< oldest first
    std::vector<std::uint32_t> branches;  ///< their places, one after the other
    bool incomplete = false;
  };
  std::vector<own_log> of_worker_;
};

/// The place of a run's body, by which its frames find the log.
struct recorded_run : frame_record {
  explicit recorded_run(steal_log& log) noexcept : frame_record{nullptr, mark, 0}, log{&log} {}

  /// The run that a frame belongs to; null if nobody records.
  static recorded_run const* of(frame_record const* r) noexcept {
    if (r == nullptr) return nullptr;
    while (r->parent != nullptr) r = r->parent;
    return r->index == mark ? static_cast<recorded_run const*>(r) : nullptr;
  }

  static constexpr std::uint32_t mark = ~std::uint32_t{0};  ///< others without a parent have index 0
  steal_log* log;
};

HEIST_COLD inline void steal_log::note(frame_record const* parent, std::uint32_t branch, std::uint32_t thief,
                                       std::uint32_t victim) noexcept {
  recorded_run const* const run = recorded_run::of(parent);
  if (run == nullptr) return;
  own_log& log = run->log->of_worker_[thief];
  if (log.incomplete) return;
  std::uint32_t length = 1;
  for (frame_record const* r = parent; r != run; r = r->parent) ++length;
  try {
    log.entries.push_back({victim, length});
    log.branches.resize(log.branches.size() + length);
  } catch (...) {
    log.incomplete = true;
    return;
  }
  std::uint32_t* to = log.branches.data() + log.branches.size();
  *--to = branch;
  for (frame_record const* r = parent; r != run; r = r->parent) *--to = r->index;
}

}  // namespace heist::detail
