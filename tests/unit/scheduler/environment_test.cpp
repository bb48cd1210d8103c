// Environment variables: they decide what options leave open. A wrong value is named once.
#include <cstdlib>  // setenv
#include <string>
#include <utility>
#include <vector>

#include "faults/child_process.hpp"
#include "heist/automatic.hpp"
#include "heist/configuration.hpp"
#include "heist/core/base/environment.hpp"
#include "heist/executor.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"

namespace {

using settings = std::vector<std::pair<char const*, char const*>>;

/// In a child process with these variables.
template <class F>
auto with(settings const& all, F f) {
  return heist_test::run_child([&] {
    for (auto const& [name, value] : all) ::setenv(name, value, 1);
    f();
  });
}
void make_two_executors() {
  heist::executor<> one;
  heist::executor<> two;
  static_cast<void>(heist::configuration_text());
}
std::size_t count(std::string const& text, std::string const& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("environment: it decides what the options of an executor leave open", "[sched]") {
  auto const report = with(
      {{"HEIST_WORKERS", "3"},
       {"HEIST_STACK_SIZE", "256K"},
       {"HEIST_MAX_FIBERS", "5"},
       {"HEIST_TOPOLOGY", "package:2 l3:1 core:2 pu:1"}},
      [] {
        heist::executor<> open;
        CHILD_REQUIRE(open.worker_count() == 3);
        CHILD_REQUIRE(open.machine().pu_count() == 4);
        CHILD_REQUIRE(open.squad_count() == 2);
        CHILD_REQUIRE(open.machine().note.find("HEIST_TOPOLOGY") != std::string::npos);
        CHILD_REQUIRE(open.invoke([] { return 1; }) == 1);
        heist::executor<> said{
            {.workers = 2, .machine = heist::topology::parse("core:8 pu:1"), .stack_size = 65536, .max_fibers = 100}};
        CHILD_REQUIRE(said.worker_count() == 2);
        CHILD_REQUIRE(said.machine().pu_count() == 8);
        heist::executor<> wide{{.workers = 9}};  // needs 9 fibers at least
        CHILD_REQUIRE(wide.invoke([] { return 1; }) == 1);
      });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("environment: it is read anew for each executor", "[sched]") {
  auto const report = with({{"HEIST_WORKERS", "3"}}, [] {
    heist::executor<> three;
    ::setenv("HEIST_WORKERS", "1", 1);
    heist::executor<> one;
    ::unsetenv("HEIST_WORKERS");
    heist::executor<> all;
    CHILD_REQUIRE(three.worker_count() == 3);
    CHILD_REQUIRE(one.worker_count() == 1);
    CHILD_REQUIRE(all.worker_count() == heist::topology::usable_cpus(heist::topology::this_machine()));
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("environment: HEIST_PIN binds threads to processing units", "[sched]") {
  auto const report = with({{"HEIST_PIN", "pus"}}, [] {
    auto const mask = [] { return heist::topology::allowed_cpus().size(); };
    std::size_t const all = mask();
    heist::executor<> bound{{.workers = 2}};
    CHILD_REQUIRE(bound.submit(mask).get() == 1);
    heist::executor<> free{{.workers = 2, .pin = heist::pinning::none}};
    CHILD_REQUIRE(free.submit(mask).get() == all);
    heist::executor<heist::policy::automatic> tries{{.workers = 2}};
    CHILD_REQUIRE(tries.submit(mask).get() == 1);
    ::setenv("HEIST_PIN", "none", 1);
    heist::executor<> none{{.workers = 2}};
    CHILD_REQUIRE(none.submit(mask).get() == all);
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("environment: a text that means nothing is said once, and the default holds", "[sched]") {
  struct row {
    char const* name;
    std::vector<char const*> wrong;
  };
  row const rows[] = {
      {"HEIST_WORKERS", {"0", "-1", "3x", " 3", "many", "99999999999999999999999"}},
      {"HEIST_STACK_SIZE", {"0", "K", "4T", "4KM", "99999999G"}},
      {"HEIST_MAX_FIBERS", {"0", "1.5", "67108865", "4K", "nan"}},
      {"HEIST_PIN", {"1", "PUS", "pus "}},
      {"HEIST_TOPOLOGY", {"package", "package:0", "core:2 x:3", "/no/such/file.xml"}},
      {"HEIST_WATCHDOG", {"inf", "nan", "1e300", "5abc", " 5", "5 ", "abc", "-1", "0x5", "1,5"}},
      {"HEIST_DISPLAY_ENV", {"yes", "2"}},
  };
  for (row const& r : rows) {
    for (char const* const text : r.wrong) {
      auto const report = with({{r.name, text}}, make_two_executors);
      INFO(r.name << ": " << report.text());
      CHECK(report.clean());
      CHECK(count(report.text(), std::string{"heist: "} + r.name + " is '" + text + "', which means nothing") == 1);
    }
  }
}

TEST_CASE("environment: a name that resembles one of heist's is said once", "[sched]") {
  std::pair<char const*, char const*> const rows[] = {
      {"HEIST_WORKER", "HEIST_WORKERS"},       {"HEIST_NUM_WORKERS", "HEIST_WORKERS"},
      {"HEIST_STACKSIZE", "HEIST_STACK_SIZE"}, {"HEIST_MAX_FIBRES", "HEIST_MAX_FIBERS"},
      {"HEIST_TOPLOGY", "HEIST_TOPOLOGY"},     {"HEIST_WATCH_DOG", "HEIST_WATCHDOG"},
      {"HEIST_PIN_THREADS", "HEIST_PIN"},      {"HEIST_TRACE_FILE", "HEIST_TRACE"},
      {"HEIST_REPORTS", "HEIST_REPORT"},
  };
  for (auto const& [wrong, meant] : rows) {
    auto const report = with({{wrong, "2"}, {"HEIST_PIN", "none"}}, make_two_executors);
    INFO(report.text());
    CHECK(report.clean());
    CHECK(count(report.text(), std::string{"the environment sets "} + wrong +
                                   "=2, which heist does not know; fix it by " + meant + ", ") == 1);
    CHECK(count(report.text(), "does not know") == 1);
  }
  auto const report =
      with({{"HEISTING", "1"}, {"HEIST_", "1"}, {"HEIST_BIN", "1"}, {"HEIST_SPINS", "1"}, {"HEIST_TEST_SCALE", "1"}},
           make_two_executors);
  INFO(report.text());
  CHECK(!report.says("does not know"));  // the program's own
}

TEST_CASE("environment: HEIST_DISPLAY_ENV prints what holds, once", "[sched]") {
  auto const report = with({{"HEIST_DISPLAY_ENV", "1"}, {"HEIST_WORKERS", "4"}, {"HEIST_PIN", "pos"}},
                           [] { heist::executor<>{}, heist::executor<>{}; });
  INFO(report.text());
  CHECK(report.clean());
  CHECK(count(report.text(), "heist " HEIST_VERSION) == 1);
  CHECK(report.says("HEIST_WORKERS=4  (set)"));
  CHECK(report.says("HEIST_PIN=none  (default: 'pos' means nothing)"));
  CHECK(report.says("HEIST_STACK_SIZE=1048576\n"));
  for (auto const& v : heist::detail::environment_variables)
    CHECK(heist::configuration_text().find(std::string{"  "} + v.name + '=') != std::string::npos);
}
