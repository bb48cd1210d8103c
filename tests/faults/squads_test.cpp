// Squads on machines that give less than they promise: masks that cut a squad in half, PUs that do not exist, too few
// stacks. Every run ends, with its result or with an error that says why.
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "faults/child_process.hpp"
#include "heist/core/fork/scope.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist_test::run_child;

namespace {

constexpr int repeats = heist_test::slow ? 2 : 5;

template <class Context>
long fib(Context c, long n) {
  if (n % 4 == 0) std::this_thread::yield();  // not always: each may cost a time slice of other threads
  if (n < 2) return n;
  auto const [a, b] = c.fork_join([=](Context d) { return fib(d, n - 1); }, [=](Context d) { return fib(d, n - 2); });
  return a + b;
}

/// Prints an executor's state before a child is killed for hanging.
template <class Executor>
struct reporter {
  explicit reporter(Executor& ex)
      : thread{[this, &ex] {
          for (int i = 0; !over; ++i) {
            std::this_thread::sleep_for(10ms);
            if (i % 400 == 399) std::fprintf(stderr, "%s", ex.state_text().c_str());
          }
        }} {}
  ~reporter() {
    over = true;
    thread.join();
  }
  std::atomic<bool> over{false};
  std::thread thread;
};

/// Forks, scopes and waits in all tiers; true if all results are right.
template <class Executor>
bool all_right(Executor& ex, region& r) {
  return ex.invoke(r, [](auto c) {
    std::atomic<long> n{0};
    heist::scope s{c};
    for (int i = 0; i < 12; ++i) s.fork([&](auto d) { n += fib(d, 3); });
    s.join();
    auto const [a, b, d] =
        c.fork_join([](auto e) { return fib(e, 7); }, [](auto e) { return e.submit([] { return 5L; }).get(); },
                    [](auto e) { return fib(e, 6); });
    return n == 24 && a == 13 && b == 5 && d == 8;
  });
}

template <class Executor>
void run_all(Executor& ex) {
  for (std::uint32_t level = 0; level < 5; ++level) {
    region r{{.boundary_level = level}};
    for (int i = 0; i < repeats; ++i) CHILD_REQUIRE(all_right(ex, r));
  }
  region profiled{{.branching = 2, .bytes = 64 << 20}};
  for (int i = 0; i < repeats; ++i) CHILD_REQUIRE(all_right(ex, profiled));
  CHILD_REQUIRE(ex.state_text().find("busy") == std::string::npos);
}

/// The CPUs that this process may use.
std::vector<int> allowed_cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int c = 0; c < CPU_SETSIZE; ++c) {
    if (CPU_ISSET(c, &set)) cpus.push_back(c);
  }
  return cpus;
}
bool use_only(std::vector<int> const& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int const c : cpus) CPU_SET(c, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

/// A run of `body` with the process confined to `cpus`.
template <class Body>
void confined(std::vector<int> const& cpus, Body body) {
  auto const report = run_child([&] {
    CHILD_REQUIRE(use_only(cpus));
    body();
  });
  INFO(cpus.size() << " CPUs: " << report.text());
  CHECK(report.clean());
}

}  // namespace

TEMPLATE_TEST_CASE("squads: this machine with masks that cut it, squads of each kind", "[faults]", heist::policy::cab,
                   heist::policy::cats) {
  auto const cpus = allowed_cpus();
  REQUIRE_FALSE(cpus.empty());
  std::vector<std::vector<int>> masks{cpus, {cpus.front()}, {cpus.back()}};
  if (cpus.size() > 2) masks.push_back({cpus.begin(), cpus.begin() + static_cast<std::ptrdiff_t>(cpus.size() / 2) + 1});
  for (auto const& mask : masks) {
    confined(mask, [] {
      using by = heist::squad_by;
      for (by const level : {by::automatic, by::package, by::numa, by::l3, by::l2, by::core}) {
        for (std::size_t const workers : {0u, 1u, 3u}) {
          for (auto const pin : {heist::pinning::none, heist::pinning::pus}) {
            heist::executor<TestType> ex{{.workers = workers, .squads = level, .pin = pin}};
            reporter const watch{ex};
            run_all(ex);
          }
        }
      }
    });
  }
}

TEMPLATE_TEST_CASE("squads: a described machine larger than the mask, and half of a squad's PUs missing", "[faults]",
                   heist::policy::cab, heist::policy::cats) {
  auto const cpus = allowed_cpus();
  confined({cpus.front()}, [] {
    for (auto const pin : {heist::pinning::none, heist::pinning::pus}) {
      for (auto const& pus : {std::vector<std::vector<std::uint32_t>>{}, {{0, 1}, {2}}, {{0}, {5, 6, 7}}}) {
        try {
          heist::executor<TestType> ex{{.workers = 7,
                                        .machine = heist::topology::parse("package:2 l3:1(size=1MiB) core:4 pu:1"),
                                        .squads = heist::squad_by::package,
                                        .squad_pus = pus,
                                        .pin = pin}};
          reporter const watch{ex};
          run_all(ex);
        } catch (heist::error const& e) {  // threads that cannot be pinned: says which
          std::printf("%s\n", e.what());
          CHILD_REQUIRE(pin == heist::pinning::pus);
          CHILD_REQUIRE(std::string{e.what()}.size() > 40);
        }
      }
    }
  });
}

TEST_CASE("squads: lists of PUs that make no sense are refused with a sentence", "[faults]") {
  auto const rejected = [](std::vector<std::vector<std::uint32_t>> pus, char const* words) {
    try {
      heist::executor<heist::policy::cab> ex{
          {.workers = 2, .machine = heist::topology::parse("package:2 core:2 pu:1"), .squad_pus = std::move(pus)}};
    } catch (heist::topology_error const& e) {
      return std::string{e.what()}.find(words) != std::string::npos;
    }
    return false;
  };
  CHECK(rejected({{0}, {}}, "has no PUs"));
  CHECK(rejected({{0}, {4}}, "names PU 4"));
  CHECK(rejected({{0, 1}, {1}}, "named by squad 0 and again by squad 1"));
}

TEMPLATE_TEST_CASE("squads: too few stacks, every run ends with its result or says so", "[faults]", heist::policy::cab,
                   heist::policy::cats) {
  for (auto const* machine : {"package:2 l3:1(size=1MiB) core:1 pu:1", "package:2 l3:1(size=1MiB) core:2 pu:1",
                              "package:1 l3:1(size=1MiB) core:2 pu:1"}) {
    for (std::size_t extra = 0; extra < 12; ++extra) {
      auto const report = run_child([=] {
        auto const described = heist::topology::parse(machine);
        std::size_t const workers = described.pus.size();
        heist::executor<TestType> ex{{.workers = workers,
                                      .machine = described,
                                      .squads = heist::squad_by::package,
                                      .max_fibers = workers + extra}};
        reporter const watch{ex};
        int right = 0, rejected = 0;
        for (int round = 0; round < 2 * repeats; ++round) {
          for (std::uint32_t level = 0; level < 5; ++level) {
            region r{{.boundary_level = level}};
            for (int again = 0; again < 2; ++again) {
              try {
                CHILD_REQUIRE(all_right(ex, r));
                ++right;
              } catch (heist::stack_error const& e) {
                CHILD_REQUIRE(std::string{e.what()}.find("max_fibers") != std::string::npos);
                ++rejected;
              }
              CHILD_REQUIRE(ex.state_text().find("busy") == std::string::npos);
            }
          }
        }
        std::printf("right %d, refused %d\n", right, rejected);
        CHILD_REQUIRE(right + rejected == 2 * repeats * 10);
      });
      INFO(machine << ", " << extra << " more stacks than workers: " << report.text());
      CHECK(report.clean());
    }
  }
}
