// HEIST_TRACE and HEIST_REPORT: what a program without an observer writes when the environment asks.
#include <cstdint>
#include <cstdio>   // remove
#include <cstdlib>  // setenv
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/report.hpp"
#include "support/catch.hpp"
#include "support/trace_rules.hpp"

namespace {

using nlohmann::json;

struct variable {
  variable(char const* n, std::string const& value) : name{n} { ::setenv(name, value.c_str(), 1); }
  variable(variable const&) = delete;
  variable& operator=(variable const&) = delete;
  ~variable() { ::unsetenv(name); }
  char const* name;
};

std::string contents(std::string const& path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void run_a_graph() {
  heist::executor ex{2};
  heist::task_graph g;
  auto a = g.emplace([] {}).name("alpha");
  auto b = g.emplace([](auto ctx) { ctx.fork_join([] {}, [] {}); }).name("beta");
  auto c = g.emplace([](auto ctx) { return ctx.submit([] { return 1; }).get(); }).name("gamma");
  a.precede(b, c);
  ex.run_n(g, 2).get();
}

}  // namespace

TEST_CASE("environment_trace_is_written_when_the_executor_ends") {
  std::string const trace = "heist_environment_test.json", report = "heist_environment_test.html";
  std::string const second = "heist_environment_test-2.json";
  for (auto const& f : {trace, report, second}) std::remove(f.c_str());
  run_a_graph();
  CHECK(contents(trace).empty());
  {
    variable const t{"HEIST_TRACE", trace}, r{"HEIST_REPORT", report};
    run_a_graph();
  }
  json const events = json::parse(contents(trace));
  CHECK(heist_test::trace_rules::broken(events) == std::vector<std::string>{});
  int begun[3] = {}, arrows = 0;
  for (auto const& e : events) {
    if (e.at("ph") == "X" && !e.value("args", json::object()).contains("parks")) {
      begun[0] += e.at("name") == "alpha";
      begun[1] += e.at("name") == "beta";
      begun[2] += e.at("name") == "gamma";
    }
    arrows += e.at("ph") == "f" && e.at("name") == "edge";
  }
  CHECK(begun[0] == 2);
  CHECK(begun[1] == 2);
  CHECK(begun[2] == 2);
  CHECK(arrows == 4);
  auto const page = contents(report);
  CHECK(page.find("alpha") != std::string::npos);
  CHECK(page.find("Critical path: 2 tasks") != std::string::npos);
  {
    variable const t{"HEIST_TRACE", trace};
    run_a_graph();
  }
  CHECK(json::parse(contents(second)).is_array());
  for (auto const& f : {trace, report, second}) std::remove(f.c_str());
}

TEST_CASE("a_trace_that_cannot_be_written_ends_no_program") {
  variable const t{"HEIST_TRACE", "/no/such/directory/trace.json"}, r{"HEIST_REPORT", "/no/such/directory/report.html"};
  run_a_graph();
  SUCCEED();
}
