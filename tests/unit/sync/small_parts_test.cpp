// heist::injection queue, heist::detail::completion, heist::detail::spin_lock: alone and among threads.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "heist/core/base/spin_lock.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/core/sync/shared_range.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

using heist_test::slow;

namespace {

struct node {
  node* next = nullptr;
  int pusher = 0;
  int number = 0;  // plain: the push publishes it
};

struct counting_waiter : heist::detail::completion_waiter {
  counting_waiter()
      : completion_waiter{[](completion_waiter& self) noexcept { ++static_cast<counting_waiter&>(self).notified; }} {}
  int notified = 0;
};

}  // namespace

TEST_CASE("injector: the oldest first, one or several, and whoever is first is told", "[sync]") {
  heist::detail::injection_queue<node> q;
  bool more = false;
  CHECK(q.maybe_empty());
  CHECK(q.take(more) == nullptr);
  node a, b, c, d;
  CHECK(q.push(a));
  CHECK_FALSE(q.push(b));
  CHECK_FALSE(q.push(c));
  CHECK_FALSE(q.maybe_empty());
  CHECK(q.take(more) == &a);
  CHECK(more);
  CHECK(q.push(d));  // the first behind the line
  CHECK(q.take(more, 2) == &b);
  CHECK(b.next == &c);
  CHECK(c.next == nullptr);
  CHECK(q.take(more, 2) == &d);
  CHECK(d.next == nullptr);
  CHECK_FALSE(more);
  CHECK(q.maybe_empty());
}

TEST_CASE("injector: every node is taken once, each pusher's in order", "[sync]") {
  heist_test::watchdog guard{"injector", 60s};
  int const per_pusher = slow ? 5000 : 50000;
  constexpr int producers = 3, consumers = 2;
  std::vector<std::vector<node>> nodes(producers, std::vector<node>(static_cast<std::size_t>(per_pusher)));
  heist::detail::injection_queue<node> q;
  std::atomic<int> pushing{producers};
  std::atomic<int> taken{0};
  std::atomic<bool> in_order{true};
  std::vector<std::thread> threads;
  for (int p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      int i = 0;
      for (node& n : nodes[static_cast<std::size_t>(p)]) {
        n.pusher = p;
        n.number = ++i;
        q.push(n);
      }
      --pushing;
    });
  }
  for (int t = 0; t < consumers; ++t) {
    threads.emplace_back([&] {
      int oldest[producers] = {};
      for (;;) {
        bool const over = pushing == 0;
        bool more = false;
        node* n = q.take(more, 4);
        if (n == nullptr && over && q.maybe_empty()) break;
        for (; n != nullptr; n = n->next) {
          if (n->number <= oldest[n->pusher]) in_order = false;
          oldest[n->pusher] = n->number;
          ++taken;
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(taken == producers * per_pusher);
  CHECK(in_order);
}

TEST_CASE("completion: waiters enlisted before are woken once, later ones are refused", "[sync]") {
  heist::detail::completion c;
  counting_waiter first, second, late;
  CHECK_FALSE(c.is_ready());
  CHECK(c.add_entry(first));
  CHECK(c.add_entry(second));
  CHECK_FALSE(c.is_ready());
  c.complete();
  CHECK(c.is_ready());
  CHECK(first.notified == 1);
  CHECK(second.notified == 1);
  CHECK_FALSE(c.add_entry(late));
  CHECK(late.notified == 0);
  c.reset();
  CHECK_FALSE(c.is_ready());
  CHECK(c.add_entry(late));
  c.complete();
  CHECK(late.notified == 1);
}

TEST_CASE("completion: the waiter may free it at once and sees what was done before", "[sync]") {
  heist_test::watchdog guard{"completion", 60s};
  struct shared {
    heist::detail::completion finished;
    int value = 0;  // plain
  } over;           // handed last
  std::atomic<shared*> handed{nullptr};
  std::thread other{[&] {
    for (int i = 1;; ++i) {
      shared* s = nullptr;
      while ((s = handed.exchange(nullptr)) == nullptr) std::this_thread::yield();
      if (s == &over) break;
      s->value = i;
      s->finished.complete();
    }
  }};
  bool right = true;
  heist_test::rounds rounds{20000};
  while (rounds.next()) {
    auto s = std::make_unique<shared>();
    handed = s.get();
    heist::detail::thread_waiter<> me;
    if (s->finished.add_entry(me)) me.wait();
    right = right && s->finished.is_ready() && s->value == rounds.begun();
  }
  handed = &over;
  other.join();
  CHECK(right);
}

TEST_CASE("completion: a thread that sleeps on it is woken", "[sync]") {
  heist_test::watchdog guard{"sleep on a completion", 30s};
  heist::detail::completion c;
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 3; ++i) {
    sleepers.emplace_back([&] {
      heist::detail::thread_waiter<heist::os_env, 1> me;
      if (c.add_entry(me)) me.wait();
    });
  }
  std::this_thread::sleep_for(20ms);
  c.complete();
  for (auto& s : sleepers) s.join();
}

TEST_CASE("spin_lock: one at a time, and what the last one wrote is seen", "[sync]") {
  heist_test::watchdog guard{"spin lock", 60s};
  int const rounds = slow ? 5000 : 50000;
  heist::detail::spin_lock<> lock;
  long plain = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        heist::detail::spin_guard hold{lock};
        ++plain;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(plain == 4L * rounds);
}

TEST_CASE("a shared range of more iterations than fit into half a word is taken to the last one", "[sync]") {
  constexpr std::size_t n = (std::size_t{1} << 34) + 5;
  heist::detail::shared_range<> range;
  CHECK(!range.enter());
  range.open(n, 1);
  std::size_t front = 0, back = n;
  for (bool from_front = true; !range.empty(); from_front = !from_front) {
    heist::detail::shared_range<>::share const how{1, std::size_t{1} << 31, 4};
    auto const r = from_front ? range.take_front(how) : range.take_back(how);
    REQUIRE(r.lo < r.hi);
    REQUIRE((from_front ? r.lo == front : r.hi == back));
    (from_front ? front : back) = from_front ? r.hi : r.lo;
  }
  CHECK(front == back);
  CHECK(range.take_front({1, 1, 1}).empty());
  CHECK(!range.may_enter());
  CHECK(range.close());
  CHECK(!range.enter());
}

TEST_CASE("a shared range lets in as many helpers as it was opened for, each time that it is opened", "[sync]") {
  heist::detail::shared_range<> range;
  for (int opened = 0; opened != 3; ++opened) {
    range.open(10, 2);
    CHECK(range.may_enter());
    CHECK(range.enter());
    CHECK(range.enter());
    CHECK(!range.may_enter());
    CHECK(!range.enter());
    range.leave();
    CHECK(!range.enter());
    CHECK(!range.close());
    CHECK(range.will_wait());
    CHECK(!range.all_left().is_ready());
    range.leave();
    CHECK(range.all_left().is_ready());
    CHECK(range.all_have_left());
  }
}

TEST_CASE("a shared range of any number of iterations is taken whole", "[sync]") {
  constexpr std::size_t word = std::size_t{1} << 32, all = ~std::size_t{0};
  for (std::size_t const n : {std::size_t{1}, word - 2, word - 1, word, word + 1, 2 * word - 1, 2 * word, 3 * word - 2,
                              all / 2, all - word, all - 1, all}) {
    INFO(n);
    heist::detail::shared_range<> range;
    range.open(n, 1);
    std::size_t front = 0, back = n;
    for (bool from_front = true; !range.empty(); from_front = !from_front) {
      heist::detail::shared_range<>::share const how{1, all, 4};
      auto const r = from_front ? range.take_front(how) : range.take_back(how);
      REQUIRE(r.lo < r.hi);
      REQUIRE((from_front ? r.lo == front : r.hi == back));
      (from_front ? front : back) = from_front ? r.hi : r.lo;
    }
    CHECK(front == back);
    range.open(n, 1);
    range.drop_from(n / 2 + 1);
    CHECK(range.take_front({n, n, 1}).lo == 0);
  }
}

TEST_CASE("a shared range gives no short blocks near its end, but leaves a share to the others", "[sync]") {
  heist::detail::shared_range<> range;
  heist::detail::shared_range<>::share const how{1, 64, 4, 32};
  range.open(1000, 1);
  CHECK(range.take_front(how).hi == 64);
  range.drop_from(64 + 100);
  CHECK(range.take_front(how).hi == 64 + 32);  // a quarter would be 25
  range.drop_from(64 + 32 + 40);
  auto const last = range.take_back(how);
  CHECK(last.hi - last.lo == 20);  // half of the rest
}

TEST_CASE("a shared range gives no fewer iterations than the grain, and none behind its end", "[sync]") {
  heist::detail::shared_range<> range;
  range.open(100, 1);
  CHECK(range.take_front({30, 1, 8}).hi == 30);
  range.drop_from(70);
  auto const r = range.take_back({30, 1, 8});
  CHECK(r.lo == 40);
  CHECK(r.hi == 70);
  CHECK(range.take_back({30, 1, 8}).lo == 30);
  CHECK(range.empty());
}
