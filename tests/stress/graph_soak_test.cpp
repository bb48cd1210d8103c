// Everything at once for a while: graphs of all kinds, asyncs, threads from outside, executors born and dying,
// exceptions, stops. Prints its seed and, each second, its counts. HEIST_SEED repeats a run as far as threads allow,
// HEIST_SOAK_SECONDS says how long.
#include <unistd.h>  // sysconf

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>   // printf, fopen
#include <cstdlib>  // getenv
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <heist/heist.hpp>

#include "support/catch.hpp"
#include "support/random_graph.hpp"
#include "support/watchdog.hpp"

namespace {

using clock = std::chrono::steady_clock;
using heist_test::any_of;
using heist_test::chance;
using heist_test::random_engine;

std::uint64_t environment_number(char const* name, std::uint64_t otherwise) {
  char const* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

double resident_mebibytes() {
  long pages = 0;
  if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Every piece of work is counted when it is handed over, and when it has run or is known not to.
struct counts {
  std::atomic<std::uint64_t> submitted{0}, executed{0}, cancelled{0};
  std::atomic<std::uint64_t> runs{0}, thrown{0}, stopped{0}, executors{0}, foreign{0};
  std::atomic<std::uint64_t> wrong{0};  ///< runs that ended without exception or stop and did not run everything
};

struct planted {};

/// A graph whose tasks count themselves; `ran` is this graph's own count for one run.
class counted_graph {
 public:
  counted_graph(random_engine& random, counts& all) : all_{all} {
    auto const s = heist_test::all_shapes[any_of(random, 0, heist_test::all_shapes.size() - 1)];
    auto const plain = heist_test::make_graph(s, heist_test::any_size(random, heist::under_tsan ? 200 : 2000), random);
    std::vector<heist::task<>> tasks;
    for (std::uint32_t i = 0; i < plain.size; ++i) {
      auto const kind = any_of(random, 0, 99);
      tasks.push_back(graph.emplace([this, i, kind](heist::context c) { work(i, kind, c); }));
      if (kind == 99) tasks.back().limit(two_);
    }
    for (auto const& [from, to] : plain.edges) tasks[from].precede(tasks[to]);
    size = plain.size;
  }

  /// Books one ended run, of which `passes` were asked for.
  void book(bool cut, std::uint64_t passes) {
    std::uint64_t const asked = passes * size;
    std::uint64_t const done = ran.exchange(0);
    all_.executed += done;
    if (cut) {
      all_.cancelled += asked - done;
    } else if (done != asked) {
      ++all_.wrong;
    }
    if (two_.available() != 2) ++all_.wrong;
  }

  heist::task_graph graph;
  std::uint64_t size = 0;
  std::atomic<std::uint64_t> ran{0};
  std::atomic<std::uint32_t> fails_at{~0u};
  std::atomic<std::uint32_t> stops_at{~0u};
  std::stop_source stop;

 private:
  void work(std::uint32_t i, std::uint32_t kind, heist::context c) {
    ++ran;
    switch (kind) {
      case 0:
        c.fork_join([] { std::this_thread::yield(); }, [] {});
        break;
      case 1:
        ++all_.submitted;
        c.submit([this] { ++all_.executed; }).get();
        break;
      case 2: {
        heist::task_graph local;
        all_.submitted += 2;
        auto a = local.emplace([this] { ++all_.executed; });
        a.precede(local.emplace([this] { ++all_.executed; }));
        c.run(local).get();
        break;
      }
      case 3:
        std::this_thread::yield();
        break;
      default:
        break;
    }
    if (i == stops_at) stop.request_stop();
    if (i == fails_at) throw planted{};
  }

  counts& all_;
  heist::limiter two_{2};
};

/// One run of one graph, in one of the ways there are.
template <class Executor>
void run_something(Executor& ex, random_engine& random, counts& all) {
  counted_graph g{random, all};
  for (std::uint32_t round = any_of(random, 1, 4); round != 0; --round) {
    std::uint64_t const passes = any_of(random, 1, 3);
    g.fails_at = chance(random, 0.3) && g.size != 0 ? any_of(random, 0, static_cast<std::uint32_t>(g.size - 1)) : ~0u;
    g.stops_at = chance(random, 0.2) && g.size != 0 ? any_of(random, 0, static_cast<std::uint32_t>(g.size - 1)) : ~0u;
    all.submitted += passes * g.size;
    ++all.runs;
    g.stop = std::stop_source{};
    auto run = ex.run_n(g.graph, passes, g.stop.get_token(), [] {});
    if (chance(random, 0.1)) run.request_stop();
    bool cut = false;
    try {
      run.get();
    } catch (planted const&) {
      cut = true;
      ++all.thrown;
    }
    if (run.stopped()) {
      cut = true;
      ++all.stopped;
    }
    g.book(cut, passes);
  }
}

template <class Idle>
void live_and_die(random_engine& random, counts& all, heist_test::watchdog& dog) {
  using executor = heist::executor<heist::policy::with_idle<heist::policy::random, Idle>>;
  ++all.executors;
  executor ex{heist::options{.workers = any_of(random, 1, 5)}};
  dog.watch(ex);
  for (std::uint32_t i = any_of(random, 0, 6); i != 0; --i) {
    if (chance(random, 0.5)) {
      run_something(ex, random, all);
    } else {
      std::uint32_t const n = any_of(random, 0, 20);
      all.submitted += n;
      for (std::uint32_t k = 0; k < n; ++k) ex.post([&all] { ++all.executed; });
    }
  }
  dog.unwatch(ex);
}  // dies with posts in flight

}  // namespace

TEST_CASE("a soak loses nothing: submitted equals executed plus cancelled", "[stress][graph][soak]") {
  std::uint64_t const seed = environment_number("HEIST_SEED", std::random_device{}());
  auto const length = std::chrono::seconds{environment_number("HEIST_SOAK_SECONDS", 5)};
  std::printf("soak: HEIST_SEED=%llu, %lld s\n", static_cast<unsigned long long>(seed),
              static_cast<long long>(length.count()));
  counts all;
  heist_test::watchdog dog{std::string{"soak"}, std::chrono::seconds{60}};
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> beats{0};
  std::vector<std::thread> threads;
  {
    heist::executor shared{4};
    dog.watch(shared);
    for (std::uint64_t t = 0; t < 3; ++t) {  // threads from outside that share an executor
      threads.emplace_back([&, t] {
        random_engine random{seed * 16 + t};
        while (!over) {
          ++all.foreign;
          if (chance(random, 0.7)) {
            run_something(shared, random, all);
          } else {
            std::uint32_t const n = any_of(random, 1, 100);
            all.submitted += n;
            std::vector<heist::future<void>> futures;
            for (std::uint32_t i = 0; i < n; ++i) {
              futures.push_back(shared.submit([&all, i] {
                ++all.executed;
                if (i % 10 == 9) throw planted{};
              }));
            }
            for (auto& f : futures) {
              if (chance(random, 0.5)) continue;  // dropped
              try {
                f.get();
              } catch (planted const&) {
                ++all.thrown;
              }
            }
          }
          ++beats;
        }
      });
    }
    threads.emplace_back([&] {  // executors of their own, which die
      random_engine random{seed * 16 + 15};
      while (!over) {
        switch (any_of(random, 0, 3)) {
          case 0:
            live_and_die<heist::idle::default_idle>(random, all, dog);
            break;
          case 1:
            live_and_die<heist::idle::adaptive>(random, all, dog);
            break;
          case 2:
            live_and_die<heist::idle::balanced>(random, all, dog);
            break;
          default:
            live_and_die<heist::idle::always_awake>(random, all, dog);
            break;
        }
        ++beats;
      }
    });

    auto const begin = clock::now();
    std::vector<double> resident;
    for (auto next = begin + std::chrono::seconds{1}; clock::now() < begin + length; next += std::chrono::seconds{1}) {
      std::uint64_t const before = beats;
      std::this_thread::sleep_until(next);
      if (beats != before) dog.section("soak");  // something has come to an end: it lives
      resident.push_back(resident_mebibytes());
      std::printf(
          "soak: %3zu s  submitted %llu  executed %llu  cancelled %llu  runs %llu  thrown %llu  stopped %llu  "
          "executors %llu  rss %.1f MiB\n",
          resident.size(), static_cast<unsigned long long>(all.submitted),
          static_cast<unsigned long long>(all.executed), static_cast<unsigned long long>(all.cancelled),
          static_cast<unsigned long long>(all.runs), static_cast<unsigned long long>(all.thrown),
          static_cast<unsigned long long>(all.stopped), static_cast<unsigned long long>(all.executors),
          resident.back());
      std::fflush(stdout);
    }
    over = true;
    for (auto& t : threads) t.join();
    shared.wait_idle();
    dog.unwatch(shared);

    if (resident.size() >= 4) {
      // The larger half of the noise is in the first half; a leak of one state per run would show as some MiB a second.
      auto const middle = resident.begin() + static_cast<std::ptrdiff_t>(resident.size() / 2);
      double const early = *std::max_element(resident.begin(), middle);
      double const late = *std::max_element(middle, resident.end());
      std::printf("soak: rss %.1f MiB in the first half, %.1f MiB in the second\n", early, late);
      if (!heist::under_asan && !heist::under_tsan) CHECK(late < early * 1.5 + 16);
    }
  }
  INFO("HEIST_SEED=" << seed);
  CHECK(all.wrong == 0);
  CHECK(all.submitted == all.executed + all.cancelled);
  CHECK(all.executed > 0);
}
