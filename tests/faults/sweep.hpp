// Fails the n-th call of a site, for n = 1, 2, ... until a whole scenario passes without that call. Looks for resources
// that are left. To be included after failing_new.hpp and interposer.hpp.
#pragma once

#include <dirent.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "faults/child_process.hpp"
#include "faults/failing_new.hpp"
#include "faults/fault_sites.hpp"
#include "faults/interposer.hpp"
#include "heist/core/base/errors.hpp"
#include "support/catch.hpp"

/// LeakSanitizer's, where there is one.
extern "C" int __lsan_do_recoverable_leak_check() __attribute__((weak));

namespace {

inline long entries_of(char const* directory) noexcept {
  long n = 0;
  if (DIR* const d = ::opendir(directory)) {
    while (::readdir(d) != nullptr) ++n;
    ::closedir(d);
  }
  return n;
}

/// The resources of a process that must be given back.
struct holdings {
  long allocations = live_allocations;
  long stacks = live_stacks;
  long files = entries_of("/proc/self/fd");
  long threads = entries_of("/proc/self/task");

  /// The kernel lists a thread for a moment after it has been joined; so often it is looked whether it still does.
  static holdings settled(holdings const& wanted, int looks) {
    for (int i = 0; i != looks && entries_of("/proc/self/task") != wanted.threads; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds{500});
    }
    return {};
  }
  friend bool operator==(holdings const&, holdings const&) = default;
  std::string text() const {
    return std::to_string(allocations) + " allocations, " + std::to_string(stacks) + " stacks, " +
           std::to_string(files) + " files, " + std::to_string(threads) + " threads";
  }
};

/// True if the process holds no more than before; else prints the difference, and counts a leak.
inline bool nothing_leaked(holdings const& before, std::string_view where, long n, int looks = 100'000) {
  auto const after = holdings::settled(before, looks);
  if (after == before) return true;
  ++heist_test::board().leaks;
  std::printf("leak: %s, call %ld: before %s; after %s\n", std::string{where}.c_str(), n, before.text().c_str(),
              after.text().c_str());
  return false;
}

inline long mappings_now() {
  std::ifstream maps{"/proc/self/maps"};
  long n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

/// A scenario either ends well, which it checks itself, or throws an exception that heist documents. True if it ended
/// well.
template <class Scenario>
bool ends_well(Scenario& scenario) {
  try {
    scenario();
    return true;
  } catch (std::bad_alloc const&) {
  } catch (heist::error const& e) {
    CHILD_REQUIRE(std::string_view{e.what()}.size() > 30);  // a sentence
  }
  return false;
}

/// How a site is swept.
struct sweep_options {
  long in_a_row = 1;
  long dense = 1'000'000;            ///< every n up to here, one in 16 behind
  long least = 1, most = 1'000'000;  ///< n goes so far, whether or not the scenario has so many calls this time
  bool may_reject = true;            ///< false: the scenario must end well
  std::chrono::seconds limit{60};
};

struct sweep_result {
  long places = 0, rejected = 0;
};

/// In this process, which has run the scenario before.
template <class Scenario>
sweep_result sweep_here(std::string_view name, std::size_t site, Scenario scenario, sweep_options const& how) {
  sweep_result result;
  scenario();
  long const mappings = mappings_now();
  for (long n = 1; n <= how.most; n += n < how.dense ? 1 : 1 + n / 16) {
    holdings const before;
    heist_test::fault f{site, n, how.in_a_row};
    bool const well = ends_well(scenario);
    f.stop();
    settle();
    CHILD_REQUIRE(nothing_leaked(before, name, n));
    CHILD_REQUIRE(well || (how.may_reject && f.failed() != 0));
    scenario();  // as if nothing had happened
    if (f.failed() == 0 && n >= how.least) break;
    result.places += f.failed() != 0;
    result.rejected += !well;
  }
  // Exact counts are above; this would see memory that bypasses them.
  if (!heist::under_asan && !heist::under_tsan) CHILD_REQUIRE(mappings_now() <= mappings + 64);
  return result;
}

/// The report of a child that was to end without a word.
inline void must_be_clean(heist_test::child_report const& report, std::string const& what) {
  if (report.signal != 0 && !report.timed_out) ++heist_test::board().crashes;
  INFO(what << ": " << report.text());
  CHECK(report.clean());
}

/// In a child, all n in one process.
template <class Scenario>
void sweep(std::string const& name, std::size_t site, Scenario scenario, sweep_options how = {}) {
  auto const report = heist_test::run_child(
      [&] {
        auto const r = sweep_here(name, site, scenario, how);
        CHILD_REQUIRE(r.places > 0);  // otherwise nothing was shown
        std::printf("%s: %ld calls failed one after the other, %ld times that was said\n", name.c_str(), r.places,
                    r.rejected);
        if (__lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0) {
          ++heist_test::board().leaks;
          CHILD_REQUIRE(false);
        }
      },
      how.limit);
  must_be_clean(report, name);
  std::printf("%s", report.output.c_str());
}

/// For calls that a process makes once: a child for each n, in which the scenario has not run before.
template <class Scenario>
void sweep_first_calls(std::string const& name, std::size_t site, Scenario scenario, sweep_options how = {}) {
  for (long n = 1; n <= 64; ++n) {
    auto const failures = heist_test::board().of[site].injected.load();
    auto const report = heist_test::run_child(
        [&] {
          heist_test::fault f{site, n, how.in_a_row};
          bool const well = ends_well(scenario);
          f.stop();
          settle();
          CHILD_REQUIRE(well || (how.may_reject && f.failed() != 0));
          scenario();
        },
        how.limit);
    must_be_clean(report, name + ", call " + std::to_string(n));
    if (heist_test::board().of[site].injected == failures) {
      CHECK(n > 1);
      break;
    }
  }
}

}  // namespace
