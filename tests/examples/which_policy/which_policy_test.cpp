// The parts of examples/which_policy: its recording is right, and so are the work that it takes out, its messages and
// its files.
#include <heist/heist.hpp>
#include <heist/measure.hpp>
#include <heist/simulate.hpp>
#include <heist/topology.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>  // remove
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "examples/which_policy/calibration.hpp"
#include "examples/which_policy/chart.hpp"
#include "examples/which_policy/comparison.hpp"
#include "examples/which_policy/decision.hpp"
#include "examples/which_policy/json_text.hpp"
#include "examples/which_policy/memory.hpp"
#include "examples/which_policy/programs.hpp"
#include "examples/which_policy/table.hpp"
#include "support/catch.hpp"

namespace {

using which_policy::comparison;
using which_policy::result;

std::uint64_t work_of(heist::sim::recorded_program const& p) {
  std::uint64_t all = 0;
  for (auto const& t : p.tasks) all = std::accumulate(t.work.begin(), t.work.end(), all);
  return all;
}

result took(heist::sim::ticks least, heist::sim::ticks median, heist::sim::ticks most, std::uint64_t steals = 0,
            std::uint64_t memory = 0) {
  result r;
  r.median.makespan = median;
  r.median.steals = steals;
  r.median.cache.memory = memory;
  r.median.workers = 8;
  r.median.squads = 2;
  r.least = least;
  r.most = most;
  return r;
}

comparison of(std::vector<result> row) {
  comparison c;
  for (std::size_t p = 0; p < row.size(); ++p) c.policies.push_back(&which_policy::policies[p]);
  c.workers = {8};
  c.work = 8e6;
  c.span = 1e5;
  c.results.push_back(std::move(row));
  return c;
}

}  // namespace

TEST_CASE("which_policy: merge sort sorts", "[which_policy]") {
  heist::executor ex{3};
  for (std::size_t const n : {0u, 1u, 2u, 2048u, 2049u, 5000u, 40000u}) {
    std::vector<int> values(n), scratch(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<int>(i * 7919 % 1000);
    auto expected = values;
    std::sort(expected.begin(), expected.end());
    for (bool const is_to_scratch : {false, true}) {
      auto given = values;
      ex.invoke([&](auto ctx) { which_policy::sort(ctx, std::span{given}, std::span{scratch}, is_to_scratch); });
      CHECK((is_to_scratch ? scratch : given) == expected);
    }
  }
}

TEST_CASE("which_policy: recorded programs have the same shape every time", "[which_policy]") {
  which_policy::progress quiet{which_policy::show_progress::never};
  for (auto const& entry : which_policy::programs) {
    INFO(entry.name);
    std::size_t const size = entry.name == "uts" ? 4 : entry.name == "heat" ? 60 : 10000;
    auto one = entry.record({.size = size, .repeat = 1, .workers = 1}, quiet);
    auto const two = entry.record({.size = size, .repeat = 2, .workers = 2}, quiet);
    CHECK_NOTHROW(heist::sim::check(one));
    CHECK(one.name == two.name);
    CHECK(heist::keep_shorter(one, two));
    CHECK(work_of(one) > 0);
    CHECK(one.regions.size() == (entry.name == "uts" ? 0 : 1));
  }
}

TEST_CASE("which_policy: the memory of the recording is taken out, once", "[which_policy]") {
  heist::sim::recorded_program p;
  p.runs = {{0, heist::sim::none}};
  p.tasks.resize(3);
  p.tasks[0].work = {100, 100};
  p.tasks[1] = {.parent = 0, .index = 0, .bytes = 64 * 100, .work = {10'000}};
  p.tasks[2] = {.parent = 0, .index = 1, .bytes = 64 * 300, .work = {10'000}};
  auto const machine = heist::topology::parse("package:1 l2:2(size=1MiB) core:1 pu:1");
  heist::sim::options how;
  how.machine = machine;
  how.caches.block_bytes = 64;
  how.costs.memory = 10;
  auto const calibrated = [&](auto recorded, bool may_scale) {
    auto with = how;
    auto const message = which_policy::calibrate(recorded, with, how, may_scale);
    CHECK(message.find("of the recorded work is taken for waiting for memory") != std::string::npos);
    return std::pair{recorded, with};
  };
  auto const [plain, costs] = calibrated(p, true);
  CHECK(plain.tasks[0].work == p.tasks[0].work);
  CHECK(plain.tasks[1].work[0] == 9'000);
  CHECK(plain.tasks[2].work[0] == 7'000);
  // A simulation of the recording machine takes the recorded time.
  auto alone = costs;
  alone.workers = 1;
  alone.costs = heist::sim::costs::nothing();
  alone.costs.memory = costs.costs.memory;
  CHECK(heist::simulate(heist::sim::to_program(plain), alone).makespan == work_of(p));

  how.costs.memory = 1000;  // 400,000 of 20,200
  auto const scaled = calibrated(p, true).second;
  CHECK(scaled.costs.memory.mean == 40);
  auto const [kept, expensive] = calibrated(p, false);
  CHECK(expensive.costs.memory.mean == 1000);
  CHECK(kept.tasks[1].work[0] == 2'000);

  for (auto& t : p.tasks) t.bytes = 0;
  auto silent = p;
  CHECK(which_policy::calibrate(silent, how, how, true).find("no task says what it touches") == 0);
  CHECK(silent == p);
}

TEST_CASE("which_policy: streams come from a measurement's file", "[which_policy]") {
  std::string const file = "which_policy_streams_test.json";
  auto const load = [&](char const* text) {
    std::ofstream{file} << text;
    return which_policy::load_streams(file);
  };
  auto const s =
      load(R"({"machine": {"streams": {"private_line": 1, "shared_line": 1.5, "memory_line": 4, "transfer_line": 0,)"
           R"("far_line": 0, "shared_bandwidth": 90000, "memory_bandwidth": 4e4, "link_bandwidth": 0}}})");
  CHECK(s.memory_line == 4);
  CHECK(s.memory_bandwidth == 40'000);
  for (char const* wrong : {"", "[]", R"({"machine": {}})", R"({"machine": {"streams": {"private_line": -1}}})",
                            R"({"machine": {"streams": {"private_line": "fast"}}})"})
    CHECK_THROWS_AS(load(wrong), which_policy::wrong_input);
  std::remove(file.c_str());
  CHECK_THROWS_AS(which_policy::load_streams(file), which_policy::wrong_input);
}

TEST_CASE("which_policy: a program that hides memory scales all costs of lines", "[which_policy]") {
  heist::sim::recorded_program p;
  p.runs = {{0, heist::sim::none}};
  p.tasks.resize(1);
  p.tasks[0] = {.bytes = 64 * 1000, .work = {1000}};
  heist::sim::options how{.machine = heist::topology::parse("package:1 l2:2(size=1MiB) core:1 pu:1")};
  how.caches.block_bytes = 64;
  heist::sim::set_memory(how, {.private_line = 1,
                               .shared_line = 2,
                               .memory_line = 3,
                               .transfer_line = 2,
                               .far_line = 5,
                               .shared_bandwidth = 0,
                               .memory_bandwidth = 0,
                               .link_bandwidth = 0});
  how.numa.pages = heist::sim::page_placement::ignored;
  auto const message = which_policy::calibrate(p, how, how, true);  // 2000 of 1000
  CHECK(message.find("a line from memory costs 0.8 ns, one from a squad's cache 0.4 ns") != std::string::npos);
  CHECK(how.costs.far_memory == 1600);
  CHECK(how.costs.transfer == heist::sim::duration{400});
}

TEST_CASE("which_policy: a sentence for each outcome", "[which_policy]") {
  auto const plain = which_policy::evaluate(of({took(995'000, 1'000'000, 1'010'000), took(990'000, 992'000, 999'000)}));
  CHECK(plain.headline == "On 8 workers random is as good as any: 1 ms.");
  CHECK(plain.message ==
        "On 8 workers random is as good as any: 1 ms. sampling takes 992 us, which is no more than chance. An equal "
        "share for everybody of the work as recorded would be 1 ms.");
  CHECK(plain.best == 1);
  CHECK(plain.as_good == std::vector<std::size_t>{0});

  auto const overlapping =
      which_policy::evaluate(of({took(1'000'000, 1'300'000, 1'400'000), took(900'000, 1'000'000, 1'100'000)}));
  CHECK(overlapping.as_good == std::vector<std::size_t>{0});

  auto const better =
      which_policy::evaluate(of({took(2'000'000, 2'000'000, 2'000'000, 50, 1000),
                                 took(1'500'000, 1'500'000, 1'500'000, 10, 950), took(1'510'000, 1'510'000, 1'510'000),
                                 took(1'500'500, 1'500'500, 1'500'500), took(9'000'000, 9'000'000, 9'000'000)}));
  CHECK(better.message ==
        "On 8 workers sampling suits best: 1.5 ms, 25.0 % less time than random. It steals 80 % less often. victim_set "
        "and sampling_victim_set are as good. An equal share for everybody of the work as recorded would be 1 ms.");
  auto const memory = which_policy::evaluate(
      of({took(2'000'000, 2'000'000, 2'000'000, 50, 1000), took(1'500'000, 1'500'000, 1'500'000, 10, 400)}));
  CHECK(memory.message.find(" It fetches 60 % fewer lines from memory.") != std::string::npos);

  auto alone = of({took(5'000'000, 5'000'000, 5'000'000)});
  alone.span = 4e6;
  CHECK(which_policy::evaluate(alone).message ==
        "On 8 workers random takes 5 ms. The longest chain of tasks as recorded would be 4 ms.");
}

TEST_CASE("which_policy: times for people", "[which_policy]") {
  using which_policy::time_text;
  CHECK(time_text(0) == "0 ns");
  CHECK(time_text(999) == "999 ns");
  CHECK(time_text(12'345) == "12.35 us");
  CHECK(time_text(1'234'567) == "1.235 ms");
  CHECK(time_text(1e10) == "10 s");
}

TEST_CASE("which_policy: all of the comparison is in the JSON and in the picture", "[which_policy]") {
  auto const tree = heist::sim::balanced_tree({.depth = 8, .leaf = 1000});
  which_policy::progress quiet{which_policy::show_progress::never};
  which_policy::request wanted;
  wanted.how.machine = heist::topology::parse("package:2 core:4 pu:1");
  for (auto const& p : which_policy::policies) wanted.policies.push_back(&p);
  wanted.workers = {1, 8};
  wanted.seeds = 3;
  wanted.threads = 2;
  auto c = which_policy::compare(tree, wanted, quiet);
  c.work = static_cast<double>(tree.work());
  c.span = static_cast<double>(tree.span());
  auto const v = which_policy::evaluate(c);
  auto const json = nlohmann::json::parse(which_policy::to_json("a \"tree\"", "a < b & c", c, v));
  CHECK(json["program"] == "a \"tree\"");
  CHECK(json["work"] == tree.work());
  CHECK(json["span"] == tree.span());
  REQUIRE(json["results"].size() == 2);
  for (std::size_t w = 0; w < 2; ++w) {
    auto const& of_w = json["results"][w];
    CHECK(of_w["workers"] == wanted.workers[w]);
    REQUIRE(of_w["policies"].size() == which_policy::policies.size());
    for (std::size_t p = 0; p < which_policy::policies.size(); ++p) {
      auto const& told = of_w["policies"][p];
      CHECK(told["policy"] == std::string{which_policy::policies[p].name});
      CHECK(told["time"] == c.results[w][p].median.makespan);
      CHECK(told["least_time"] <= told["time"]);
      CHECK(told["most_time"] >= told["time"]);
      // The same request gives the same result.
      auto how = wanted.how;
      how.workers = wanted.workers[w];
      how.seed = c.results[w][p].median.seed;
      CHECK(which_policy::policies[p].simulate(tree, how) == c.results[w][p].median);
    }
  }
  CHECK(json["best"] == std::string{c.policies[v.best]->name});
  CHECK(json["sentence"] == v.message);

  auto const svg = which_policy::chart("a \"tree\"", "a < b & c", c, v);
  CHECK(svg.find("a &lt; b &amp; c") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("attempts to steal") != std::string::npos);
  for (auto const* p : c.policies) CHECK(svg.find(std::string{p->name}) != std::string::npos);
  auto const table = which_policy::policy_table(c) + which_policy::worker_table(c);
  CHECK(std::count(table.begin(), table.end(), '\n') == 1 + 7 + 1 + 2);
}
