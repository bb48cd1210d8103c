// All parts of heist at once for a while: graphs of all kinds, fork/join trees, regions recorded and followed, asyncs,
// exceptions, stops. Threads from outside take part, and executors of many policies are made and destroyed. Once a
// second the threads pause. No task may be in flight then, and the process must hold no more than before.
// HEIST_SOAK_SECONDS says how long, HEIST_SEED repeats a run as far as threads allow.
#include <fmt/format.h>

#include <algorithm>  // max
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>   // fputs
#include <cstdlib>  // getenv
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "heist/tools/observe/counters.hpp"
#include "heist/topology.hpp"
#include "stress/soak_tracker.hpp"
#include "stress/soak_work.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

namespace {

using clock = std::chrono::steady_clock;
using heist::replay_mode;
using heist::policy::with_idle;
using heist::policy::with_order;
using heist_test::any_of;
using heist_test::chance;
using heist_test::random_engine;

using heist_test::slow;

std::uint64_t environment_number(char const* name, std::uint64_t fallback) {
  char const* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

void say(std::string const& line) {
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
}

heist::options any_options(random_engine& random) {
  heist::options wanted{.workers = any_of(random, 1, 5), .stack_size = std::size_t{256} << 10};
  if (chance(random, 0.3)) wanted.machine = heist::topology::parse("package:2 l3:1 core:2 pu:1");
  return wanted;
}

/// An executor that works a little and dies with posts in flight.
template <class Policy>
void live_and_die(random_engine& random, heist_test::soak_counts& all, heist_test::watchdog& timeout_guard) {
  ++all.executors;
  heist::region r{{.branching = 2, .bytes = std::size_t{64} << 20}};
  heist::executor<Policy> ex{any_options(random)};
  timeout_guard.watch(ex);
  for (std::uint32_t i = any_of(random, 0, 6); i != 0; --i) {
    switch (any_of(random, 0, 3)) {
      case 0:
        run_graphs(ex, random, all);
        break;
      case 1:
        run_trees(ex, random, chance(random, 0.7) ? &r : nullptr, all);
        break;
      default:
        post_some(ex, random, all);
    }
  }
  timeout_guard.unwatch(ex);
}

/// A tree is recorded, and followed in every mode.
template <class Executor>
void record_and_follow(Executor& ex, random_engine& random, heist_test::soak_counts& all) {
  std::uint64_t const seed = random();
  heist::region first;
  heist_test::counted_tree recorded{.seed = seed, .depth = any_of(random, 1, 5)};
  run_tree(ex, recorded, &first, all);
  for (auto const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered, replay_mode::relaxed}) {
    heist::region again;
    again.follow(first.tree(), mode);
    heist_test::counted_tree t{.seed = chance(random, 0.8) ? seed : random(), .depth = recorded.depth};
    if (chance(random, 0.1)) t.fails_at = any_of(random, 0, 20);
    if (chance(random, 0.1)) t.stops_at = any_of(random, 0, 20);
    ++all.followed;
    run_tree(ex, t, &again, all);
  }
}

/// Threads that work through a gate, each with a sign of life.
class crew {
 public:
  explicit crew(heist_test::gate& g) : gate_{g} {}
  crew(crew const&) = delete;
  crew& operator=(crew const&) = delete;

  void add(std::uint64_t seed, std::function<void(random_engine&)> work) {
    std::atomic<std::uint64_t>& beat = beats_[threads_.size()];
    threads_.emplace_back([this, &beat, seed, work = std::move(work)] {
      random_engine random{seed};
      while (!over_) {
        heist_test::gate::pass const inside{gate_};
        work(random);
        ++beat;
      }
    });
  }
  /// Has each of them ended a piece of work since the last time this was true?
  bool all_live() {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (beats_[i] == seen_[i]) return false;
    }
    for (std::size_t i = 0; i < threads_.size(); ++i) seen_[i] = beats_[i];
    return true;
  }
  void end() {
    over_ = true;
    for (auto& t : threads_) t.join();
    threads_.clear();
  }

 private:
  heist_test::gate& gate_;
  std::atomic<bool> over_{false};
  std::array<std::atomic<std::uint64_t>, 16> beats_{};
  std::array<std::uint64_t, 16> seen_{};
  std::vector<std::thread> threads_;
};

/// The values that are measured each second.
struct history {
  std::vector<double> resident, heap, mappings;
  heist_test::process_state first, last;

  void add(heist_test::process_state const& now) {
    if (resident.empty()) first = now;
    last = now;
    resident.push_back(now.resident);
    heap.push_back(now.heap);
    mappings.push_back(static_cast<double>(now.mappings));
  }
  /// By how much they grew in the second half.
  static double late_growth(std::vector<double> const& all) {
    return heist_test::growth({all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end()});
  }
};

}  // namespace

TEST_CASE("a soak loses nothing and holds no more than it needs", "[stress][soak]") {
  std::uint64_t const seed = environment_number("HEIST_SEED", std::random_device{}());
  std::uint64_t const seconds = environment_number("HEIST_SOAK_SECONDS", 5);
  say(fmt::format("soak: HEIST_SEED={}, {} s\n", seed, seconds));
  heist_test::keep_one_heap();
  auto const before = heist_test::measure_process();
  heist_test::soak_counts all;
  history past;
  std::uint64_t unbalanced = 0;
  std::atomic<std::int64_t> worst_start{0};  // nanoseconds
  std::uint64_t probes_slept = 0;
  {
    heist_test::watchdog timeout_guard{std::string{"soak"}, std::chrono::seconds{120}};
    heist_test::gate gate;
    crew threads{gate};
    heist::executor shared{4};
    heist::executor<heist::policy::replay> recording{heist::options{.workers = 3}};
    heist::executor<heist::policy::random, heist::counters> probed{heist::options{.workers = 2}};
    heist::region kept;  // one region for the whole soak, which refines its schedule
    kept.adapt();
    timeout_guard.watch(shared);
    timeout_guard.watch(recording);
    timeout_guard.watch(probed);

    for (std::uint64_t t = 0; t < 3; ++t) {  // threads from outside that share an executor
      threads.add(seed * 16 + t, [&](random_engine& random) {
        switch (any_of(random, 0, 4)) {
          case 0:
            submit_some(shared, random, all);
            break;
          case 1:
            run_trees(shared, random, nullptr, all);
            break;
          default:
            run_graphs(shared, random, all);
        }
      });
    }
    threads.add(seed * 16 + 13, [&](random_engine& random) {
      record_and_follow(recording, random, all);
      heist_test::counted_tree t{.seed = 7, .depth = 5};
      run_tree(recording, t, &kept, all);
    });
    threads.add(seed * 16 + 14, [&](random_engine& random) {  // how long does a sleeping worker take to start a task?
      std::this_thread::sleep_for(std::chrono::microseconds{any_of(random, 0, 3000)});
      ++all.submitted;
      std::atomic<std::int64_t> started{0};
      std::int64_t const posted = heist::os_env::nanoseconds();
      probed
          .submit([&] {
            started = heist::os_env::nanoseconds();
            ++all.executed;
          })
          .get();
      worst_start = std::max(worst_start.load(), started - posted);
    });
    threads.add(seed * 16 + 15, [&](random_engine& random) {  // executors of their own, which die
      switch (any_of(random, 0, 6)) {
        case 0:
          return live_and_die<with_idle<heist::policy::random, heist::idle::adaptive>>(random, all, timeout_guard);
        case 1:
          return live_and_die<with_idle<heist::policy::random, heist::idle::bws>>(random, all, timeout_guard);
        case 2:
          return live_and_die<with_idle<heist::policy::random, heist::idle::spinning>>(random, all, timeout_guard);
        case 3:
          return live_and_die<with_order<heist::policy::random, heist::order::child_first>>(random, all, timeout_guard);
        case 4:
          return live_and_die<heist::policy::cab>(random, all, timeout_guard);
        case 5:
          return live_and_die<heist::policy::cats>(random, all, timeout_guard);
        default:
          return live_and_die<heist::policy::replay>(random, all, timeout_guard);
      }
    });

    auto const begin = clock::now();
    std::uint64_t const lines = std::max<std::uint64_t>(1, seconds / 60);  // about 60 lines, however long
    auto const all_kinds = [&] { return all.followed > 0 && all.executors > 0 && all.thrown > 0 && all.cancelled > 0; };
    for (std::uint64_t second = 1; second <= seconds || !all_kinds(); ++second) {
      std::this_thread::sleep_until(begin + std::chrono::seconds{second});
      std::uint64_t const ended = all.executed + all.cancelled;
      std::uint64_t const in_flight = all.submitted - ended;
      gate.close();
      heist_test::until_idle(shared);  // for tasks that were posted, or whose future was dropped
      heist_test::until_idle(recording);
      heist_test::until_idle(probed);
      unbalanced += all.submitted != all.executed + all.cancelled;
      past.add(heist_test::settled(past.first.threads));
      gate.open();
      if (threads.all_live()) timeout_guard.section("soak");
      if (second % lines != 0 && second != seconds) continue;
      auto const& now = past.last;
      say(fmt::format(
          "soak: {:>5} s  submitted {}  in flight before the pause {}  cancelled {}  graphs {}  trees {}  followed {}  "
          "thrown {}  stopped {}  executors {}  rss {:.1f} MiB  heap {:.1f} MiB  maps {}  fds {}  threads {}  "
          "slowest start {:.1f} ms\n",
          second, all.submitted.load(), in_flight, all.cancelled.load(), all.graphs.load(), all.trees.load(),
          all.followed.load(), all.thrown.load(), all.stopped.load(), all.executors.load(), now.resident, now.heap,
          now.mappings, now.descriptors, now.threads, static_cast<double>(worst_start) * 1e-6));
    }
    threads.end();
    heist_test::until_idle(shared);
    heist_test::until_idle(probed);
    probes_slept = probed.observer().total().sleeps;
    timeout_guard.unwatch(shared);
    timeout_guard.unwatch(recording);
    timeout_guard.unwatch(probed);
  }
  auto const after = heist_test::settled(before.threads);
  auto const balance = static_cast<std::int64_t>(all.submitted - all.executed - all.cancelled);
  double const resident = history::late_growth(past.resident);
  double const heap = history::late_growth(past.heap);
  double const mappings = history::late_growth(past.mappings);
  say(
      fmt::format("soak: in the second half rss {:+.2f} MiB, heap {:+.2f} MiB, maps {:+.1f}; when all is over heap "
                  "{:+.2f} MiB, maps {:+}, fds {:+}, threads {:+}; {} starts after a sleep\n",
                  resident, heap, mappings, after.heap - before.heap, after.mappings - before.mappings,
                  after.descriptors - before.descriptors, after.threads - before.threads, probes_slept));
  say(fmt::format(
      "soak     {}:{:02}:{:02}  tasks {}  submitted-executed-cancelled {}  rss {:+.1f} MiB  fds {}->{}  "
      "maps {}->{}  worst park-to-run {:.1f} ms\n",
      seconds / 3600, seconds / 60 % 60, seconds % 60, all.executed.load(), balance, resident, past.first.descriptors,
      past.last.descriptors, past.first.mappings, past.last.mappings, static_cast<double>(worst_start) * 1e-6));

  INFO("HEIST_SEED=" << seed);
  CHECK(all.wrong == 0);
  CHECK(balance == 0);
  CHECK(unbalanced == 0);
  CHECK(all.executed > 0);
  CHECK(probes_slept > 0);
  CHECK(past.last.descriptors == past.first.descriptors);
  CHECK(past.last.threads == past.first.threads);
  CHECK(after.descriptors == before.descriptors);
  if (!slow) CHECK(after.threads == before.threads);  // the sanitizers have threads of their own
  if (!slow && seconds >= 10) {  // before that, memory kept for later still grows, longest beside other work
    CHECK(resident < (seconds >= 600 ? 1 : 4));
    CHECK(heap < 1);
    CHECK(mappings < 200);
  }
}
