// Bodies of task_edges.hpp.
#pragma once

#include "heist/tools/observe/task_edges.hpp"

#include <new>  // bad_alloc

#include "heist/tools/observe/event_clock.hpp"

namespace heist {

HEIST_COLD_BODY task_edges::task_edges(task_edges const& other) : graph_listener{other} {
  std::lock_guard const held{other.lock_};
  layout_count_ = other.layout_count_;
  kept_ = other.kept_;
  released_ = other.released_;
  full_since_ = other.full_since_;
}

HEIST_COLD_BODY void task_edges::graph_begins() noexcept {
  lock_.lock();
  try {
    skips_graph_ = kept_ >= most_edges;
    if (skips_graph_) {
      if (full_since_ == std::numeric_limits<std::int64_t>::max()) full_since_ = detail::event_clock();
      return;
    }
    layout_count_.emplace_back();
    layout_count_.back().ns = detail::event_clock();
  } catch (std::bad_alloc const&) {
    skips_graph_ = true;
  }
}

HEIST_COLD_BODY void task_edges::has_task(void const* task) noexcept {
  try {
    if (!skips_graph_) {
      layout_count_.back().tasks.push_back(task);
      ++kept_;
      return;
    }
  } catch (std::bad_alloc const&) {
    skips_graph_ = true;
  }
  ++released_;
}

HEIST_COLD_BODY void task_edges::has_edge(void const* from, void const* to) noexcept {
  try {
    if (!skips_graph_ && kept_ < most_edges) {
      layout_count_.back().edges.emplace_back(from, to);
      ++kept_;
      return;
    }
  } catch (std::bad_alloc const&) {
  }
  ++released_;
}

HEIST_COLD_BODY void task_edges::graph_ends() noexcept {
  lock_.unlock();
}

HEIST_COLD_BODY void detail::followed_edges::advance(std::int64_t ns) {
  if (ns >= edges_->full_since()) return tasks_.clear();  // other tasks may have the same names since
  for (; next_ != edges_->layout_count().size() && edges_->layout_count()[next_].ns <= ns; ++next_) {
    task_edges::layout const& graph = edges_->layout_count()[next_];
    for (void const* const task : graph.tasks) {
      tasks_[task] = {};
      tasks_[task].graph = next_;
      ended_.erase(task);
    }
    for (auto const& [from, to] : graph.edges) tasks_[to].predecessors.push_back(from);
  }
}

}  // namespace heist
