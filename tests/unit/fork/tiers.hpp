// Shared parts of the tests of policies with tiers.
#pragma once

#include <chrono>
#include <cstddef>  // size_t
#include <string>
#include <tuple>
#include <type_traits>

#include "heist/core/fork/scope.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

namespace heist_test {

/// Under sanitizers one: compilers take minutes. stress/placement_test.cpp has both there, too.
using tiered_policies =
    std::conditional_t<slow, std::tuple<heist::policy::cab>, std::tuple<heist::policy::cab, heist::policy::cats>>;

inline heist::options machine_of(char const* description, std::size_t workers) {
  return {.workers = workers,
          .machine = heist::topology::parse(description),
          .squads = heist::squad_by::package,
          .stack_size = std::size_t{256} << 10};
}
inline heist::options two_by_two() {
  return machine_of("package:2 l3:1(size=1MiB) core:2 pu:1", 4);
}
inline heist::options four_by_four() {
  return machine_of("package:4 l3:1(size=1MiB) core:4 pu:1", 16);
}
inline heist::options one_worker_each() {
  return machine_of("package:2 l3:1(size=1MiB) core:1 pu:1", 2);
}
inline heist::options one_squad() {
  return machine_of("package:1 l3:1(size=1MiB) core:2 pu:1", 2);
}

/// Has every squad been released, and does nothing wait in a pool?
template <class Executor>
bool all_free(Executor const& ex) {
  std::string const state = ex.state_text();
  return state.find("busy") == std::string::npos && state.find("pool not empty") == std::string::npos &&
         state.find("belongs") == std::string::npos;
}

template <class Context>
long fib(Context c, long n) {
  heist_test::yield();  // lets thieves in: there may be more workers than cores
  if (n < 2) return n;
  auto const [a, b] = c.fork_join([=](Context d) { return fib(d, n - 1); }, [=](Context d) { return fib(d, n - 2); });
  return a + b;
}

/// Does an executor still work? The run has a region of its own, so that it asks all squads.
template <class Executor>
bool works(Executor& ex) {
  heist::region r{{.boundary_level = 3}};
  return ex.invoke(r, [](auto c) { return fib(c, 8); }) == 21 && all_free(ex);
}

}  // namespace heist_test
