// Tasks that resume on another worker each time they wait, and parent-first forks whose second task always runs on
// another worker than the first. The tests check results and exceptions, and the sanitizers check the rest.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"
#include "support/migrate.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist_test::move_remote;
using heist_test::wait_until;

namespace {

using child_first = heist::executor<heist::policy::with_order<heist::policy::random, heist::order::child_first>>;

struct thrown : std::runtime_error {
  using runtime_error::runtime_error;
};

/// How often tasks were, or were not, where they had to be.
struct places {
  std::atomic<int> right{0}, wrong{0};
  void note(bool good) { ++(good ? right : wrong); }
};

/// Waits in a frame, in a handler, and in a destructor that an exception calls.
template <class Context>
int waits_everywhere(Context ctx, places& where) {
  auto const move = [&] {
    std::size_t const before = ctx.worker_id();
    move_remote(ctx);
    where.note(ctx.worker_id() != before);
  };
  struct moves_when_destroyed {
    decltype(move)& to;
    int& seen;
    ~moves_when_destroyed() {
      to();
      seen += std::uncaught_exceptions();
    }
  };
  int uncaught = 0, right = 0;
  std::vector<int> memory(10, 1);
  move();
  try {
    moves_when_destroyed const frame{move, uncaught};
    memory.push_back(1);
    throw thrown{"a text that does not fit into a short string"};
  } catch (thrown const& e) {
    move();
    right += std::string{e.what()} == "a text that does not fit into a short string";
    try {
      throw;
    } catch (std::exception const& again) {
      move();
      right += &again == &e;
    }
  }
  move();
  return right == 2 && uncaught == 1 && memory.size() == 11 && !std::current_exception() ? 1 : 0;
}

/// A fork whose first task resumes only after the other task has begun, so on another worker. As many workers as leaves
/// are enough: each worker waits for a task that no worker has, and there are not more tasks than leaves.
long all_taken(heist::context ctx, int levels, int throws, places& where) {
  if (levels == 0) {
    if (throws == 0) throw thrown{"leaf"};
    return 1;
  }
  std::atomic<bool> begun{false};
  std::size_t const first = ctx.worker_id();  // that of the first task, which is a call
  int const half = 1 << (levels - 1);
  auto const [a, b] = ctx.fork_join(
      [&](heist::context c) {
        wait_until(begun);
        return all_taken(c, levels - 1, throws, where);
      },
      [&](heist::context c) {
        begun = true;
        where.note(c.worker_id() != first);
        return all_taken(c, levels - 1, throws - half, where);
      });
  return a + b;
}

/// The same to the right only, for two workers.
long spine(heist::context ctx, int levels, places& where) {
  if (levels == 0) return 0;
  std::atomic<bool> begun{false};
  std::size_t const first = ctx.worker_id();  // that of the first task, which is a call
  auto const [a, b] = ctx.fork_join(
      [&] {
        wait_until(begun);
        return 1L;
      },
      [&](heist::context c) {
        begun = true;
        where.note(c.worker_id() != first);
        return spine(c, levels - 1, where);
      });
  return a + b;
}

}  // namespace

TEMPLATE_TEST_CASE("force migrate: a task that waits anywhere goes on on the other worker", "[stress]",
                   heist::executor<>, child_first) {
  TestType ex{2};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "waits"};
  int const rounds = heist_test::stress_rounds(300);
  places where;
  int right = 0;
  ex.invoke([&](typename TestType::context_type ctx) {
    for (int i = 0; i != rounds; ++i) right += waits_everywhere(ctx, where);
  });
  CHECK(right == rounds);
  CHECK(where.wrong == 0);
  CHECK(where.right == 5 * rounds);
}

TEST_CASE("force migrate: tasks of a graph", "[stress]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "graph"};
  constexpr int nodes = 8;
  places where;
  int right = 0;
  heist::task_graph g;
  std::vector<heist::task<>> chain;
  for (int i = 0; i != nodes; ++i) {
    chain.push_back(g.emplace([&](heist::context ctx) { right += waits_everywhere(ctx, where); }));
    if (i != 0) chain[static_cast<std::size_t>(i)].succeed(chain[static_cast<std::size_t>(i) - 1]);
  }
  int const rounds = heist_test::stress_rounds(50);
  for (int i = 0; i != rounds; ++i) ex.run(g).get();
  CHECK(right == rounds * nodes);
  CHECK(where.wrong == 0);
  CHECK(where.right == 5 * rounds * nodes);
}

TEST_CASE("force migrate: parent-first, every second task is taken", "[stress]") {
  constexpr int levels = 3, leaves = 1 << levels;
  heist::executor<> ex{leaves};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "taken"};
  int const rounds = heist_test::stress_rounds(100);
  places where;
  for (int i = 0; i != rounds; ++i) {
    CHECK(ex.invoke([&](heist::context c) { return all_taken(c, levels, -1, where); }) == leaves);
    std::string said;
    try {
      ex.invoke([&](heist::context c) { return all_taken(c, levels, i % leaves, where); });
    } catch (thrown const& e) {
      said = e.what();
    }
    CHECK(said == "leaf");
  }
  CHECK(where.wrong == 0);
  CHECK(where.right == 2 * rounds * (leaves - 1));
}

TEST_CASE("force migrate: parent-first, a chain of steals between two workers", "[stress]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "spine"};
  int const levels = heist_test::stress_rounds(500);
  places where;
  for (int i = 0; i != 10; ++i) CHECK(ex.invoke([&](heist::context c) { return spine(c, levels, where); }) == levels);
  CHECK(where.wrong == 0);
  CHECK(where.right == 10 * levels);
}
