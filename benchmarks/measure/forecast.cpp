// The simulator's forecast of each policy's time on each number of workers, beside the measured time.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/measure.hpp>
#include <heist/observe.hpp>
#include <heist/simulate.hpp>

#include <algorithm>  // min, sort
#include <cstddef>    // size_t
#include <cstdint>
#include <memory>  // make_shared
#include <string>
#include <utility>  // move
#include <vector>

#include "../../examples/kernels/matmul.hpp"
#include "../../examples/kernels/uts.hpp"
#include "../../examples/which_policy/calibration.hpp"
#include "../../examples/which_policy/memory.hpp"
#include "../locality/programs.hpp"
#include "../workers.hpp"
#include "executors.hpp"
#include "graphs.hpp"
#include "measuring.hpp"
#include "policies.hpp"

namespace measure {
namespace {

constexpr std::size_t recordings = 3, seeds = 3;

struct simulated_policy {
  char const* name;
  heist::sim::report (*simulate)(heist::sim::program const&, heist::sim::options const&);
};

/// ns: the median of some seeds, the least, and the greatest.
nlohmann::json simulate(simulated_policy const& p, heist::sim::program const& program, heist::sim::options how,
                        std::size_t workers) {
  std::vector<double> times;
  how.workers = static_cast<std::uint32_t>(workers);
  for (how.seed = 1; how.seed <= seeds; ++how.seed)
    times.push_back(static_cast<double>(p.simulate(program, how).makespan));
  std::sort(times.begin(), times.end());
  return {{"median", times[seeds / 2]}, {"min", times.front()}, {"max", times.back()}};
}

/// Puts the forecast beside each figure. `wanted` maps a variant's name to the policy that is simulated.
template <std::size_t N>
nlohmann::json with_forecast(nlohmann::json figures, simulated_policy const (&policies)[N],
                             heist::sim::recorded_program recorded) {
  heist::sim::options how{.machine = heist::topology::this_machine()};
  how.caches.block_bytes = 4096;
  how.squads = squad_choice::of(bench::usable_workers()).level;
  heist::sim::set_memory(how, heist::sim::measure_streams(how, which_policy::data_of(recorded)));
  std::string const memory = which_policy::calibrate(recorded, how, how, true);
  auto const program = heist::sim::to_program(recorded);
  for (auto& f : figures) {
    for (auto const& p : policies) {
      if (f["variant"] != p.name) continue;
      std::size_t const workers = f["workers"];
      how.squads = squad_choice::of(workers).level;
      f["simulated"] = simulate(p, program, how, workers);
    }
  }
  return {{"figures", std::move(figures)},
          {"recorded", fmt::format("{} tasks, work {}, span {}; {}", program.tasks_run(),
                                   which_policy::time_text(static_cast<double>(program.work())),
                                   which_policy::time_text(static_cast<double>(program.span())), memory)}};
}

/// A fork/join program of benchmarks/locality: `steps` steps, each a run of one region.
template <class P>
class stepped {
 public:
  stepped(std::size_t size, std::size_t leaf, std::size_t steps)
      : program_{locality::settings{size, leaf}},
        steps_{std::min(steps, program_.most_steps())},
        size_{fmt::format("{} {}, {} steps", P::about.size_means, size, steps_)} {}
  static constexpr std::size_t stack = P::about.stack;
  std::string const& size() const { return size_; }
  heist::region_options region() const {
    return {.branching = P::branching, .bytes = P::about.bound == locality::bound_by::memory ? program_.bytes() : 0};
  }
  void prepare() { program_.prepare(); }
  template <class Context>
  void run(Context ctx, heist::region& r) {
    for (std::size_t i = 0; i < steps_; ++i) {
      program_.restart();
      locality::enter(ctx, r, [&](auto c) { program_.step(c, i, locality::no_notes{}); });
    }
  }
  std::string check() const { return program_.check(steps_); }

 private:
  P program_;
  std::size_t steps_;
  std::string size_;
};

template <class K>
struct kernel_program : locality::complete_runs<K> {
  static constexpr locality::description about =
      locality::detail::of_kernel(K::about, K::about.name, locality::bound_by::cpu);
  using locality::complete_runs<K>::complete_runs;
};

template <class Problem>
class forecast {
 public:
  forecast(request const& o, Problem& problem) : problem_{problem} {
    for (std::size_t const workers : o.workers) {
      add<heist::policy::random>("random", workers);
      add<child_first>("child-first", workers);
      add<heist::policy::cab>("cab", workers);
      add<heist::policy::cats>("cats", workers);
    }
  }

  nlohmann::json measure(request const& o) {
    auto figures = alternate(variants_, o);
    return with_forecast(std::move(figures), policies, record());
  }

 private:
  static constexpr simulated_policy policies[]{{"random", &heist::simulate<heist::policy::random>},
                                               {"child-first", &heist::simulate<child_first>},
                                               {"cab", &heist::simulate<heist::policy::cab>},
                                               {"cats", &heist::simulate<heist::policy::cats>}};

  template <class Policy>
  void add(char const* name, std::size_t workers) {
    struct state {
      state(heist::options const& o, heist::region_options const& r) : ex{o}, region{r} {}
      heist::executor<Policy> ex;
      heist::region region;
    };
    auto const s = std::make_shared<state>(
        heist::options{.workers = workers, .squads = squad_choice::of(workers).level, .stack_size = Problem::stack},
        problem_.region());
    variants_.push_back({name, workers,
                         [this, s] {
                           problem_.prepare();
                           return seconds_of([&] { s->ex.invoke([&](auto ctx) { problem_.run(ctx, s->region); }); });
                         },
                         [this] { return problem_.check(); }});
  }

  heist::sim::recorded_program record() {
    heist::executor<> ex{heist::options{.workers = 1, .stack_size = 4 * Problem::stack}};
    heist::sim::recorded_program best;
    for (std::size_t i = 0; i < recordings; ++i) {
      problem_.prepare();
      heist::region r{problem_.region()};
      auto again = heist::record_program(ex, [&](auto ctx) { problem_.run(ctx, r); }).program;
      if (i == 0) {
        best = std::move(again);
      } else {
        heist::keep_shorter(best, again);
      }
    }
    return best;
  }

  Problem& problem_;
  std::vector<variant> variants_;
};

template <class P>
row tree_row(std::string name, std::size_t size, std::size_t leaf, std::size_t steps) {
  return {"forecast", "fork/join", std::move(name), std::string{P::about.problem}, [=](request const& o) {
            stepped<P> problem{o.tiny ? P::about.test : size, leaf, o.tiny ? 2 : steps};
            auto result = forecast<stepped<P>>{o, problem}.measure(o);
            result["size"] = problem.size();
            return result;
          }};
}

row graph_row() {
  return {"forecast", "graphs", "random graph", "a random graph of tasks of a microsecond, 1 to 4 predecessors each",
          [](request const& o) {
            hashed_graph g{bench::make_shape("dag", o.tiny ? 500 : 10'000), 1000};
            executors<> all{o.workers};
            std::vector<variant> variants;
            all.for_each([&](auto& ex, std::size_t workers) {
              variants.push_back({"random", workers,
                                  [&g, &ex] {
                                    g.prepare();
                                    return seconds_of([&] { ex.run(g.graph()).get(); });
                                  },
                                  [&g] { return g.check(); }});
            });
            auto figures = alternate(variants, o);
            heist::executor<heist::policy::random, heist::recorder> ex{heist::options{.workers = 1}};
            ex.run_n(g.graph(), recordings).get();
            constexpr simulated_policy policies[]{{"random", &heist::simulate<heist::policy::random>}};
            auto recorded = heist::record_graph(g.graph(), ex.observer());
            recorded.graph_runs = 1;
            auto result = with_forecast(std::move(figures), policies, std::move(recorded));
            result["size"] = g.size();
            return result;
          }};
}

}  // namespace

std::vector<row> forecast_rows() {
  return {tree_row<locality::queens>("queens", 10, 0, 1),
          tree_row<kernel_program<kernels::matmul>>("matmul", 256, 0, 1),
          tree_row<kernel_program<kernels::uts_t1>>("uts", 7, 0, 1),
          tree_row<locality::merge_sorting>("mergesort", 1'000'000, 0, 3),
          tree_row<locality::heat>("heat", 1024, 8, 40),
          tree_row<locality::heat>("heat, far beyond the caches", 4096, 8, 4),
          tree_row<locality::sor>("sor", 1024, 8, 40),
          graph_row()};
}

}  // namespace measure
