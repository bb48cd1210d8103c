// A run along the steal tree of an earlier one: how each frame's children run, and which items each worker gets.
// locality/policy/followed_tree.hpp makes the decisions, for the executor too.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/locality/policy/followed_tree.hpp"
#include "heist/locality/policy/replay_mode.hpp"
#include "heist/locality/policy/steal_tree.hpp"
#include "heist/tools/simulate/options.hpp"
#include "heist/tools/simulate/pool.hpp"
#include "heist/tools/simulate/program.hpp"
#include "heist/tools/simulate/worker.hpp"

namespace heist::sim {

/// "Constrained Work Stealing", section IV.C. The buffers have no limit. `tell(worker)` is called for each worker that
/// gets an item.
class following {
 public:
  /// Throws sim_error for the tree of no run.
  following(options const& wanted, std::uint32_t workers, std::size_t tasks);

  bool active() const noexcept { return source_ != nullptr; }
  /// No worker steals. Runs of graphs follow no tree.
  bool strict() const noexcept { return active() && of_tree_ && mode_ != replay_mode::relaxed; }
  bool in_order() const noexcept { return tree_ && tree_->in_order(); }
  /// strict_ordered was wanted, but the tree is of more workers: their orders contradict each other.
  bool folded() const noexcept { return active() && folded_; }
  std::uint32_t body_worker() const noexcept { return source_->body_worker() % workers_; }

  /// A run begins: of a tree with the body `root`, or of a graph.
  template <class Tell>
  void begin_run(bool of_tree, std::uint32_t root, Tell&& tell);

  // --- the frames of a run ---

  /// Is there anything to decide about its children?
  bool is_special(std::uint32_t t) const noexcept { return active() && frames_[t].special; }
  /// Decides how child `c` of frame `t`, its number `branch`, and the rest of `t` run. `is_oldest`: no older frame of
  /// its worker can be stolen.
  template <class Tell>
  heist::detail::followed_way decide(std::uint32_t t, std::uint32_t c, std::uint32_t branch, bool last, bool is_oldest,
                                     Tell&& tell);
  /// The rest of `t` resumes where decide() has said.
  template <class Tell>
  void give(std::uint32_t t, item i, Tell&& tell);
  /// At its join, and when it resumes behind it: does `t` go where the tree says?
  bool moves(std::uint32_t t, bool waits) const noexcept {
    return heist::detail::moves_at_join(strict(), static_cast<bool>(frames_[t].slot), waits);
  }
  template <class Tell>
  void ended(std::uint32_t t, Tell&& tell) {
    if (is_special(t)) tree_->pass_rest(frames_[t].part, begins(tell));
  }
  /// The frame that `w` has run in its turn has ended, or has left it.
  template <class Tell>
  void turn(std::uint32_t w, Tell&& tell) {
    if (strict()) tree_->turn(w, begins(tell));
  }
  /// Keeps `i` for `w` only.
  void keep_for(std::uint32_t w, item i) { own_[w].push(i); }

  // --- what workers take ---

  /// Is there an item that the worker may take now?
  bool has(std::uint32_t w) const noexcept { return active() && (!own_[w].empty() || !mailbox_[w].empty()); }
  item take(std::uint32_t w) noexcept;
  bool has_mail() const noexcept { return mail_count_ != 0; }
  bool has_mail(std::uint32_t w) const noexcept { return active() && !mailbox_[w].empty(); }
  /// Takes mail of any other worker.
  item take_any_mail() noexcept;

  /// Called when each worker waits for an item that comes later. False if no worker waits for its turn.
  template <class Tell>
  bool give_up_order(Tell&& tell);

 private:
  struct frame {
    heist::detail::tree_part part;
    heist::detail::tree_slot slot;  ///< for the rest of the frame, behind the last called child
    bool special = false;
  };
  using tree = heist::detail::followed_tree<item>;

  item take_mail(std::uint32_t w) noexcept;
  template <class Tell>
  auto begins(Tell& tell) noexcept {
    return [this, &tell](std::uint32_t w, item const& i) {
      own_[w].push(i);
      tell(w);
    };
  }

  steal_tree const* source_;
  replay_mode mode_;
  std::uint32_t workers_;
  bool folded_, of_tree_ = true;
  std::optional<tree> tree_;
  std::vector<frame> frames_;  ///< of each task
  std::vector<item> waiting_;  ///< of each task: its rest, on the way to its place in a list
  std::vector<pool<item>> own_, mailbox_;
  std::size_t mail_count_ = 0;
};

template <class Tell>
void following::begin_run(bool of_tree, std::uint32_t root, Tell&& tell) {
  of_tree_ = of_tree;
  if (!of_tree) return;
  tree_.emplace(*source_, mode_, workers_);
  frames_[root] = {tree_->all(), {}, true};
  for (std::uint32_t w = 0; w != workers_; ++w) {
    if (w != body_worker()) turn(w, tell);
  }
}

template <class Tell>
heist::detail::followed_way following::decide(std::uint32_t t, std::uint32_t c, std::uint32_t branch, bool last,
                                              bool is_oldest, Tell&& tell) {
  frame& of = frames_[t];
  frames_[c] = {};
  of.slot = {};
  if (of.special) {
    std::uint32_t const node = tree_->pass_to(of.part, branch, begins(tell));
    frames_[c] = {tree_->part_of_child(node), {}, tree_->has_children(node)};
    of.slot = tree_->slot_of(node);
  }
  bool const seated = static_cast<bool>(of.slot);
  auto const way = heist::detail::way_of_child(strict(), seated, last, false, [=] { return is_oldest; });
  if (seated && !last && way != heist::detail::followed_way::given) tree_->reject(of.slot, begins(tell));
  return way;
}

template <class Tell>
void following::give(std::uint32_t t, item i, Tell&& tell) {
  heist::detail::tree_slot const to = frames_[t].slot;
  if (strict()) {
    waiting_[t] = i;
    return tree_->give(to, waiting_[t], begins(tell));
  }
  mailbox_[to.to].push(i);
  ++mail_count_;
  tell(to.to);
}

template <class Tell>
bool following::give_up_order(Tell&& tell) {
  if (!strict() || !in_order()) return false;
  tree_->give_up_order(begins(tell));
  return true;
}

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/following.ipp"
#endif
