// Exceptions and stop requests in regions under policies with tiers: every squad is released, and the executor and the
// region work on.
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "heist/algorithm.hpp"
#include "support/yield.hpp"
#include "unit/fork/tiers.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist_test::all_free;
using heist_test::fib;
using heist_test::slow;
using heist_test::tiered_policies;
using heist_test::works;

namespace {

struct problem {
  int where;
};

std::vector<heist::options> machines() {
  return {heist_test::two_by_two(), heist_test::four_by_four(), heist_test::one_worker_each()};
}

/// A binary tree of tasks, numbered as in a heap, that throws in some of them.
struct thrower {
  static constexpr int levels = 4, tasks = (1 << levels) - 1;
  enum class moment { before_forking, after_joining };

  bool here(int task, moment when) const { return when == moment_of && (task == first || task == second); }
  template <class Context>
  int run(Context c, int task) const {
    ++ran;
    heist_test::yield();
    if (here(task, moment::before_forking)) throw problem{task};
    if (2 * task + 1 <= tasks) {
      bool const inter = by_hand;
      auto const left = [=, this](Context d) { return run(d, 2 * task); };
      auto const right = [=, this](Context d) { return run(d, 2 * task + 1); };
      auto const [a, b] = inter ? c.inter_fork(left, right) : c.fork_join(left, right);
      if (here(task, moment::after_joining)) throw problem{task};
      return a + b;
    }
    if (here(task, moment::after_joining)) throw problem{task};
    return 1;
  }
  /// The one that comes out: of two siblings' subtrees the left one's.
  int expected() const {
    auto const [low, high] = first < second ? std::pair{first, second} : std::pair{second, first};
    auto const path = [](int t) {  // from the root
      std::string p;
      for (; t > 1; t /= 2) p.insert(p.begin(), t % 2 == 0 ? 'l' : 'r');
      return p;
    };
    std::string const a = path(low), b = path(high);
    if (b.compare(0, a.size(), a) == 0) {  // the one is an ancestor of the other
      return moment_of == moment::before_forking ? low : high;
    }
    return a < b ? low : high;
  }

  int first, second;
  moment moment_of;
  bool by_hand = false;
  mutable std::atomic<int> ran{0};
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("tiers: an exception at every place of the tree, for every boundary", "[fork]",
                        tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    for (std::uint32_t boundary = 0; boundary <= thrower::levels + 1; ++boundary) {
      region r{{.boundary_level = boundary}};
      region by_hand{{.tiers_by_hand = true}};
      for (int first = 1; first <= thrower::tasks; ++first) {
        for (int const second : {first, 1 + first * 7 % thrower::tasks}) {
          for (auto const when : {thrower::moment::before_forking, thrower::moment::after_joining}) {
            bool const hand = boundary == thrower::levels + 1;
            thrower const t{first, second, when, hand};
            int caught = 0;
            try {
              ex.invoke(hand ? by_hand : r, [&](auto c) { return t.run(c, 1); });
            } catch (problem const& p) {
              caught = p.where;
            }
            CHECK(caught == t.expected());
            CHECK(all_free(ex));
            if (when == thrower::moment::after_joining) CHECK(t.ran == thrower::tasks);
          }
        }
        if (slow && first % 4 != 1) continue;
        CHECK(ex.invoke(r, [](auto c) { return fib(c, 5); }) == 5);
      }
    }
    CHECK(works(ex));
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: exceptions of a scope's children and around scopes", "[fork]", tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    for (std::uint32_t const boundary : {0u, 1u, 2u, 3u}) {
      region r{{.boundary_level = boundary}};
      for (int round = 0; round < (slow ? 3 : 20); ++round) {
        // A child throws: all others run, join() says it, the scope resumes.
        std::atomic<int> ran{0};
        CHECK(ex.invoke(r, [&](auto c) {
          heist::scope s{c};
          for (int i = 0; i < 30; ++i) {
            s.fork([&, i](auto d) {
              fib(d, 3);
              ++ran;
              if (i % 10 == round % 10) throw problem{i};
            });
          }
          int caught = -1;
          try {
            s.join();
          } catch (problem const& p) {
            caught = p.where;
          }
          for (int i = 0; i < 3; ++i) s.fork([&] { ++ran; });
          s.join();
          return caught % 10 == round % 10 ? 1 : 0;
        }) == 1);
        CHECK(ran == 33);
        // The destructor says it.
        CHECK_THROWS_AS(ex.invoke(r,
                                  [&](auto c) {
                                    heist::scope s{c};
                                    for (int i = 0; i < 5; ++i) s.fork([] { throw problem{1}; });
                                  }),
                        problem);
        // The frame throws with children forked: they run, its own exception comes out.
        std::atomic<int> children{0};
        try {
          ex.invoke(r, [&](auto c) {
            heist::scope s{c};
            for (int i = 0; i < 5; ++i) {
              s.fork([&](auto d) {
                fib(d, 3);
                ++children;
                throw problem{1};
              });
            }
            throw problem{2};
          });
          CHECK(false);
        } catch (problem const& p) {
          CHECK(p.where == 2);
        }
        CHECK(children == 5);
        CHECK(all_free(ex));
      }
    }
    CHECK(works(ex));
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: exceptions of futures, nested regions and 8 children", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::four_by_four()};
  heist_test::watchdog guard{ex, 60s};
  for (std::uint32_t const boundary : {0u, 1u, 2u, 3u}) {
    region r{{.boundary_level = boundary}};
    region inner;
    for (int round = 0; round < (slow ? 3 : 20); ++round) {
      auto const fails = [](auto) -> int { throw problem{3}; };
      CHECK_THROWS_AS(ex.invoke(r, [&](auto c) { return c.submit(fails).get(); }), problem);
      CHECK_THROWS_AS(ex.invoke(r,
                                [&](auto c) {
                                  auto const leaf = [&](auto d) { return d.submit(fails).get(); };
                                  auto const [a, b] = c.fork_join(leaf, leaf);
                                  return a + b;
                                }),
                      problem);
      CHECK_THROWS_AS(ex.invoke(r, [&](auto c) { return c.invoke(inner, fails); }), problem);
      int caught = 0;
      std::atomic<int> ran{0};
      try {
        ex.invoke(r, [&](auto c) {
          auto const good = [&](auto d) {
            fib(d, 3);
            return std::string(50, static_cast<char>('a' + ran++));
          };
          auto const bad = [&](int n) {
            return [&ran, n](auto d) -> std::string {
              fib(d, 3);
              ++ran;
              throw problem{n};
            };
          };
          c.fork_join(good, good, bad(3), good, bad(5), good, bad(7), bad(8));
        });
      } catch (problem const& p) {
        caught = p.where;
      }
      CHECK(caught == 3);
      CHECK(ran == 8);
      CHECK(all_free(ex));
    }
  }
  CHECK(works(ex));
}

TEMPLATE_LIST_TEST_CASE("tiers: a run stopped before it begins leaves the region alone", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r{{.boundary_level = 2}};
  std::stop_source source;
  source.request_stop();
  bool ran = false;
  CHECK_THROWS_AS(ex.invoke(heist::with{.stop = source.get_token()},
                            [&](auto c) {
                              ran = true;
                              c.invoke(r, [](auto) {});
                            }),
                  heist::stopped_error);
  CHECK_FALSE(ran);
  CHECK(r.explain().empty());
  CHECK(works(ex));
}

TEMPLATE_LIST_TEST_CASE("tiers: a stop request in every phase reaches all tasks, in every tier", "[fork]",
                        tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    for (std::uint32_t boundary = 0; boundary <= 5; ++boundary) {
      region r{{.boundary_level = boundary}};
      // At the entry, in each task of the tree, and when all is done.
      for (int stop_at = 0; stop_at <= 16; ++stop_at) {
        std::stop_source source;
        std::atomic<int> missed{0}, early{0};
        ex.invoke(heist::with{.stop = source.get_token()}, [&](auto outer) {
          std::atomic<bool> stopped{false};
          auto const stop = [&] {
            source.request_stop();
            stopped = true;
          };
          auto const look = [&](auto c) {
            bool const must = stopped;  // before it is asked
            if (must && !c.stop_requested()) ++missed;
          };
          auto const down = [&](auto self, auto c, int task) -> void {
            if (task != stop_at && stop_at == 16 && c.stop_requested()) ++early;
            look(c);
            heist_test::yield();
            if (task == stop_at) stop();
            look(c);
            if (2 * task + 1 > 15) return;
            c.fork_join([&](auto d) { self(self, d, 2 * task); }, [&](auto d) { self(self, d, 2 * task + 1); });
            look(c);
            heist::scope s{c};
            for (int i = 0; i < 4; ++i) s.fork([&](auto d) { look(d); });
          };
          if (stop_at == 0) stop();
          outer.invoke(r, [&](auto c) { down(down, c, 1); });
          look(outer);
          if (stop_at == 16) stop();
          look(outer);
        });
        CHECK(missed == 0);
        CHECK(early == 0);
        CHECK(all_free(ex));
      }
    }
    CHECK(works(ex));
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: stopped from outside at any moment, a loop over regions ends", "[fork]",
                        tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r{{.boundary_level = 2}};
  for (int round = 0; round < (slow ? 5 : 50); ++round) {
    std::stop_source source;
    std::atomic<int> steps{0};
    auto f = ex.submit(heist::with{.stop = source.get_token()}, [&](auto c) {
      while (!c.stop_requested()) {
        c.invoke(r, [](auto d) {
          auto const down = [](auto self, auto e, int left) -> void {
            if (left == 0 || e.stop_requested()) return;
            e.fork_join([&](auto g) { self(self, g, left - 1); }, [&](auto g) { self(self, g, left - 1); });
          };
          down(down, d, 6);
        });
        ++steps;
      }
    });
    while (steps < 1 + round % 5) std::this_thread::yield();
    source.request_stop();
    f.get();
    CHECK(all_free(ex));
  }
  CHECK(works(ex));
}

TEMPLATE_LIST_TEST_CASE("tiers: a region in a catch block", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  for (std::uint32_t level = 1; level != 4; ++level) {
    region r{{.boundary_level = level}};
    int wrong = 0;
    for (int i = 0; i != (slow ? 50 : 500); ++i) {
      ex.invoke([&](auto c) {
        try {
          throw std::runtime_error{std::to_string(i)};
        } catch (std::runtime_error const&) {
          if (c.invoke(r, [](auto in) { return fib(in, 6); }) != 8) ++wrong;
          try {
            throw;
          } catch (std::runtime_error const& again) {
            if (again.what() != std::to_string(i)) ++wrong;
          }
        }
      });
    }
    CHECK(wrong == 0);
    CHECK(all_free(ex));
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: a region's body computes in the executor's modes", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r{{.boundary_level = 1}};
  int in_body = 0, after = 0;
  for (int i = 0; i != 100; ++i) {
    ex.invoke([&](auto c) {
      int const before = std::fegetround();
      std::fesetround(FE_UPWARD);
      c.invoke(r, [&](auto) { in_body += std::fegetround() != before; });
      after += std::fegetround() == FE_UPWARD;
      std::fesetround(before);
    });
  }
  CHECK(in_body == 0);
  CHECK(after == 100);
}

namespace {

/// Loops of which each iteration takes a while end soon, whoever ends them. `other`: the options besides the stop token.
template <class Executor>
void loops_end_soon(Executor& ex, heist::loop_options other) {
  constexpr std::size_t n = 4000, soon = 64;
  auto const takes_a_while = [] { std::this_thread::sleep_for(200us); };

  std::atomic<std::size_t> late{0};
  std::stop_source stop;
  other.stop = stop.get_token();
  ex.invoke([&](auto c) {
    heist::for_each_index(
        c, std::size_t{0}, n,
        [&](std::size_t i) {
          if (stop.stop_requested()) ++late;
          takes_a_while();
          if (i == 5) stop.request_stop();
        },
        other);
  });
  CHECK(late <= soon);

  other.stop = {};
  late = 0;
  std::atomic<bool> thrown{false};
  CHECK_THROWS_AS(ex.invoke([&](auto c) {
    heist::for_each_index(
        c, std::size_t{0}, n,
        [&](std::size_t i) {
          takes_a_while();
          if (i == 5) {
            thrown = true;
            throw problem{0};
          }
          if (thrown) {  // the first exception of a program may take long to throw
            ++late;
            std::this_thread::sleep_for(10ms);
          }
        },
        other);
  }),
                  problem);
  CHECK(late <= soon);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("tiers: a loop in squads of one worker ends soon", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::one_worker_each()};
  heist_test::watchdog guard{ex, 60s};
  region r{{.boundary_level = 2}};
  loops_end_soon(ex, {.region = &r});
  CHECK(all_free(ex));
}

TEST_CASE("tiers: a loop of an executor with one worker ends soon", "[fork]") {
  heist::executor<> ex{1};
  heist_test::watchdog guard{ex, 60s};
  loops_end_soon(ex, {});
}
