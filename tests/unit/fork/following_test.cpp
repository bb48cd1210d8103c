// Regions that follow a steal tree: strictly to the letter, loosely without losing anything, and not at all where that
// cannot be.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "heist/core/executor/no_migrate.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/observe.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "support/catch.hpp"
#include "support/one_processor.hpp"
#include "support/replayed_program.hpp"
#include "support/texts.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist::replay_mode;
using heist::steal_tree;
using heist_test::error_text_of;
using heist_test::replayed_program;
using heist_test::tally;

namespace {

using replaying = heist::executor<heist::policy::replay>;
constexpr replay_mode all_modes[] = {replay_mode::strict_ordered, replay_mode::strict_unordered, replay_mode::relaxed};
constexpr std::uint32_t programs = heist::under_tsan || heist::under_asan ? 6 : 20;

template <class Executor, class Program>
void run(Executor& ex, region& r, Program const& p, tally& book) {
  ex.invoke(r, [&](auto ctx) { p(ctx, book); });
}

/// One that a run has come to.
std::uint64_t a_leaf_of(tally const& run) {
  std::uint64_t leaf = 0;
  for (auto const& [step, worker] : run.ran_on) {
    if (step % 2 == 0 && step / 2 > leaf) leaf = step / 2;
  }
  return leaf;
}

}  // namespace

TEST_CASE("following: strict_ordered repeats a run to the letter", "[following]") {
  for (std::size_t const workers : {1u, 2u, 4u, 9u}) {
    replaying ex{workers};
    heist_test::watchdog guard{ex, 120s};
    std::size_t stolen = 0;
    for (std::uint32_t seed = 0; seed != programs; ++seed) {
      replayed_program const p{.seed = seed, .depth = 3 + static_cast<int>(seed % 3)};
      region first, again;
      tally a;
      run(ex, first, p, a);
      CHECK(a.twice == 0);
      stolen += first.tree().steal_count();
      again.follow(first.tree(), replay_mode::strict_ordered);
      for (int i = 0; i != 3; ++i) {
        tally b;
        run(ex, again, p, b);
        CHECK(b.ran_on == a.ran_on);
        CHECK(b.order == a.order);
        CHECK(again.tree() == first.tree());
        CHECK(again.explain().empty());
      }
    }
    CAPTURE(workers, stolen);
    if (workers == 1) CHECK(stolen == 0);
  }
}

TEST_CASE("following: strict_unordered gives every worker what it had", "[following]") {
  replaying ex{4};
  heist_test::watchdog guard{ex, 120s};
  for (std::uint32_t seed = 0; seed != programs; ++seed) {
    replayed_program const p{.seed = seed};
    region first, again;
    tally a, b;
    run(ex, first, p, a);
    again.follow(first.tree(), replay_mode::strict_unordered);
    run(ex, again, p, b);
    CHECK(b.ran_on == a.ran_on);
    CHECK(b.twice == 0);
  }
}

TEST_CASE("following: a fork of one is a call, as it is when a run is recorded", "[following]") {
  replaying ex{2};
  heist_test::watchdog guard{ex, 60s};
  // The rest of the body goes to worker 1 after the scope's first child, and stays there.
  steal_tree const tree{2, 0, {{.place = {0}, .worker = 1, .victim = 0, .sequence = 0, .after_join = false}}};
  auto const worker_after_child = [&](auto ctx) {
    std::size_t after = 0;
    auto const forks = [&after](auto c) {
      heist::scope children{c};
      children.fork([] {});
      after = c.worker_id();
      children.fork([] {});
    };
    ctx.fork_join(forks);
    return after;
  };
  for (replay_mode const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered}) {
    region r;
    r.follow(tree, mode);
    CHECK(ex.invoke(r, worker_after_child) == 1);
    CHECK(r.explain().empty());
    CHECK(ex.invoke(r, [&](heist::context ctx) { return worker_after_child(ctx); }) == 1);
    CHECK(r.explain().empty());
  }
}

TEST_CASE("following: any tree, any program, any number of workers", "[following]") {
  replaying ex{4}, fewer{2}, one{1}, more{7};
  heist_test::watchdog guard{ex, 180s};
  guard.watch(fewer), guard.watch(one), guard.watch(more);
  for (std::uint32_t seed = 0; seed != programs; ++seed) {
    replayed_program const p{.seed = seed};
    region first;
    tally a;
    run(ex, first, p, a);
    auto const complete = [&](replaying& on, steal_tree const& tree, replay_mode mode, replayed_program const& q,
                              tally const& expected) {
      region r;
      r.follow(tree, mode);
      tally b;
      run(on, r, q, b);
      CHECK(b.twice == 0);
      CHECK(b.steps() == expected.steps());
      return r.tree().steal_count();
    };
    for (replay_mode const mode : all_modes) {
      CAPTURE(seed, static_cast<int>(mode));
      complete(ex, first.tree(), mode, p, a);
      complete(fewer, first.tree(), mode, p, a);
      CHECK(complete(one, first.tree(), mode, p, a) == 0);
      complete(more, first.tree(), mode, p, a);
      for (int const percent : {100, 85, 40}) {
        steal_tree pruned = first.tree();
        pruned.prune(percent);
        complete(ex, pruned, mode, p, a);
      }
      // Rule 4.1: deeper, and less deep; rule 4.2: another program altogether.
      for (int const depth : {2, 5}) {
        replayed_program const q{.seed = seed, .depth = depth};
        region none;
        tally expected;
        run(one, none, q, expected);
        complete(ex, first.tree(), mode, q, expected);
      }
      replayed_program const other{.seed = seed + 1000};
      region none;
      tally expected;
      run(one, none, other, expected);
      complete(ex, first.tree(), mode, other, expected);
    }
  }
}

namespace {

steal_tree tree_of(std::size_t workers, std::vector<steal_tree::steal> steals) {
  return steal_tree{workers, 0, std::move(steals)};
}

}  // namespace

TEST_CASE("following: an order that cannot be kept is given up", "[following]") {
  replaying ex{2};
  heist_test::watchdog guard{ex, 60s};
  // Worker 1 is to begin the rest of the second fork, which comes after the first, before the rest of the first.
  auto const crossing = tree_of(2, {{{0}, 1, 0, 1}, {{2}, 1, 0, 0}});
  auto const kept = tree_of(2, {{{0}, 1, 0, 0}, {{2}, 1, 0, 1}});
  for (auto const* tree : {&crossing, &kept}) {
    region r;
    r.follow(*tree, replay_mode::strict_ordered);
    for (int i = 0; i != 20; ++i) {
      tally book;
      ex.invoke(r, [&](auto ctx) {
        ctx.fork_join([&](auto c) { book.note(c.worker_id(), 0); }, [&](auto c) { book.note(c.worker_id(), 1); });
        ctx.fork_join([&](auto c) { book.note(c.worker_id(), 2); }, [&](auto c) { book.note(c.worker_id(), 3); });
      });
      CHECK(book.steps().size() == 4);
      CHECK((book.ran_on[1] == 1 && book.ran_on[3] == 1));
      CHECK(r.explain().empty() == (tree == &kept));
    }
    if (tree == &crossing) CHECK(r.explain().find("given up") != std::string::npos);
  }
}

TEST_CASE("following: nothing is stolen from a child that forks with what belongs to its parent", "[following]") {
  replaying ex{2};
  heist_test::watchdog guard{ex, 60s};
  auto const tree = tree_of(2, {{{0}, 1, 0, 0}, {{1}, 1, 0, 1, true}});
  // Its rest would run at once on worker 1, which has nothing else to do.
  auto const fork_slow_path = [](auto c) {
    std::atomic<bool> rest_runs{false};
    auto const until = std::chrono::steady_clock::now() + 20ms;
    c.fork_join(
        [&] {
          while (!rest_runs && std::chrono::steady_clock::now() < until) heist_test::yield();
        },
        [&] { rest_runs = true; });
  };
  region r;
  r.follow(tree, replay_mode::strict_ordered);
  auto const run_with = [&](auto child) {
    tally book;
    ex.invoke(r, [&](auto ctx) {
      ctx.fork_join(
          [&](auto c) {
            child(ctx);
            book.note(c.worker_id(), 0);
          },
          [&](auto c) { book.note(c.worker_id(), 1); });
      book.note(ctx.worker_id(), 2);
    });
    CHECK((book.ran_on[0] == 0 && book.ran_on[1] == 1 && book.ran_on[2] == 1));
    CHECK(r.explain().empty());
  };
  for (int i = 0; i != 10; ++i) {
    run_with([&](auto& of_parent) {
      heist::scope children{of_parent};
      children.fork(fork_slow_path);
    });
    run_with([&](auto& of_parent) {
      region another;
      of_parent.invoke(another, fork_slow_path);
    });
    run_with([&](auto& of_parent) { fork_slow_path(of_parent); });
  }
}

TEST_CASE("following: exceptions come out, and the next run is as before", "[following]") {
  replaying ex{3};
  heist_test::watchdog guard{ex, 120s};
  for (std::uint32_t seed = 0; seed != programs; ++seed) {
    replayed_program const p{.seed = seed};
    region first;
    tally a;
    run(ex, first, p, a);
    replayed_program throwing = p;
    throwing.throws = a_leaf_of(a);
    for (replay_mode const mode : all_modes) {
      region again;
      again.follow(first.tree(), mode);
      tally b, c;
      CHECK_THROWS_AS(run(ex, again, throwing, b), std::runtime_error);
      run(ex, again, p, c);
      CHECK(c.steps() == a.steps());
      if (mode != replay_mode::relaxed) CHECK(c.ran_on == a.ran_on);
    }
  }
}

TEST_CASE("following: a region that has run before follows as a new one does", "[following]") {
  replaying ex{4}, fewer{2};
  heist_test::watchdog guard{ex, 120s};
  guard.watch(fewer);
  region used;  // by all runs below
  for (std::uint32_t seed = 0; seed != programs; ++seed) {
    replayed_program const p{.seed = seed}, other{.seed = seed + 1000};
    region first;
    tally a;
    run(ex, first, p, a);
    replayed_program throwing = p;
    throwing.throws = a_leaf_of(a);
    for (replay_mode const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered}) {
      used.follow(first.tree(), mode);
      auto const as_new = [&](replaying& on, replayed_program const& q) {
        CAPTURE(seed, static_cast<int>(mode), on.worker_count(), q.seed);
        region unused;
        unused.follow(first.tree(), mode);
        tally b, c;
        run(on, unused, q, b);
        run(on, used, q, c);
        CHECK(c.ran_on == b.ran_on);
        if (mode == replay_mode::strict_ordered && &on == &ex) CHECK(used.tree() == unused.tree());
        CHECK(used.tree().steal_count() == unused.tree().steal_count());
        CHECK(used.explain() == unused.explain());
      };
      as_new(ex, p);
      as_new(ex, p);
      as_new(fewer, p);
      as_new(ex, p);
      tally lost;
      CHECK_THROWS_AS(run(ex, used, throwing, lost), std::runtime_error);
      as_new(ex, p);
    }
    tally unknown;
    run(ex, used, other, unknown);
    used.unfollow();
    for (int i = 0; i != 6; ++i) {  // the tree is that of the last run, whatever was before
      auto const& q = i % 3 == 0 ? other : p;
      region again;
      tally b, c;
      run(ex, used, q, b);
      again.follow(used.tree(), replay_mode::strict_ordered);
      run(ex, again, q, c);
      CHECK(c.ran_on == b.ran_on);
      CHECK(again.tree() == used.tree());
    }
  }
}

TEST_CASE("following: two regions at once, one within the other, and waits", "[following]") {
  replaying ex{4};
  heist_test::watchdog guard{ex, 120s};
  replayed_program const p{.seed = 7, .depth = 5}, q{.seed = 8, .depth = 5};
  region first_p, first_q;
  tally a, b;
  run(ex, first_p, p, a);
  run(ex, first_q, q, b);
  for (replay_mode const mode : all_modes) {
    region r, s;
    r.follow(first_p.tree(), mode);
    s.follow(first_q.tree(), mode);
    for (int i = 0; i != 5; ++i) {
      tally x, y;
      auto one = ex.submit([&](auto c) { c.invoke(r, [&](auto d) { p(d, x); }); });
      auto two = ex.submit([&](auto c) { c.invoke(s, [&](auto d) { q(d, y); }); });
      one.get(), two.get();
      CHECK(x.steps() == a.steps());
      CHECK(y.steps() == b.steps());
      if (mode != replay_mode::relaxed) CHECK(x.ran_on == a.ran_on);
      if (mode == replay_mode::strict_ordered) CHECK((x.order == a.order && y.order == b.order));
    }
    // A region within another one's run is a part of that.
    tally x;
    region outer;
    outer.follow(first_p.tree(), mode);
    ex.invoke(outer, [&](auto c) { c.invoke(r, [&](auto d) { p(d, x); }); });
    CHECK(x.steps() == a.steps());
    CHECK(r.tree().empty());
    CHECK(r.explain().find("another region's run") != std::string::npos);
    // Tasks that wait for something else, hold their worker, or fork without a context.
    region w;
    w.follow(first_p.tree(), mode);
    tally z;
    int has_waited = 0;
    bool moved = true;
    ex.invoke(w, [&](auto c) {
      c.fork_join(
          [&](auto d) {
            has_waited = d.submit([] { return 5; }).get();
            p(d, z);
          },
          [&](auto d) {
            heist::no_migrate const stay;
            auto const before = d.worker_id();
            d.fork_join([] {}, [] {});
            moved = d.worker_id() != before;
          },
          [&] { heist::fork_join([] {}, [] {}); });
    });
    CHECK(z.steps() == a.steps());
    CHECK((has_waited == 5 && !moved));
  }
}

TEST_CASE("following: with few stacks less is given away, and nothing is lost", "[following]") {
  auto const tree =
      tree_of(2, {{{0}, 1, 0, 0}, {{0, 1}, 1, 0, 1, true}, {{0, 3}, 0, 1, 0, true}, {{1}, 1, 1, 2, true}});
  auto const run = [&tree](std::size_t fibers, int rounds) {
    replaying ex{heist::options{.workers = 2, .max_fibers = fibers}};
    heist_test::watchdog guard{ex, 60s};
    region r;
    r.follow(tree, replay_mode::strict_ordered);
    std::string said;
    for (int i = 0; i != rounds; ++i) {
      tally book;
      ex.invoke(r, [&](auto ctx) {
        ctx.fork_join(
            [&](auto c) {
              c.fork_join([&](auto d) { book.note(d.worker_id(), 0); }, [&](auto d) { book.note(d.worker_id(), 1); });
              c.fork_join([&](auto d) { book.note(d.worker_id(), 2); }, [&](auto d) { book.note(d.worker_id(), 3); });
              book.note(c.worker_id(), 4);
            },
            [&](auto c) { book.note(c.worker_id(), 5); });
      });
      CHECK(book.steps().size() == 6);
      if (!r.explain().empty()) said = r.explain();
    }
    return said;
  };
  for (std::size_t const fibers : {2u, 3u, 4u, 5u, 8u}) run(fibers, 50);
  // Fibers that always go the same way do not pile up with one worker.
  int const rounds = heist::under_tsan || heist::under_asan ? 100 : 5000;
  CHECK(run(200, rounds) == "");
  // On one processor the same worker begins every run, so that stopped loops go one way, too.
  heist_test::on_one_processor const alone;
  CHECK(run(200, rounds) == "");
}

TEST_CASE("following: what cannot be followed is refused with a sentence", "[following]") {
  replaying ex{2};
  heist_test::watchdog guard{ex, 60s};
  region r;
  CHECK(error_text_of<heist::error>([&] { r.follow({}, replay_mode::relaxed); }).find("of no run") !=
        std::string::npos);
  ex.invoke(r, [&](auto ctx) {
    for (auto const& said : {error_text_of<heist::error>([&] { r.follow({}, replay_mode::relaxed); }),
                             error_text_of<heist::error>([&] { r.adapt(); }),
                             error_text_of<heist::error>([&] { r.follow_designations(); }),
                             error_text_of<heist::error>([&] { r.unfollow(); })})
      CHECK(said.find("used by another run") != std::string::npos);
    CHECK(error_text_of<heist::error>([&] { ctx.assign_continuation(2); }).find("there is no worker 2") !=
          std::string::npos);
  });
  CHECK(error_text_of<heist::error>([&] { r.adapt({.prune_percent = 101}); }).find("fix it") != std::string::npos);
  CHECK(error_text_of<heist::error>([&] { r.adapt({.least_relaxed = 3, .most_relaxed = 2}); }).find("fix it") !=
        std::string::npos);
  region untouched;
  CHECK(error_text_of<heist::error>([&] { heist::redistribute(ex, untouched, [](auto) {}); }).find("no steal tree") !=
        std::string::npos);
  // Under other policies following means nothing.
  heist::executor<> other{2};
  region s;
  s.follow(tree_of(2, {{{0}, 1, 0, 0}}), replay_mode::strict_ordered);
  int ran = 0;
  other.invoke(s, [&](auto c) { c.fork_join([] {}, [&] { ran = 1; }); });
  CHECK(ran == 1);
}

namespace {

/// An equal, contiguous part of the leaves for each worker, by halves.
template <class Context>
void halves(Context ctx, tally& book, std::uint64_t from, std::uint64_t to, std::size_t workers, std::uint64_t leaves) {
  if (to - from == 1) {
    return book.note(ctx.worker_id(), from);
  }
  std::uint64_t const middle = from + (to - from) / 2;
  auto const owner = [&](std::uint64_t leaf) { return static_cast<std::size_t>(leaf * workers / leaves); };
  if (owner(from) != owner(to - 1)) ctx.assign_continuation(owner(middle));
  ctx.fork_join([&](Context c) { halves(c, book, from, middle, workers, leaves); },
                [&](Context c) { halves(c, book, middle, to, workers, leaves); });
}

}  // namespace

TEST_CASE("following: schedules by hand", "[following]") {
  constexpr std::uint64_t leaves = 64;
  for (std::size_t const workers : {1u, 2u, 4u}) {
    replaying ex{workers};
    heist_test::watchdog guard{ex, 60s};
    region by_hand;
    by_hand.follow_designations();
    tally a;
    for (int i = 0; i != 10; ++i) {
      tally book;
      ex.invoke(by_hand, [&](auto c) { halves(c, book, 0, leaves, workers, leaves); });
      REQUIRE(book.ran_on.size() == leaves);
      for (auto const& [leaf, worker] : book.ran_on) CHECK(worker == leaf * workers / leaves);
      CHECK(by_hand.tree().steal_count() == workers - 1);
    }
    // Such a tree can be followed like any other.
    region along;
    along.follow(by_hand.tree(), replay_mode::strict_ordered);
    tally b;
    ex.invoke(along, [&](auto c) { c.fork_join([](auto) {}, [](auto) {}); });
    along.follow(by_hand.tree(), replay_mode::relaxed);
    ex.invoke(along, [&](auto c) { halves(c, b, 0, leaves, 1, leaves); });
    CHECK(b.ran_on.size() == leaves);
  }
}

TEST_CASE("following: a designation below what was not given away is refused", "[following]") {
  replaying ex{2};
  heist_test::watchdog guard{ex, 60s};
  region by_hand;
  by_hand.follow_designations();
  std::string said;
  int ran = 0;
  ex.invoke(by_hand, [&](auto ctx) {
    ctx.fork_join(
        [&](auto c) {
          said = error_text_of<heist::error>([&] { c.assign_continuation(1); });
          c.fork_join([] {}, [&] { ++ran; });
        },
        [&](auto c) {  // the last child: its caller has nothing left that could be stolen
          c.assign_continuation(1);
          c.fork_join([] {}, [&] { ++ran; });
        });
  });
  CHECK(said.find("validity check") != std::string::npos);
  CHECK(ran == 2);
  // In a free run the steals decide: the designation is refused at the fork, or accepted.
  region free;
  for (int i = 0; i != 20; ++i) {
    ran = 0;
    ex.invoke(free, [&](auto ctx) {
      ctx.fork_join(
          [&](auto c) {
            c.assign_continuation(1 - c.worker_id());
            said = error_text_of<heist::error>([&] { c.fork_join([] {}, [] {}); });
          },
          [&] { ++ran; });
    });
    CHECK(ran == 1);
    CHECK((said == "accepted" || said.find("validity check") != std::string::npos));
  }
  // In the body of a free run it can always be.
  std::size_t went_to = 9;
  for (std::size_t const w : {0u, 1u}) {
    ex.invoke(free, [&](auto ctx) {
      ctx.assign_continuation(w);
      ctx.fork_join([](auto) { heist_test::spin(200'000); }, [&](auto c) { went_to = c.worker_id(); });
    });
    CHECK(went_to < 2);
  }
}

TEST_CASE("following: may_be_stolen says what the tree says", "[following]") {
  replaying ex{2};
  heist_test::watchdog guard{ex, 60s};
  auto const tree = tree_of(2, {{{0}, 1, 0, 0}, {{0, 0}, 1, 0, 1}});
  region r;
  bool body = false, child = false, grandchild = true, rest = true;
  auto const look = [&] {
    ex.invoke(r, [&](auto ctx) {
      body = ctx.may_be_stolen();
      ctx.fork_join(
          [&](auto c) {
            child = c.may_be_stolen();
            c.fork_join([&](auto d) { grandchild = d.may_be_stolen(); }, [](auto) {});
          },
          [&](auto c) { rest = c.may_be_stolen(); });
    });
  };
  look();
  CHECK((body && child && grandchild && rest));  // free: anything may be
  for (auto const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered}) {
    r.follow(tree, mode);
    look();
    CHECK((body && child && !grandchild && !rest));
  }
  r.follow(tree, replay_mode::relaxed);
  look();
  CHECK((body && child && grandchild && rest));
  replaying alone{1};
  alone.invoke([&](auto c) { CHECK_FALSE(c.may_be_stolen()); });
}

TEST_CASE("following: deep programs in strict modes do not run out of stack", "[following]") {
  replaying ex{heist::options{.workers = 2, .stack_size = std::size_t{64} << 10}};
  heist_test::watchdog guard{ex, 120s};
  struct deep {
    static long go(heist::context c, int n) {
      if (n == 0) return 0;
      [[maybe_unused]] char volatile room[200];
      room[n % 200] = 1;
      auto const [a, b] = c.fork_join([n](heist::context d) { return go(d, n - 1); }, [] { return 1L; });
      return a + b;
    }
  };
  constexpr int depth = heist::under_tsan || heist::under_asan ? 3000 : 20'000;
  // Short of stack it forks in no run, so worker 1, which waits for its turn to join, may steal.
  auto const tree = tree_of(2, {{{0}, 1, 0, 0}, {{1}, 1, 0, 1, true}});
  for (replay_mode const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered}) {
    region r;
    r.follow(tree, mode);
    for (int i = 0; i != 5; ++i) {
      CHECK(ex.invoke(r, [](heist::context c) { return deep::go(c, depth); }) == depth);
      CHECK(r.explain().empty());
    }
  }
}

TEST_CASE("following: a region finds its schedule by itself", "[following]") {
  replaying ex{3};
  heist_test::watchdog guard{ex, 120s};
  replayed_program const p{.seed = 5, .depth = 5};
  region r;
  r.adapt({.least_relaxed = 2, .most_relaxed = 4});
  tally settled;
  for (int i = 0; i != 12; ++i) {
    tally book;
    bool const was_settled = r.adapted().settled();
    run(ex, r, p, book);
    CHECK(book.twice == 0);
    if (was_settled && settled.ran_on.empty()) {
      settled.ran_on = book.ran_on;
      settled.order = book.order;
    }
    if (was_settled) CHECK((settled.ran_on == book.ran_on && settled.order == book.order));
  }
  CHECK(r.adapted().settled());
  auto const& steps = r.adapted().steps();
  REQUIRE(steps.size() == 12);
  using phase = heist::adaptation::phase;
  CHECK((steps[0].in == phase::free && steps[1].in == phase::relaxed && steps[2].in == phase::relaxed));
  CHECK(steps.back().in == phase::settled);
  for (auto const& s : steps) {
    CHECK(s.times.elapsed > 0);
    CHECK(s.times.at_work > 0);
    CHECK(s.times.at_work + s.times.idle == 3 * s.times.elapsed);
  }
  CHECK(r.adapted().text().find("settled") != std::string::npos);
}

TEST_CASE("following: an initialiser that runs where the phase will", "[following]") {
  replaying ex{3};
  heist_test::watchdog guard{ex, 60s};
  replayed_program const p{.seed = 11, .depth = 5};
  region phase;
  tally a, b;
  run(ex, phase, p, a);
  auto const done = heist::redistribute(ex, phase, [&](auto c) { p(c, b); });
  CHECK((b.ran_on == a.ran_on && b.order == a.order));
  CHECK(done.note.empty());
  CHECK(done.times.elapsed > 0);
  tally c;  // inside a task, too
  ex.invoke([&](auto ctx) { heist::redistribute(ctx, phase, [&](auto d) { p(d, c); }); });
  CHECK(c.ran_on == a.ran_on);
}

TEST_CASE("following: data that follow a region that adapts itself", "[following]") {
  replaying ex{3};
  heist_test::watchdog guard{ex, 60s};
  replayed_program const p{.seed = 12, .depth = 5};
  region r;
  std::optional<tally> moved, last;
  int moves = 0;
  r.adapt([&](heist::context c) {
    ++moves;
    p(c, moved.emplace());
  });
  using phase = heist::adaptation::phase;
  for (int i = 0; i != 10; ++i) {
    phase const next = r.adapted().next();
    bool const was_settled = r.adapted().settled() && i != 0 && r.adapted().steps().back().in == phase::settled;
    int const before = moves;
    run(ex, r, p, last.emplace());
    CHECK(moves == before + (next == phase::free || was_settled ? 0 : 1));
  }
  REQUIRE(r.adapted().settled());
  CHECK(moved->ran_on == last->ran_on);
  CHECK(moves == static_cast<int>(
                     std::count_if(r.adapted().steps().begin(), r.adapted().steps().end(),
                                   [](auto const& s) { return s.in == phase::relaxed || s.in == phase::settling; })) +
                     1);
  r.adapt();  // from now on data stay where they are
  int const before = moves;
  for (int i = 0; i != 2; ++i) run(ex, r, p, last.emplace());
  CHECK(moves == before);

  int calls = 0;
  region fails;
  fails.adapt([&](heist::context) {
    if (++calls == 1) throw std::runtime_error{"no memory for the data"};
  });
  tally t, none, again;
  run(ex, fails, p, t);
  CHECK_THROWS_AS(run(ex, fails, p, none), std::runtime_error);
  CHECK(none.ran_on.empty());
  CHECK(fails.adapted().steps().size() == 1);
  run(ex, fails, p, again);
  CHECK(calls == 2);

  heist::executor<heist::policy::random> other{2};
  region ignored;
  ignored.adapt([&](heist::context) { ++calls; });
  for (int i = 0; i != 3; ++i) other.invoke(ignored, [](auto) {});
  CHECK(calls == 2);
}

TEST_CASE("following: stops are seen in every mode", "[following]") {
  replaying ex{2};
  heist_test::watchdog guard{ex, 60s};
  auto const tree = tree_of(2, {{{0}, 1, 0, 0}});
  for (replay_mode const mode : all_modes) {
    region r;
    r.follow(tree, mode);
    std::stop_source source;
    int seen = 0;
    ex.invoke(heist::with{.stop = source.get_token()}, [&](auto c) {
      c.invoke(r, [&](auto d) {
        source.request_stop();
        d.fork_join([&](auto e) { seen += e.stop_requested() ? 1 : 0; }, [](auto) {});
      });
    });
    CHECK(seen == 1);
  }
}
