// heist/tools/simulate: traces and reports that others read.
#include <cmath>  // llround
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "heist/tiers.hpp"
#include "heist/tools/observe/chrome_trace.hpp"
#include "support/catch.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;
using nlohmann::json;

TEST_CASE("trace: a simulation is written as a real recording is, with all of its work", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 6, .leaf = sim::exponential(3000), .leaf_bytes = 256});
  auto const r = heist::simulate<policy::cab>(p, {.machine = four_sockets(), .trace = true});
  REQUIRE(r.recording);
  std::ostringstream out;
  heist::write_chrome_trace(out, *r.recording);
  std::uint64_t worked = 0, steals = 0, sleeps = 0;
  for (auto const& e : json::parse(out.str())) {
    if (e.at("ph") == "X" && e.at("cat") == "task")
      worked += static_cast<std::uint64_t>(std::llround(1000 * e.at("dur").get<double>()));
    if (e.at("ph") == "X" && e.at("cat") == "sleep") ++sleeps;
    if (e.at("ph") == "i") ++steals;
  }
  CHECK(worked == r.time.work + r.time.memory);
  CHECK(steals == r.steals);
  CHECK(sleeps == r.sleeps);
  CHECK_FALSE(heist::simulate<policy::cab>(p, {.machine = four_sockets()}).recording);
}

TEST_CASE("trace: a report is JSON with the report's numbers", "[sim]") {
  auto const p = sim::heat({.rows = 128, .columns = 32, .steps = 3});
  auto const r = heist::simulate<policy::cats>(p, {.machine = four_sockets()});
  auto const v = json::parse(r.to_json());
  CHECK(v.at("makespan") == r.makespan);
  CHECK(v.at("per_worker").size() == 16);
  CHECK(v.at("series").size() == r.series.size());
  CHECK(v.at("cache").at("memory") == r.cache.memory);
  CHECK(v.at("notes").size() == r.notes.size());
  CHECK(r.text().find("speedup") != std::string::npos);
}
