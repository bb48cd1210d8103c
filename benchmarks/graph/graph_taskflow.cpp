// The graph benchmarks on Taskflow.
#include <taskflow/taskflow.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

#include "suite.hpp"

namespace {

struct taskflow_library {
  static constexpr std::string_view name = "";
  static constexpr bool has_futures = true;

  using node = tf::Task;

  class executor;

  class graph {
   public:
    graph(executor&, bench::shape const&) {}

    template <class F>
    node add(F f) {
      return flow_.emplace(std::move(f));
    }

    void precede(node& from, node& to) { from.precede(to); }
    std::size_t predecessors(node const& n) { return n.num_predecessors(); }
    void clear() { flow_.clear(); }

   private:
    friend executor;
    tf::Taskflow flow_;
  };

  class executor {
   public:
    explicit executor(std::size_t workers) : executor_{workers} {}

    void run(graph& g) { executor_.run(g.flow_).wait(); }

    template <class F>
    void post(F f) {
      executor_.silent_async(std::move(f));
    }

    template <class F>
    auto submit(F f) {
      return executor_.async(std::move(f));
    }

    void wait_idle() { executor_.wait_for_all(); }

    template <class F>
    void post_inside(std::size_t count, F f) {
      executor_.silent_async([this, count, f] {
        for (std::size_t i = 0; i < count; ++i) executor_.silent_async(f);
      });
      executor_.wait_for_all();
    }

   private:
    tf::Executor executor_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run_suite<taskflow_library>(argc, argv);
}
