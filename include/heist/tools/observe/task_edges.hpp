// Which tasks of graphs wait for which, as observers name them: what a trace draws as arrows between tasks.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>  // pair
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/observe/graph_listener.hpp"

namespace heist {

/// The edges of graphs. An edge holds from the moment when its graph was made ready to run: later another graph may
/// have tasks with the same names (task_view::id).
///
/// Threads   graphs tell by any thread, also while they are copied; everything else while none does.
/// Cost      16 bytes an edge, 8 a task; beyond most_edges of both the rest is dropped and counted, and no edges are
///           known of what runs later.
class task_edges final : public detail::graph_listener {
 public:
  static constexpr std::size_t most_edges = std::size_t{1} << 22;
  using edge = std::pair<void const*, void const*>;  ///< from, to

  /// One graph's report on itself; its tasks had other edges before, or none.
  struct layout {
    std::int64_t ns = 0;
    std::vector<void const*> tasks;
    std::vector<edge> edges;
  };

  task_edges() = default;
  /// Copies all reports so far. Throws bad_alloc.
  HEIST_RARE task_edges(task_edges const& other);
  task_edges& operator=(task_edges const&) = delete;

  // Reports of graphs. A report is dropped if memory is short.
  HEIST_BODY void graph_begins() noexcept override;
  HEIST_BODY void has_task(void const* task) noexcept override;
  HEIST_BODY void has_edge(void const* from, void const* to) noexcept override;
  HEIST_BODY void graph_ends() noexcept override;

  std::vector<layout> const& layout_count() const noexcept { return layout_count_; }
  bool empty() const noexcept { return layout_count_.empty() && released_ == 0; }
  /// Tasks and edges.
  std::size_t released() const noexcept { return released_; }
  /// From then on nothing is kept; the largest value if all is.
  std::int64_t full_since() const noexcept { return full_since_; }

 private:
  mutable std::mutex lock_;           ///< held while a graph tells
  bool skips_graph_ = false;          ///< the rest of this graph
  std::vector<layout> layout_count_;  ///< in the order of time
  std::size_t kept_ = 0;
  std::size_t released_ = 0;
  std::int64_t full_since_ = std::numeric_limits<std::int64_t>::max();
};

namespace detail {

/// One end of an edge: an execution of a task that has ended, or has begun.
struct edge_end {
  std::size_t number;  ///< open_task::number
  std::size_t worker;
  std::int64_t ns;
};

/// `wanted`, or those that the recording has of its own, or null.
template <class Recording>
task_edges const* edges_of(Recording const& recording, task_edges const* wanted) noexcept {
  if constexpr (requires { recording.edges().empty(); }) {
    if (wanted == nullptr && !recording.edges().empty()) return &recording.edges();
  }
  return wanted;
}

/// Finds, as a timeline goes on, the predecessors of each task that begins. A task's end is reported after the task has
/// made its successors ready, so a successor may have begun on another worker before.
class followed_edges {
 public:
  explicit followed_edges(task_edges const* edges) noexcept : edges_{edges} {}
  std::size_t released() const noexcept { return edges_ == nullptr ? 0 : edges_->released(); }

  /// Calls sink.edge(before, after), of type edge_end, for each predecessor that has ended since the task began last.
  /// Calls it for an open predecessor when its end is reported.
  template <class Sink>
  void begins(void const* id, edge_end const& after, Sink& sink) {
    if (edges_ == nullptr) return;
    advance(after.ns);
    auto const found = tasks_.find(id);
    if (found == tasks_.end()) return;
    for (void const* const before : found->second.predecessors) {
      auto const ended = ended_.find(before);
      if (ended != ended_.end() && ended->second.ns >= found->second.start_time) {
        sink.edge(ended->second, after);
      } else if (auto const open = open_.find(before); open != open_.end()) {
        open->second.push_back(after);
      }
    }
    found->second.start_time = after.ns;
    open_[id].clear();  // its last end may have been dropped
  }
  /// The graph that a task is of, a number, as far as graphs have told until the last begin; no_graph: of none.
  std::size_t graph_of(void const* id) const noexcept {
    auto const found = tasks_.find(id);
    return found == tasks_.end() ? no_graph : found->second.graph;
  }
  static constexpr std::size_t no_graph = ~std::size_t{0};
  template <class Sink>
  void ends(void const* id, edge_end before, Sink& sink) {
    if (edges_ == nullptr) return;
    if (auto const open = open_.extract(id)) {
      for (edge_end const& after : open.mapped()) before.ns = after.ns - 1 < before.ns ? after.ns - 1 : before.ns;
      for (edge_end const& after : open.mapped()) sink.edge(before, after);
    }
    ended_[id] = before;
  }

 private:
  struct known_task {
    std::vector<void const*> predecessors;
    std::int64_t start_time = std::numeric_limits<std::int64_t>::min();
    std::size_t graph = no_graph;  ///< the number of its layout
  };
  /// Takes over what graphs have said until `ns`.
  void advance(std::int64_t ns);

  task_edges const* edges_;
  std::size_t next_ = 0;  ///< layout
  std::unordered_map<void const*, known_task> tasks_;
  std::unordered_map<void const*, edge_end> ended_;
  std::unordered_map<void const*, std::vector<edge_end>> open_;  ///< with the successors that have begun
};

}  // namespace detail
}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/tools/observe/task_edges.ipp"
#endif
