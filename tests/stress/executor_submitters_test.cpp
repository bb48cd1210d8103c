// Many threads submit at once, wait, fork and throw; the counts balance.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

#include "heist/core/base/random.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

template <class Idle>
using with = heist::executor<heist::policy::with_idle<heist::policy::random, Idle>>;

struct counts {
  std::atomic<long> begun{0}, ended{0}, thrown{0}, caught{0};
};

/// A task that does a random mixture of everything, as deep as `left` says.
template <class Executor>
void mixture(Executor& ex, heist::context ctx, counts& n, std::uint64_t seed, int left) {
  ++n.begun;
  heist::fast_random random{seed};
  // Each child has a seed of its own: children run at the same time.
  auto const child = [&] {
    return [&ex, &n, s = random.next(), left](heist::context c) { mixture(ex, c, n, s, left - 1); };
  };
  if (left > 0) {
    switch (random.below(7)) {
      case 0:
        ex.submit(child()).get();
        break;
      case 1: {
        auto a = ctx.submit(child());
        auto b = ctx.submit(child());
        b.get();
        a.wait();
        break;
      }
      case 2:
        ex.post(child());
        break;
      case 3:
        ctx.fork_join(child(), child());
        break;
      case 4:
        try {
          ++n.thrown;
          ctx.fork_join([] { throw std::runtime_error{"child"}; }, [] {});
        } catch (std::runtime_error const&) {
          ex.submit([] {}).get();  // parks inside the handler
          ++n.caught;
        }
        break;
      case 5:
        try {
          ++n.thrown;
          ex.submit([]() -> int { throw 1; }).get();
        } catch (int) {
          ++n.caught;
        }
        break;
      default:
        for (auto i = random.below(500); i != 0; --i) heist::os_env::relax();
    }
  }
  ++n.ended;
}

}  // namespace

#define ALL_IDLE_POLICIES heist::idle::adaptive, heist::idle::spinning, heist::idle::bws, heist::idle::standard

TEMPLATE_TEST_CASE("submitters: eight threads submit a mixture of everything", "[stress]", ALL_IDLE_POLICIES) {
  auto const seed = heist_test::stress_seed("eight submitters");
  for (std::size_t const workers : {1u, 2u, 4u, 16u}) {
    counts n;
    with<TestType> ex{heist::options{.workers = workers, .stack_size = std::size_t{256} << 10}};
    heist_test::watchdog guard{"eight submitters", std::chrono::seconds{heist_test::stress_limit(60)},
                               [&] { return ex.state_text(); }};
    int const rounds = heist_test::stress_rounds(500);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < rounds; ++i) {
          std::uint64_t const s = seed + 1000003u * t + static_cast<std::uint64_t>(i);
          auto const task = [&ex, &n, s](heist::context c) { mixture(ex, c, n, s, 5); };
          if (i % 3 == 0) {
            ex.submit(task).get();
          } else if (i % 3 == 1) {
            static_cast<void>(ex.submit(task));
          } else {
            ex.post(task);
          }
          if (i % 50 == 49) ex.wait_idle();
        }
      });
    }
    for (auto& t : threads) t.join();
    ex.wait_idle();
    CHECK(n.begun == n.ended);
    CHECK(n.begun >= 8L * rounds);
    CHECK(n.thrown == n.caught);
    std::printf("  %zu workers: %ld tasks, %ld exceptions\n", workers, n.begun.load(), n.thrown.load());
  }
}

TEST_CASE("submitters: many threads post small tasks as fast as they can", "[stress]") {
  static_cast<void>(heist_test::stress_seed("fast posts"));
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"fast posts", std::chrono::seconds{heist_test::stress_limit(60)},
                               [&] { return ex.state_text(); }};
    int const each = heist_test::stress_rounds(20000);
    std::atomic<long> ran{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) ex.post([&] { ran.fetch_add(1, std::memory_order_relaxed); });
      });
    }
    for (auto& t : threads) t.join();
    ex.wait_idle();
    CHECK(ran == 8L * each);
  }
}
