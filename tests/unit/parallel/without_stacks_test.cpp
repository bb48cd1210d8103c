// At the limit options::max_fibers a task waits for work elsewhere that uses its frame. The task does not leave the
// frame before that work has ended.
#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "heist/algorithm.hpp"
#include "heist/async.hpp"
#include "heist/flow.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

/// Calls `f(other)` in a task on the only fiber of an executor; returns its result.
template <class F>
auto without_stacks(F f) {
  heist::executor alone{heist::options{.workers = 1, .max_fibers = 1}}, other{2};
  heist_test::watchdog guard{"without stacks", 60s, [&] { return other.state_text(); }};
  return alone.submit([&] { return f(other); }).get();
}

/// Until the task that waits for it would have left, if it did.
void be_late() {
  std::this_thread::sleep_for(20ms);
}

}  // namespace

TEST_CASE("without stacks: invoke, of executor_ref, too, and run_here return when the task has ended", "[dynamic]") {
  auto const sum = [](auto call) {
    return without_stacks([call](heist::executor<>& other) {
      auto const v = std::make_unique<std::vector<int>>(1000, 1);
      return call(other, [&] {
        be_late();
        return std::accumulate(v->begin(), v->end(), 0);
      });
    });
  };
  CHECK(sum([](auto& ex, auto f) { return ex.invoke(f); }) == 1000);
  CHECK(sum([](auto& ex, auto f) { return ex.invoke(heist::with{.stop = std::stop_source{}.get_token()}, f); }) ==
        1000);
  CHECK(sum([](auto& ex, auto f) { return heist::executor_ref{ex}.invoke(f); }) == 1000);
  CHECK(sum([](auto& ex, auto f) { return ex.run_here(f); }) == 1000);
}

TEST_CASE("without stacks: invoke on the task's own executor runs what it waits for", "[dynamic]") {
  heist::executor alone{heist::options{.workers = 1, .max_fibers = 1}};
  heist_test::watchdog guard{"on its own", 60s, [&] { return alone.state_text(); }};
  CHECK(alone.invoke([&] { return alone.invoke([&] { return alone.invoke([] { return 3; }); }); }) == 3);
}

TEST_CASE("without stacks: an algorithm on another executor returns when no iteration runs", "[dynamic]") {
  CHECK(without_stacks([](heist::executor<>& other) {
          auto const v = std::make_unique<std::vector<int>>(64, 1);
          heist::for_each(other, *v, [](int& x) {
            std::this_thread::sleep_for(1ms);
            x = 2;
          });
          return std::accumulate(v->begin(), v->end(), 0);
        }) == 128);
}

TEST_CASE("without stacks: a flow and its data wait for their tasks when they are destroyed", "[dynamic]") {
  std::atomic<int> seen{0};
  without_stacks([&](heist::executor<>& other) {
    heist::flow f{other};
    heist::datum<int> x{f, 1};
    f.task(
        [&](int& n) {
          be_late();
          seen = ++n;
        },
        heist::update(x));
  });
  CHECK(seen == 2);
}
