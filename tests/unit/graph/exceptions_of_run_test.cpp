// graph_run::exceptions(): every exception that a task of a run threw, with the task's name.
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heist/async.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"

namespace {

std::string text_of(std::exception_ptr const& e) {
  try {
    std::rethrow_exception(e);
  } catch (std::exception const& known) {
    return known.what();
  } catch (...) {
    return "unknown";
  }
}

/// Tasks that all throw after all have begun.
struct all_throw {
  std::atomic<int> begun{0};
  heist::task_graph graph;

  explicit all_throw(int n) {
    for (int i = 0; i != n; ++i) {
      graph
          .emplace([this, i, n] {
            ++begun;
            while (begun != n) std::this_thread::yield();
            throw std::runtime_error{"from " + std::to_string(i)};
          })
          .name("task " + std::to_string(i));
    }
  }
};

}  // namespace

TEST_CASE("exceptions of a run: none, one, all, each with its task", "[graph]") {
  heist::executor ex{4};
  heist::task_graph fine;
  fine.emplace([] {});
  CHECK(ex.run(fine).exceptions().empty());

  heist::task_graph one;
  one.emplace([] { throw std::logic_error{"alone"}; }).name("the one");
  one.emplace([] {});
  for (int round = 0; round != 3; ++round) {
    auto run = ex.run(one);
    auto const found = run.exceptions();
    REQUIRE(found.size() == 1);
    CHECK(found[0].task == "the one");
    CHECK(text_of(found[0].exception) == "alone");
    CHECK_THROWS_AS(run.get(), std::logic_error);  // as before
    CHECK(run.exceptions().size() == 1);
  }

  all_throw four{4};
  for (int round = 0; round != 20; ++round) {
    four.begun = 0;
    auto run = ex.run(four.graph);
    auto const found = run.exceptions();
    REQUIRE(found.size() == 4);
    std::string first;
    try {
      run.get();
    } catch (std::runtime_error const& e) {
      first = e.what();
    }
    CHECK(text_of(found[0].exception) == first);
    std::vector<std::string> texts;
    for (auto const& f : found) {
      CHECK("from " + f.task.substr(5) == text_of(f.exception));
      texts.push_back(text_of(f.exception));
    }
    std::sort(texts.begin(), texts.end());
    CHECK(std::unique(texts.begin(), texts.end()) == texts.end());
  }
  ex.wait_idle();  // all have been asked for
}

TEST_CASE("exceptions of a run: of nested graphs, events, conditions and callbacks", "[graph]") {
  heist::executor ex{2};
  heist::task_graph inner;
  inner.emplace([] { throw std::runtime_error{"inside"}; }).name("inner task");
  heist::task_graph outer;
  outer.compose(inner).name("module");
  auto const nested = ex.run(outer).exceptions();
  REQUIRE(nested.size() == 1);
  CHECK(nested[0].task == "inner task");
  CHECK(text_of(nested[0].exception) == "inside");

  heist::task_graph waits;
  auto event = waits.emplace_event<int>().name("event");
  auto run = ex.run(waits);
  event.set_exception(std::make_exception_ptr(std::runtime_error{"told"}));
  auto const told = run.exceptions();
  REQUIRE(told.size() == 1);
  CHECK(told[0].task == "event");

  heist::task_graph chooses;
  chooses.emplace_condition([]() -> int { throw std::runtime_error{"no choice"}; }).name("condition");
  auto const chosen = ex.run(chooses).exceptions();
  REQUIRE(chosen.size() == 1);
  CHECK(chosen[0].task == "condition");

  heist::task_graph fine;
  fine.emplace([] {});
  auto const called = ex.run(fine, [] { throw std::runtime_error{"callback"}; }).exceptions();
  REQUIRE(called.size() == 1);
  CHECK(called[0].task.empty());
  CHECK(text_of(called[0].exception) == "callback");

  heist::task_graph unnamed;
  unnamed.emplace([] {});
  unnamed.emplace([] { throw 7; });
  auto const found = ex.run(unnamed).exceptions();
  REQUIRE(found.size() == 1);
  CHECK(!found[0].task.empty());
}

TEST_CASE("exceptions of a run: they end with its handle, and nobody has to ask", "[graph]") {
  auto const owned = std::make_shared<int>(1);
  struct owns {
    std::shared_ptr<int> what;
  };
  heist::executor ex{2};
  std::atomic<int> begun{0};
  heist::task_graph g;
  for (int i = 0; i != 2; ++i) {
    g.emplace([&] {
      ++begun;
      while (begun % 2 != 0) std::this_thread::yield();
      throw owns{owned};
    });
  }
  long const before = owned.use_count();
  for (int round = 0; round != 50; ++round) {
    {
      auto run = ex.run(g);
      if (round % 3 == 0) CHECK(run.exceptions().size() == 2);
      if (round % 3 == 1) run.wait();
    }
    try {
      ex.wait_idle();
    } catch (owns const&) {
    }
  }
  CHECK(owned.use_count() == before);
}

TEST_CASE("exceptions of a run: a stop is none", "[graph]") {
  heist::executor ex{1};
  heist::task_graph g;
  std::atomic<bool> begun{false};
  g.emplace([&](heist::context ctx) {
    begun = true;
    while (!ctx.stop_requested()) std::this_thread::yield();
    throw heist::stopped_error{"stopped"};
  });
  auto run = ex.run(g);
  while (!begun) std::this_thread::yield();
  run.request_stop();
  CHECK(run.exceptions().empty());
  CHECK(run.stopped());
  CHECK_THROWS_AS(heist::graph_run{}.exceptions(), heist::executor_error);
}
