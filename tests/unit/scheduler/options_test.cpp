// The options of an executor, and the options that it refuses, with a remedy.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "heist/executor.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using heist::executor_error;
using heist::options;

TEST_CASE("options: by default a worker for every CPU that this process may use", "[sched]") {
  heist::executor ex;
  CHECK(ex.worker_count() == heist::topology::usable_cpus(heist::topology::this_machine()));
  CHECK(ex.worker_count() >= 1);
  CHECK(ex.squad_count() >= 1);
  heist::executor zero{options{.workers = 0}};
  CHECK(zero.worker_count() == ex.worker_count());
}

TEST_CASE("options: an absurd worker count is an executor_error that names it and the limit", "[sched]") {
  for (std::size_t const count : {std::numeric_limits<std::size_t>::max(), static_cast<std::size_t>(-1),
                                  heist::detail::max_workers + 1, std::size_t{1} << 32, std::size_t{1000000}}) {
    try {
      heist::executor ex{count};
      FAIL("made");
    } catch (executor_error const& e) {
      std::string const text = e.what();
      INFO(text);
      CHECK(text.find(std::to_string(count)) != std::string::npos);
      CHECK(text.find("4095") != std::string::npos);
      CHECK(text.find("ix it by") != std::string::npos);
    }
  }
}

TEST_CASE("options: many more workers than CPUs work", "[sched]") {
  std::size_t const count = heist::under_tsan || heist::under_asan ? 64 : 300;
  heist::executor ex{options{.workers = count, .stack_size = 65536}};
  heist_test::watchdog guard{"many workers", std::chrono::seconds{60}, [&] { return ex.state_text(); }};
  CHECK(ex.worker_count() == count);
  std::atomic<std::size_t> n{0};
  for (std::size_t i = 0; i < 10 * count; ++i) ex.post([&] { ++n; });
  ex.wait_idle();
  CHECK(n == 10 * count);
}

TEST_CASE("options: a described machine gives its squads and one worker for each of its PUs", "[sched]") {
  heist::executor ex{options{.machine = heist::topology::parse("package:2 core:2 pu:1")}};
  CHECK(ex.worker_count() == 4);
  CHECK(ex.machine().pu_count() == 4);
  heist::executor split{
      options{.machine = heist::topology::parse("package:2 core:2 pu:1"), .squads = heist::squad_by::package}};
  CHECK(split.squad_count() == 2);
  CHECK(split.invoke([](heist::context c) { return c.squad_id() < 2; }));
}

TEST_CASE("options: a stack size too small is raised, one that the system cannot give is refused", "[sched]") {
  heist::executor small{options{.workers = 1, .stack_size = 1}};
  CHECK(small.invoke([] { return 1; }) == 1);
  if (heist::under_asan) return;  // which writes a shadow of each stack
  CHECK_THROWS_AS((heist::executor{options{.workers = 1000, .stack_size = std::size_t{1} << 40}}), heist::stack_error);
}

TEST_CASE("options: an absurd size is an executor_error that names the option, the size and the limit", "[sched]") {
  auto const rejected = [](options const& wanted, std::string const& name, std::size_t size, std::string const& limit) {
    try {
      heist::executor ex{wanted};
      FAIL("made");
    } catch (executor_error const& e) {
      std::string const text = e.what();
      INFO(text);
      CHECK(text.find("options::" + name + " is " + std::to_string(size)) != std::string::npos);
      CHECK(text.find(limit) != std::string::npos);
      CHECK(text.find("ix it by") != std::string::npos);
    }
  };
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  // (max_fibers + 64) slots of 8 bytes for each worker: the product wrapped.
  for (std::size_t const n : {most, most - 63, most >> 10, most >> 20, heist::detail::most_fibers + 1})
    rejected({.workers = 2, .max_fibers = n}, "max_fibers", n, "67108864");
  for (std::size_t const n : {most, most / 2, (std::size_t{1} << 40) + 1}) {
    rejected({.workers = 2, .stack_size = n}, "stack_size", n, "1099511627776");
    rejected({.workers = 2, .guard_size = n}, "guard_size", n, "1099511627776");
  }
  heist::executor largest{options{.workers = 2, .max_fibers = heist::detail::most_fibers, .guard_size = 0}};
  CHECK(largest.invoke([] { return 1; }) == 1);
}

TEST_CASE("options: pinned workers work, also on a machine that is not this one", "[sched]") {
  heist::executor real{options{.workers = 2, .pin = heist::pinning::pus}};
  CHECK(real.invoke([] { return 1; }) == 1);
  heist::executor pretended{
      options{.machine = heist::topology::parse("package:1 core:3 pu:1"), .pin = heist::pinning::pus}};
  CHECK(pretended.worker_count() == 3);
  CHECK(pretended.invoke([] { return 1; }) == 1);
}

TEST_CASE("options: the affinity mask is read when the executor is made, and pinned workers stay inside it",
          "[sched]") {
  auto const whole = heist::topology::this_machine();
  for (auto const& p : whole.pus) {
    std::thread([&] {
      REQUIRE(heist::topology::bind_this_thread(whole, p));
      heist::executor<> ex;
      CHECK(ex.worker_count() == 1);
      heist::executor<> pinned{{.workers = 3, .pin = heist::pinning::pus}};
      for (int i = 0; i != 10; ++i) {
        CHECK(pinned.submit([] { return heist::topology::allowed_cpus(); }).get() ==
              std::vector<std::uint32_t>{p.os_index});
      }
    }).join();
  }
}
