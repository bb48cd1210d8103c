// A finished task's objects are released while its executor lives: no queue, deque, pool or slot keeps them.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "heist/graph.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;

namespace {

/// An object that tasks hold; `gone()` when no task holds it any more.
class held {
 public:
  std::shared_ptr<int> share() const { return own_; }
  /// Lets go of its own share.
  bool gone() {
    std::weak_ptr<int> const seen = own_;
    own_.reset();
    return seen.expired();
  }
  long holders() const { return own_.use_count() - 1; }

 private:
  std::shared_ptr<int> own_ = std::make_shared<int>(7);
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("finished tasks: what was posted or submitted holds nothing", "[sched]",
                        heist_test::both_orders) {
  heist::executor<TestType> ex{std::size_t{3}};
  heist_test::watchdog guard{ex, 60s, "finished tasks"};
  held posted, released, has_waited, failed, large, inside, token_of;
  std::vector<heist::future<int>> kept;
  for (int i = 0; i < 200; ++i) {
    ex.post([p = posted.share()] { return *p; });
    ex.post(
        [p = large.share(), filler = std::vector<int>(1000)] { return filler.size() + static_cast<std::size_t>(*p); });
    static_cast<void>(ex.submit([p = released.share()] { return *p; }));
    auto f = ex.submit([p = has_waited.share()] { return *p; });
    REQUIRE(f.get() == 7);
    auto g = ex.submit([p = failed.share()]() -> int { throw *p; });
    REQUIRE_THROWS_AS(g.get(), int);
    ex.post([&](auto c) { c.submit([p = inside.share()] { return *p; }).get(); });
    std::stop_source source;
    source.request_stop();
    auto stopped = ex.submit(heist::with{.stop = source.get_token()}, [p = token_of.share()] { return *p; });
    REQUIRE_THROWS_AS(stopped.get(), heist::stopped_error);
  }
  ex.wait_idle();
  CHECK(posted.gone());
  CHECK(released.gone());
  CHECK(has_waited.gone());
  CHECK(failed.gone());
  CHECK(large.gone());
  CHECK(inside.gone());
  CHECK(token_of.gone());
}

TEMPLATE_LIST_TEST_CASE("finished tasks: forks and scopes hold nothing after the join", "[sched]",
                        heist_test::both_orders) {
  heist::executor<TestType> ex{std::size_t{3}};
  heist_test::watchdog guard{ex, 60s, "finished forks"};
  for (int round = 0; round < (heist_test::slow ? 10 : 100); ++round) {
    held forked, scoped, thrown;
    long after_fork = -1, after_scope = -1;
    ex.invoke([&](auto c) {
      c.fork_join([p = forked.share()] { return *p; },
                  [p = forked.share()](auto d) { d.fork_join([p] { return *p; }, [p] { return *p; }); });
      after_fork = forked.holders();
      heist::scope s{c};
      for (int i = 0; i < 20; ++i) s.fork([p = scoped.share()] { return *p; });
      s.join();
      after_scope = scoped.holders();
      for (int i = 0; i < 20; ++i) {
        s.fork([p = thrown.share()] {
          if (*p == 7) throw std::make_shared<std::shared_ptr<int>>(p);  // the exception holds it, too
        });
      }
      try {
        s.join();
      } catch (std::shared_ptr<std::shared_ptr<int>> const&) {
      }
    });
    ex.wait_idle();
    REQUIRE(after_fork == 0);
    REQUIRE(after_scope == 0);
    REQUIRE(thrown.gone());
  }
}

TEST_CASE("finished tasks: a graph lets go of values, callbacks and cleared tasks, its executor of all", "[sched]") {
  heist::executor ex{std::size_t{3}};
  heist_test::watchdog guard{ex, 60s, "finished graphs"};
  held callback, predicate, exception, closure;
  heist::task_graph g;
  auto fails = g.emplace([] {});
  g.emplace([p = closure.share()] { return *p; });
  for (int i = 0; i < 50; ++i) {
    ex.run(g, [p = callback.share()] { static_cast<void>(*p); }).get();
    ex.run_until(g, [p = predicate.share()] { return *p == 7; }).get();
  }
  fails.work([&] { throw std::make_shared<std::shared_ptr<int>>(exception.share()); });
  for (int i = 0; i < 50; ++i) {
    auto run = ex.run(g);
    REQUIRE_THROWS_AS(run.get(), std::shared_ptr<std::shared_ptr<int>>);
  }
  fails.work([] {});
  ex.run(g).get();
  ex.wait_idle();
  CHECK(callback.gone());
  CHECK(predicate.gone());
  CHECK(exception.gone());
  CHECK(closure.holders() == 1);  // the task itself may run again
  g.clear();
  CHECK(closure.gone());
}
