// The steal tree: which worker ran which part of a fork/join computation, told by the steals alone ("Optimizing Data
// Locality for Fork/Join Programs Using Constrained Work Stealing", Lifflander, Krishnamoorthy and Kale, SC 2014,
// IV.A).
#pragma once

#include <fmt/format.h>

#include <algorithm>  // adjacent_find, max, min, sort
#include <cstddef>    // size_t
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>  // move, pair
#include <vector>

#include "heist/base/errors.hpp"
#include "heist/base/json.hpp"

namespace heist {

/// A steal tree that cannot be read, contradicts itself or is to be pruned by something else than a percentage.
struct steal_tree_error : region_error {
  using region_error::region_error;
};

/// What one worker takes from another: the rest of a frame that has called a child. All else a worker runs as the
/// serial program would, so the steals say for every task which worker ran it and in which order.
///
/// A child's place is the branch indices from the region's body down to it: each is the child's number among the
/// children of its frame, over all forks of that frame. The place of a steal is that of the child that had just been
/// called: {0, 2} is the rest of the body's first child, after its third child.
///
/// A frame that had to wait for stolen children can change workers once more: whoever ends the last of them goes on
/// with it. Such an entry is no steal. Its place is that of the last child that the frame had called before it waited.
///
/// Threads  as a container.
class steal_tree {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct steal {
    std::vector<std::uint32_t> place;  ///< not empty
    std::uint32_t worker = 0;          ///< who stole, and went on with the frame
    std::uint32_t victim = 0;          ///< from whom; after a join: who had left it
    std::uint32_t sequence = 0;        ///< among the entries of `worker`: the order in which it began them, from 0
    bool after_join = false;           ///< no steal: `worker`, perhaps the victim itself, went on after the children

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
  /// not exist, robs itself or has a sequence number twice, or a place is empty or has two entries; bad_alloc.
  steal_tree(std::size_t workers, std::uint32_t body, std::vector<steal> steals);

  bool empty() const noexcept { return workers_ == 0; }
  std::size_t worker_count() const noexcept { return workers_; }
  std::uint32_t body_worker() const noexcept { return body_; }
  /// Without the entries after a join.
  std::size_t steal_count() const noexcept { return steals_; }
  /// The entries after a join.
  std::size_t join_count() const noexcept { return joins_; }
  /// Length of the longest place. Cost: O(nodes).
  std::size_t depth() const {
    std::size_t deepest = 0;
    visit([&](std::size_t depth, node const&) { deepest = std::max(deepest, depth); });
    return deepest;
  }
  /// Memory that it takes.
  std::size_t bytes() const noexcept { return sizeof(*this) + nodes_.capacity() * sizeof(node); }

  /// At least the body, except of no run.
  std::vector<node> const& nodes() const noexcept { return nodes_; }
  /// The child of nodes()[parent] in that branch; `none` if there is no entry there or below. Cost: O(siblings before).
  std::uint32_t child(std::uint32_t parent, std::uint32_t branch) const noexcept {
    std::uint32_t i = parent + 1;
    while (i < nodes_[parent].end && nodes_[i].branch < branch) i = nodes_[i].end;
    return i < nodes_[parent].end && nodes_[i].branch == branch ? i : none;
  }
  /// Null if there is no entry at that place.
  node const* find(std::span<std::uint32_t const> place) const noexcept {
    if (empty() || place.empty()) return nullptr;
    std::uint32_t at = 0;
    for (std::uint32_t const branch : place) {
      at = child(at, branch);
      if (at == none) return nullptr;
    }
    return nodes_[at].entry() ? &nodes_[at] : nullptr;
  }
  /// All entries, in the order of the serial program.
  std::vector<steal> steals() const {
    return steals_if([](std::size_t, node const& n) { return n.entry(); });
  }

  /// Drops `percent` of 100 steals, rounded down, and keeps those that gave away most: level by level, a level being
  /// the length of the places; within the last level that stays, the first in the order of the serial program (paper
  /// VI). Entries after a join stay if their frame is still stolen before. Numbers stay as they were, with gaps; so the
  /// order of what stays is that of the recorded run. Throws steal_tree_error, and changes nothing, unless 0 <= percent
  /// <= 100; bad_alloc likewise. Cost: O(nodes), and that of making a tree of what stays.
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
    std::vector<std::uint32_t> ends;  // of the nodes above
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

/// What two trees do not have in common, a line for each entry; empty if they are equal.
std::string difference(steal_tree const& before, steal_tree const& after);

namespace detail {

inline constexpr std::uint64_t steal_tree_version = 2;  // 1 knew no entries after a join

/// "body.0.1, after child 2".
inline std::string text_of_place(std::span<std::uint32_t const> place) {
  std::string text = "body";
  for (std::uint32_t const branch : place.first(place.size() - 1)) text += fmt::format(".{}", branch);
  return text + fmt::format(", after child {}", place.back());
}

inline std::string text_of_steal(steal_tree::steal const& s) {
  if (!s.after_join) return fmt::format("worker {} from {}, its number {}", s.worker, s.victim, s.sequence);
  return fmt::format("worker {} goes on after its children, left by {}, its number {}", s.worker, s.victim, s.sequence);
}

[[noreturn]] inline void refuse_steal_tree(std::string_view what) {
  throw steal_tree_error(fmt::format("this is no steal tree: {}", what));
}

}  // namespace detail

/// Makes the nodes of entries that come in the order of the serial program.
class steal_tree::builder {
 public:
  builder(steal_tree& tree, std::size_t workers, std::uint32_t body) : tree_{tree} {
    if (workers >= none) detail::refuse_steal_tree(fmt::format("{} workers are too many", workers));
    if (body >= workers) detail::refuse_steal_tree(fmt::format("worker {} began it, but there are {}", body, workers));
    tree_.workers_ = workers;
    tree_.body_ = body;
    tree_.nodes_.emplace_back();
  }

  /// Length of the last place.
  std::size_t depth() const noexcept { return open_.size() - 1; }

  /// `e` without its place, which is the first `common` branches of the last place and the `further` ones.
  void add(std::size_t common, std::span<std::uint32_t const> further, steal const& e) {
    if (common + further.size() == 0) detail::refuse_steal_tree("a steal has no place");
    auto& nodes = tree_.nodes_;
    auto const last_branch = [&](std::size_t i) { return nodes[open_[i + 1]].branch; };
    std::size_t same = 0;
    while (same < further.size() && common + same < depth() && last_branch(common + same) == further[same]) ++same;
    std::size_t const fork = common + same;  // here the ways part
    if (same == further.size() && nodes[open_[fork]].entry())
      detail::refuse_steal_tree(detail::text_of_place(place(common, further)) + " has two entries");
    if (same == further.size() || (fork < depth() && further[same] < last_branch(fork))) {
      detail::refuse_steal_tree(detail::text_of_place(place(common, further)) +
                                " does not stand where the serial program comes to it");
    }
    check(common, further, e);
    close(fork + 1);
    for (std::uint32_t const branch : further.subspan(same)) {
      if (nodes.size() == none) detail::refuse_steal_tree("it is too large");
      open_.push_back(static_cast<std::uint32_t>(nodes.size()));
      nodes.emplace_back().branch = branch;
    }
    node const way = nodes.back();
    nodes.back() = {way.branch, way.end, e.worker, e.victim, e.sequence, e.after_join};
    numbers_.emplace_back(e.worker, e.sequence);
    ++(e.after_join ? tree_.joins_ : tree_.steals_);
  }

  void finish() {
    close(0);
    std::sort(numbers_.begin(), numbers_.end());
    if (auto const twice = std::adjacent_find(numbers_.begin(), numbers_.end()); twice != numbers_.end()) {
      detail::refuse_steal_tree(fmt::format("worker {} has two entries with number {}", twice->first, twice->second));
    }
    tree_.nodes_.shrink_to_fit();
  }

 private:
  std::vector<std::uint32_t> place(std::size_t common, std::span<std::uint32_t const> further) const {
    std::vector<std::uint32_t> whole;
    for (std::size_t i = 0; i != common; ++i) whole.push_back(tree_.nodes_[open_[i + 1]].branch);
    whole.insert(whole.end(), further.begin(), further.end());
    return whole;
  }
  void check(std::size_t common, std::span<std::uint32_t const> further, steal const& e) const {
    if (e.worker >= tree_.workers_ || e.victim >= tree_.workers_) {
      detail::refuse_steal_tree(fmt::format("{}: {}, but there are {} workers",
                                            detail::text_of_place(place(common, further)), detail::text_of_steal(e),
                                            tree_.workers_));
    }
    if (e.worker == e.victim && !e.after_join)
      detail::refuse_steal_tree(fmt::format("worker {} robs itself", e.worker));
  }
  void close(std::size_t left) {
    for (; open_.size() > left; open_.pop_back())
      tree_.nodes_[open_.back()].end = static_cast<std::uint32_t>(tree_.nodes_.size());
  }

  steal_tree& tree_;
  std::vector<std::uint32_t> open_{0};                            // the nodes on the way to the last place
  std::vector<std::pair<std::uint32_t, std::uint32_t>> numbers_;  // worker and sequence of each
};

inline steal_tree::steal_tree(std::size_t workers, std::uint32_t body, std::vector<steal> steals) {
  builder build{*this, workers, body};
  std::sort(steals.begin(), steals.end(), [](steal const& a, steal const& b) { return a.place < b.place; });
  for (steal const& s : steals) build.add(0, s.place, s);
  build.finish();
}

inline void steal_tree::prune(int percent) {
  if (percent < 0 || percent > 100) {
    throw steal_tree_error(
        fmt::format("a steal tree cannot be pruned by {} %: that is no part of its steals; give 0 to 100", percent));
  }
  if (empty()) return;
  std::vector<std::size_t> on_level;
  visit([&](std::size_t depth, node const& n) {
    if (on_level.size() <= depth) on_level.resize(depth + 1);
    if (n.stolen()) ++on_level[depth];
  });
  std::size_t left = steals_ - steals_ * static_cast<std::size_t>(percent) / 100;
  for (std::size_t& count : on_level) {  // from now on: how many may stay
    count = std::min(count, left);
    left -= count;
  }

  std::vector<bool> frame_stolen(on_level.size());  // of the frames on the way: whether a steal in it has stayed
  auto kept = steals_if([&](std::size_t depth, node const& n) {
    frame_stolen[depth] = false;
    if (n.after_join) return static_cast<bool>(frame_stolen[depth - 1]);
    if (!n.stolen() || on_level[depth] == 0) return false;
    --on_level[depth];
    frame_stolen[depth - 1] = true;
    return true;
  });
  *this = steal_tree{workers_, body_, std::move(kept)};
}

inline std::string steal_tree::to_json() const {
  auto text = fmt::format(
      "{{\"heist\": \"steal tree\", \"version\": {}, \"workers\": {}, \"body\": {},\n"
      " \"fields\": [\"branches as in the line above\", \"further branches\", \"worker\", \"victim\", \"sequence\",\n"
      "  \"goes on after its children: no steal\"],\n"
      " \"steals\": [",
      detail::steal_tree_version, workers_, body_);
  std::vector<std::uint32_t> place;
  std::size_t common = 0;  // branches that this place and that of the entry before share
  bool first = true;
  visit([&](std::size_t depth, node const& n) {
    if (depth == 0) return;
    place.resize(depth - 1);
    place.push_back(n.branch);
    common = std::min(common, depth - 1);
    if (!n.entry()) return;
    text += fmt::format("{}  [{}, [{}], {}, {}, {}, {}]", first ? "\n" : ",\n", common,
                        fmt::join(place.begin() + static_cast<std::ptrdiff_t>(common), place.end(), ", "), n.worker,
                        n.victim, n.sequence, n.after_join);
    common = depth;
    first = false;
  });
  return text + "]}\n";
}

inline steal_tree steal_tree::from_json(std::string_view text) {
  auto const number = [](json::value const& v) {
    std::uint64_t const n = v.as_unsigned();
    if (n >= none) throw json_error(fmt::format("JSON: {} is too large", n));
    return static_cast<std::uint32_t>(n);
  };
  try {
    auto const v = json::parse(text);
    if (v.at("heist").as_string() != "steal tree") throw json_error("JSON: it describes something else");
    if (auto const version = v.at("version").as_unsigned(); version != detail::steal_tree_version) {
      throw json_error(
          fmt::format("its version is {}, this heist reads version {}", version, detail::steal_tree_version));
    }
    std::uint32_t const workers = number(v.at("workers")), body = number(v.at("body"));
    auto const& lines = v.at("steals").as_array();
    steal_tree tree;
    if (workers == 0 && body == 0 && lines.empty()) return tree;
    builder build{tree, workers, body};
    std::vector<std::uint32_t> further;
    for (auto const& line : lines) {
      auto const& fields = line.as_array();
      if (fields.size() != 6)
        throw json_error(fmt::format("JSON: a steal has 6 fields, but {} stand there", fields.size()));
      std::uint64_t const common = fields[0].as_unsigned();
      if (common > build.depth()) {
        throw json_error(fmt::format("JSON: steal {} has {} branches in common with the one above, which has {}",
                                     &line - lines.data(), common, build.depth()));
      }
      further.clear();
      for (auto const& branch : fields[1].as_array()) further.push_back(number(branch));
      build.add(static_cast<std::size_t>(common), further,
                {{}, number(fields[2]), number(fields[3]), number(fields[4]), fields[5].as_bool()});
    }
    build.finish();
    return tree;
  } catch (json_error const& e) {
    throw steal_tree_error(fmt::format("this is no steal tree: {}; record the region again", e.what()));
  }
}

inline std::string steal_tree::to_dot() const {
  auto const colour = [&](std::uint32_t worker) {
    return fmt::format("{:.3f} 0.45 0.95", static_cast<double>(worker) / static_cast<double>(workers_));
  };
  std::string text = "digraph steal_tree {\n  node [shape=box, style=filled];\n";
  std::vector<std::size_t> above;  // the nodes on the way
  std::size_t i = 0;
  visit([&](std::size_t depth, node const& n) {
    if (depth == 0) {
      text += fmt::format("  n0 [label=\"body\\nworker {}\", fillcolor=\"{}\"];\n", body_, colour(body_));
    } else if (n.entry()) {
      text += fmt::format("  n{} [label=\"worker {} {} {}\\nits number {}\", {}fillcolor=\"{}\"];\n", i, n.worker,
                          n.after_join ? "goes on, left by" : "from", n.victim, n.sequence,
                          n.after_join ? "style=\"filled,dashed\", " : "", colour(n.worker));
    } else {
      text += fmt::format("  n{} [label=\"\", shape=point];\n", i);
    }
    above.resize(depth);
    if (depth != 0) text += fmt::format("  n{} -> n{} [label=\"{}\"];\n", above.back(), i, n.branch);
    above.push_back(i++);
  });
  return text + "}\n";
}

inline std::string difference(steal_tree const& before, steal_tree const& after) {
  std::string text;
  if (before.worker_count() != after.worker_count())
    text += fmt::format("workers: {} -> {}\n", before.worker_count(), after.worker_count());
  if (before.body_worker() != after.body_worker())
    text += fmt::format("body: worker {} -> worker {}\n", before.body_worker(), after.body_worker());
  auto const a = before.steals(), b = after.steals();
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->place < j->place)) {
      text += fmt::format("- {}: {}\n", detail::text_of_place(i->place), detail::text_of_steal(*i));
      ++i;
    } else if (i == a.end() || j->place < i->place) {
      text += fmt::format("+ {}: {}\n", detail::text_of_place(j->place), detail::text_of_steal(*j));
      ++j;
    } else {
      if (!(*i == *j)) {
        text += fmt::format("  {}: {} -> {}\n", detail::text_of_place(i->place), detail::text_of_steal(*i),
                            detail::text_of_steal(*j));
      }
      ++i, ++j;
    }
  }
  return text;
}

}  // namespace heist
