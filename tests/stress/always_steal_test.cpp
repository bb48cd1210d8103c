// Every fork gives the rest of its frame to another worker, and every join resumes on yet another one. No task is lost,
// values and exceptions arrive where they belong, and the sanitizers follow the switches.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heist/core/base/random.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "heist/graph.hpp"
#include "support/always_stolen.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist_test::always_stolen;
using heist_test::placed_context;
using heist_test::replaying;

namespace {

using heist_test::slow;
constexpr std::size_t worker_counts[] = {2, 3, 5};

/// Runs it some times on each number of workers; `good(result)` says whether the result is right.
template <class Program, class Good>
void steal_all(char const* name, Program program, Good good) {
  int const rounds = heist_test::stress_rounds(30);
  for (std::size_t const workers : worker_counts) {
    replaying ex{workers};
    heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, name};
    always_stolen stolen{ex, program};
    REQUIRE(stolen.steals != 0);
    for (int i = 0; i != rounds; ++i) {
      REQUIRE(good(stolen()));
      REQUIRE(stolen.region.explain().empty());
      REQUIRE(stolen.region.tree().steal_count() + stolen.region.tree().join_count() == stolen.steals);
    }
    REQUIRE(stolen.wrong == 0);
    REQUIRE(stolen.right >= stolen.steals * static_cast<std::size_t>(rounds));
  }
}

long serial_fib(int n) {
  return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2);
}
long fib(placed_context& ctx, int n) {
  if (n < 2) return n;
  auto const [a, b] =
      ctx.fork_join([n](placed_context& c) { return fib(c, n - 1); }, [n](placed_context& c) { return fib(c, n - 2); });
  return a + b;
}

/// Nested forks of five, the children of which write where their parent reads.
long fives(placed_context& ctx, int levels, long value) {
  if (levels == 0) return value;
  std::array<long, 5> plain{};
  auto const child = [&plain, levels, value](std::size_t i) {
    return [&plain, levels, value, i](placed_context& c) {
      plain[i] = fives(c, levels - 1, value * 5 + static_cast<long>(i));
      return std::to_string(plain[i]);
    };
  };
  auto const texts = ctx.fork_join(child(0), child(1), child(2), child(3), child(4));
  bool const same = std::get<0>(texts) == std::to_string(plain[0]) && std::get<4>(texts) == std::to_string(plain[4]);
  return same ? std::accumulate(plain.begin(), plain.end(), 0L) : -1'000'000;
}

long scopes(placed_context& ctx, std::uint32_t width, int levels) {
  if (levels == 0) return 1;
  std::vector<long> plain(width, 0);
  for (int twice = 0; twice != 2; ++twice)
    ctx.scope(width, [&](placed_context& c, std::uint32_t i) { plain[i] += scopes(c, width - 1, levels - 1); });
  return std::accumulate(plain.begin(), plain.end(), 0L);
}

struct thrown : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Nothing of an exception is to be seen where none is handled.
bool clean() {
  return std::uncaught_exceptions() == 0 && !std::current_exception();
}

/// Forks of three tasks. The tasks in `who` throw through three levels, with a frame to be unwound on each.
struct exceptions {
  std::atomic<int>* unwound;

  int operator()(placed_context& ctx) const {
    int right = 0;
    for (unsigned who = 0; who != 8; ++who) {
      bool caught = false;
      try {
        level(ctx, who, 3);
      } catch (thrown const& e) {
        // The first in order of the arguments.
        caught = e.what() == "child " + std::to_string((who & 1) != 0 ? 0 : (who & 2) != 0 ? 1 : 2);
        try {
          throw;
        } catch (thrown const& again) {
          caught = caught && &again == &e;
        }
      }
      right += caught == (who != 0) && clean();
    }
    return right;
  }

  struct counts_itself {
    std::atomic<int>& unwound;
    int const before = std::uncaught_exceptions();
    ~counts_itself() { unwound += std::uncaught_exceptions() - before; }
  };

  void level(placed_context& ctx, unsigned who, int levels) const {
    counts_itself const frame{*unwound};
    auto const child = [this, who, levels](unsigned i) {
      return [this, who, levels, i](placed_context& c) {
        counts_itself const inner{*unwound};
        if (!clean()) throw std::logic_error{"an exception of another task's"};
        if ((who >> i & 1) == 0) return;
        if (levels != 1) return level(c, who, levels - 1);
        throw thrown{"child " + std::to_string(i)};
      };
    };
    ctx.fork_join(child(0), child(1), child(2));
  }
};

/// Values that own memory, references, and futures that are waited for between the steals.
long values(placed_context& ctx) {
  std::vector<int> data(64, 1);
  auto const [a, b, c] = ctx.fork_join(
      [&data](placed_context&) { return std::make_unique<std::vector<int>>(data); },
      [&data](placed_context& in) -> std::vector<int>& {
        auto const sum = in.context().submit([&data] { return std::accumulate(data.begin(), data.end(), 0); });
        in.fork_join([](placed_context&) {}, [](placed_context&) {});
        data[0] = data[0] == 1 && sum.is_ready() ? 1 : data[0];
        sum.wait();
        return data;
      },
      [](placed_context& in) {
        auto [x, y] = in.fork_join([](placed_context&) { return std::string(100, 'x'); },
                                   [](placed_context&) { return std::string(100, 'y'); });
        return x + y;
      });
  return std::accumulate(a->begin(), a->end(), 0L) + (&b == &data ? 100 : 0) + static_cast<long>(c.size());
}

/// A guarded frame stays on its worker: its forks are called in place, and the tree is not followed.
struct guarded {
  replaying* ex;
  bool operator()(placed_context& ctx) const {
    auto const [first, second] = ctx.fork_join([](placed_context&) { return true; },
                                               [](placed_context& c) {
                                                 heist::no_migrate const stay;
                                                 std::size_t const before = c.worker_id();
                                                 c.context().fork_join([] {}, [] {});
                                                 return c.worker_id() == before;
                                               });
    return first && second;
  }
};

/// Forks, scopes and leaves by chance.
std::uint64_t by_chance(placed_context& ctx, std::uint64_t seed, int levels) {
  heist::fast_random random{seed};
  if (levels == 0) return seed;
  std::uint64_t sum = seed;
  for (std::uint32_t rounds = 1 + random.below(2); rounds != 0; --rounds) {
    auto const child = [seed, levels, rounds](std::uint64_t i) {
      return [=](placed_context& c) { return by_chance(c, seed * 31 + rounds * 7 + i, levels - 1); };
    };
    if (random.below(3) == 0) {
      std::uint32_t const n = random.below(5);
      std::vector<std::uint64_t> plain(n, 0);
      ctx.scope(n, [&](placed_context& c, std::uint32_t i) { plain[i] = child(i)(c); });
      for (std::uint64_t const p : plain) sum = sum * 3 + p;
    } else if (random.below(2) == 0) {
      auto const [a, b, c] = ctx.fork_join(child(0), child(1), child(2));
      sum = sum * 3 + a + 5 * b + 7 * c;
    } else {
      auto const [a, b] = ctx.fork_join(child(0), child(1));
      sum = sum * 3 + a + 5 * b;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("always steal: fib", "[stress]") {
  constexpr int n = slow ? 8 : 12;
  steal_all(
      "fib", [](placed_context& c) { return fib(c, n); }, [](long sum) { return sum == serial_fib(n); });
}

TEST_CASE("always steal: forks of five", "[stress]") {
  steal_all(
      "fives", [](placed_context& c) { return fives(c, 2, 1); }, [](long sum) { return sum == 25 * (25 + 12); });
}

TEST_CASE("always steal: scopes", "[stress]") {
  steal_all(
      "scopes", [](placed_context& c) { return scopes(c, 4, 3); }, [](long sum) { return sum == 8 * 4 * 3 * 2; });
}

TEST_CASE("always steal: exceptions from what was stolen and what was not", "[stress]") {
  std::atomic<int> unwound{0};
  int const rounds = heist_test::stress_rounds(30);
  for (std::size_t const workers : worker_counts) {
    replaying ex{workers};
    heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "exceptions"};
    unwound = 0;
    always_stolen stolen{ex, exceptions{&unwound}};
    int const frames = unwound;
    REQUIRE(frames != 0);
    for (int i = 0; i != rounds; ++i) {
      unwound = 0;
      REQUIRE(stolen() == 8);
      REQUIRE(unwound == frames);
    }
    REQUIRE(stolen.wrong == 0);
    REQUIRE(stolen.right >= stolen.steals * static_cast<std::size_t>(rounds));
  }
}

TEST_CASE("always steal: an exception that leaves the region, and the run after it", "[stress]") {
  for (std::size_t const workers : worker_counts) {
    replaying ex{workers};
    heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "leaves"};
    std::atomic<int> which{-1};
    always_stolen stolen{ex, [&which](placed_context& ctx) {
                           auto const leaf = [&which](int i) {
                             return [&which, i](placed_context&) {
                               if (which == i) throw thrown{std::to_string(i)};
                             };
                           };
                           ctx.fork_join([&](placed_context& c) { c.fork_join(leaf(0), leaf(1)); },
                                         [&](placed_context& c) { c.fork_join(leaf(2), leaf(3)); });
                           leaf(4)(ctx);
                         }};
    for (int i = -1; i != 5; ++i) {
      which = i;
      std::string said = "-1";
      try {
        stolen();
      } catch (thrown const& e) {
        said = e.what();
      }
      REQUIRE(said == std::to_string(i));
      REQUIRE(stolen.wrong == 0);
      REQUIRE(stolen.region.explain().empty());
    }
  }
}

TEST_CASE("always steal: values, references and futures", "[stress]") {
  steal_all("values", &values, [](long sum) { return sum == 64 + 100 + 200; });
}

TEST_CASE("always steal: a guard keeps a frame", "[stress]") {
  for (std::size_t const workers : worker_counts) {
    replaying ex{workers};
    heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "guarded"};
    always_stolen stolen{ex, guarded{&ex}};
    for (int i = 0; i != heist_test::stress_rounds(30); ++i) REQUIRE(stolen());
    REQUIRE(stolen.wrong == 0);
  }
}

TEST_CASE("always steal: programs by chance", "[stress]") {
  std::uint64_t const seed = heist_test::stress_seed("always_steal");
  int const programs = heist_test::stress_rounds(60);
  for (std::size_t const workers : worker_counts) {
    replaying ex{workers}, one{1};
    heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "by chance"};
    for (int i = 0; i != programs; ++i) {
      auto const run = [at = seed + static_cast<std::uint64_t>(i)](placed_context& c) { return by_chance(c, at, 3); };
      heist_test::steal_book book;
      std::uint64_t const expected = one.invoke([&](auto c) {
        placed_context ctx{c, book, 1};
        return run(ctx);
      });
      always_stolen stolen{ex, run};
      REQUIRE(stolen() == expected);
      REQUIRE(stolen() == expected);
      REQUIRE(stolen.wrong == 0);
      REQUIRE(stolen.region.explain().empty());
    }
  }
}

TEST_CASE("always steal: the nodes of a graph", "[stress]") {
  replaying ex{3};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "graph"};
  constexpr int n = slow ? 5 : 8, nodes = 12;
  using program = long (*)(placed_context&);
  std::vector<std::unique_ptr<always_stolen<program>>> parts;
  for (int i = 0; i != nodes; ++i)
    parts.push_back(std::make_unique<always_stolen<program>>(ex, [](placed_context& c) { return fib(c, n); }));
  std::vector<long> plain(nodes, 0);
  heist::task_graph g;
  std::vector<heist::task<>> made;
  for (std::size_t i = 0; i != nodes; ++i) {
    made.push_back(
        g.emplace([&, i](heist::context ctx) { plain[i] = parts[i]->within(ctx) + (i >= 3 ? plain[i - 3] : 0); }));
    if (i >= 3) made[i].succeed(made[i - 3]);
  }
  for (int round = 0; round != heist_test::stress_rounds(30); ++round) {
    ex.run(g).get();
    for (std::size_t i = 0; i != nodes; ++i) REQUIRE(plain[i] == serial_fib(n) * static_cast<long>(i / 3 + 1));
  }
  for (auto const& part : parts) {
    REQUIRE(part->wrong == 0);
    REQUIRE(part->right != 0);
  }
}
