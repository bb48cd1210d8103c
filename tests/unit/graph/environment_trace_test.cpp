// HEIST_TRACE and HEIST_REPORT: what a program without an observer writes when the environment asks.
#include <fcntl.h>     // open
#include <sys/stat.h>  // mkfifo
#include <unistd.h>    // chdir, close, getcwd, read

#include <cstdint>
#include <cstdio>   // remove
#include <cstdlib>  // setenv
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/report.hpp"
#include "support/catch.hpp"
#include "support/trace_config.hpp"

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

/// The name that `stem` and `end` get from the next executor that writes a file: each has a number in its process.
std::string name_of_next(std::string const& stem, std::string const& end) {
  std::string const probe = "heist_environment_probe";
  {
    variable const t{"HEIST_TRACE", probe + ".json"};
    run_a_graph();
  }
  if (std::remove((probe + ".json").c_str()) == 0) return stem + "-2" + end;
  for (int n = 2; n != 1000; ++n) {
    if (std::remove((probe + "-" + std::to_string(n) + ".json").c_str()) == 0)
      return stem + "-" + std::to_string(n + 1) + end;
  }
  FAIL("an executor has written no trace");
  return {};
}

/// A pipe for the next executor that writes a file.
struct pipe_of_next {
  pipe_of_next() : name{name_of_next("heist_environment_test", ".pipe")} {
    std::remove(name.c_str());
    REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
  }
  pipe_of_next(pipe_of_next const&) = delete;
  pipe_of_next& operator=(pipe_of_next const&) = delete;
  ~pipe_of_next() { std::remove(name.c_str()); }
  bool is_pipe() const {
    struct ::stat kind {};
    return ::stat(name.c_str(), &kind) == 0 && S_ISFIFO(kind.st_mode);
  }
  std::string const name;
};

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
  CHECK(heist_test::trace_config::broken(events) == std::vector<std::string>{});
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
  CHECK(page.find(", executor 1, heist::policy::random, ") != std::string::npos);
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

TEST_CASE("environment_trace_to_a_pipe_that_none_reads_or_whose_reader_leaves_ends") {
  std::string const wanted = "heist_environment_test.pipe";
  {
    pipe_of_next const unread;
    variable const t{"HEIST_TRACE", wanted}, r{"HEIST_REPORT", wanted};
    run_a_graph();  // a sentence on stderr
    CHECK(unread.is_pipe());
  }
  CHECK(std::remove(wanted.c_str()) != 0);  // nothing was written beside it
  pipe_of_next const pipe;
  int const reader = ::open(pipe.name.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  std::thread leaves;
  {
    variable const t{"HEIST_TRACE", wanted};
    heist::executor ex{2};
    for (int i = 0; i != 20000; ++i) ex.post([] {});
    ex.wait_idle();
    leaves = std::thread{[reader] {
      char some[100];
      while (::read(reader, some, sizeof some) <= 0) std::this_thread::yield();
      ::close(reader);
    }};
  }
  leaves.join();  // it has read something: the executor wrote to the pipe
}

TEST_CASE("environment_trace_is_written_where_the_program_was_when_it_start_time") {
  std::string const trace = "heist_environment_directory.json";
  std::string found;
  auto const look = [&found] {  // under the number of the executor in this process
    for (int n = 2; n != 100; ++n) {
      std::string const name = "heist_environment_directory-" + std::to_string(n) + ".json";
      if (found.empty()) found = contents(name);
      std::remove(name.c_str());
    }
    if (found.empty()) found = contents("heist_environment_directory.json");
    std::remove("heist_environment_directory.json");
  };
  look();
  found.clear();
  char before[4096];
  REQUIRE(::getcwd(before, sizeof before) != nullptr);
  {
    variable const t{"HEIST_TRACE", trace};
    heist::executor ex{2};
    ex.submit([] {}).get();
    REQUIRE(::chdir("/") == 0);
  }
  REQUIRE(::chdir(before) == 0);
  look();
  CHECK_FALSE(found.empty());
}

TEST_CASE("edges_beyond_the_bound_are_released_and_counted") {
  heist::task_edges edges;
  int tasks[2];
  std::size_t const each = std::size_t{1} << 20;
  for (int graph = 0; graph != 6; ++graph) {
    edges.graph_begins();
    for (std::size_t i = 0; i != each; ++i) edges.has_edge(&tasks[0], &tasks[1]);
    edges.has_task(&tasks[0]);
    edges.graph_ends();
  }
  CHECK(edges.layout_count().size() == 4);
  CHECK(edges.released() == 3 + 2 * each - 0 + 3 - 1);
}

TEST_CASE("environment_trace_is_written_while_graphs_of_other_executors_are_laid_out") {
  std::string const folder = "heist_environment_race";
  std::filesystem::create_directory(folder);
  {
    variable const t{"HEIST_TRACE", folder + "/trace.json"}, r{"HEIST_REPORT", folder + "/report.html"};
    std::vector<std::thread> threads;
    for (int i = 0; i != 3; ++i) {
      threads.emplace_back([] {
        for (int n = 0; n != 20; ++n) run_a_graph();
      });
    }
    for (auto& each : threads) each.join();
  }
  std::size_t files = 0;
  for (auto const& f : std::filesystem::directory_iterator{folder}) files += f.file_size() != 0;
  CHECK(files == 120);
  std::filesystem::remove_all(folder);
}
