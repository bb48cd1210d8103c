// A flow that runs nothing and becomes the tasks of a graph: made once, run again (README.md, "Flows").
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // shared_ptr
#include <type_traits>
#include <utility>  // declval, move

#include "heist/core/base/unique_function.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/executor/context.hpp"

namespace heist::detail {

/// A flow's notes on the graph; tasks by number.
class flow_recorder {
 public:
  flow_recorder() = default;
  flow_recorder(flow_recorder const&) = delete;
  flow_recorder& operator=(flow_recorder const&) = delete;
  virtual ~flow_recorder() = default;
  /// Adds a task that comes after other tasks. `locks`: of those it has one at a time.
  virtual void add(unique_function<void(context)> work, vector<std::uint64_t> const& before,
                   vector<void const*> const& locks) = 0;
};

/// Graph: task_graph, without a name here: flows know nothing of graphs unless a program has one.
template <class Graph, class Limiter>
class graph_recorder final : public flow_recorder {
 public:
  explicit graph_recorder(Graph& to) : graph_{to} {}

  void add(unique_function<void(context)> work, vector<std::uint64_t> const& before,
           vector<void const*> const& locks) override {
    vector<std::shared_ptr<Limiter>> limits;  // they live as long as the tasks
    for (void const* const lock : locks) limits.push_back(one_at_a_time(lock));
    task_type added = graph_.emplace([f = std::move(work), limits](context c) mutable { f(c); });
    try {
      for (std::uint64_t const b : before) added.succeed(tasks_[b]);
      for (auto const& limit : limits) added.limit(*limit);
      tasks_.push_back(added);
    } catch (...) {
      graph_.erase(added);  // a task without its order must not stay
      throw;
    }
  }

 private:
  using task_type = std::remove_cvref_t<decltype(std::declval<Graph&>().emplace(std::declval<void (*)(context)>()))>;
  struct limited {
    void const* what;
    std::shared_ptr<Limiter> by;
  };

  std::shared_ptr<Limiter> const& one_at_a_time(void const* what) {
    for (limited const& l : limits_) {
      if (l.what == what) return l.by;
    }
    return limits_.emplace_back(limited{what, std::make_shared<Limiter>(std::size_t{1})}).by;
  }

  Graph& graph_;
  vector<task_type> tasks_;
  vector<limited> limits_;
};

}  // namespace heist::detail
