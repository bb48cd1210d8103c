// dispenso: a graph that is built, run by a task set and destroyed; and dispenso::pipeline. The pipeline neither limits
// the number of tokens at a time nor keeps their order in serial stages.
#include <dispenso/graph.h>
#include <dispenso/graph_executor.h>
#include <dispenso/pipeline.h>
#include <dispenso/task_set.h>
#include <dispenso/thread_pool.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "workloads.hpp"

namespace {

using bench::row;
using bench::sizes;

template <bool Serial, std::size_t... I>
double pipe(dispenso::ThreadPool& pool, sizes const& s, std::index_sequence<I...>) {
  std::uint64_t next = 0, sum = 0;
  auto const middle = [](std::size_t) {
    return dispenso::stage([](std::uint64_t x) { return bench::stage_work(x); }, Serial ? 1 : dispenso::kStageNoLimit);
  };
  dispenso::pipeline(
      pool,
      [&]() -> dispenso::OpResult<std::uint64_t> {
        if (next == s.tokens) return {};
        return next++;
      },
      middle(I)..., [&sum](std::uint64_t x) { sum += x % 1024; });
  return static_cast<double>(sum);
}

struct dispenso_runner final : bench::runner {
  /// The thread that waits is one of the workers.
  explicit dispenso_runner(std::size_t workers) : pool{workers - 1} {}
  bool has(row which) const override { return which < row::coroutine_called; }

  double run(row which, sizes const& s) override {
    auto const pipeline = [&]<bool Serial>(auto stages) { return pipe<Serial>(pool, s, stages); };
    if (auto const sum = bench::pipeline_of(which, pipeline)) return *sum;
    dispenso::Graph graph;
    std::vector<dispenso::Node*> nodes;
    nodes.reserve(all->tasks.size());
    for (std::size_t i = 0; i != all->tasks.size(); ++i) {
      nodes.push_back(&graph.addNode([a = all.get(), i] { a->run(i); }));
      for (std::size_t k = 0; k != all->tasks.count(i); ++k) nodes.back()->dependsOn(*nodes[all->tasks.first(i)[k]]);
    }
    setAllNodesIncomplete(graph);
    dispenso::ConcurrentTaskSet tasks{pool};
    dispenso::ConcurrentTaskSetExecutor{}(tasks, graph);
    return all->result();
  }

  dispenso::ThreadPool pool;
};

}  // namespace

std::unique_ptr<bench::runner> make_dispenso(std::size_t workers) {
  return std::make_unique<dispenso_runner>(workers);
}
