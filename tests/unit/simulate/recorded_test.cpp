// heist/tools/simulate/recorded_*.hpp: recordings of real programs, whole, cut and edited.
#include <cstddef>
#include <cstdint>
#include <cstdio>  // remove
#include <string>

#include "heist/tools/simulate/recorded_file.hpp"
#include "support/catch.hpp"
#include "support/texts.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;
using heist::sim_error;
using sim::recorded_program;
using sim::recorded_task;

namespace {

/// Two runs of one region, with two forks in the root, and a tree of another program.
recorded_program example() {
  recorded_program r;
  r.name = "example \"1\"";
  r.recorded_on = "a machine";
  r.regions = {{"step", 4096, 2}};
  r.tasks = {
      {recorded_task::no_parent, 0, 0, 1, 64, 0, true, {10, 20, 30}},  // 0
      {0, 1, 0, 2, 100, recorded_task::unknown_address, true, {5}},
      {0, 0, 0, 2, 100, recorded_task::unknown_address, true, {7}},
      {0, 2, 1, 2, 0, recorded_task::unknown_address, false, {9}},
      {recorded_task::no_parent, 0, 0, 1, 0, recorded_task::unknown_address, true, {1, 2}},  // 4
      {4, 0, 0, 2, 100, recorded_task::unknown_address, true, {3}},
  };
  r.runs = {{0, 0}, {4, 0}, {4, sim::none}};
  return r;
}
recorded_program graph() {
  recorded_program r;
  r.name = "graph";
  r.graph = true;
  r.graph_runs = 2;
  for (std::uint64_t i = 1; i != 5; ++i) {
    r.tasks.emplace_back();
    r.tasks.back().work = {10 * i};
  }
  r.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
  return r;
}

template <class Edit>
std::string error_text(recorded_program r, Edit edit) {
  edit(r);
  return error_text_of<sim_error>([&] { sim::check(r); });
}

}  // namespace

TEST_CASE("recorded program: becomes what it was", "[sim]") {
  auto const p = sim::to_program(example());
  CHECK(p.name() == "example \"1\"");
  CHECK(p.task_count() == 6);
  CHECK(p.tasks_run() == 8);
  CHECK(p.work() == 60 + 5 + 7 + 9 + 2 * 6);
  CHECK(p.span() == 10 + 7 + 20 + 9 + 30 + 2 * 6);
  CHECK(heist::simulate(p, {.workers = 3}).tasks == 8);

  auto const g = sim::to_program(graph());
  CHECK(g.work() == 2 * 100);
  CHECK(g.span() == 2 * (10 + 30 + 40));
  CHECK(heist::simulate(g, {.workers = 3}).tasks == 8);
}

TEST_CASE("recorded program: memory without an address is the same for the same path of a region", "[sim]") {
  auto const p = sim::to_program(example());
  auto const address_of = [&](std::uint32_t task) { return p.touches()[p.stage_at(task, 0).first_touch].address; };
  std::uint32_t const first_of_0 = p.stage_at(p.runs()[0].first, 0).first_child;
  std::uint32_t const first_of_4 = p.stage_at(p.runs()[1].first, 0).first_child;
  CHECK(address_of(first_of_0) == address_of(first_of_4));
  CHECK(address_of(first_of_0) != address_of(first_of_0 + 1));
  CHECK(address_of(first_of_0) >= 64);
}

TEST_CASE("recorded program: survives a file", "[sim]") {
  for (auto const& r : {example(), graph()}) {
    CHECK(sim::recorded_program_from_json(sim::to_json(r)) == r);
    std::string const path = "sim_recorded_test.json";
    sim::save(r, path);
    CHECK(sim::load_recorded_program(path) == r);
    std::remove(path.c_str());
    CHECK(has(error_text_of<sim_error>([&] { sim::load_recorded_program(path); }), path));
  }
  CHECK_THROWS_AS(sim::save(example(), "no/such/folder/file.json"), sim_error);
}

TEST_CASE("recorded program: a file that is cut anywhere is refused", "[sim]") {
  for (auto const& r : {example(), graph()}) {
    auto const text = sim::to_json(r);
    for (std::size_t length = 0; length + 1 < text.size(); ++length) {  // the last newline may be missing
      auto const said = error_text_of<sim_error>([&] { sim::recorded_program_from_json(text.substr(0, length)); });
      INFO(length << ": " << said);
      REQUIRE(has(said, "fix it by recording the program again"));
    }
  }
}

TEST_CASE("recorded program: a file that was edited is refused with what is wrong", "[sim]") {
  auto const text = sim::to_json(example());
  auto const said = [&](std::string const& what, std::string const& by) {
    return error_text_of<sim_error>([&] { sim::recorded_program_from_json(replaced(text, what, by)); });
  };
  CHECK(has(said("\"version\": 1", "\"version\": 2"), "its version is 2"));
  CHECK(has(said("recorded program", "region profile"), "something else"));
  CHECK(has(said("\"runs\"", "\"rums\""), "no member \"runs\""));
  CHECK(has(said("[10, 20, 30]", "[10, 20]"), "task 0 has 2 times of work"));
  CHECK(has(said("[10, 20, 30]", "[10, -20, 30]"), "whole number"));
  CHECK(has(said("[0, 1, 0, 2", "[0, 3, 0, 2"), "number 1 is missing"));
  CHECK(has(said("[0, 1, 0, 2", "[9, 1, 0, 2"), "forked by task 9 of 6"));
  CHECK(has(said("[0, 1, 0, 2", "[1, 1, 0, 2"), "forked by task 1"));
  CHECK(has(said("[0, 1, 0, 2", "[0, 1, 0, 5000000000"), "too large"));
  CHECK(has(said("[0, 1, 0, 2", "[0, 1, null, 2"), "whole number"));
  CHECK(has(said("[0, 1, 0, 2", "[0, null, 0, 2"), "whole number"));
  CHECK(has(said("[0, 1, 0, 2", "[0, 1, 0, null"), "whole number"));
  CHECK(has(said("[0, 1, 0, 2", "[4294967295, 1, 0, 2"), "too large"));
  CHECK(has(said("\"graph_runs\": 1", "\"graph_runs\": null"), "whole number"));
  CHECK(has(said("\"branching\": 2", "\"branching\": null"), "whole number"));
  CHECK(has(said("[4, 0]", "[5, 0]"), "no root"));
  CHECK(has(said("[4, 0]", "[4, 7]"), "region 7 of 1"));
}

TEST_CASE("recorded program: one that makes no sense is refused", "[sim]") {
  CHECK(has(error_text({}, [](auto&) {}), "no tasks"));
  CHECK(has(error_text(example(), [](auto& r) { r.runs.clear(); }), "no runs"));
  CHECK(has(error_text(example(), [](auto& r) { r.runs.pop_back(), r.runs.pop_back(); }),
            "2 of its 6 tasks belong to no run"));
  CHECK(has(error_text(example(), [](auto& r) { r.tasks[3].group = 2; }), "task 3"));
  CHECK(has(error_text(example(), [](auto& r) { r.tasks[3].parent = 2, r.tasks[3].index = 0, r.tasks[2].parent = 3; }),
            "fix it by"));
  CHECK(has(error_text(example(), [](auto& r) { r.edges = {{0, 1}}; }), "no graph"));
  CHECK(has(error_text(example(), [](auto& r) { r.tasks[0].address = ~std::uint64_t{0} - 3; }), "2^60"));
  CHECK(has(error_text(graph(), [](auto& r) { r.edges.push_back({3, 0}); }), "cycle"));
  CHECK(has(error_text(graph(), [](auto& r) { r.edges.push_back({3, 9}); }), "node 9 of 4"));
  CHECK(has(error_text(graph(), [](auto& r) { r.graph_runs = 0; }), "0 times"));
  CHECK(has(error_text(graph(), [](auto& r) { r.runs = {{0, sim::none}}; }), "runs of trees"));
}

TEST_CASE("recorded program: numbers are not trusted", "[sim]") {
  // Each number would have cost gigabytes, or would have led to a read beyond the end of the data.
  CHECK(has(error_text(graph(), [](auto& r) { r.graph_runs = 4'000'000'000; }), "its graph ran 4000000000 times"));
  CHECK(has(error_text(graph(), [](auto& r) { r.tasks[1].bytes = std::uint64_t{1} << 50; }), "bytes, more than 2^40"));
  CHECK(has(error_text(example(), [](auto& r) { r.tasks[1].bytes = ~std::uint64_t{0}; }), "bytes, more than 2^40"));
  CHECK(has(error_text(example(), [](auto& r) { r.tasks[5].group = ~std::uint32_t{0}, r.tasks[4].work = {1}; }),
            "fork 4294967295, but 0 would be next"));
  CHECK(has(error_text(graph(),
                       [](auto& r) {
                         r.tasks.resize(20'000);
                         for (auto& t : r.tasks) t.work = {1}, t.bytes = std::uint64_t{1} << 40;
                       }),
            "more than 2^54"));

  auto many = graph();
  many.graph_runs = recorded_program::most_graph_runs;
  many.tasks.resize(5000, many.tasks[0]);  // each run alone would make 5 * 10^9 steps
  CHECK(sim::to_program(many).tasks_run() == std::uint64_t{5000} << 20);
  auto functions = example();
  functions.tasks[1].function = ~std::uint32_t{0};
  CHECK(sim::recorded_program_from_json(sim::to_json(functions)) == functions);
}
