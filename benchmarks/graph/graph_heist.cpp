// The graph benchmarks on heist: the default policy, and the idle policies under the names @adaptive (the paper's),
// @spinning (ABP) and @balanced (BWS).
#include <heist/heist.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

#include "suite.hpp"

namespace {

struct default_policy {
  static constexpr std::string_view name = "";
  using type = heist::policy::random;
};

#ifndef HEIST_BENCH_SHORT
struct adaptive_policy {
  static constexpr std::string_view name = "@adaptive";
  using type = heist::policy::with_idle<heist::policy::random, heist::idle::adaptive>;
};

struct always_awake_policy {
  static constexpr std::string_view name = "@spinning";
  using type = heist::policy::with_idle<heist::policy::random, heist::idle::spinning>;
};

struct balanced_policy {
  static constexpr std::string_view name = "@balanced";
  using type = heist::policy::with_idle<heist::policy::random, heist::idle::bws>;
};
#endif

template <class Policy>
struct heist_library {
  static constexpr std::string_view name = Policy::name;
  static constexpr bool has_futures = true;

  using node = heist::task<>;

  class executor;

  class graph {
   public:
    graph(executor&, bench::shape const&) {}

    template <class F>
    node add(F f) {
      return graph_.emplace(std::move(f));
    }

    void precede(node& from, node& to) { from.precede(to); }
    std::size_t predecessors(node const& n) { return n.predecessor_count(); }
    void clear() { graph_.clear(); }

   private:
    friend executor;
    heist::task_graph graph_;
  };

  class executor {
   public:
    explicit executor(std::size_t workers) : executor_{workers} {}

    void run(graph& g) { executor_.run(g.graph_).wait(); }

    template <class F>
    void post(F f) {
      executor_.post(std::move(f));
    }

    template <class F>
    auto submit(F f) {
      return executor_.submit(std::move(f));
    }

    void wait_idle() { executor_.wait_idle(); }

    template <class F>
    void post_inside(std::size_t count, F f) {
      executor_.post([this, count, f] {
        for (std::size_t i = 0; i < count; ++i) executor_.post(f);
      });
      executor_.wait_idle();
    }

   private:
    heist::executor<typename Policy::type> executor_;
  };
};

}  // namespace

int main(int argc, char** argv) {
#ifdef HEIST_BENCH_SHORT
  return bench::run_suite<heist_library<default_policy>>(argc, argv);
#else
  return bench::run_suite<heist_library<default_policy>, heist_library<adaptive_policy>,
                          heist_library<always_awake_policy>, heist_library<balanced_policy>>(argc, argv);
#endif
}
