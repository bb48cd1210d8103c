// heist/core/topology/discover.hpp, bind.hpp: the machine that runs the test, its affinity mask, and pinning.
#include "heist/core/topology/discover.hpp"

#include <sched.h>     // sched_getcpu
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // fork, _exit

#include <algorithm>  // sort
#include <cstdint>
#include <cstdlib>  // setenv
#include <string>
#include <thread>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/topology/bind.hpp"
#include "heist/core/topology/cpu_quota.hpp"
#include "heist/core/topology/synthetic.hpp"
#include "support/catch.hpp"

namespace {

namespace topology = heist::topology;

std::vector<std::uint32_t> os_indexes(topology::machine const& m) {
  std::vector<std::uint32_t> result;
  for (auto const& p : m.pus) result.push_back(p.os_index);
  std::sort(result.begin(), result.end());
  return result;
}

/// An environment variable for one block.
class with_env {
 public:
  with_env(char const* name, char const* value) : name_(name) { ::setenv(name, value, 1); }
  with_env(with_env const&) = delete;
  with_env& operator=(with_env const&) = delete;
  ~with_env() { ::unsetenv(name_); }

 private:
  char const* name_;
};

}  // namespace

TEST_CASE("this_machine_has_the_cpus_that_we_may_use") {
  auto const& m = topology::this_machine();
  CHECK(os_indexes(m) == topology::allowed_cpus());
  CHECK(m.is_this_machine);
  CHECK(m.core_count() >= 1);
  CHECK(m.core_count() <= m.pu_count());
  CHECK(&m == &topology::this_machine());
  CHECK(m == topology::discover());
  CHECK(topology::usable_cpus(m) <= m.pu_count());
  for (auto const& p : m.pus) CHECK(p.core >= 0);
  INFO(m.to_text());
  CHECK(m.to_text().find("not this machine") == std::string::npos);
}

TEST_CASE("discovery_respects_the_affinity_mask") {
  if (heist::under_tsan) return;  // ThreadSanitizer's own thread runs everywhere, so the process may too
  auto const whole = topology::discover();
  for (auto const& p : whole.pus) {
    auto const child = ::fork();  // in it, this thread is the process, and its mask the mask of the process
    if (child == 0) {
      bool good = topology::bind_this_thread(whole, p);
      auto const part = topology::discover();
      good = good && os_indexes(part) == std::vector<std::uint32_t>{p.os_index} && part.is_this_machine;
      ::_exit(good && part.core_count() == 1 ? 0 : 1);
    }
    REQUIRE(child > 0);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("this_machine_is_that_of_the_mask_that_holds_now") {
  auto const& whole = topology::this_machine();
  for (auto const& p : whole.pus) {
    std::thread([&] {
      CHECK(topology::bind_this_thread(whole, p));
      auto const& part = topology::this_machine();
      CHECK(os_indexes(part) == std::vector<std::uint32_t>{p.os_index});
      CHECK(&part == &topology::this_machine());
      CHECK(topology::unbind_this_thread(whole));
      CHECK(&topology::this_machine() == &whole);
    }).join();
  }
  {
    with_env const described{"HWLOC_SYNTHETIC", "core:3 pu:1"};
    CHECK(topology::this_machine().pu_count() == 3);
  }
  CHECK(&topology::this_machine() == &whole);
}

TEST_CASE("discovery_in_a_process_whose_threads_differ") {
  auto const whole = topology::discover();
  std::thread([&] {
    REQUIRE(topology::bind_this_thread(whole, 0));
    // The CPUs of threads that this thread starts, whatever CPUs other threads may use.
    CHECK(os_indexes(topology::discover()) == std::vector<std::uint32_t>{whole.pus[0].os_index});
  }).join();
}

TEST_CASE("binding_pinned_and_unbinding_frees") {
  auto const& m = topology::this_machine();
  auto const before = topology::allowed_cpus();
  std::thread([&] {
    for (std::uint32_t i = 0; i < m.pu_count(); ++i) {
      CHECK(topology::bind_this_thread(m, i));
      CHECK(topology::allowed_cpus() == std::vector<std::uint32_t>{m.pus[i].os_index});
      CHECK(::sched_getcpu() == static_cast<int>(m.pus[i].os_index));
    }
    CHECK(topology::unbind_this_thread(m));
    CHECK(topology::allowed_cpus() == before);
  }).join();
  CHECK(topology::allowed_cpus() == before);
}

TEST_CASE("described_machines_pin_nothing") {
  auto const m = topology::parse("core:1 pu:1");
  auto const before = topology::allowed_cpus();
  CHECK_FALSE(topology::bind_this_thread(m, m.pus[0]));
  CHECK_FALSE(topology::bind_this_thread(m, 0));
  CHECK_FALSE(topology::unbind_this_thread(m));
  CHECK(topology::allowed_cpus() == before);
}

TEST_CASE("binding_to_what_is_not_there_is_false") {
  auto m = topology::this_machine();
  CHECK_FALSE(topology::bind_this_thread(m, static_cast<std::uint32_t>(m.pu_count())));
  m.pus[0].os_index = 1u << 20;
  CHECK_FALSE(topology::bind_this_thread(m, 0));
  CHECK_FALSE(topology::unbind_this_thread(topology::machine{}));
}

TEST_CASE("hwloc_variables_describe_another_machine") {
  with_env const variable("HWLOC_SYNTHETIC", "package:3 l3:1 core:2 pu:1");
  auto const m = topology::discover();
  CHECK(m.package_count() == 3);
  CHECK(m.pu_count() == 6);
  CHECK_FALSE(m.is_this_machine);
  CHECK_FALSE(m.note.empty());
}

TEST_CASE("malformed_hwloc_variables_leave_the_real_machine") {
  with_env const variable("HWLOC_SYNTHETIC", "garbage");
  CHECK(topology::discover() == topology::this_machine());
}

TEST_CASE("claimed_but_unreal_machines_are_not_this_machine") {
  with_env const variable("HWLOC_SYNTHETIC", "core:4096 pu:1");
  with_env const claim("HWLOC_THISSYSTEM", "1");
  auto const m = topology::discover();
  CHECK(m.pu_count() >= 1);
  CHECK((!m.is_this_machine || os_indexes(m) == topology::allowed_cpus()));
}

TEST_CASE("without_hwloc_the_machine_is_flat") {
  with_env const nothing("HWLOC_COMPONENTS", "stop");
  auto const m = topology::discover();
  CHECK(os_indexes(m) == topology::allowed_cpus());
  CHECK(m.core_count() == m.pu_count());
  CHECK(m.is_this_machine);
  CHECK(m.note.find("hwloc cannot read this machine") != std::string::npos);
  CHECK(m.to_text().find(m.note) != std::string::npos);
}
