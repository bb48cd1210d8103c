// heist::detail::work_deque: order, growth, indices that wrap, and every item exactly once among thieves.
#include "heist/core/sync/work_deque.hpp"

#include <atomic>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "heist/core/base/random.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using heist::detail::steal_status;
using heist::detail::work_deque;

namespace {

/// Indices of eight bits: they wrap after 256 operations. Rings stay below 128 slots in these tests.
struct narrow_env : heist::os_env {
  using index = std::int8_t;
};

std::vector<int> numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

}  // namespace

TEST_CASE("work_deque: the owner pops the youngest, a thief steals the oldest", "[sync]") {
  auto v = numbers(4);
  bool const has_thieves = GENERATE(true, false);
  work_deque<int*> d{4, has_thieves};
  CHECK(d.maybe_empty());
  CHECK(d.pop() == nullptr);
  CHECK(d.steal().status == steal_status::empty);
  CHECK(d.steal().item == nullptr);
  for (auto& i : v) REQUIRE(d.push(&i));
  CHECK_FALSE(d.maybe_empty());
  CHECK(d.size_snapshot() == 4);
  CHECK(d.pop() == &v[3]);
  auto const stolen_task = d.steal();
  CHECK(stolen_task.status == steal_status::stolen);
  CHECK(stolen_task.item == &v[0]);
  CHECK(d.pop() == &v[2]);
  CHECK(d.pop() == &v[1]);
  CHECK(d.pop() == nullptr);
  CHECK(d.steal().status == steal_status::empty);
  CHECK(d.size_snapshot() == 0);
}

TEST_CASE("work_deque: it stays usable after the owner finds it empty", "[sync]") {
  int x = 0;
  bool const has_thieves = GENERATE(true, false);
  work_deque<int*> d{1, has_thieves};
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(d.pop() == nullptr);
    REQUIRE(d.push(&x));
    REQUIRE((i % 2 == 0 ? d.pop() : d.steal().item) == &x);
    REQUIRE(d.pop() == nullptr);
    REQUIRE(d.maybe_empty());
  }
  CHECK(d.capacity() == 1);
}

TEST_CASE("work_deque: growth keeps every item and its order, from every capacity", "[sync]") {
  auto v = numbers(1000);
  bool const has_thieves = GENERATE(true, false);
  for (std::size_t const capacity : {1u, 2u, 4u, 1024u}) {
    work_deque<int*> d{capacity, has_thieves};
    for (int& i : v) REQUIRE(d.push(&i));
    CHECK(d.size_snapshot() == 1000);
    CHECK(d.capacity() == 1024);
    for (std::size_t i = 0; i < 500; ++i) REQUIRE(d.steal().item == &v[i]);
    for (std::size_t i = 1000; i-- > 500;) REQUIRE(d.pop() == &v[i]);
    CHECK(d.pop() == nullptr);
  }
}

TEST_CASE("work_deque: the owner takes an item back only if it is the youngest", "[sync]") {
  auto v = numbers(3);
  bool const has_thieves = GENERATE(true, false);
  work_deque<int*> d{4, has_thieves};
  CHECK_FALSE(d.take_back(&v[0]));
  for (auto& i : v) REQUIRE(d.push(&i));
  CHECK_FALSE(d.take_back(&v[1]));
  CHECK(d.take_back(&v[2]));
  CHECK_FALSE(d.take_back(&v[2]));
  CHECK(d.steal().item == &v[0]);
  CHECK(d.steal().item == &v[1]);
  CHECK_FALSE(d.take_back(&v[1]));  // its slot still names it
  CHECK(d.maybe_empty());
  REQUIRE(d.push(&v[0]));
  CHECK(d.take_back(&v[0]));
  CHECK(d.pop() == nullptr);
}

TEST_CASE("work_deque: a full ring grows only if thieves have not made room", "[sync]") {
  auto v = numbers(8);
  work_deque<int*> d{4};
  for (std::size_t i = 0; i < 4; ++i) REQUIRE(d.push(&v[i]));
  REQUIRE(d.steal().item == &v[0]);
  REQUIRE(d.push(&v[4]));
  CHECK(d.capacity() == 4);
  REQUIRE(d.push(&v[5]));
  CHECK(d.capacity() == 8);
}

TEST_CASE("work_deque: indices wrap without loss", "[sync]") {
  auto v = numbers(64);
  for (std::size_t const capacity : {1u, 2u, 16u, 64u}) {
    work_deque<int*, narrow_env> d{capacity};
    for (int round = 0; round < 2000; ++round) {
      std::size_t const n = 1 + static_cast<std::size_t>(round) % 48;
      for (std::size_t i = 0; i < n; ++i) REQUIRE(d.push(&v[i]));
      REQUIRE(d.size_snapshot() == n);
      std::size_t oldest = 0, youngest = n;
      while (oldest != youngest) {
        if ((oldest + youngest + static_cast<std::size_t>(round)) % 3 == 0) {
          REQUIRE(d.steal().item == &v[oldest++]);
        } else {
          REQUIRE(d.pop() == &v[--youngest]);
        }
      }
      REQUIRE(d.pop() == nullptr);
      REQUIRE(d.steal().status == steal_status::empty);
    }
  }
}

TEST_CASE("work_deque: each item comes out once, with what was written before the push", "[sync]") {
  heist_test::watchdog guard{"deque, owner and thieves", std::chrono::seconds{60}};
  struct item {
    int value = 0;     // plain: the push publishes it
    int taken_by = 0;  // plain: exactly one taker writes it
  };
  int const n = heist::under_tsan || heist::under_asan ? 20000 : 200000;
  for (int const thief_count : {1, 3}) {
    std::vector<item> items(static_cast<std::size_t>(n));
    work_deque<item*> d{2};
    std::atomic<bool> over{false};
    std::atomic<long> sum{0};
    std::vector<std::thread> thieves;
    for (int t = 0; t < thief_count; ++t) {
      thieves.emplace_back([&] {
        long mine = 0;
        for (;;) {
          bool const last_look = over.load(std::memory_order_acquire);
          auto const stolen_task = d.steal();
          if (stolen_task.status == steal_status::stolen) {
            mine += stolen_task.item->value;
            ++stolen_task.item->taken_by;
          } else if (last_look && stolen_task.status == steal_status::empty) {
            break;
          }
        }
        sum += mine;
      });
    }
    long mine = 0;
    heist::fast_random random{static_cast<std::uint64_t>(thief_count)};
    for (std::size_t i = 0; i < items.size();) {
      for (std::uint32_t k = 1 + random.below(20); k != 0 && i < items.size(); --k, ++i) {
        items[i].value = static_cast<int>(i % 1000);
        REQUIRE(d.push(&items[i]));
      }
      for (std::uint32_t k = random.below(20); k != 0; --k) {
        if (item* const got = d.pop()) {
          mine += got->value;
          ++got->taken_by;
        }
      }
    }
    while (item* const got = d.pop()) {
      mine += got->value;
      ++got->taken_by;
    }
    over.store(true, std::memory_order_release);
    for (auto& t : thieves) t.join();
    long expected = 0;
    bool once = true;
    for (std::size_t i = 0; i < items.size(); ++i) {
      expected += static_cast<long>(i % 1000);
      once = once && items[i].taken_by == 1;
    }
    CHECK(once);
    CHECK(sum + mine == expected);
    CHECK(d.maybe_empty());
  }
}
