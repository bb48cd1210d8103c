// Regions under policies with tiers: what runs as what, in which kinds of frames, and what a region says of it.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

#include "heist/core/executor/no_migrate.hpp"
#include "heist/locality/policy/boundary_level.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "unit/fork/tiers.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist::region_options;
using heist_test::all_free;
using heist_test::fib;
using heist_test::slow;
using heist_test::tiered_policies;
using heist_test::works;

namespace {

bool says(region const& r, char const* words) {
  return r.explain().find(words) != std::string::npos;
}

/// Calls `f(context, level)` in each task of a full binary tree, before it forks.
template <class Context, class F>
long tree(Context c, std::uint32_t level, std::uint32_t depth, F const& f) {
  f(c, level);
  if (level == depth) return 1;
  auto const [a, b] = c.fork_join([&](Context d) { return tree(d, level + 1, depth, f); },
                                  [&](Context d) { return tree(d, level + 1, depth, f); });
  return a + b;
}

long count(heist::context c, int n) {
  if (n == 0) return 1;
  auto const [a, b] =
      c.fork_join([=](heist::context d) { return count(d, n - 1); }, [=](heist::context d) { return count(d, n - 1); });
  return a + b;
}

}  // namespace

TEST_CASE("tiers: CAB's boundary level, and the sentence that says where it is from", "[fork]") {
  struct expectation {
    region_options options;
    std::optional<std::uint32_t> level;
    char const* words;
  };
  heist::executor<heist::policy::cab> ex{heist_test::four_by_four()};
  heist_test::watchdog guard{ex, 60s};
  for (auto const& [options, level, words] : {
           expectation{
               {.branching = 2, .bytes = 64 << 20}, 7, "boundary level 7 by Eq. 4: B = 2, M = 4, S_d = 67108864"},
           expectation{{.branching = 4, .bytes = 64 << 20}, 4, "by Eq. 4"},
           expectation{{.branching = 2, .bytes = 1}, 3, "by Eq. 4"},
           expectation{{.branching = 2}, 0, "how many bytes it touches"},
           expectation{{.bytes = 1 << 20}, 0, "into how many parts"},
           expectation{{.branching = 1, .bytes = 1 << 20}, 0, "into how many parts"},
           expectation{{}, 0, "traditional stealing because the region does not say"},
           expectation{{.boundary_level = 0}, 0, "boundary level 0 by hand"},
           expectation{{.boundary_level = 5}, 5, "boundary level 5 by hand, on 4 squads"},
           expectation{{.branching = 2, .bytes = 64 << 20, .boundary_level = 2}, 2, "by hand"},
           expectation{{.branching = 2, .bytes = 64 << 20, .tiers_by_hand = true}, std::nullopt, "two tiers by hand"},
       }) {
    region r{options};
    CHECK(r.explain().empty());
    CHECK_FALSE(r.boundary_level());
    for (int i = 0; i < 2; ++i) {
      CHECK(ex.invoke(r, [](auto c) { return fib(c, 6); }) == 8);
      INFO(r.explain());
      CHECK(r.boundary_level() == level);
      CHECK(says(r, words));
    }
    CHECK(r.profile().empty());
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: one squad is traditional stealing, whatever was asked for", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::one_squad()};
  heist_test::watchdog guard{ex, 60s};
  for (region_options const options : {region_options{.branching = 2, .bytes = 64 << 20},
                                       region_options{.boundary_level = 4}, region_options{.tiers_by_hand = true}}) {
    region r{options};
    CHECK(ex.invoke(r, [](auto c) { return fib(c, 8); }) == 21);
    CHECK(r.boundary_level() == 0);
    CHECK(says(r, "one squad"));
    CHECK(ex.invoke(r, [](auto c) {
      auto const [a, b] = c.inter_fork([] { return 1; }, [](auto d) { return fib(d, 7); });
      return a + b;
    }) == 14);
  }
}

TEST_CASE("tiers: a machine whose caches are unknown has Eq. 1 alone", "[fork]") {
  heist::executor<heist::policy::cab> ex{heist_test::machine_of("package:4 core:2 pu:1", 8)};
  heist_test::watchdog guard{ex, 60s};
  region r{{.branching = 2, .bytes = std::size_t{1} << 40}};
  CHECK(ex.invoke(r, [](auto c) { return fib(c, 8); }) == 21);
  CHECK(r.boundary_level() == 3);
  CHECK(says(r, "unknown, so by Eq. 1 alone"));
}

TEST_CASE("tiers: a policy without tiers runs a region as a call", "[fork]") {
  heist::executor<> ex{heist_test::two_by_two()};
  region r{{.branching = 2, .bytes = 64 << 20}};
  CHECK(ex.invoke(r, [](auto c) { return fib(c, 10); }) == 55);
  CHECK(r.explain().empty());
  CHECK_FALSE(r.boundary_level());
  CHECK(r.profile().empty());
}

TEMPLATE_LIST_TEST_CASE("tiers: inter-squad tasks start on heads, what leaf ones fork stays in their squad", "[fork]",
                        tiered_policies) {
  for (auto const& machine : {heist_test::two_by_two(), heist_test::four_by_four(), heist_test::one_worker_each()}) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    auto const squads = heist::topology::make_squads(ex.machine(), heist::squad_by::package, ex.worker_count());
    for (std::uint32_t const boundary : {1u, 2u, 3u, 6u}) {
      region r{{.boundary_level = boundary}};
      std::atomic<int> wrong{0}, inter{0};
      for (int round = 0; round < (slow ? 3 : 20); ++round) {
        CHECK(ex.invoke(r, [&](auto body) {
          auto const in_leaf = [&](auto self, auto c, std::uint32_t level, std::size_t squad) -> void {
            wrong += c.squad_id() != squad;
            if (level == 6) return;
            c.fork_join([&](auto d) { self(self, d, level + 1, squad); },
                        [&](auto d) { self(self, d, level + 1, squad); });
            wrong += c.squad_id() != squad;
          };
          auto const in_inter = [&](auto self, auto c, std::uint32_t level) -> int {
            ++inter;
            wrong += squads.head[c.squad_id()] != c.worker_id();
            if (level == boundary) {
              in_leaf(in_leaf, c, level, c.squad_id());
              return 1;
            }
            auto const [a, b] = c.fork_join([&](auto d) { return self(self, d, level + 1); },
                                            [&](auto d) { return self(self, d, level + 1); });
            wrong += squads.head[c.squad_id()] != c.worker_id();
            return a + b;
          };
          return in_inter(in_inter, body, 1);
        }) == 1 << (boundary - 1));
        CHECK(all_free(ex));
      }
      CHECK(wrong == 0);
      CHECK(inter == (slow ? 3 : 20) * ((1 << boundary) - 1));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: forks of 1, 3 and 8 in each kind of frame", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  for (std::uint32_t const boundary : {0u, 1u, 2u, 3u, 4u}) {
    region r{{.boundary_level = boundary}};
    for (int round = 0; round < (slow ? 3 : 20); ++round) {
      bool const right = ex.invoke(r, [](auto body) {
        auto const at = [](auto self, auto c, int left) -> bool {
          using context = decltype(c);
          if (left == 0) return true;
          auto const down = [&](context d) { return self(self, d, left - 1); };
          auto const [one] = c.fork_join(down);
          int number = 7;
          auto const [a, b, reference] = c.fork_join(
              down, [] {}, [&number]() -> int& { return number; });
          static_assert(std::is_same_v<std::remove_cvref_t<decltype(b)>, std::monostate>);
          auto const eight =
              c.fork_join([] { return 1; }, [] { return 2; }, [] { return 3; }, [](context d) { return fib(d, 5); },
                          [] { return std::make_unique<int>(6); }, [] { return std::string(100, 'x'); }, [] {}, down);
          return one && a && &reference == &number && std::get<0>(eight) == 1 && std::get<1>(eight) == 2 &&
                 std::get<2>(eight) == 3 && std::get<3>(eight) == 5 && *std::get<4>(eight) == 6 &&
                 std::get<5>(eight) == std::string(100, 'x') && std::get<7>(eight);
        };
        return at(at, body, 3);
      });
      CHECK(right);
    }
    CHECK(all_free(ex));
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: kernels that name heist::context", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  for (std::uint32_t const boundary : {0u, 1u, 2u, 4u}) {
    region r{{.boundary_level = boundary}};
    for (int round = 0; round < (slow ? 5 : 50); ++round) {
      CHECK(ex.invoke(r, [](auto c) { return count(c, 7); }) == 128);
      CHECK(ex.invoke(r, [](heist::context c) { return count(c, 7); }) == 128);
      CHECK(ex.invoke(r, [](heist::context c) {
        heist::scope<> s{c};
        std::atomic<long> n{0};
        for (int i = 0; i < 20; ++i) s.fork([&n](heist::context d) { n += count(d, 3); });
        s.join();
        return n.load();
      }) == 160);
    }
  }
  region by_hand{{.tiers_by_hand = true}};
  CHECK(ex.invoke(by_hand, [](heist::context c) {
    auto const [a, b] = c.inter_fork([](heist::context d) { return count(d, 5); },
                                     [](heist::context d) {
                                       auto const [x, y] = d.inter_fork([](heist::context e) { return count(e, 4); },
                                                                        [] { return 1l; });
                                       return x + y;
                                     });
    return a + b;
  }) == 32 + 16 + 1);
  CHECK(says(by_hand, "by hand"));
}

TEMPLATE_LIST_TEST_CASE("tiers: by hand only inter_fork makes inter-squad tasks", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::four_by_four()};
  heist_test::watchdog guard{ex, 60s};
  auto const squads = heist::topology::make_squads(ex.machine(), heist::squad_by::package, ex.worker_count());
  region r{{.tiers_by_hand = true}};
  std::atomic<int> wrong{0};
  auto const on_head = [&](auto c) { wrong += squads.head[c.squad_id()] != c.worker_id(); };
  for (int round = 0; round < (slow ? 5 : 50); ++round) {
    long const sum = ex.invoke(r, [&](auto c) {
      on_head(c);
      auto const stays = [&](auto d) {
        std::size_t const here = d.squad_id();
        return tree(d, 0, 4, [&](auto e, std::uint32_t) { wrong += e.squad_id() != here; });
      };
      std::size_t const scheduler = c.squad_id();
      auto const [a, b] = c.fork_join(stays, [&](auto d) {
        // Below a fork_join nothing is in the inter tier.
        auto const here = [&, scheduler](auto e) { wrong += e.squad_id() != scheduler; };
        d.inter_fork(here, here);
        here(d);
        return 1l;
      });
      auto const [x, y, z] = c.inter_fork(
          [&](auto d) {
            on_head(d);
            return stays(d);
          },
          [&](auto d) {
            on_head(d);
            return 1l;
          },
          [&](auto d) {
            on_head(d);
            d.inter_fork(on_head, on_head);
            return stays(d);
          });
      return a + b + x + y + z;
    });
    CHECK(sum == 16 + 1 + 16 + 1 + 16);
    CHECK(all_free(ex));
  }
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("tiers: outside of regions, and of tiers, inter_fork is fork_join", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  auto const both = [](auto c) {
    auto const [a, b] = c.inter_fork([](auto d) { return fib(d, 9); }, [](auto d) { return fib(d, 8); });
    return a + b;
  };
  CHECK(ex.invoke(both) == 55);
  CHECK(ex.invoke([&](heist::context c) { return both(c); }) == 55);
  region flat{{.boundary_level = 0}};
  CHECK(ex.invoke(flat, both) == 55);
  heist::executor<> plain{2};
  CHECK(plain.invoke(both) == 55);
}

TEMPLATE_LIST_TEST_CASE("tiers: a second run of a region at the same time is refused, and both go on", "[fork]",
                        tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  for (std::uint32_t const boundary : {0u, 1u, 3u}) {
    region r{{.boundary_level = boundary}};
    for (int round = 0; round < (slow ? 3 : 20); ++round) {
      std::atomic<bool> running{false}, over{false};
      auto first = ex.submit([&](auto outer) {
        return outer.invoke(r, [&](auto c) {
          running = true;
          while (!over) std::this_thread::yield();
          return fib(c, 8);
        });
      });
      while (!running) std::this_thread::yield();
      std::string why;
      try {
        ex.invoke(r, [](auto) { return 0; });
      } catch (heist::region_error const& e) {
        why = e.what();
      }
      CHECK(why.find("used by another run") != std::string::npos);
      CHECK_THROWS_AS(ex.invoke([&](auto c) { return c.invoke(r, [](auto) { return 0; }); }), heist::executor_error);
      over = true;
      CHECK(first.get() == 21);
      CHECK(ex.invoke(r, [](auto c) { return fib(c, 8); }) == 21);
      // Inside itself, in every kind of frame.
      CHECK(ex.invoke(r, [&](auto c) {
        return tree(c, 1, 4, [&](auto d, std::uint32_t) {
          try {
            d.invoke(r, [](auto) {});
            std::abort();
          } catch (heist::region_error const&) {
          }
        });
      }) == 8);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: a region inside another's run is part of it", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::four_by_four()};
  heist_test::watchdog guard{ex, 60s};
  auto const squads = heist::topology::make_squads(ex.machine(), heist::squad_by::package, ex.worker_count());
  region outer{{.boundary_level = 2}};
  for (int round = 0; round < (slow ? 5 : 50); ++round) {
    std::atomic<int> wrong{0};
    long const sum = ex.invoke(outer, [&](auto c) {
      region in_body{{.boundary_level = 4}};
      long n = c.invoke(in_body, [&](auto d) {
        // Still the outer region's frame: these are its leaf inter-squad tasks.
        auto const leaf = [&](auto e) {
          wrong += squads.head[e.squad_id()] != e.worker_id();
          std::size_t const here = e.squad_id();
          region in_leaf{{.boundary_level = 3}};
          return e.invoke(in_leaf, [&](auto f) {
            return tree(f, 1, 5, [&](auto g, std::uint32_t) { wrong += g.squad_id() != here; });
          });
        };
        auto const [a, b] = d.fork_join(leaf, leaf);
        return a + b;
      });
      CHECK(in_body.explain().empty());
      return n;
    });
    CHECK(sum == 32);
    CHECK(wrong == 0);
    CHECK(all_free(ex));
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: two regions at a time on one executor", "[fork]", tiered_policies) {
  for (auto const& machine : {heist_test::two_by_two(), heist_test::one_worker_each()}) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    region a{{.boundary_level = 3}}, b{{.boundary_level = 1}}, flat{{.boundary_level = 0}};
    for (int round = 0; round < (slow ? 5 : 50); ++round) {
      auto const run = [&](region& r) {
        return ex.submit([&](auto c) { return c.invoke(r, [](auto d) { return fib(d, 9); }); });
      };
      auto first = run(a), second = run(b), third = run(flat);
      CHECK(first.get() == 34);
      CHECK(second.get() == 34);
      CHECK(third.get() == 34);
      CHECK(all_free(ex));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: results of a region's body", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  for (std::uint32_t const boundary : {0u, 1u, 2u}) {
    region r{{.boundary_level = boundary}};
    int number = 1;
    ex.invoke(r, [&](auto) { ++number; });
    CHECK(number == 2);
    int& reference = ex.invoke(r, [&](auto) -> int& { return number; });
    CHECK(&reference == &number);
    CHECK(*ex.invoke(r, [](auto) { return std::make_unique<int>(3); }) == 3);
    CHECK(ex.invoke(r, [] { return std::string(100, 'y'); }) == std::string(100, 'y'));
    ex.invoke([&](auto c) {
      for (int step = 0; step < 20; ++step) c.invoke(r, [&](auto d) { number += static_cast<int>(fib(d, 3)); });
    });
    CHECK(number == 42);
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: a region on one executor after the other", "[fork]", tiered_policies) {
  heist::executor<TestType> small{heist_test::two_by_two()}, large{heist_test::four_by_four()},
      single{heist_test::one_squad()};
  heist_test::watchdog guard{large, 60s};
  guard.watch(small);
  heist::executor<> plain{2};
  region r{{.branching = 2, .bytes = 4 << 20, .boundary_level = 3}};
  for (int round = 0; round < (slow ? 3 : 30); ++round) {
    auto const run = [&](auto& ex) { return ex.invoke(r, [](auto c) { return fib(c, 9); }); };
    CHECK(run(small) == 34);
    CHECK(says(r, "on 2 squads"));
    CHECK(run(large) == 34);
    CHECK(says(r, "on 4 squads"));
    CHECK(run(plain) == 34);
    CHECK(run(large) == 34);
    CHECK(run(single) == 34);
    CHECK(says(r, "one squad"));
    CHECK(r.boundary_level() == 0);
    CHECK(run(small) == 34);
    CHECK(r.boundary_level() == 3);
  }
  CHECK(all_free(small));
  CHECK(all_free(large));
}
