// A placement from what the tasks of a run took.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>  // move
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/distributed/memory.hpp"
#include "heist/distributed/placement_search.hpp"
#include "heist/fwd.hpp"
#include "heist/tools/simulate/ranks.hpp"

namespace heist::place {

/// Where the tasks of a graph that has run would be better, from how long they took and how large their values were.
/// Tasks placed by heist::prefer may move, and so may tasks that follow them because they have no place of their own.
/// Tasks placed by heist::on stay. For another graph that is built in the same way (distributed_options::placement).
///
/// Promises a placement that is predicted to be less than a tenth better is not taken.
/// Cost     up to some seconds of rank 0; 4 bytes a task.
/// After    H. Topcuoglu, S. Hariri and M.-Y. Wu, "Performance-Effective and Low-Complexity Task Scheduling for
///          Heterogeneous Computing" (2002), and search by simulation (sim::simulate_ranks).
class measured {
 public:
  /// Collective, after a run that went well. Throws graph_error if there was none, or if the graph was made without
  /// distributed_options::remember. `network`: in nanoseconds; benchmarks/distributed measures it.
  template <class Graph>
  explicit measured(Graph const& g, sim::network const& network = {}) {
    auto& core = *g.core_;
    distributed::graph_memory const& memory = core.remembered();
    std::vector<distributed::task_cost> costs;
    for (auto const& own : memory.own) costs.push_back({own.id, own.save == nullptr, own.microseconds, own.bytes});
    auto const mine = distributed::detail::packed(std::tuple{std::uint64_t{memory.workers}, costs});
    using answer = std::tuple<std::string, std::vector<std::int32_t>, double, double>;
    auto const search = [&](std::vector<distributed::bytes> const& all) {
      distributed::placement_search best{memory.shape, static_cast<std::uint32_t>(all.size()), network};
      for (auto const& offer : all) {
        auto const [workers, list] =
            distributed::detail::unpacked<std::tuple<std::uint64_t, std::vector<distributed::task_cost>>>(offer);
        best.add(static_cast<std::uint32_t>(workers), list);
      }
      if (!best.complete()) return distributed::detail::packed(answer{"has not run", {}, 0, 0});
      best.run();
      return distributed::detail::packed(answer{{}, best.ranks(), best.before(), best.after()});
    };
    auto got = distributed::detail::unpacked<answer>(core.all_agree("measure a graph", mine, search));
    if (!std::get<0>(got).empty()) {
      throw graph_error{
          "a placement is to be made from what the tasks of a distributed graph took, and some have never ended; fix "
          "it by a run before that goes well."};
    }
    form_ = memory.form;
    for (std::size_t t = 1; t < std::get<1>(got).size(); ++t)
      moved_ += std::get<1>(got)[t] != memory.shape.ranks[t - 1];
    std::tie(std::ignore, ranks_, before_, after_) = std::move(got);
  }

  /// How many tasks run elsewhere than before.
  std::size_t moved() const noexcept { return moved_; }
  /// How long a run takes in the simulation, in microseconds: where the tasks were, and where they are put.
  double predicted_before() const noexcept { return before_; }
  double predicted_after() const noexcept { return after_; }

 private:
  friend class heist::distributed_graph;

  std::vector<std::int32_t> ranks_;  ///< by the task's number; 0 is no task's
  std::uint64_t form_ = 0;
  std::size_t moved_ = 0;
  double before_ = 0, after_ = 0;
};

}  // namespace heist::place
