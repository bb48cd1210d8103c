// The graph benchmarks on the flow graph and the task group of oneTBB. The thread that waits works too: with p = 2
// there are the main thread and one worker.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "suite.hpp"

namespace {

namespace flow = oneapi::tbb::flow;

struct tbb_library {
  static constexpr std::string_view name = "";
  static constexpr bool has_futures = false;

  using flow_node = flow::continue_node<flow::continue_msg>;
  using node = flow_node*;

  class executor;

  class graph {
   public:
    // The nodes lie in one array: their number is known, and a flow graph leaves their storage to its user.
    graph(executor&, bench::shape const& s) : shape_{s} { nodes_.reserve(s.size()); }

    template <class F>
    node add(F f) {
      return &nodes_.emplace_back(graph_, [f = std::move(f)](flow::continue_msg) {
        f();
        return flow::continue_msg{};
      });
    }

    void precede(node from, node to) { flow::make_edge(*from, *to); }

   private:
    friend executor;
    bench::shape const& shape_;
    flow::graph graph_;
    std::vector<flow_node> nodes_;
  };

  class executor {
   public:
    explicit executor(std::size_t workers)
        : parallelism_{oneapi::tbb::global_control::max_allowed_parallelism, workers} {}

    void run(graph& g) {
      for (auto root : g.shape_.roots) g.nodes_[root].try_put(flow::continue_msg{});
      g.graph_.wait_for_all();
    }

    template <class F>
    void post(F f) {
      group_.run(std::move(f));
    }

    void wait_idle() { group_.wait(); }

    template <class F>
    void post_inside(std::size_t count, F f) {
      group_.run([this, count, f] {
        for (std::size_t i = 0; i < count; ++i) group_.run(f);
      });
      group_.wait();
    }

   private:
    oneapi::tbb::global_control parallelism_;
    oneapi::tbb::task_group group_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run_suite<tbb_library>(argc, argv);
}
