// A stop against the end against an exception, in any order. Each task has run or has not, its handle says the same,
// and no wait lasts for ever.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stop_token>
#include <thread>
#include <tuple>

#include "heist/core/base/random.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

namespace {

using both_orders =
    std::tuple<heist::policy::random, heist::policy::with_order<heist::policy::random, heist::order::child_first>>;

struct planted {};

/// A thread that requests a stop a little after it has been told to.
class stopper {
 public:
  stopper() : thread_{[this] { work(); }} {}
  stopper(stopper const&) = delete;
  stopper& operator=(stopper const&) = delete;
  ~stopper() {
    pauses_ = -2;
    thread_.join();
  }
  /// Returns when it is on its way; wait() before `s` ends.
  void stop_soon(std::stop_source& s, std::uint32_t pauses) {
    source_ = &s;
    pauses_ = static_cast<std::int64_t>(pauses);
  }
  void wait() const {
    while (pauses_ != -1) heist::os_env::yield();
  }

 private:
  void work() {
    for (;;) {
      std::int64_t n = pauses_;
      if (n == -2) return;
      if (n == -1) {
        heist::os_env::yield();
        continue;
      }
      for (; n != 0; --n) heist::os_env::relax();
      source_.load()->request_stop();
      pauses_ = -1;
    }
  }

  std::atomic<std::stop_source*> source_{nullptr};
  std::atomic<std::int64_t> pauses_{-1};  ///< -1: nothing to do, -2: the end
  std::thread thread_;
};

/// The moment at which a stop is requested: most often a random one. The other moments let each side win now and then,
/// on any machine.
enum class moment { never, before, by_a_task, any };
moment any_moment(heist::fast_random& random) {
  std::uint32_t const n = random.below(16);
  return n == 0 ? moment::never : n == 1 ? moment::before : n == 2 ? moment::by_a_task : moment::any;
}

/// Which of them won, over all rounds: a test in which one never does shows little.
struct wins {
  long ended = 0, stopped = 0, thrown = 0;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("cancel: a submitted task has run, or get() says that it was stopped", "[stress]",
                        both_orders) {
  heist::fast_random random{heist_test::stress_seed("stop against submit")};
  heist::executor<TestType> ex{std::size_t{2}};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "stop against submit"};
  stopper other;
  wins w;
  for (int round = heist_test::stress_rounds(10'000); round > 0; --round) {
    std::stop_source source;
    std::atomic<int> ran{0};
    bool const throws = random.below(4) == 0;
    std::uint32_t const length = random.below(200);
    moment const when = any_moment(random);
    if (when == moment::any) other.stop_soon(source, random.below(600));
    if (when == moment::before) source.request_stop();
    auto f = ex.submit(heist::with{.stop = source.get_token()}, [&](auto c) {
      ++ran;
      if (when == moment::by_a_task) source.request_stop();
      c.fork_join(
          [&] {
            for (auto n = length; n != 0; --n) heist::os_env::relax();
          },
          [] {});
      if (throws) throw planted{};
    });
    try {
      f.get();
      ++w.ended;
      REQUIRE((ran == 1 && !throws));
    } catch (heist::stopped_error const&) {
      ++w.stopped;
      REQUIRE(ran == 0);
    } catch (planted const&) {
      ++w.thrown;
      REQUIRE((ran == 1 && throws));
    }
    other.wait();
  }
  std::printf("stop against submit: ended %ld, stopped %ld, thrown %ld\n", w.ended, w.stopped, w.thrown);
  CHECK((heist_test::slow || (w.ended > 0 && w.stopped > 0 && w.thrown > 0)));  // slow: too few rounds for that
}

TEMPLATE_LIST_TEST_CASE("cancel: of a fork/join tree all is joined, whoever is first", "[stress]", both_orders) {
  heist::fast_random random{heist_test::stress_seed("stop against a tree")};
  heist::executor<TestType> ex{std::size_t{3}};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "stop against a tree"};
  stopper other;
  wins w;
  for (int round = heist_test::stress_rounds(4000); round > 0; --round) {
    std::stop_source source;
    std::atomic<int> begun{0}, left{0};
    int const fails_at = random.below(3) == 0 ? static_cast<int>(random.below(200)) : -1;
    struct grower {
      std::atomic<int>&begun, &left;
      int fails_at;
      std::stop_source& source;
      int stops_at;
      void grow(typename heist::executor<TestType>::context_type c, int levels) const {
        if (c.stop_requested()) return;
        struct leaving {
          std::atomic<int>& n;
          ~leaving() { ++n; }
        } const at_end{left};
        int const me = begun++;
        if (me == stops_at) source.request_stop();
        if (me == fails_at) throw planted{};
        if (levels == 0) return;
        c.fork_join([this, levels](auto d) { grow(d, levels - 1); }, [this, levels](auto d) { grow(d, levels - 1); });
      }
    };
    moment const when = any_moment(random);
    grower const g{begun, left, fails_at, source, when == moment::by_a_task ? 5 : -1};
    if (when == moment::any) other.stop_soon(source, random.below(1500));
    if (when == moment::before) source.request_stop();
    bool caught = false, never_started = false;
    try {
      ex.invoke(heist::with{.stop = source.get_token()}, [&](auto c) { g.grow(c, 6); });
    } catch (planted const&) {
      caught = true;
    } catch (heist::stopped_error const&) {
      never_started = true;
    }
    int const n = begun;  // no thread is at work any more
    REQUIRE(left == n);
    if (never_started) REQUIRE(n == 0);
    if (caught) REQUIRE((fails_at >= 0 && n > fails_at));
    if (!caught && fails_at >= 0) REQUIRE(n <= fails_at);
    if (!caught && n != 127) REQUIRE(source.stop_requested());
    caught ? ++w.thrown : n == 127 ? ++w.ended : ++w.stopped;
    other.wait();
    REQUIRE(begun == n);
  }
  std::printf("stop against a tree: ended %ld, stopped %ld, thrown %ld\n", w.ended, w.stopped, w.thrown);
  CHECK((heist_test::slow || (w.ended > 0 && w.stopped > 0 && w.thrown > 0)));  // slow: too few rounds for that
}

TEST_CASE("cancel: a graph's run has run, was stopped, or threw, and says which", "[stress][graph]") {
  heist::fast_random random{heist_test::stress_seed("stop against a graph")};
  heist::executor ex{std::size_t{3}};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "stop against a graph"};
  stopper other;
  wins w;
  heist::limiter two{2};
  heist::task_graph g;
  std::atomic<int> ran{0}, fails_at{-1}, stops_at{-1};
  std::stop_source source;
  auto first = g.emplace([] {});
  for (int i = 0; i < 8; ++i) {
    auto before = first;
    for (int k = 0; k < 8; ++k) {
      auto next = g.emplace([&] {
        int const me = ran++;
        if (me == stops_at) source.request_stop();
        if (me == fails_at) throw planted{};
      });
      if (k % 4 == 3) next.limit(two);
      before.precede(next);
      before = next;
    }
  }
  for (int round = heist_test::stress_rounds(6000); round > 0; --round) {
    source = std::stop_source{};
    ran = 0;
    fails_at = random.below(3) == 0 ? static_cast<int>(random.below(100)) : -1;
    moment const when = any_moment(random);
    stops_at = when == moment::by_a_task ? 5 : -1;
    if (when == moment::any) other.stop_soon(source, random.below(1000));
    if (when == moment::before) source.request_stop();
    auto run = ex.run(g, heist::with{.stop = source.get_token()});
    bool caught = false;
    try {
      run.get();
    } catch (planted const&) {
      caught = true;
    } catch (heist::stopped_error const&) {
      REQUIRE(run.stopped());
    }
    int const n = ran;
    REQUIRE(run.is_ready());
    REQUIRE(two.available() == 2);
    if (caught) REQUIRE((fails_at >= 0 && n > fails_at));
    if (!caught && fails_at >= 0) REQUIRE(n <= fails_at);
    if (!caught && !run.stopped()) REQUIRE(n == 64);
    if (run.stopped()) REQUIRE(source.stop_requested());
    caught ? ++w.thrown : run.stopped() ? ++w.stopped : ++w.ended;
    other.wait();
    REQUIRE(ran == n);
  }
  std::printf("stop against a graph: ended %ld, stopped %ld, thrown %ld\n", w.ended, w.stopped, w.thrown);
  CHECK((heist_test::slow || (w.ended > 0 && w.stopped > 0 && w.thrown > 0)));  // slow: too few rounds for that
}
