// heist/tools/measure/instrumented_context.hpp: a kernel that uses every member of its context is measured, and
// recorded, as it is.
#include "heist/tools/measure/instrumented_context.hpp"
#include "heist/measure.hpp"

#include <chrono>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <type_traits>
#include <vector>

#include "heist/algorithm.hpp"
#include "heist/async.hpp"
#include "heist/executor.hpp"
#include "heist/graph.hpp"
#include "heist/region.hpp"
#include "support/catch.hpp"
#include "support/leaf_clock.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist_test::leaf_clock;
using heist_test::work;

namespace {

/// Uses each member once; returns the number of right answers.
template <class Context>
int each_member(Context ctx, heist::region& phase, heist::task_graph& graph) {
  int right = 0;
  right += ctx.worker_id() < 2;
  right += ctx.squad_id() < 2;
  right += !ctx.stop_requested();
  right += ctx.may_be_stolen() || !ctx.may_be_stolen();
  ctx.assign_continuation(0);
  ctx.footprint(64);
  auto const [a, b] = ctx.fork_join([](auto) { return work(10), 1; }, [] { return work(4), 2; });
  right += a + b == 3;
  auto const [c, d] = ctx.inter_fork([](auto) { return work(1), 3; }, [](Context) { return work(2), 4; });
  right += c + d == 7;
  right += ctx.invoke(phase, [](auto inside) {
    inside.fork_join([] { work(20); }, [] { work(30); });
    return 8;
  }) == 8;
  right += ctx.blocking([] { return 9; }) == 9;
  auto first = ctx.submit([](Context) { return 10; });
  right += first.get() == 10;
  std::stop_source stop;
  right += ctx.submit(heist::with{.stop = stop.get_token()}, [](auto inner) { return inner.stop_requested() ? 1 : 11; })
               .get() == 11;
  auto value = ctx.submit([] { return 5; }).share();
  right += ctx.submit(heist::after(value), [](int v) { return v + 1; }).get() == 6;
  right += ctx.submit(heist::after(value), heist::with{.name = "named"}, [](auto, int v) { return v + 2; }).get() == 7;
  ctx.run(graph).get();
  return right;
}
constexpr int all_right = 12;

}  // namespace

TEST_CASE("instrumented_context: every member of the context, measured and recorded", "[instrumented_context]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    heist_test::watchdog const guard{ex, 60s, "each member"};
    heist::region phase;
    int ran = 0;
    heist::task_graph graph;
    graph.emplace([&] { ++ran; });
    auto const kernel = [&](auto ctx) { return each_member(ctx, phase, graph); };
    auto const measured = heist::measure_work_span<leaf_clock>(ex, kernel);
    CHECK(measured.result == all_right);
    CHECK(measured.profile.work == 10 + 4 + 1 + 2 + 20 + 30);
    CHECK(measured.profile.span == 10 + 2 + 30);
    CHECK(measured.profile.tasks == 3);
    auto const recorded = heist::record_program<leaf_clock>(ex, kernel);
    CHECK(recorded.result == all_right);
    // Before the region, its run with two children, after it.
    CHECK(recorded.program.runs.size() == 3);
    CHECK(recorded.program.tasks.size() == 1 + 4 + 3 + 1);
    CHECK(recorded.program.tasks.front().bytes == 64);
    CHECK(ran == 2);
  }
}

TEST_CASE("instrumented_context: exceptions of a region's run go through, measured and recorded",
          "[instrumented_context]") {
  heist::executor ex{2};
  heist_test::watchdog const guard{ex, 60s, "exceptions"};
  heist::region phase;
  auto const kernel = [&](auto ctx) {
    try {
      ctx.invoke(phase, [](auto) { work(3), throw std::runtime_error{"inside"}; });
    } catch (std::runtime_error const&) {
      work(4);
    }
  };
  CHECK(heist::measure_work_span<leaf_clock>(ex, kernel).profile.work == 7);
  CHECK(heist::record_program<leaf_clock>(ex, kernel).program.tasks.size() == 3);
}

TEST_CASE("instrumented_context: algorithms run on it", "[instrumented_context]") {
  heist::executor ex{2};
  heist_test::watchdog const guard{ex, 60s, "algorithms"};
  std::vector<std::uint64_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 1);
  auto const kernel = [&](auto ctx) {
    heist::for_each(ctx, numbers, [](std::uint64_t& n) { n += 1; });
    return heist::reduce(ctx, numbers, std::uint64_t{0});
  };
  CHECK(heist::measure_work_span(ex, kernel).result == 501500);
  CHECK(heist::record_program(ex, kernel).result == 502500);
}
