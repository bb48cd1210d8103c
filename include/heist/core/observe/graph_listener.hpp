// The interface that receives the edges of graphs, for traces.
#pragma once

namespace heist::detail {

/// Told of each graph that has been made ready to run, between graph_begins() and graph_ends(). Tasks are named as
/// task_view::id names them.
///
/// Threads  graphs come one after the other.
class graph_listener {
 public:
  virtual void graph_begins() noexcept = 0;
  virtual void has_task(void const* task) noexcept = 0;
  virtual void has_edge(void const* from, void const* to) noexcept = 0;
  virtual void graph_ends() noexcept = 0;

 protected:
  ~graph_listener() = default;
};

}  // namespace heist::detail
