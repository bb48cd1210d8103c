// Memory that is no longer needed: rings that a deque has outgrown, and the memory that an executor has taken while it
// lived. The program's operator new counts the bytes that are out.
#include <malloc.h>  // malloc_usable_size

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <tuple>
#include <vector>

#include "heist/core/sync/work_deque.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

namespace {

std::atomic<long> bytes_out{0};

void* count_in(void* at) {
  if (at == nullptr) throw std::bad_alloc{};
  bytes_out += static_cast<long>(::malloc_usable_size(at));
  return at;
}
void give_back(void* at) noexcept {
  if (at != nullptr) bytes_out -= static_cast<long>(::malloc_usable_size(at));
  std::free(at);
}

}  // namespace

// noinline: a compiler that sees malloc() and free() through them warns of a mismatch.
HEIST_NOINLINE void* operator new(std::size_t bytes) {
  return count_in(std::malloc(bytes == 0 ? 1 : bytes));
}
HEIST_NOINLINE void* operator new[](std::size_t bytes) {
  return ::operator new(bytes);
}
HEIST_NOINLINE void* operator new(std::size_t bytes, std::align_val_t alignment) {
  auto const a = static_cast<std::size_t>(alignment);
  return count_in(std::aligned_alloc(a, (bytes + a - 1) / a * a));
}
HEIST_NOINLINE void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return ::operator new(bytes, alignment);
}
// A sanitizer's own operator would not call the other ones.
HEIST_NOINLINE void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  void* const at = std::malloc(bytes == 0 ? 1 : bytes);
  return at == nullptr ? nullptr : count_in(at);
}
HEIST_NOINLINE void* operator new[](std::size_t bytes, std::nothrow_t const& no_throw) noexcept {
  return ::operator new(bytes, no_throw);
}
HEIST_NOINLINE void operator delete(void* at) noexcept {
  give_back(at);
}
HEIST_NOINLINE void operator delete(void* at, std::nothrow_t const&) noexcept {
  give_back(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::nothrow_t const&) noexcept {
  give_back(at);
}
HEIST_NOINLINE void operator delete(void* at, std::size_t) noexcept {
  give_back(at);
}
HEIST_NOINLINE void operator delete(void* at, std::align_val_t) noexcept {
  give_back(at);
}
HEIST_NOINLINE void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  give_back(at);
}
HEIST_NOINLINE void operator delete[](void* at) noexcept {
  give_back(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::size_t) noexcept {
  give_back(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::align_val_t) noexcept {
  give_back(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::size_t, std::align_val_t) noexcept {
  give_back(at);
}

namespace {

/// The most bytes that a deque of so many slots may hold. These are its ring, and smaller rings that it has outgrown
/// (together less than its own size). Malloc adds whole pages to some of the largest rings.
long allowed(std::size_t capacity) {
  return static_cast<long>(2 * capacity * sizeof(void*)) + 5 * 4096;
}

using policies =
    std::tuple<heist::policy::random, heist::policy::with_order<heist::policy::random, heist::order::child_first>,
               heist::policy::cab, heist::policy::replay>;

/// Something of everything, enough to make deques and pools grow.
template <class Policy>
long work() {
  heist::executor<Policy> ex{heist::options{.workers = 3, .stack_size = std::size_t{128} << 10}};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "something of everything"};
  std::atomic<long> n{0};
  int const many = heist_test::stress_rounds(5000);
  ex.invoke([&] {
    for (int i = 0; i < many; ++i) ex.post([&] { ++n; });
  });
  for (int i = 0; i < 100; ++i) {
    ex.post([&](auto c) {
      heist::scope s{c};
      for (int k = 0; k < 20; ++k) s.fork([&](auto d) { d.fork_join([&] { ++n; }, [&] { ++n; }); });
      s.join();
      n += c.submit([] { return 1; }).get();
    });
  }
  heist::task_graph g;
  auto all = g.emplace([&] { ++n; });
  for (int i = 0; i < 1000; ++i) all.precede(g.emplace([&] { ++n; }));
  ex.run_n(g, 3).get();
  heist::region r{{.boundary_level = 2}};
  for (int i = 0; i < 5; ++i) ex.invoke(r, [&](auto c) { c.fork_join([&] { ++n; }, [&] { ++n; }); });
  CHECK_THROWS_AS(ex.submit([] { throw std::vector<int>(1000); }).get(), std::vector<int>);
  ex.wait_idle();
  return n - many - 100 * 41 - 3 * 1001 - 10;  // 0
}

}  // namespace

TEST_CASE("retired memory: outgrown rings take less than the ring in use, and go with the deque", "[stress]") {
  std::vector<int> items(100'000);
  long const before = bytes_out;
  {
    heist::detail::work_deque<int*> d{2};
    for (auto& i : items) {
      REQUIRE(d.push(&i));
      if (d.size_snapshot() == d.capacity()) REQUIRE(bytes_out - before <= allowed(d.capacity()));
    }
    CHECK(d.capacity() == 131'072);
    while (d.pop() != nullptr) {
    }
    CHECK(bytes_out - before <= allowed(131'072));
  }
  CHECK(bytes_out == before);
}

TEST_CASE("retired memory: the same from two slots on, with thieves at all rings", "[stress]") {
  heist_test::watchdog guard{"growth under theft", std::chrono::seconds{heist_test::stress_limit(60)}};
  struct item {
    int taken = 0;  // plain: exactly one taker writes it
  };
  for (int round = heist_test::stress_rounds(50); round > 0; --round) {
    std::vector<item> items(2000);
    auto deque = std::make_unique<heist::detail::work_deque<item*>>(2);  // the bytes of its ring are not in `before`
    std::atomic<bool> over{false};
    std::atomic<int> stolen{0};
    std::vector<std::thread> thieves;
    for (int t = 0; t < 2; ++t) {
      thieves.emplace_back([&] {
        while (!over || !deque->maybe_empty()) {
          auto const stolen_task = deque->steal();
          if (stolen_task.status != heist::detail::steal_status::stolen) continue;
          ++stolen_task.item->taken;
          ++stolen;
        }
      });
    }
    long const before = bytes_out;
    int popped = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      REQUIRE(deque->push(&items[i]));
      if (i % 16 != 0) continue;
      if (item* const mine = deque->pop()) ++mine->taken, ++popped;
    }
    long const grown = bytes_out - before;
    while (item* const mine = deque->pop()) ++mine->taken, ++popped;
    over = true;
    for (auto& t : thieves) t.join();
    REQUIRE(grown <= allowed(deque->capacity()));
    REQUIRE(stolen + popped == 2000);
    for (auto const& i : items) REQUIRE(i.taken == 1);
  }
}

TEMPLATE_LIST_TEST_CASE("retired memory: an executor leaves nothing behind", "[stress]", policies) {
  REQUIRE(work<TestType>() == 0);  // the blocks that the process allocates once
  long const before = bytes_out;
  for (int i = 0; i < 3; ++i) REQUIRE(work<TestType>() == 0);
  CHECK(bytes_out == before);
}
