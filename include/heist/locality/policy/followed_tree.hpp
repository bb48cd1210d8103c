// The decisions of a run that follows a steal tree. Which worker gets the rest of a frame? On which worker does a frame
// resume after a join? Which frames wait for their turn? The paper is "Optimizing Data Locality for Fork/Join Programs
// Using Constrained Work Stealing", SC 2014, section IV.C. The executor asks here (locality/replay/replay_run.hpp), and
// so does the simulator (tools/simulate/following.hpp).
#pragma once

#include <algorithm>  // sort
#include <cstddef>    // size_t
#include <cstdint>
#include <optional>
#include <utility>  // pair
#include <vector>

#include "heist/locality/policy/replay_mode.hpp"
#include "heist/locality/policy/steal_tree.hpp"
#include "heist/locality/policy/turn_lists.hpp"

namespace heist::detail {

/// Those of a tree's nodes that are in one frame and not yet passed.
struct tree_part {
  std::uint32_t next = 0, end = 0;

  bool empty() const noexcept { return next == end; }
};

/// Where a frame resumes that its worker leaves.
struct tree_slot {
  static constexpr std::uint32_t no_place = ~std::uint32_t{0};

  std::uint32_t to = no_place;     ///< a worker; nowhere: the tree says nothing
  std::uint32_t place = no_place;  ///< in that worker's list; nowhere: as soon as it can
  explicit operator bool() const noexcept { return to != no_place; }
};

/// How a child and the rest of its caller run.
enum class followed_way {
  in_place,  ///< a call: no worker can have the rest meanwhile
  stealable,
  given
};

/// Of a frame's next child. `seated`: the tree has a slot for the rest; `last`: the frame does nothing before its join;
/// `pinned`: it may not change its worker. `is_oldest()`: have all older frames of its worker been taken? If not, that
/// worker could not come back to them (the paper's validity check).
template <class IsOldest>
followed_way way_of_child(bool strict, bool seated, bool last, bool pinned, IsOldest&& is_oldest) {
  if (seated && !last && !pinned && is_oldest()) return followed_way::given;
  return strict || last || pinned ? followed_way::in_place : followed_way::stealable;
}

/// At a join: does the frame leave its worker for the slot of the tree? `waits`: for a child.
inline bool moves_at_join(bool strict, bool seated, bool waits) noexcept {
  return seated && (strict || waits);
}

/// A steal tree that a run follows. An `Item` can resume. The tree calls `begin(worker, item)` for each item that is to
/// begin now.
///
/// Threads  members with `begin` by any worker, for frames of its run. give_up_order() when no thread is in a different
///          member. The rest by any thread.
template <class Item, class Env = os_env>
class followed_tree {
 public:
  /// `tree` outlives it. Throws bad_alloc.
  followed_tree(steal_tree const& tree, replay_mode mode, std::size_t workers)
      : nodes_{tree.nodes()}, workers_{static_cast<std::uint32_t>(workers)}, mode_{mode} {
    // The lists of more workers than there are cannot be kept apart.
    if (mode == replay_mode::strict_ordered && tree.worker_count() <= workers) make_lists();
  }

  bool is_of(steal_tree const& tree, replay_mode mode, std::size_t workers) const noexcept {
    return &nodes_ == &tree.nodes() && mode_ == mode && workers_ == workers;
  }
  /// Resets to the state after construction, for another run. Call it when no thread is in another member, and no node
  /// has changed.
  void begin_again() noexcept {
    if (lists_) lists_->begin_again();
  }

  bool strict() const noexcept { return mode_ != replay_mode::relaxed; }
  /// Does every worker run its items in the tree's order?
  bool in_order() const noexcept { return lists_ && !lists_->order_is_off(); }
  bool order_given_up() const noexcept { return lists_ && lists_->order_is_off(); }

  /// The part of the run's body.
  tree_part all() const noexcept {
    auto const n = static_cast<std::uint32_t>(nodes_.size());
    return {n == 0 ? 0u : 1u, n};
  }
  /// Has the child that node `i` is for steals below?
  bool has_children(std::uint32_t i) const noexcept { return i != steal_tree::none && nodes_[i].end != i + 1; }
  tree_part part_of_child(std::uint32_t i) const noexcept {
    return has_children(i) ? tree_part{i + 1, nodes_[i].end} : tree_part{};
  }
  /// Where the tree says that the frame resumes after that child, or after its fork.
  tree_slot slot_of(std::uint32_t i) const noexcept {
    if (i == steal_tree::none || !nodes_[i].entry()) return {};
    return {nodes_[i].worker % workers_, lists_ ? place_[i] : tree_slot::no_place};
  }

  /// The frame of `part` calls its child number `branch`. Returns the tree's node for it, or steal_tree::none. Nodes
  /// that the frame has passed without reaching them cannot come any more.
  template <class Begin>
  std::uint32_t pass_to(tree_part& part, std::uint32_t branch, Begin&& begin) {
    while (!part.empty() && nodes_[part.next].branch < branch) {
      pass(part.next, nodes_[part.next].end, begin);
      part.next = nodes_[part.next].end;
    }
    if (part.empty() || nodes_[part.next].branch != branch) return steal_tree::none;
    std::uint32_t const found = part.next;
    part.next = nodes_[found].end;
    return found;
  }
  /// The frame of `part` has ended.
  template <class Begin>
  void pass_rest(tree_part& part, Begin&& begin) {
    pass(part.next, part.end, begin);
    part.next = part.end;
  }

  /// The item that can resume at `s` has come.
  template <class Begin>
  void give(tree_slot const& s, Item& item, Begin&& begin) {
    if (s.place != tree_slot::no_place && lists_ && lists_->arrive(s.to, s.place, item) == nullptr) return;
    begin(s.to, item);
  }
  /// The slot will not be used.
  template <class Begin>
  void reject(tree_slot const& s, Begin&& begin) {
    if (lists_ && s.place != tree_slot::no_place) next_of(s.to, lists_->pass(s.to, s.place), begin);
  }
  /// Worker `w` may begin its next.
  template <class Begin>
  void turn(std::uint32_t w, Begin&& begin) {
    if (lists_) next_of(w, lists_->turn(w), begin);
  }
  /// Each waits for what comes after it in some list: that is a program which the tree is not of.
  template <class Begin>
  void give_up_order(Begin&& begin) {
    lists_->begin_anyhow([&](std::size_t w, Item& item) { begin(static_cast<std::uint32_t>(w), item); });
  }

 private:
  template <class Begin>
  void pass(std::uint32_t from, std::uint32_t to, Begin& begin) {
    if (!lists_) return;
    for (std::uint32_t i = from; i != to; ++i) {
      if (nodes_[i].entry()) next_of(nodes_[i].worker, lists_->pass(nodes_[i].worker, place_[i]), begin);
    }
  }
  template <class Begin>
  static void next_of(std::uint32_t w, Item* item, Begin& begin) {
    if (item != nullptr) begin(w, *item);
  }

  void make_lists() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
    order.reserve(nodes_.size());
    for (std::uint32_t i = 0; i != nodes_.size(); ++i) {
      if (nodes_[i].entry()) order.emplace_back(nodes_[i].sequence, i);
    }
    std::sort(order.begin(), order.end());
    place_.resize(nodes_.size());
    std::vector<std::size_t> lengths(workers_);
    for (auto const& [sequence, i] : order) place_[i] = static_cast<std::uint32_t>(lengths[nodes_[i].worker]++);
    lists_.emplace(lengths);
  }

  std::vector<steal_tree::node> const& nodes_;
  std::uint32_t const workers_;
  replay_mode const mode_;
  std::optional<turn_lists<Item, Env>> lists_;
  std::vector<std::uint32_t> place_;  ///< in its worker's list, of each node
};

}  // namespace heist::detail
