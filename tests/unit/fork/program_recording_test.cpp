// heist/tools/measure/program_recording.hpp: exactly what ran, on a clock that only leaves move, under every policy.
#include "heist/tools/measure/program_recording.hpp"
#include "heist/measure.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/simulate.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/leaf_clock.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::record_program;
using heist::sim::recorded_program;
using heist_test::leaf_clock;
using heist_test::work;

namespace {

/// Calls f(executor) under every order and tier, on one worker and on four in two squads.
template <class F>
void at_all_places(F f) {
  auto const with = [&]<class Policy>(char const* name, Policy) {
    for (std::size_t const workers : {1u, 4u}) {
      INFO(name << ", " << workers << " workers");
      heist::executor<Policy> ex{
          heist::options{.workers = workers, .machine = heist::topology::parse("package:2 l3:1 core:2 pu:1")}};
      heist_test::watchdog guard{ex, 60s, name};
      f(ex);
    }
  };
  using heist::policy::random;
  with("parent first", random{});
  with("child first", heist::policy::with_order<random, heist::order::child_first>{});
  with("cab", heist::policy::cab{});
  if constexpr (!heist::under_asan && !heist::under_tsan) {  // compilers take minutes
    with("cats", heist::policy::cats{});
    with("replay", heist::policy::replay{});
  }
}

template <class Executor, class F>
auto recorded(Executor& ex, F f, heist::recording_options options = {}) {
  auto r = record_program<leaf_clock>(ex, f, std::move(options));
  CHECK_NOTHROW(heist::sim::check(r.program));
  return r;
}

/// "parent.index/group: work" of each task, a run's root as "-", in order; bytes if there are some.
std::string text(recorded_program const& p) {
  std::string all;
  for (auto const& t : p.tasks) {
    all += t.parent == t.no_parent ? "-:" : fmt::format("{}.{}/{}:", t.parent, t.index, t.group);
    for (auto const w : t.work) all += fmt::format(" {}", w);
    if (t.bytes != 0) all += fmt::format(" ({} bytes)", t.bytes);
    all += '\n';
  }
  return all;
}
std::string runs_text(recorded_program const& p) {
  std::string all;
  for (auto const& r : p.runs)
    all += r.region == heist::sim::none ? fmt::format("{} ", r.root) : fmt::format("{}:{} ", r.root, r.region);
  return all;
}

template <class Context>
std::uint64_t tree(Context ctx, int height, std::uint64_t size) {
  if (height == 0) {
    work(size);
    ctx.footprint(64);
    return 1;
  }
  work(1);
  auto const [a, b] = ctx.fork_join([=](Context c) { return tree(c, height - 1, size); },
                                    [=](auto c) { return tree(c, height - 1, size + 1); });
  work(2);
  return a + b;
}

struct lost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

TEST_CASE("program_recording: no fork, one task", "[program_recording]") {
  at_all_places([](auto& ex) {
    auto const r =
        recorded(ex, [](auto ctx) { return ctx.footprint(5), ctx.footprint(6), work(7), 42; }, {.name = "answer"});
    CHECK(r.result == 42);
    CHECK(text(r.program) == "-: 7 (11 bytes)\n");
    CHECK(runs_text(r.program) == "0 ");
    CHECK(r.program.name == "answer");
    CHECK(r.program.recorded_on.find(fmt::format("{} worker", ex.worker_count())) == 0);
    auto const plain = recorded(ex, [] { work(3); });
    static_assert(std::is_same_v<decltype(plain.result) const, std::monostate const>);
    CHECK(text(plain.program) == "-: 3\n");
  });
}

TEST_CASE("program_recording: every task at its place, in serial order", "[program_recording]") {
  at_all_places([](auto& ex) {
    auto const r = recorded(ex, [](auto ctx) { return tree(ctx, 2, 100); });
    CHECK(r.result == 4);
    CHECK(text(r.program) ==
          "-: 1 2\n"
          "0.0/0: 1 2\n"
          "1.0/0: 100 (64 bytes)\n"
          "1.1/0: 101 (64 bytes)\n"
          "0.1/0: 1 2\n"
          "4.0/0: 101 (64 bytes)\n"
          "4.1/0: 102 (64 bytes)\n");
    // The same lambda is the same code at every depth, which is how CATS knows a recursion.
    auto const& t = r.program.tasks;
    CHECK(t[1].function == t[2].function);
    CHECK(t[4].function == t[3].function);
    CHECK(t[1].function != t[4].function);
    CHECK(t[1].function != 0);
  });
}

TEST_CASE("program_recording: groups of any number of children", "[program_recording]") {
  at_all_places([](auto& ex) {
    auto const r = recorded(ex, [](auto ctx) {
      work(5);
      ctx.fork_join([] { work(1); }, [](auto) { work(40); }, [](auto) { work(7); });
      work(6);
      ctx.inter_fork([](auto) { work(4); });
      ctx.fork_join([] { work(2); }, [](auto c) { c.fork_join([] { work(8); }, [] {}); });
    });
    CHECK(text(r.program) ==
          "-: 5 6 0 0\n"
          "0.0/0: 1\n0.1/0: 40\n0.2/0: 7\n"
          "0.3/1: 4\n"
          "0.4/2: 2\n0.5/2: 0 0\n"
          "6.0/0: 8\n6.1/0: 0\n");
  });
}

TEST_CASE("program_recording: exceptions go through, and their tasks are recorded", "[program_recording]") {
  at_all_places([](auto& ex) {
    auto const r = recorded(ex, [](auto ctx) {
      try {
        ctx.fork_join([](auto) { work(3); },
                      [](auto c) {
                        c.fork_join([](auto) { work(5), throw lost{"second"}; }, [] { work(100); });
                        work(1000);
                      });
      } catch (lost const&) {
        work(2);
      }
    });
    CHECK(text(r.program) == "-: 0 2\n0.0/0: 3\n0.1/0: 0 0\n2.0/0: 5\n2.1/0: 100\n");
    CHECK_THROWS_AS(recorded(ex, [](auto ctx) { ctx.fork_join([] {}, [] { throw lost{"all"}; }); }), lost);
  });
}

TEST_CASE("program_recording: the children of a scope run beside their parent", "[program_recording]") {
  at_all_places([](auto& ex) {
    auto const r = recorded(ex, [](auto ctx) {
      heist::scope s{ctx};
      work(10);
      s.fork([](auto c) { work(50), tree(c, 1, 4); });
      work(20);
      ctx.fork_join([] { work(3); }, [] { work(4); });  // beside the child
      ctx.footprint(9);
      s.fork([] { work(45); });
      work(30);
      s.join();
      work(1);
      s.fork([] { work(8); });  // joined by the destructor
      work(2);
    });
    CHECK(text(r.program) ==
          "-: 10 1 0\n"
          "0.0/0: 20 30 (9 bytes)\n"
          "1.0/0: 3\n1.1/0: 4\n"
          "0.1/0: 51 2\n"
          "4.0/0: 4 (64 bytes)\n4.1/0: 5 (64 bytes)\n"
          "0.2/0: 45\n"
          "0.3/1: 2\n"
          "0.4/1: 8\n");
    CHECK_THROWS_AS(recorded(ex,
                             [](auto ctx) {
                               typename decltype(ctx)::scope s{ctx};
                               s.fork([] { work(1), throw lost{"child"}; });
                             }),
                    lost);
  });
}

TEST_CASE("program_recording: scopes inside each other, and a join of the older one first", "[program_recording]") {
  at_all_places([](auto& ex) {
    auto const r = recorded(ex, [](auto ctx) {
      heist::scope older{ctx}, newer{ctx};
      older.fork([] { work(1); });
      work(10);
      newer.fork([] { work(2); });
      work(20);
      older.fork([] { work(3); });
      older.join();  // ends both groups
      work(30);
      newer.fork([] { work(4); });
      newer.join();
      work(40);
    });
    CHECK(text(r.program) ==
          "-: 0 30 40\n"
          "0.0/0: 10 0\n"
          "1.0/0: 20\n"
          "1.1/0: 2\n"
          "0.1/0: 1\n"
          "0.2/0: 3\n"
          "0.3/1: 0\n"
          "0.4/1: 4\n");
  });
}

TEST_CASE("program_recording: many children of one scope", "[program_recording]") {
  at_all_places([](auto& ex) {
    constexpr std::uint64_t children = 5000;  // more than wait in a deque
    auto const r = recorded(ex, [](auto ctx) {
      heist::scope s{ctx};
      for (std::uint64_t i = 1; i <= children; ++i) {
        s.fork([i](auto c) { c.fork_join([=](auto) { work(i); }, [] { work(1); }); });
      }
    });
    REQUIRE(r.program.tasks.size() == 2 + 3 * children);
    for (std::size_t i = 1; i <= children; ++i) {
      auto const& child = r.program.tasks[3 * i - 1];
      CHECK(child.index == i);
      CHECK(child.parent == 0);
      CHECK(child.group == 0);
      CHECK(r.program.tasks[3 * i].work.front() == i);
    }
  });
}

TEST_CASE("program_recording: regions are runs, what is between them too", "[program_recording]") {
  at_all_places([](auto& ex) {
    heist::region a{{.branching = 2, .bytes = 1 << 20}}, b;
    auto const r = recorded(ex, [&](auto ctx) {
      work(1);
      int sum = 0;
      for (int i = 0; i < 2; ++i) {
        sum += ctx.invoke(a, [](auto c) { return tree(c, 1, 10), 4; });
        work(2);
        ctx.invoke(b, [] { work(6); });
      }
      ctx.fork_join([&](auto c) { c.invoke(a, [](auto d) { work(9), tree(d, 1, 7); }); }, [] {});
      return sum;
    });
    CHECK(r.result == 8);
    CHECK(runs_text(r.program) == "0 1:0 4 5:1 6 7:0 10 11:1 12 ");
    CHECK(text(r.program) ==
          "-: 1\n"
          "-: 1 2\n1.0/0: 10 (64 bytes)\n1.1/0: 11 (64 bytes)\n"
          "-: 2\n"
          "-: 6\n"
          "-: 0\n"
          "-: 1 2\n7.0/0: 10 (64 bytes)\n7.1/0: 11 (64 bytes)\n"
          "-: 2\n"
          "-: 6\n"
          "-: 0 0\n"
          "12.0/0: 10 2\n"
          "13.0/0: 7 (64 bytes)\n13.1/0: 8 (64 bytes)\n"
          "12.1/0: 0\n");
    REQUIRE(r.program.regions.size() == 2);
    CHECK(r.program.regions[0].bytes == 1 << 20);
    CHECK(r.program.regions[0].branching == 2);
    CHECK(r.program.regions[1].bytes == 0);
    CHECK_THROWS_AS(recorded(ex, [&](auto ctx) { ctx.invoke(a, [] { throw lost{"in a region"}; }); }), lost);
    auto const after = recorded(ex, [&](auto ctx) {
      heist::scope s{ctx};
      s.fork([] { work(3); });
      ctx.invoke(b, [](auto c) { tree(c, 0, 5); });  // beside the child
    });
    CHECK(runs_text(after.program) == "0 ");
    CHECK(text(after.program) == "-: 0 0\n0.0/0: 5 (64 bytes)\n0.1/0: 3\n");
  });
}

TEST_CASE("program_recording: what the wrapped context knows; submitted tasks are not recorded",
          "[program_recording]") {
  at_all_places([](auto& ex) {
    auto const r = recorded(ex, [&](auto ctx) {
      bool const here = ctx.worker_id() < ex.worker_count() && ctx.squad_id() < ex.squad_count();
      auto submitted = ctx.submit([](decltype(ctx) c) {
        heist::scope s{c};
        s.fork([](auto d) { d.fork_join([] { work(100); }, [] {}); });
        heist::region r;
        return c.invoke(r, [](auto d) { return d.stop_requested() ? 1 : 2; });
      });
      return here && !ctx.stop_requested() && submitted.get() == 2;
    });
    CHECK(r.result);
    CHECK(r.program.tasks.size() == 1);
    using context = typename std::remove_reference_t<decltype(ex)>::context_type;
    using anywhere = heist::recording_context<heist::context, leaf_clock>;
    static_assert(std::is_convertible_v<heist::recording_context<context, leaf_clock>, anywhere>);
    auto const named = recorded(ex, [](anywhere c) { return tree(c, 3, 5); });
    CHECK(named.program.tasks.size() == 15);
  });
}

TEST_CASE("program_recording: a program of too many tasks is refused, by a sentence", "[program_recording]") {
  at_all_places([](auto& ex) {
    CHECK_NOTHROW(recorded(ex, [](auto ctx) { tree(ctx, 3, 1); }, {.most_tasks = 4 * 256 + 15}));
    try {
      recorded(ex,
               [](auto ctx) {
                 heist::region r;
                 tree(ctx, 12, 1);
                 ctx.invoke(r, [](auto c) { tree(c, 3, 1); });
                 heist::scope s{ctx};
                 s.fork([] {});
               },
               {.most_tasks = 1000});
      FAIL("a program of 8191 tasks was taken");
    } catch (heist::sim_error const& e) {
      CHECK(std::string{e.what()}.find("more than 1000 tasks") != std::string::npos);
    }
  });
}

TEST_CASE("program_recording: the shorter of two recordings", "[program_recording]") {
  heist::executor ex{2};
  auto const take = [&](std::uint64_t first, std::uint64_t second) {
    return recorded(ex, [=](auto ctx) { ctx.fork_join([=] { work(first); }, [=] { work(second); }); }).program;
  };
  auto best = take(10, 700);
  CHECK(heist::keep_shorter(best, take(1000, 200)));
  CHECK(text(best) == "-: 0 0\n0.0/0: 10\n0.1/0: 200\n");
  CHECK(heist::keep_shorter(best, take(0, 150)));
  CHECK(text(best) == "-: 0 0\n0.0/0: 10\n0.1/0: 200\n");
  auto const other = recorded(ex, [](auto ctx) { ctx.fork_join([] {}, [] {}, [] {}); }).program;
  CHECK_FALSE(heist::keep_shorter(best, other));
  CHECK(text(best) == "-: 0 0\n0.0/0: 10\n0.1/0: 200\n");
}

TEST_CASE("program_recording: what is recorded can be written, read and simulated", "[program_recording]") {
  at_all_places([](auto& ex) {
    heist::region phase{{.branching = 2, .bytes = 4096}};
    auto const p = recorded(ex, [&](auto ctx) {
                     for (int i = 0; i < 3; ++i) ctx.invoke(phase, [](auto c) { tree(c, 4, 1000); });
                     heist::scope s{ctx};
                     for (int i = 0; i < 10; ++i) s.fork([](auto c) { tree(c, 1, 1000); });
                   }).program;
    auto const read = heist::sim::recorded_program_from_json(heist::sim::to_json(p));
    CHECK(text(read) == text(p));
    CHECK(runs_text(read) == runs_text(p));
    std::uint64_t all = 0;
    for (auto const& t : p.tasks) {
      for (auto const w : t.work) all += w;
    }
    auto const alone = heist::simulate<heist::policy::random>(
        heist::sim::to_program(read),
        {.workers = 1, .costs = heist::sim::costs::nothing(), .caches = {.enabled = false}});
    CHECK(alone.t1 == all);
    CHECK(alone.makespan == all);
    auto const two = heist::simulate<heist::policy::random>(
        heist::sim::to_program(read),
        {.workers = 2, .costs = heist::sim::costs::nothing(), .caches = {.enabled = false}});
    CHECK(two.makespan < all);
    CHECK(two.makespan >= all / 2);
  });
}

TEST_CASE("program_recording: on the processor's clock", "[program_recording]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s, "real clock"};
  auto const begin = std::chrono::steady_clock::now();
  auto const p = record_program(ex, [](auto ctx) {
                   auto const spin = [] {
                     [[maybe_unused]] int volatile seen = 0;
                     for (int i = 0; i < 3'000'000; ++i) seen = i;
                   };
                   ctx.fork_join(spin, spin);
                 }).program;
  auto const elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin);
  REQUIRE(p.tasks.size() == 3);
  CHECK(p.tasks[1].work[0] > 1000);  // three million on a quiet machine
  CHECK(p.tasks[1].work[0] + p.tasks[2].work[0] <= static_cast<std::uint64_t>(elapsed.count()) * 11 / 10);
}
