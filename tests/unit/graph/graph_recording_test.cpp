// heist/tools/measure/graph_recording.hpp: edges and times of graphs that ran, composed ones dissolved.
#include "heist/tools/measure/graph_recording.hpp"

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "heist/executor.hpp"
#include "heist/graph.hpp"
#include "heist/observe.hpp"
#include "heist/simulate.hpp"
#include "support/catch.hpp"
#include "support/texts.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::record_graph;
using heist_test::error_text_of;

namespace {

using recording_executor = heist::executor<heist::policy::random, heist::recorder>;

std::string edges_text(heist::sim::recorded_program const& p) {
  std::multiset<std::pair<std::uint32_t, std::uint32_t>> all;
  for (auto const& e : p.edges) all.insert({e.before, e.after});
  std::string text;
  for (auto const& [before, after] : all) text += fmt::format("{}-{} ", before, after);
  return text;
}

void spin(int n) {
  [[maybe_unused]] int volatile seen = 0;
  for (int i = 0; i < n; ++i) seen = i;
}

}  // namespace

TEST_CASE("graph_recording: tasks, edges and times", "[graph_recording]") {
  for (std::size_t const workers : {1u, 3u}) {
    recording_executor ex{workers};
    heist_test::watchdog guard{ex, 60s};
    heist::task_graph g{"diamond"};
    auto a = g.emplace([] { return 1; });
    auto gone = g.emplace([] {});
    auto b = g.emplace([](int) { spin(300'000); }, a);
    auto c = g.emplace([](int) {}, a);
    g.emplace([] {}, b, c);
    g.erase(gone);
    ex.run_n(g, 5).get();
    auto const p = record_graph(g, ex.observer());
    CHECK_NOTHROW(heist::sim::check(p));
    CHECK(p.graph);
    CHECK(p.graph_runs == 5);
    CHECK(p.name == "diamond");
    REQUIRE(p.tasks.size() == 4);
    CHECK(edges_text(p) == "0-1 0-2 1-3 2-3 ");
    CHECK(p.tasks[1].work.at(0) > 20'000);
    CHECK(p.tasks[1].work.at(0) > p.tasks[2].work.at(0));
    CHECK(record_graph(g, ex.observer()) == p);
    auto const r = heist::simulate(heist::sim::to_program(p), {.workers = 2, .costs = heist::sim::costs::nothing()});
    CHECK(r.tasks == 5 * 4);
    CHECK(r.makespan >= 5 * p.tasks[1].work[0]);
  }
}

TEST_CASE("graph_recording: a composed graph becomes a part of the other", "[graph_recording]") {
  recording_executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::task_graph inner, empty, g;
  auto x = inner.emplace([] { spin(100'000); });
  auto y = inner.emplace([] {});
  inner.emplace([] {});  // neither before nor after another
  x.precede(y);
  auto first = g.emplace([] {});
  auto once = g.compose(inner), twice = g.compose(inner), none = g.compose(empty);
  first.precede(once);
  once.precede(twice);
  twice.precede(none);
  ex.run(g).get();
  auto const p = record_graph(g, ex.observer());
  CHECK_NOTHROW(heist::sim::check(p));
  CHECK(p.graph_runs == 1);
  // first 0; once 1, its parts 2 3 4, behind them 5; twice 6, 7 8 9, 10; none 11, 12.
  REQUIRE(p.tasks.size() == 13);
  CHECK(edges_text(p) == "0-1 1-2 1-4 2-3 3-5 4-5 5-6 6-7 6-9 7-8 8-10 9-10 10-11 11-12 ");
  CHECK(p.tasks[2].work == p.tasks[7].work);
  CHECK(p.tasks[2].work.at(0) > 5'000);
}

TEST_CASE("graph_recording: a task that waits is not at work meanwhile", "[graph_recording]") {
  recording_executor ex{1};
  heist_test::watchdog guard{ex, 60s};
  heist::task_graph g, h;
  g.emplace([](heist::context c) { c.submit([] { spin(5'000'000); }).get(); });
  h.emplace([] { spin(5'000'000); });
  bool less = false;
  for (int tries = 0; tries != 20 && !less;
       ++tries) {  // a clock measures, so it is tried again where the system interferes
    ex.run(g).get();
    auto const waiting = record_graph(g, ex.observer());
    ex.run_n(h, 3).get();
    auto const working = record_graph(h, ex.observer());
    less = waiting.tasks.at(0).work.at(0) * 2 < working.tasks.at(0).work.at(0);
  }
  CHECK(less);
}

TEST_CASE("graph_recording: what cannot be recorded is refused, by a sentence", "[graph_recording]") {
  recording_executor ex{1};
  heist_test::watchdog guard{ex, 60s};
  heist::task_graph g;
  CHECK(error_text_of<heist::error>([&] { record_graph(g, ex.observer()); }).find("the graph has no tasks") == 0);
  g.emplace([] {}).name("forgotten");
  CHECK(error_text_of<heist::error>([&] {
          record_graph(g, ex.observer());
        }).find("forgotten is in the graph and not") == 0);
  auto choice = g.emplace_condition([] { return 1; });
  choice.name("choice");
  choice.precede(g.emplace([] {}));
  ex.run(g).get();
  CHECK(error_text_of<heist::error>([&] {
          record_graph(g, ex.observer());
        }).find("the graph has the condition choice") == 0);
  heist::executor<heist::policy::random, heist::recorder> small{heist::options{.workers = 1}, std::size_t{1024}};
  heist::task_graph many;
  for (int i = 0; i < 1000; ++i) many.emplace([] {});
  small.run(many).get();
  CHECK(error_text_of<heist::error>([&] {
          record_graph(many, small.observer());
        }).find("the recorder had no room for") == 0);
}
