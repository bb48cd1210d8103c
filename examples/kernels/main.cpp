// Runs fork/join kernels serially and on an executor. Prints both times, and checks the results.
#include <heist/heist.hpp>
#include <heist/measure.hpp>
#include <heist/observe.hpp>
#include <heist/tools/measure/work_span.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>  // has_single_bit
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>  // declval
#include <vector>

#include "all.hpp"

namespace {

using kernels::description;

struct options {
  std::vector<std::string> names;
  std::optional<std::size_t> size;
  bool published = false;
  std::size_t workers = 0;
  int repeat = 3;
  bool list = false;
  bool work_span = false;
  std::uint64_t steal_cost = 1000;
  std::string breakdown;  ///< how joins wait; empty: no breakdown
  std::string drawing;
};

struct wrong_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void list_kernels() {
  fmt::print("{:17} {:>10} {:>10}  {}\n", "kernel", "size", "published", "problem (what size means)");
  kernels::for_each_kernel([]<class K>() {
    auto const& k = K::about;
    fmt::print("{:17} {:>10} {:>10}  {} ({})\n", k.name, k.usual, k.published, k.problem, k.size_means);
  });
}

std::size_t size_for(description const& k, options const& o) {
  std::size_t const size = o.size.value_or(o.published ? k.published : k.usual);
  if (size < k.smallest || size > k.largest)
    throw wrong_input{
        fmt::format("{}: the size ({}) must be from {} to {}", k.name, k.size_means, k.smallest, k.largest)};
  if (k.power_of_two && !std::has_single_bit(size))
    throw wrong_input{fmt::format("{}: the size must be a power of two, such as {}", k.name, std::bit_ceil(size))};
  return size;
}

template <class K, class F>
double best_time(K& k, int repeat, F run) {
  using clock = std::chrono::steady_clock;
  double best = 1e300;
  for (int i = 0; i < repeat; ++i) {
    k.prepare();
    auto const start = clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(clock::now() - start).count());
  }
  return best;
}

/// Returns an error text; it is empty if the result is right.
template <class K>
std::string decision_on(K const& k, decltype(std::declval<K const&>().result()) const& expected) {
  std::string decision = k.check();
  if (decision.empty() && !(k.result() == expected)) decision = "the parallel result differs from the serial one";
  return decision;
}

template <class K>
void show_work_and_span(K& k, options const& o) {
  heist::executor<> ex{heist::options{.workers = o.workers, .stack_size = K::about.stack}};
  std::optional<heist::work_span_profile> best;  // interruptions lengthen spans, so the shortest is the best estimate
  for (int i = 0; i < o.repeat; ++i) {
    k.prepare();
    auto const run = heist::measure_work_span(ex, [&](auto ctx) { k.parallel(ctx); }, {.steal_cost = o.steal_cost});
    if (!best || run.profile.span < best->span) best = run.profile;
  }
  fmt::print("{}", best->text());
  for (std::size_t const p : {2u, 8u, 64u}) {
    auto const [low, high] = best->burdened_speedup(p);
    fmt::print("speed-up on {:>2} workers, with that burden: {:.1f} to {:.1f}\n", p, low, high);
  }
}

template <class Join, class K>
void show_breakdown(K& k, options const& o) {
  using policy = heist::policy::with_join<heist::policy::random, Join>;
  heist::executor<policy, heist::time_breakdown> ex{heist::options{.workers = o.workers, .stack_size = K::about.stack}};
  k.prepare();
  auto const start = std::chrono::steady_clock::now();
  auto const before = ex.observer().report();
  ex.invoke([&](auto ctx) { k.parallel(ctx); });
  auto const spent = ex.observer().report() - before;
  fmt::print("{}", spent.text(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
}

/// Returns true if the results are right.
template <class K>
bool run(options const& o) {
  std::size_t const size = size_for(K::about, o);
  K k{size};
  double const serial = best_time(k, o.repeat, [&] { k.serial(); });
  std::string decision = k.check();
  auto const expected = k.result();
  heist::executor<> ex{heist::options{.workers = o.workers, .stack_size = K::about.stack}};
  double const parallel = best_time(k, o.repeat, [&] { ex.invoke([&](auto ctx) { k.parallel(ctx); }); });
  if (decision.empty()) decision = decision_on(k, expected);
  fmt::print("{:17} {:>10} {:>7} {:>11.6f} {:>11.6f} {:>8.2f}  {}\n", K::about.name, size, ex.worker_count(), serial,
             parallel, serial / parallel, decision.empty() ? "right" : "WRONG: " + decision);
  auto const show = [&](auto const& one_run) {
    one_run();
    std::string const wrong = decision_on(k, expected);
    if (!wrong.empty()) fmt::print("WRONG: {}\n", wrong);
    if (decision.empty()) decision = wrong;
  };
  if (o.work_span) show([&] { show_work_and_span(k, o); });
  if (o.breakdown == "park") show([&] { show_breakdown<heist::join::park>(k, o); });
  if (o.breakdown == "leapfrog") show([&] { show_breakdown<heist::join::leapfrog>(k, o); });
  if constexpr (requires { k.write_drawing(o.drawing); }) {
    if (!o.drawing.empty()) {
      k.write_drawing(o.drawing);
      fmt::print("written: {}\n", o.drawing);
    }
  }
  return decision.empty();
}

bool run_kernels(options const& o) {
  bool const all = std::find(o.names.begin(), o.names.end(), "all") != o.names.end();
  fmt::print("{:17} {:>10} {:>7} {:>11} {:>11} {:>8}  {}\n", "kernel", "size", "workers", "serial s", "parallel s",
             "speed-up", "result");
  bool right = true;
  kernels::for_each_kernel([&]<class K>() {
    if (all || std::find(o.names.begin(), o.names.end(), K::about.name) != o.names.end()) right = run<K>(o) && right;
  });
  return right;
}

void declare_options(CLI::App& app, options& o) {
  std::vector<std::string> names{"all"};
  kernels::for_each_kernel([&]<class K>() { names.emplace_back(K::about.name); });
  app.description("Fork/join kernels, serial and on heist, with a check of their results.");
  app.add_option("--kernel", o.names, "which ones; see --list (default: fib)")
      ->type_name("NAME")
      ->check(CLI::IsMember(names).description(""));
  auto* const size =
      app.add_option("--size", o.size, "size of the problem; what that means differs: --list")->type_name("N");
  app.add_flag("--published", o.published, "the sizes of the literature; some take minutes")->excludes(size);
  app.add_option("--workers", o.workers, "worker threads; 0: as many as this process may use CPUs")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  app.add_option("--repeat", o.repeat, "runs of each version, of which the best counts")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--work-span", o.work_span,
               "also measure work, span and parallelism, in ticks of the processor's clock");
  app.add_option("--steal-cost", o.steal_cost, "--work-span: ticks for each steal on the burdened span")
      ->type_name("TICKS")
      ->capture_default_str();
  app.add_option("--breakdown", o.breakdown,
                 "also say where the workers' time goes, with joins that park, or that leap-frog")
      ->type_name("park|leapfrog")
      ->check(CLI::IsMember({"park", "leapfrog"}).description(""));
  app.add_flag("--list", o.list, "say what there is");
  app.add_option("--picture", o.drawing, "mandelbrot: write the picture, as PPM")->type_name("FILE");
  app.footer(R"(Examples:
  example_kernels --kernel fib --size 35 --workers 2
  example_kernels --kernel all --repeat 1
  example_kernels --kernel mandelbrot --size 1000 --picture mandelbrot.ppm
  example_kernels --kernel uts_t3 --kernel nqueens --published
  example_kernels --kernel stress --work-span --breakdown leapfrog
Exit status: 0 when all results are right; 1 when one is wrong or something cannot be done.)");
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app;
  declare_options(app, o);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? 0 : 1;
  }
  if (o.list) {
    list_kernels();
    return 0;
  }
  if (o.names.empty()) o.names.emplace_back(o.drawing.empty() ? "fib" : "mandelbrot");
  try {
    return run_kernels(o) ? 0 : 1;
  } catch (std::bad_alloc const&) {
    fmt::print(stderr, "error: not enough memory; take a smaller --size\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "error: {}\n", e.what());
  }
  return 1;
}
