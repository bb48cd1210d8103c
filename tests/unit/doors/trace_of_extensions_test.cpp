// HEIST_TRACE and HEIST_REPORT under the policies that have a room: cab, cats, replay.
#include <atomic>
#include <cstddef>
#include <cstdlib>  // setenv
#include <filesystem>
#include <fstream>
#include <iterator>  // distance
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>  // yield
#include <type_traits>
#include <vector>

#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/report.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/trace_config.hpp"

namespace {

using nlohmann::json;

/// Where files are written while it lives. The names that executors give them go on from one to the next.
struct asked {
  std::filesystem::path const folder = "heist_trace_of_rooms";

  asked() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    ::setenv("HEIST_TRACE", (folder / "trace.json").c_str(), 1);
    ::setenv("HEIST_REPORT", (folder / "report.html").c_str(), 1);
  }
  asked(asked const&) = delete;
  asked& operator=(asked const&) = delete;
  ~asked() {
    ::unsetenv("HEIST_TRACE");
    ::unsetenv("HEIST_REPORT");
    std::filesystem::remove_all(folder);
  }

  std::size_t files() const {
    std::filesystem::directory_iterator const all{folder};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  std::string contents(std::string const& extension) const {
    std::ostringstream text;
    for (auto const& file : std::filesystem::directory_iterator{folder}) {
      if (file.path().extension() == extension) text << std::ifstream{file.path()}.rdbuf();
    }
    return text.str();
  }
};

/// Each of both calls returns when the other has begun, too: on another worker.
struct both_at_once {
  std::atomic<int> begun{0};
  void operator()() {
    ++begun;
    while (begun != 2) std::this_thread::yield();
  }
};

/// Runs of a graph, two tasks of which one must be stolen, and a region. Two squads of one worker.
template <class Policy>
std::size_t run_all() {
  heist::executor<Policy> ex{
      {.workers = 2, .machine = heist::topology::parse("package:2 l3:1 core:1 pu:1"), .squads = heist::squad_by::l3}};
  std::atomic<std::size_t> ran{0};
  heist::task_graph g;
  auto a = g.emplace([&] { ++ran; }).name("alpha");
  auto b = g.emplace([&](auto ctx) { ctx.fork_join([&] { ++ran; }, [&] { ++ran; }); }).name("beta");
  auto c = g.emplace([&](auto ctx) { return ctx.submit([&] { return ++ran; }).get(); }).name("gamma");
  a.precede(b, c);
  ex.run_n(g, 3).get();
  both_at_once two;
  ex.invoke([&](auto ctx) {
    auto other = ctx.submit([&] { two(); });
    two();
    other.get();
  });
  heist::region phase{{.branching = 2, .bytes = 1 << 16}};
  for (int i = 0; i != 3; ++i) {
    ex.invoke(phase, [&](auto in_region) {
      in_region.fork_join([&](auto c2) { c2.fork_join([&] { ++ran; }, [&] { ++ran; }); }, [&] { ++ran; });
    });
  }
  return ran;
}

template <class Policy>
void check_trace_of() {
  static_assert(!std::is_same_v<typename heist::detail::search_of<Policy>::type, heist::detail::no_search>);
  CHECK(run_all<Policy>() == 21);
  asked const wanted;
  CHECK(wanted.files() == 0);
  CHECK(run_all<Policy>() == 21);
  REQUIRE(wanted.files() == 2);

  std::map<std::string, int> ended, arrows;
  int steals = 0;
  json const trace = json::parse(wanted.contents(".json"));
  CHECK(heist_test::trace_config::broken(trace) == std::vector<std::string>{});
  for (auto const& e : trace) {
    if (e.at("ph") == "X" && !e.value("args", json::object()).contains("parks")) ++ended[e.at("name")];
    if (e.at("ph") == "f") ++arrows[e.at("name")];
    steals += e.at("ph") == "i" && e.at("name") == "steal";
  }
  for (char const* const name : {"alpha", "beta", "gamma"}) CHECK(ended[name] == 3);
  CHECK(arrows["edge"] == 6);
  CHECK(steals >= 1);
  CHECK(arrows["steal"] == steals);
  auto const page = wanted.contents(".html");
  CHECK(page.find("gamma") != std::string::npos);
  CHECK(page.find("worker 1 (squad 1)") != std::string::npos);
}

}  // namespace

TEST_CASE("environment_trace_under_cab") {
  check_trace_of<heist::policy::cab>();
}

TEST_CASE("environment_trace_under_cats") {
  check_trace_of<heist::policy::cats>();
}

TEST_CASE("environment_trace_under_replay") {
  check_trace_of<heist::policy::replay>();
}

TEST_CASE("environment_trace_tells_what_heads_take_from_other_squads") {
  asked const wanted;
  {
    heist::executor<heist::policy::cab> ex{
        {.workers = 2, .machine = heist::topology::parse("package:2 l3:1 core:1 pu:1"), .squads = heist::squad_by::l3}};
    // Often, because a child may also be dealt to the other squad, which is no steal.
    for (int i = 0; i != 50; ++i) {
      heist::region phase{{.boundary_level = 2}};
      both_at_once two;
      ex.invoke(phase, [&](auto ctx) { ctx.fork_join([&] { two(); }, [&] { two(); }); });
    }
  }
  auto const trace = json::parse(wanted.contents(".json"));
  CHECK(heist_test::trace_config::broken(trace) == std::vector<std::string>{});
  int steals = 0;
  for (auto const& e : trace) {
    if (e.at("ph") != "i" || e.at("name") != "steal") continue;
    CHECK(e.at("tid").get<int>() + e.at("args").at("victim").get<int>() == 1);
    ++steals;
  }
  CHECK(steals >= 1);  // both children are of the squad that forked them
}

TEST_CASE("environment_trace_leaves_a_room_with_an_observer_alone") {
  asked const wanted;
  {
    heist::executor<heist::policy::cab, heist::recorder> ex{2};
    ex.invoke([] {});
    CHECK(ex.observer().worker_count() == 2);
  }
  CHECK(wanted.files() == 0);
}
