// A run along the steal tree of an earlier one: to whom the rests of frames are given, and what each worker takes next.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/base/config.hpp"
#include "heist/observe/steal_tree.hpp"
#include "heist/policy/replay_mode.hpp"
#include "heist/sim/options.hpp"
#include "heist/sim/pool.hpp"
#include "heist/sim/program.hpp"
#include "heist/sim/worker.hpp"

namespace heist::sim {

/// "Constrained Work Stealing", section IV.C. The buffers have no limit.
class following {
 public:
  /// Throws sim_error for the tree of no run.
  following(options const& wanted, std::uint32_t workers);

  bool active() const noexcept { return tree_ != nullptr; }
  bool strict() const noexcept { return active() && mode_ != replay_mode::relaxed; }
  bool ordered() const noexcept { return active() && mode_ == replay_mode::strict_ordered; }
  /// strict_ordered was wanted, but the tree is of more workers: their orders contradict each other.
  bool folded() const noexcept { return folded_; }

  // --- places ---

  static constexpr std::uint32_t root = 0;
  std::uint32_t body_worker() const noexcept { return tree_->body_worker() % workers_; }
  /// Of the child of the task at `place` in that branch.
  std::uint32_t child(std::uint32_t place, std::uint32_t branch) const noexcept {
    return place == none ? none : tree_->child(place, branch);
  }
  /// To whom the rest of a frame goes that calls the child at `place`; none if it is not stolen there.
  std::uint32_t thief(std::uint32_t place) const noexcept {
    return place != none && tree_->nodes()[place].stolen() ? tree_->nodes()[place].worker % workers_ : none;
  }
  /// Who resumes after the join whose last child is at `place`; none if the tree does not say so.
  std::uint32_t after_join(std::uint32_t place) const noexcept {
    return place != none && tree_->nodes()[place].after_join ? tree_->nodes()[place].worker % workers_ : none;
  }

  // --- what is given to whom ---

  void begin_run();
  void give(std::uint32_t to, item i) { given_[to].push(i); }
  /// The rest of a frame that was stolen at `place`.
  void give_in_order(std::uint32_t to, std::uint32_t place, item i);
  /// Is there something that the worker may take now?
  bool has(std::uint32_t w) const noexcept;
  item take(std::uint32_t w) noexcept;

  /// The tree cannot be followed strictly: from now on nobody waits for anything that may not come.
  void relax();

 private:
  /// The steals of each worker, in the order of its sequence numbers, which may have gaps.
  void number();

  struct sequence {
    std::vector<item> items;
    std::size_t next = 0;
  };

  steal_tree const* tree_;
  replay_mode mode_;
  std::uint32_t workers_;
  bool folded_ = false;
  std::vector<pool<item>> given_;
  std::vector<sequence> slots_;        ///< strict_ordered
  std::vector<std::uint32_t> number_;  ///< of each node that is a steal: its place among those of its worker
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/sim/following.ipp"
#endif
