// Regions under policy::replay: their steal trees are what the frames themselves saw.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "heist/core/base/env.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "heist/core/observe/observer.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist::steal_tree;

using heist_test::slow;

namespace {

struct place {
  place const* up;
  std::uint32_t branch;
  std::uint32_t forks = 0;

  std::vector<std::uint32_t> of_child(std::uint32_t index) const {
    std::vector<std::uint32_t> path{index};
    for (place const* p = this; p->up != nullptr; p = p->up) path.push_back(p->branch);
    std::reverse(path.begin(), path.end());
    return path;
  }
};

/// Collects the continuations of a run's frames. If a worker continues with a frame after a child that another worker
/// called, it has stolen the frame.
struct witness {
  struct going_on {
    std::vector<std::uint32_t> place;
    std::size_t caller;  ///< the worker that called the child; final when all children have ended
  };

  explicit witness(std::size_t workers) : seen(workers) {}

  /// Worker `now` continues with `frame` after that child.
  going_on& goes_on(place const& frame, std::uint32_t child, std::size_t caller, std::size_t now) {
    return seen[now].emplace_back(going_on{frame.of_child(child), caller});
  }
  /// In serial order.
  std::vector<steal_tree::steal> steals() const {
    std::vector<steal_tree::steal> all;
    for (std::uint32_t worker = 0; worker != seen.size(); ++worker) {
      std::uint32_t sequence = 0;
      for (going_on const& g : seen[worker]) {
        if (g.caller != worker) all.push_back({g.place, worker, static_cast<std::uint32_t>(g.caller), sequence++});
      }
    }
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.place < b.place; });
    return all;
  }

  std::vector<std::deque<going_on>> seen;  ///< by the worker that resumed, in its order
  std::atomic<std::size_t> body{0};
};

/// A context that keeps count of places by itself.
template <class C>
class watched {
 public:
  watched(C c, place& at, witness& w) : context_{c}, at_{&at}, witness_{&w} {}

  template <class... F>
  auto fork_join(F&&... f) const {
    std::uint32_t const first = std::exchange(at_->forks, at_->forks + static_cast<std::uint32_t>(sizeof...(F)));
    return each(std::index_sequence_for<F...>{}, first, f...);
  }

  /// Children in a scope, with forks of the frame itself between them.
  template <class F>
  void children(int n, F const& f) const {
    heist::scope s{context_};
    for (int i = 0; i < n; ++i) {
      std::uint32_t const index = at_->forks++;
      std::size_t const caller = context_.worker_id();
      s.fork([=, *this](C c) {
        place here{at_, index};
        f(watched{c, here, *witness_}, i);
      });
      witness_->goes_on(*at_, index, caller, context_.worker_id());
      if (i % 3 == 1) {
        fork_join([&](watched c) { f(c, i); }, [&](watched c) { f(c, i); });
      }
    }
    s.join();
    if (n != 0) ++at_->forks;  // a scope's join has a branch of its own
  }

  C const& inner() const { return context_; }

 private:
  template <std::size_t... I, class... F>
  auto each(std::index_sequence<I...>, std::uint32_t first, F&... f) const {
    std::array<std::size_t, sizeof...(F)> called_on{};  // also the worker that the frame was on then
    std::array<witness::going_on*, sizeof...(F)> after{};
    auto results = context_.fork_join([&, this](C c) {
      auto const index = first + static_cast<std::uint32_t>(I);
      called_on[I] = c.worker_id();
      if (I != 0) after[I] = &witness_->goes_on(*at_, index - 1, called_on[I], called_on[I]);
      place here{at_, index};
      return f(watched{c, here, *witness_});
    }...);
    for (std::size_t i = 1; i < sizeof...(F); ++i) after[i]->caller = called_on[i - 1];
    return results;
  }

  C context_;
  place* at_;
  witness* witness_;
};

/// Runs everything in its place, and notes every place where a frame could be stolen.
class serial {
 public:
  serial(place& at, std::set<std::vector<std::uint32_t>>& all) : at_{&at}, all_{&all} {}

  template <class... F>
  auto fork_join(F&&... f) const {
    std::uint32_t index = at_->forks;
    at_->forks += static_cast<std::uint32_t>(sizeof...(F));
    std::uint32_t const last = at_->forks - 1;
    auto const call = [&](auto& function) {
      if (index != last) all_->insert(at_->of_child(index));
      place here{at_, index++};
      return function(serial{here, *all_});
    };
    return std::tuple{call(f)...};
  }
  template <class F>
  void children(int n, F const& f) const {
    for (int i = 0; i < n; ++i) {
      all_->insert(at_->of_child(at_->forks));
      place here{at_, at_->forks++};
      f(serial{here, *all_}, i);
      if (i % 3 == 1) {
        fork_join([&](serial c) { return f(c, i), 0; }, [&](serial c) { return f(c, i), 0; });
      }
    }
    if (n != 0) ++at_->forks;
  }

 private:
  place* at_;
  std::set<std::vector<std::uint32_t>>* all_;
};

void work() {
  for (int i = 0; i < 20; ++i) heist::os_env::relax();
}

struct fib_kernel {
  template <class C>
  static long run(C const& c, int n) {
    if (n < 2) {
      work();
      return n;
    }
    auto const [a, b] = c.fork_join([=](auto d) { return run(d, n - 1); }, [=](auto d) { return run(d, n - 2); });
    return a + b;
  }
};

/// Frames with several forks, of two and three, after each other.
struct mixed_kernel {
  template <class C>
  static long run(C const& c, int n) {
    if (n < 1) {
      work();
      return 1;
    }
    auto const [a, b] = c.fork_join([=](auto d) { return run(d, n - 1); }, [=](auto d) { return run(d, n - 2); });
    auto const [x, y, z] = c.fork_join([=](auto d) { return run(d, n - 3); }, [=](auto d) { return run(d, n - 2); },
                                       [=](auto d) { return run(d, n - 3); });
    return a + b + 2 * (x + y + z);
  }
};

struct scope_kernel {
  template <class C>
  static long run(C const& c, int n) {
    if (n < 1) {
      work();
      return 1;
    }
    std::atomic<long> sum{0};
    c.children(5, [&](auto d, int i) { sum += run(d, n - 1 - i % 2); });
    return sum;
  }
};

/// Counts the steals of each pair of thief and victim.
struct steal_counter : heist::null_observer {
  static constexpr bool observes = true;
  void start(std::size_t workers) { by.resize(workers); }
  void steal(std::size_t thief, std::size_t victim) noexcept { ++by[thief][victim]; }
  std::vector<std::map<std::size_t, std::size_t>> by;
};

/// The steals of `t`, renumbered, without frames that resumed after a join.
std::vector<steal_tree::steal> stolen(steal_tree const& t) {
  std::vector<steal_tree::steal> all;
  std::map<std::uint32_t, std::set<std::uint32_t>> numbers;
  for (auto const& s : t.steals()) {
    if (s.after_join) continue;
    all.push_back(s);
    numbers[s.worker].insert(s.sequence);
  }
  for (auto& s : all) {
    auto const& of_worker = numbers[s.worker];
    s.sequence = static_cast<std::uint32_t>(std::distance(of_worker.begin(), of_worker.find(s.sequence)));
  }
  return all;
}

void check_tree(steal_tree const& t, witness const& w, std::size_t workers) {
  CHECK(t.worker_count() == workers);
  CHECK(t.body_worker() == w.body);
  auto const seen = w.steals();
  CHECK(t.steal_count() == seen.size());
  CHECK(stolen(t) == seen);
  CHECK(steal_tree::from_json(t.to_json()) == t);
  CHECK(difference(t, steal_tree::from_json(t.to_json())).empty());
}

template <class Context, class Kernel>
void record(Kernel kernel, int n, int rounds) {
  std::set<std::vector<std::uint32_t>> all;
  place serial_body{nullptr, 0};
  long const want = Kernel::run(serial{serial_body, all}, n);
  for (std::size_t const workers : {1u, 2u, 4u, 16u}) {
    heist::executor<heist::policy::replay, steal_counter> ex{workers};
    heist_test::watchdog guard{ex, 120s, "recording"};
    region r;
    std::size_t steals = 0;
    for (int round = 0; round < rounds; ++round) {
      for (auto& counts : ex.observer().by) counts.clear();
      witness w{workers};
      long const got = ex.invoke(r, [&](auto c) {
        w.body = c.worker_id();
        place body{nullptr, 0};
        return kernel.run(watched<Context>{c, body, w}, n);
      });
      ex.wait_idle();
      REQUIRE(got == want);
      check_tree(r.tree(), w, workers);
      CHECK(r.explain().empty());
      steals += r.tree().steal_count();
      std::map<std::pair<std::size_t, std::size_t>, std::size_t> pairs;
      for (auto const& s : stolen(r.tree())) {
        CHECK(all.count(s.place) == 1);
        ++pairs[{s.worker, s.victim}];
      }
      // Thieves may steal parked frames, too, so the observer may count more.
      for (auto const& [pair, times] : pairs) CHECK(ex.observer().by[pair.first][pair.second] >= times);
    }
    if (workers == 1) CHECK(steals == 0);
  }
}

using own_context = heist::executor<heist::policy::replay>::context_type;

}  // namespace

TEST_CASE("recording: what the frames saw, two children", "[fork]") {
  record<own_context>(fib_kernel{}, slow ? 11 : 15, slow ? 10 : 40);
}
TEST_CASE("recording: what the frames saw, several forks in a frame", "[fork]") {
  record<own_context>(mixed_kernel{}, slow ? 4 : 7, slow ? 10 : 40);
}
TEST_CASE("recording: what the frames saw, scopes", "[fork]") {
  record<own_context>(scope_kernel{}, slow ? 3 : 4, slow ? 10 : 40);
}
TEST_CASE("recording: kernels that take heist::context", "[fork]") {
  record<heist::context>(fib_kernel{}, slow ? 9 : 13, slow ? 10 : 40);
  record<heist::context>(mixed_kernel{}, slow ? 3 : 5, slow ? 10 : 40);
  record<heist::context>(scope_kernel{}, 3, slow ? 10 : 40);
}

TEST_CASE("recording: a steal that must happen", "[fork]") {
  heist::executor<heist::policy::replay> ex{2};
  heist_test::watchdog guard{ex, 60s};
  for (int round = 0; round < (slow ? 20 : 200); ++round) {
    region r;
    std::atomic<bool> second{false};
    std::size_t first_on = 0, second_on = 0;
    ex.invoke(r, [&](auto c) {
      c.fork_join([](auto) {},
                  [&](auto d) {
                    d.fork_join(
                        [&](auto e) {
                          first_on = e.worker_id();
                          while (!second) std::this_thread::yield();
                        },
                        [&](auto e) {
                          second_on = e.worker_id();
                          second = true;
                        });
                  });
    });
    std::vector<std::uint32_t> const place{1, 0};
    auto const* const n = r.tree().find(place);
    REQUIRE(n != nullptr);
    CHECK(n->worker == second_on);
    CHECK(n->victim == first_on);
    CHECK(r.tree().depth() == 2);
  }
}

TEST_CASE("recording: exceptions leave the tree of the run before", "[fork]") {
  for (std::size_t const workers : {1u, 4u}) {
    heist::executor<heist::policy::replay> ex{workers};
    heist_test::watchdog guard{ex, 60s};
    region r;
    for (int round = 0; round < (slow ? 5 : 50); ++round) {
      witness w{workers};
      auto const run = [&](bool fails) {
        ex.invoke(r, [&](auto c) {
          w.body = c.worker_id();
          place body{nullptr, 0};
          using context = decltype(c);
          watched<context>{c, body, w}.fork_join([](auto d) { return fib_kernel::run(d, 8); },
                                                 [=](auto d) {
                                                   d.fork_join([](auto e) { return fib_kernel::run(e, 6); },
                                                               [=](auto) {
                                                                 if (fails) throw std::runtime_error{"in a child"};
                                                                 return 0L;
                                                               });
                                                   return 0L;
                                                 });
        });
      };
      run(false);
      steal_tree const before = r.tree();
      check_tree(before, w, workers);
      CHECK_THROWS_AS(run(true), std::runtime_error);
      CHECK(r.tree() == before);
    }
  }
}

TEST_CASE("recording: frames that must not migrate", "[fork]") {
  heist::executor<heist::policy::replay> ex{4};
  heist_test::watchdog guard{ex, 60s};
  for (int round = 0; round < (slow ? 5 : 50); ++round) {
    region r;
    witness w{4};
    ex.invoke(r, [&](auto c) {
      w.body = c.worker_id();
      place body{nullptr, 0};
      watched<decltype(c)> const root{c, body, w};
      root.fork_join([&](auto d) { return fib_kernel::run(d, 9); },
                     [&](auto d) {
                       heist::no_migrate const stay;
                       d.children(4, [](auto e, int) { fib_kernel::run(e, 3); });
                       auto const [a, b] = d.fork_join([](auto e) { return fib_kernel::run(e, 6); },
                                                       [](auto e) { return fib_kernel::run(e, 5); });
                       return a + b;
                     });
    });
    check_tree(r.tree(), w, 4);
  }
}

TEST_CASE("recording: a region inside another one's run is part of it", "[fork]") {
  heist::executor<heist::policy::replay> ex{4};
  heist_test::watchdog guard{ex, 60s};
  region outer, inner;
  for (int round = 0; round < (slow ? 5 : 50); ++round) {
    witness w{4};
    ex.invoke(outer, [&](auto c) {
      w.body = c.worker_id();
      place body{nullptr, 0};
      using context = decltype(c);
      watched<context>{c, body, w}.fork_join([](auto d) { return fib_kernel::run(d, 8); },
                                             [&](auto d) {
                                               fib_kernel::run(d, 4);
                                               return d.inner().invoke(inner,
                                                                       [&](context) { return fib_kernel::run(d, 8); });
                                             });
    });
    check_tree(outer.tree(), w, 4);
    CHECK(inner.tree().empty());
    CHECK(inner.explain().find("another region's run") != std::string::npos);
  }
}

TEST_CASE("recording: regions in turn inside one task, between forks that belong to none", "[fork]") {
  heist::executor<heist::policy::replay> ex{4};
  heist_test::watchdog guard{ex, 60s};
  ex.invoke([&](auto c) {
    region r;
    for (int round = 0; round < (slow ? 5 : 50); ++round) {
      CHECK(fib_kernel::run(c, 9) == 34);
      witness w{4};
      c.invoke(r, [&](auto d) {
        w.body = d.worker_id();
        place body{nullptr, 0};
        fib_kernel::run(watched<decltype(d)>{d, body, w}, 10);
      });
      check_tree(r.tree(), w, 4);
      // A fork without a context has no known place.
      c.invoke(r, [] { heist::fork_join([] { work(); }, [] { work(); }); });
      CHECK(r.tree().steal_count() == 0);
    }
  });
}

TEST_CASE("recording: two regions at a time", "[fork]") {
  heist::executor<heist::policy::replay> ex{4};
  heist_test::watchdog guard{ex, 60s};
  for (int round = 0; round < (slow ? 5 : 50); ++round) {
    region r[2];
    witness w[2] = {witness{4}, witness{4}};
    ex.invoke([&](auto c) {
      auto const one = [&](int i) {
        return [&, i](auto d) {
          d.invoke(r[i], [&](auto e) {
            w[i].body = e.worker_id();
            place body{nullptr, 0};
            fib_kernel::run(watched<decltype(e)>{e, body, w[i]}, 10);
          });
        };
      };
      c.fork_join(one(0), one(1));
    });
    // A thief's numbers are of one run.
    check_tree(r[0].tree(), w[0], 4);
    check_tree(r[1].tree(), w[1], 4);
  }
}

TEST_CASE("recording: only policy::replay records", "[fork]") {
  using child_first = heist::policy::with_order<heist::policy::random, heist::order::child_first>;
  heist::executor<child_first> ex{2};
  heist::executor<heist::policy::cab> cab{2};
  heist::executor<> parent_first{2};
  region r;
  ex.invoke(r, [](auto c) { return fib_kernel::run(c, 10); });
  cab.invoke(r, [](auto c) { return fib_kernel::run(c, 10); });
  parent_first.invoke(r, [](auto c) { return fib_kernel::run(c, 10); });
  CHECK(r.tree().empty());
}
