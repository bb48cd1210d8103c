// Counters, NUMA nodes of pages and trace files, refused in every way. The result is zeros and a sentence that states
// the reason, or an error that names the file. No file stays open.
#include "faults/interposer.hpp"
// The interposers come first.
#include "faults/interposed_files.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "faults/child_process.hpp"
#include "faults/failing_new.hpp"
#include "faults/sweep.hpp"
#include "heist/core/topology/discover.hpp"
#include "heist/locality/counters/hardware_counters.hpp"
#include "heist/tools/observe/chrome_trace.hpp"
#include "heist/tools/observe/page_nodes.hpp"
#include "heist/tools/observe/recorder.hpp"
#include "heist/tools/simulate/recorded_file.hpp"
#include "heist/tools/simulate/streams.hpp"
#include "support/catch.hpp"

namespace {

using heist_test::fault;
using heist_test::run_child;

/// A sentence that tells the user how to repair it.
bool fixes(std::string const& message) {
  return message.find("fix it by") != std::string::npos;
}

/// Counters that are there, or that say why not; values never go back. Returns if they were there.
bool count_something() {
  heist::hardware_counters c;
  CHILD_REQUIRE(c.available() == c.why().empty());
  CHILD_REQUIRE(c.available() || fixes(c.why()));
  auto before = c.read();
  for (int i = 0; i != 4; ++i) {
    auto const now = c.read();
    CHILD_REQUIRE(now.private_misses >= before.private_misses);
    CHILD_REQUIRE(now.instructions >= before.instructions);
    before = now;
  }
  CHILD_REQUIRE(c.available() || before == heist::counter_values{});
  return c.available();
}

/// As count_something() on the machine that is made up, and looks that all is closed.
void count_on_made_up_machine() {
  counting.exists = true;
  count_something();
  CHILD_REQUIRE(counting.opened == 0);
  CHILD_REQUIRE(counting.mapped == 0);
}

std::string in_temporary_files(char const* name) {
  return (std::filesystem::temp_directory_path() / ("heist_faults_" + std::to_string(::getpid()) + name)).string();
}

struct removed_at_end {
  std::string path;
  ~removed_at_end() { std::remove(path.c_str()); }
};

heist::sim::recorded_program recording() {
  heist::sim::recorded_program r;
  r.name = "graph";
  r.graph = true;
  r.graph_runs = 2;
  for (std::uint64_t i = 1; i != 500; ++i) {
    r.tasks.emplace_back();
    r.tasks.back().work = {10 * i};
  }
  r.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
  return r;
}

}  // namespace

TEST_CASE("sites: what is left behind is seen", "[faults]") {
  auto const report = run_child([] {
    auto& leaks = heist_test::board().leaks;
    auto const unseen = leaks.load();
    std::thread{[] {}}.join();  // with the first thread a sanitizer starts one of its own, which stays
    {
      holdings const before;
      auto* const left = new int{1};
      CHILD_REQUIRE(!nothing_leaked(before, "planted: memory", 0));
      delete left;
      CHILD_REQUIRE(nothing_leaked(before, "memory", 0));
    }
    {
      holdings const before;
      int const left = ::dup(STDOUT_FILENO);
      CHILD_REQUIRE(!nothing_leaked(before, "planted: a file", 0));
      ::close(left);
    }
    {
      holdings const before;
      ++live_stacks;
      CHILD_REQUIRE(!nothing_leaked(before, "planted: a stack", 0));
      --live_stacks;
      std::atomic<bool> over{false};
      std::thread left{[&] {
        while (!over) std::this_thread::yield();
      }};
      CHILD_REQUIRE(!nothing_leaked(before, "planted: a thread", 0, 10));
      over = true;
      left.join();
      CHILD_REQUIRE(nothing_leaked(before, "all", 0));
    }
    CHILD_REQUIRE(leaks == unseen + 4);
    leaks = unseen;
  });
  must_be_clean(report, "planted leaks");
}

TEST_CASE("sites: this machine's own counters, or its own refusal", "[faults]") {
  auto const report = run_child([] { std::printf("counters here: %s\n", count_something() ? "yes" : "no"); });
  must_be_clean(report, "own counters");
  std::printf("%s", report.output.c_str());
}

TEST_CASE("sites: the n-th counter is refused, for each reason", "[faults]") {
  auto const there = run_child([] {
    counting.exists = true;
    CHILD_REQUIRE(count_something());
  });
  must_be_clean(there, "a machine with counters");
  for (int const error : {EACCES, EPERM, ENOSYS, EMFILE, EINVAL, ENOENT, EBUSY, EOPNOTSUPP, EIO}) {
    for (long const in_a_row : {1L, heist_test::forever}) {
      counting.error = error;
      sweep("perf open: " + std::string{std::strerror(error)}, site_of("perf open"), count_on_made_up_machine,
            {.in_a_row = in_a_row, .may_reject = false});
    }
  }
  counting.error = ENOENT;
}

TEST_CASE("sites: counters are read short, with interruptions, or not at all", "[faults]") {
  sweep("perf read", site_of("perf read"), count_on_made_up_machine, {.may_reject = false});
  sweep("perf read, all from the n-th on", site_of("perf read"), count_on_made_up_machine,
        {.in_a_row = heist_test::forever, .may_reject = false});
  auto const never = run_child([] {
    counting.exists = true;
    fault const f{site_of("perf read"), 1, heist_test::forever};
    heist::hardware_counters c;
    CHILD_REQUIRE(!c.available());  // a pinned group that is in error from the start
    CHILD_REQUIRE(fixes(c.why()));
  });
  must_be_clean(never, "never read");
}

TEST_CASE("sites: counters' pages and files cannot be mapped, unmapped, closed", "[faults]") {
  for (bool const maps : {true, false}) {
    counting.maps = maps;
    sweep("perf mmap", site_of("perf mmap"), count_on_made_up_machine, {.may_reject = false});
    sweep("perf close", site_of("perf close"), count_on_made_up_machine, {.may_reject = false});
    sweep("perf read where there are pages", site_of("perf read"), count_on_made_up_machine, {.may_reject = false});
  }
  counting.maps = true;
  sweep("perf munmap", site_of("perf munmap"), count_on_made_up_machine, {.may_reject = false});
  sweep("page size", site_of("page size"), count_on_made_up_machine, {.may_reject = false});
}

TEST_CASE("sites: the kernel does not say which processor it is, or what it allows", "[faults]") {
  sweep("processor files", site_of("processor files"), count_on_made_up_machine, {.may_reject = false});
  counting.error = EACCES;
  sweep("processor files, and a refusal", site_of("processor files"),
        [] {
          fault const f{site_of("perf open"), 1, heist_test::forever};
          count_on_made_up_machine();
        },
        {.may_reject = false});
  counting.error = ENOENT;
}

TEST_CASE("sites: the n-th allocation fails while counters are made", "[faults]") {
  sweep("new: counters", site_new, count_on_made_up_machine);
  sweep("new: counters that are refused", site_new, [] {
    fault const f{site_of("perf open"), 3, heist_test::forever};
    count_on_made_up_machine();
  });
}

TEST_CASE("sites: the kernel does not say where pages are", "[faults]") {
  auto const ask = [] {
    std::vector<char> const memory(std::size_t{1} << 20, 'x');
    auto const found = heist::pages_of(memory.data(), memory.size());
    CHILD_REQUIRE(found.pages() >= memory.size() / 65536);
    CHILD_REQUIRE((found.unknown < found.pages() || fixes(found.note)));
    heist::first_touch_check check;
    check.touched(memory.data(), memory.size());
    CHILD_REQUIRE(check.right() + check.wrong() + check.unknown() > 0);
    CHILD_REQUIRE(!check.text().empty());
  };
  if (ends_well(ask)) {
    sweep("page nodes", site_of("page nodes"), ask, {.may_reject = false});
    sweep("page nodes, all from the n-th on", site_of("page nodes"), ask,
          {.in_a_row = heist_test::forever, .may_reject = false});
    sweep("own node", site_of("own node"), ask, {.may_reject = false});
    sweep("page size of nodes", site_of("page size"), ask, {.may_reject = false});
    sweep("new: pages", site_new, ask);
  }
}

TEST_CASE("sites: a trace cannot be opened, written, closed", "[faults]") {
  removed_at_end const file{in_temporary_files(".trace.json")};
  heist::recorder observer;
  auto const write = [&] {
    heist::write_chrome_trace(file.path, observer);
    CHILD_REQUIRE(std::filesystem::file_size(file.path) > 0);
  };
  sweep("trace file", site_of("trace file"), write);
  sweep("trace file, all from the n-th on", site_of("trace file"), write, {.in_a_row = heist_test::forever});
  sweep("new: trace", site_new, write);
}

TEST_CASE("sites: a recording cannot be written or read", "[faults]") {
  removed_at_end const file{in_temporary_files(".recording.json")};
  auto const original = recording();
  auto const there_and_back = [&] {
    heist::sim::save(original, file.path);
    CHILD_REQUIRE(heist::sim::load_recorded_program(file.path) == original);
  };
  sweep("recording written", site_of("recording written"), there_and_back);
  sweep("recording read", site_of("recording read"), there_and_back);
  sweep("new: recording", site_new, there_and_back, {.dense = 100});
}

TEST_CASE("sites: streams have no thread or memory", "[faults]") {
  heist::sim::options wanted{.machine = heist::topology::this_machine()};
  wanted.caches.private_bytes = wanted.caches.shared_bytes = 16 << 10;
  auto const measure = [&] { CHILD_REQUIRE(heist::sim::measure_streams(wanted, 1 << 20).memory_line > 0); };
  sweep("thread: streams", site_of("thread"), measure);
  sweep("new: streams", site_new, measure);
}
