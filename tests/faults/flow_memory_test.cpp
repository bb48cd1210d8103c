// operator new fails while tasks are given to a flow, at any call. The task then exists, with its place in the order of
// the program, or it does not exist, and the data are as before.
#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <thread>

#include "faults/child_process.hpp"
#include "faults/failing_new.hpp"
#include "heist/flow.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using heist_test::run_child;

namespace {

using numbers = std::array<long, 4>;

/// The same program with a flow, and at once: of each task, if it was taken.
template <class Flow, class Data>
long play(Flow& f, Data& x, numbers& oracle) {
  long rejected = 0;
  auto const give = [&](auto call, auto effect) {
    try {
      call();
      effect();
    } catch (std::bad_alloc const&) {
      ++rejected;
    }
  };
  for (long i = 0; i < 40; ++i) {
    auto &a = *x[i % 4], &b = *x[(i + 1) % 4];
    long &p = oracle[i % 4], &q = oracle[(i + 1) % 4];
    give(
        [&] {
          f.task(
              [](long const& from, long& to) {
                std::this_thread::yield();
                to += from;
              },
              heist::read(a), heist::update(b));
        },
        [&] { q += p; });
    give([&] { f.task([i](long& to) { to = i; }, heist::write(a)); }, [&] { p = i; });
    give([&] { f.task([](long& to) { to += 3; }, heist::commute(b)); }, [&] { q += 3; });
    give(
        [&] {
          f.task(
              [](long& to, long& too) {
                to += 1;
                too += 2;
              },
              heist::commute(a), heist::commute(b));
        },
        [&] {
          p += 1;
          q += 2;
        });
  }
  return rejected;
}

template <class MakeFlow, class Finish>
long sweep(MakeFlow make, Finish finish) {
  long rejected = 0;
  for (long n = 0;; ++n) {
    heist::executor ex{2};
    heist::task_graph g;
    auto f = make(ex, g);
    std::array<std::unique_ptr<heist::datum<long>>, 4> x;
    for (auto& d : x) d = std::make_unique<heist::datum<long>>(*f, 1L);
    numbers oracle{1, 1, 1, 1};
    {
      new_fault const fault{n};
      rejected += play(*f, x, oracle);
    }
    bool const all = failed_allocations() == 0;
    finish(ex, g, *f);
    for (std::size_t i = 0; i < 4; ++i) CHILD_REQUIRE(x[i]->value() == oracle[i]);
    if (all) return rejected;
  }
}

}  // namespace

TEST_CASE("memory: the n-th allocation fails while tasks are given to a flow, for every n", "[faults]") {
  auto const report = run_child(
      [] {
        long const rejected = sweep([](auto& ex, auto&) { return std::make_unique<heist::flow>(ex); },
                                    [](auto&, auto&, auto& f) { f.wait(); });
        CHILD_REQUIRE(rejected != 0);
      },
      300s);
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("memory: the same where the flow is recorded", "[faults]") {
  auto const report = run_child(
      [] {
        long const rejected = sweep([](auto&, auto& g) { return std::make_unique<heist::flow>(g); },
                                    [](auto& ex, auto& g, auto&) { ex.run(g).get(); });
        CHILD_REQUIRE(rejected != 0);
      },
      300s);
  INFO(report.text());
  CHECK(report.clean());
}
