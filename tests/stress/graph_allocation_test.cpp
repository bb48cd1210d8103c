// Running a graph again allocates nothing. A program of its own, because it replaces operator new to count.
#include <heist/heist.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>  // malloc, free
#include <memory>
#include <new>
#include <stop_token>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* const at = alignment <= alignof(std::max_align_t)
                       ? std::malloc(bytes == 0 ? 1 : bytes)
                       : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (at == nullptr) throw std::bad_alloc{};
  return at;
}
}  // namespace

// noinline: where GCC sees malloc() through operator new and delete, it warns of a mismatch.
#define HEIST_TEST_OWN __attribute__((noinline))
HEIST_TEST_OWN void* operator new(std::size_t n) {
  return counted(n, 1);
}
HEIST_TEST_OWN void* operator new[](std::size_t n) {
  return counted(n, 1);
}
HEIST_TEST_OWN void* operator new(std::size_t n, std::align_val_t a) {
  return counted(n, static_cast<std::size_t>(a));
}
HEIST_TEST_OWN void* operator new[](std::size_t n, std::align_val_t a) {
  return counted(n, static_cast<std::size_t>(a));
}
HEIST_TEST_OWN void* operator new(std::size_t n, std::nothrow_t const&) noexcept {
  return std::malloc(n);
}
HEIST_TEST_OWN void* operator new[](std::size_t n, std::nothrow_t const&) noexcept {
  return std::malloc(n);
}
HEIST_TEST_OWN void operator delete(void* p) noexcept {
  std::free(p);
}
HEIST_TEST_OWN void operator delete[](void* p) noexcept {
  std::free(p);
}
HEIST_TEST_OWN void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
HEIST_TEST_OWN void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}
HEIST_TEST_OWN void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
HEIST_TEST_OWN void operator delete[](void* p, std::align_val_t) noexcept {
  std::free(p);
}
HEIST_TEST_OWN void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
HEIST_TEST_OWN void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace {

/// Counts the allocations of `rounds` times run().wait(). Two rounds before may allocate any amount.
template <class Executor>
long allocations_of_runs(Executor& ex, heist::task_graph& g, int rounds) {
  ex.run(g).wait();
  ex.run(g).wait();
  long const before = allocations;
  for (int i = 0; i < rounds; ++i) ex.run(g).wait();
  return allocations - before;
}

}  // namespace

TEST_CASE("running a graph again allocates nothing", "[stress][graph]") {
  int const rounds = heist::under_tsan || heist::under_asan ? 500 : 5000;
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
    INFO(workers << " workers");
    {
      heist::task_graph chain;
      auto last = chain.emplace([] {});
      for (int i = 0; i < 20; ++i) {
        auto t = chain.emplace([] {});
        last.precede(t);
        last = t;
      }
      CHECK(allocations_of_runs(ex, chain, rounds) == 0);
    }
    {
      heist::task_graph fan;
      auto a = fan.emplace([] { return 1; });
      auto z = fan.emplace([] {});
      for (int i = 0; i < 50; ++i) fan.emplace([](int) {}, a).precede(z);
      CHECK(allocations_of_runs(ex, fan, rounds) == 0);
    }
    {
      heist::task_graph inner, loop;
      heist::limiter one{1};
      int n = 0;
      inner.emplace([&] { ++n; }).limit(one);
      auto start = loop.emplace([&] { n = 0; });
      auto body = loop.compose(inner);
      auto again = loop.emplace_condition([&] { return n < 5 ? 0 : 1; });
      start.precede(body);
      body.precede(again);
      again.precede(body);
      CHECK(allocations_of_runs(ex, loop, rounds) == 0);
    }
    {
      heist::task_graph empty;
      CHECK(allocations_of_runs(ex, empty, rounds) == 0);
    }
  }
}

TEST_CASE("run_n allocates nothing per pass", "[stress][graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto a = g.emplace([] {});
  for (int i = 0; i < 20; ++i) a.precede(g.emplace([] {}));
  ex.run_n(g, 10).wait();
  ex.run_n(g, 10).wait();
  long const before = allocations;
  ex.run_n(g, 1000).wait();
  CHECK(allocations - before <= 0);
}

TEST_CASE("a run with a small callback and a stop_token allocates nothing", "[stress][graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  g.emplace([] {});
  std::stop_source stop;
  std::atomic<int> called{0};
  auto const run = [&] { ex.run(g, heist::with{.stop = stop.get_token()}, [&called] { ++called; }).wait(); };
  run();
  run();
  long const before = allocations;
  for (int i = 0; i < 500; ++i) run();
  CHECK(allocations - before == 0);
  CHECK(called == 502);
}
