// oneTBB: a flow graph that is built, run and destroyed; parallel_pipeline.
#include <tbb/flow_graph.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <deque>
#include <memory>
#include <utility>

#include "workloads.hpp"

namespace {

using bench::row;
using bench::sizes;

template <std::size_t Left>
tbb::filter<std::uint64_t, std::uint64_t> middle(tbb::filter_mode mode) {
  auto one = tbb::make_filter<std::uint64_t, std::uint64_t>(mode, [](std::uint64_t x) { return bench::stage_work(x); });
  if constexpr (Left == 1) {
    return one;
  } else {
    return one & middle<Left - 1>(mode);
  }
}

template <std::size_t Stages>
double pipe(sizes const& s, bool serial) {
  std::uint64_t next = 0, sum = 0;
  tbb::filter_mode const mode = serial ? tbb::filter_mode::serial_in_order : tbb::filter_mode::parallel;
  tbb::parallel_pipeline(sizes::lines,
                         tbb::make_filter<void, std::uint64_t>(tbb::filter_mode::serial_in_order,
                                                               [&](tbb::flow_control& control) {
                                                                 if (next == s.tokens) control.stop();
                                                                 return next++;
                                                               }) &
                             middle<Stages - 2>(mode) &
                             tbb::make_filter<std::uint64_t, void>(tbb::filter_mode::serial_in_order,
                                                                   [&sum](std::uint64_t x) { sum += x % 1024; }));
  return static_cast<double>(sum);
}

struct tbb_runner final : bench::runner {
  explicit tbb_runner(std::size_t workers) : arena{static_cast<int>(workers)} {}
  bool has(row which) const override { return which < row::coroutine_called; }

  double run(row which, sizes const& s) override {
    return arena.execute([&] {
      switch (which) {
        case row::pipeline_4_serial:
        case row::pipeline_4_parallel:
          return pipe<4>(s, which == row::pipeline_4_serial);
        case row::pipeline_16_serial:
        case row::pipeline_16_parallel:
          return pipe<16>(s, which == row::pipeline_16_serial);
        default:
          flow_graph();
          return all->result();
      }
    });
  }

  void flow_graph() {
    using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
    tbb::flow::graph g;
    std::deque<node> nodes;
    for (std::size_t i = 0; i != all->tasks.size(); ++i) {
      node& n = nodes.emplace_back(g, [a = all.get(), i](tbb::flow::continue_msg const&) { a->run(i); });
      for (std::size_t k = 0; k != all->tasks.count(i); ++k) tbb::flow::make_edge(nodes[all->tasks.first(i)[k]], n);
    }
    for (std::size_t i = 0; i != nodes.size(); ++i) {
      if (all->tasks.count(i) == 0) nodes[i].try_put({});
    }
    g.wait_for_all();
  }

  tbb::task_arena arena;
};

}  // namespace

std::unique_ptr<bench::runner> make_tbb(std::size_t workers) {
  return std::make_unique<tbb_runner>(workers);
}
