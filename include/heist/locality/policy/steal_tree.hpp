// The steal tree: which worker ran which part of a fork/join computation, told by the steals alone ("Optimizing Data
// Locality for Fork/Join Programs Using Constrained Work Stealing", Lifflander, Krishnamoorthy and Kale, SC 2014,
// IV.A).
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>  // move, pair
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/errors.hpp"

namespace heist {

/// A steal tree that cannot be read, contradicts itself or is to be pruned by a number that is no percentage.
struct steal_tree_error : region_error {
  using region_error::region_error;
};

/// The steals of a run: one worker takes from another the rest of a frame that has called a child. A worker runs all
/// other code as the serial program would, so the steals determine every task's worker and order.
///
/// A child's place is the branch indices from the region's body down to it. Each index is the child's number among the
/// children of its frame, over all forks of that frame. The place of a steal is that of the child that had just been
/// called: {0, 2} is the rest of the body's first child, after its third child.
///
/// A frame that had to wait for stolen children can change workers once more: the worker that ends the last of them
/// resumes with it. Such an entry is no steal. Its place is that of the last child that the frame had called before it
/// waited.
///
/// Threads  as a container.
class steal_tree {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// One entry of the tree.
  struct steal {
    std::vector<std::uint32_t> place;  ///< not empty
    std::uint32_t worker = 0;          ///< the thief, which continued with the frame
    std::uint32_t victim = 0;          ///< the worker that lost the frame; after a join: the worker that had left it
    std::uint32_t sequence = 0;        ///< among the entries of `worker`: the order in which it began them, from 0
    bool after_join = false;           ///< no steal: `worker`, perhaps the victim itself, resumed after the children

    friend bool operator==(steal const&, steal const&) = default;
  };

  /// A place on the way to an entry. Nodes come in the order of the serial program, each before those below it; node 0
  /// is the region's body.
  struct node {
    std::uint32_t branch = 0;     ///< the last index of its place
    std::uint32_t end = 1;        ///< the first node that is not below it
    std::uint32_t worker = none;  ///< as in `steal`; none if there is no entry at this place
    std::uint32_t victim = none;
    std::uint32_t sequence = none;
    bool after_join = false;

    bool entry() const noexcept { return worker != none; }
    /// An entry, and not one after a join.
    bool stolen() const noexcept { return entry() && !after_join; }
    friend bool operator==(node const&, node const&) = default;
  };

  /// Of no run.
  steal_tree() = default;
  /// `body` is the worker that began the region's body. Steals in any order. Throws steal_tree_error if a worker does
  /// not exist, steals from itself or has a sequence number twice. Also if a place is empty or has two entries. Throws
  /// bad_alloc.
  steal_tree(std::size_t workers, std::uint32_t body, std::vector<steal> steals);

  bool empty() const noexcept { return workers_ == 0; }
  std::size_t worker_count() const noexcept { return workers_; }
  std::uint32_t body_worker() const noexcept { return body_; }
  /// Number of entries, those after a join excluded.
  std::size_t steal_count() const noexcept { return steals_; }
  /// Number of entries after a join.
  std::size_t join_count() const noexcept { return joins_; }
  /// Length of the longest place. Cost: O(nodes).
  std::size_t depth() const;
  /// Memory that it takes.
  std::size_t bytes() const noexcept { return sizeof(*this) + nodes_.capacity() * sizeof(node); }

  /// At least the body, except of no run.
  std::vector<node> const& nodes() const noexcept { return nodes_; }
  /// The child of nodes()[parent] in that branch; `none` if there is no entry there or below. Cost: O(siblings before).
  std::uint32_t child(std::uint32_t parent, std::uint32_t branch) const noexcept;
  /// Null if there is no entry at that place.
  node const* find(std::span<std::uint32_t const> place) const noexcept;
  /// All entries, in the order of the serial program.
  std::vector<steal> steals() const;

  /// Drops `percent` of 100 steals, rounded down, and keeps those that gave away most. It works level by level, a level
  /// being the length of the places. In the last level that stays, it keeps the first steals in the order of the serial
  /// program (paper VI). Entries after a join stay if their frame is still stolen before. Numbers stay as they were,
  /// with gaps; so the order of what stays is that of the recorded run. Throws steal_tree_error, and changes nothing,
  /// unless 0 <= percent <= 100; bad_alloc likewise. Cost: O(nodes), and that of making a tree of what stays.
  void prune(int percent);

  friend bool operator==(steal_tree const&, steal_tree const&) = default;

  /// For files; one line for each entry.
  std::string to_json() const;
  /// Takes what to_json() gave. Throws steal_tree_error for a text that is cut, of another version, not in the order of
  /// the serial program or contradicts itself. Memory: in proportion to the text, however deep the tree.
  static steal_tree from_json(std::string_view text);

  /// For Graphviz: the places, with workers as colours; entries after a join have dashed frames.
  std::string to_dot() const;

 private:
  class builder;

  /// Calls f(depth, node) for all nodes.
  template <class F>
  void visit(F f) const {
    std::vector<std::uint32_t> ends;  // ends of the nodes above
    for (std::uint32_t i = 0; i != nodes_.size(); ++i) {
      while (!ends.empty() && ends.back() == i) ends.pop_back();
      f(ends.size(), nodes_[i]);
      ends.push_back(nodes_[i].end);
    }
  }

  /// The entries for which keep(depth, node), called for all nodes but the body, is true.
  template <class Keep>
  std::vector<steal> steals_if(Keep keep) const {
    std::vector<steal> all;
    all.reserve(steals_ + joins_);
    std::vector<std::uint32_t> place;
    visit([&](std::size_t depth, node const& n) {
      if (depth == 0) return;
      place.resize(depth - 1);
      place.push_back(n.branch);
      if (keep(depth, n)) all.push_back({place, n.worker, n.victim, n.sequence, n.after_join});
    });
    return all;
  }

  std::size_t workers_ = 0;
  std::uint32_t body_ = 0;
  std::size_t steals_ = 0;
  std::size_t joins_ = 0;
  std::vector<node> nodes_;
};

/// The differences of two trees, a line for each entry; empty if they are equal.
std::string difference(steal_tree const& before, steal_tree const& after);

namespace detail {

// 1 knew no entries after a join

}  // namespace detail

/// Makes the nodes of entries that come in the order of the serial program.
class steal_tree::builder {
 public:
  builder(steal_tree& tree, std::size_t workers, std::uint32_t body);

  /// Length of the last place.
  std::size_t depth() const noexcept { return open_.size() - 1; }

  /// `e` without its place, which is the first `common` branches of the last place, followed by `branches`.
  void add(std::size_t common, std::span<std::uint32_t const> branches, steal const& e);
  void finish();

 private:
  std::vector<std::uint32_t> place(std::size_t common, std::span<std::uint32_t const> branches) const;
  void check(std::size_t common, std::span<std::uint32_t const> branches, steal const& e) const;
  void close(std::size_t left);

  steal_tree& tree_;
  std::vector<std::uint32_t> open_{0};                            // the nodes on the way to the last place
  std::vector<std::pair<std::uint32_t, std::uint32_t>> numbers_;  // worker and sequence of each
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/locality/policy/steal_tree.ipp"
#endif
