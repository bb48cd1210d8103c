// heist::detail::large_memory: blocks that were freed serve again, and an idle executor gives them back.
#include "heist/core/base/large_memory.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "heist/core/base/random.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using heist::detail::large_memory;

namespace {

/// A random size of which the cache keeps blocks.
std::size_t some_size(heist::fast_random& random) {
  return large_memory::smallest + random.below(1u << (random.below(8) + 12));
}

void run_a_graph(heist::executor<>& ex) {
  heist::task_graph g;
  for (int i = 0; i != 3000; ++i) g.emplace([] {});
  ex.run(g).get();
}

}  // namespace

TEST_CASE("large memory: what fits", "[memory]") {
  CHECK_FALSE(large_memory::fits(large_memory::smallest - 1, 8));
  CHECK(large_memory::fits(large_memory::smallest, 8) == !heist::under_asan);
  CHECK(large_memory::fits(large_memory::most_kept, 16) == !heist::under_asan);
  CHECK(large_memory::fits(large_memory::most_kept + 1, 8) == !heist::under_asan);
  CHECK_FALSE(large_memory::fits(large_memory::smallest, 64));
}

TEST_CASE("large memory: a freed block serves for the same size, and for one a little smaller", "[memory]") {
  large_memory::clear();
  REQUIRE_FALSE(large_memory::has_any());
  void* const first = large_memory::allocate(50'000);
  large_memory::free(first, 50'000);
  CHECK(large_memory::has_any());
  CHECK(large_memory::allocate(49'500) == first);
  CHECK_FALSE(large_memory::has_any());
  void* const other = large_memory::allocate(50'000);
  CHECK(other != first);
  large_memory::free(first, 49'500);
  large_memory::free(other, 50'000);
  void* const smaller = large_memory::allocate(20'000);
  CHECK(smaller != first);
  CHECK(smaller != other);
  large_memory::free(smaller, 20'000);
  large_memory::clear();
  CHECK_FALSE(large_memory::has_any());
}

TEST_CASE("large memory: it keeps no more than it says", "[memory]") {
  large_memory::clear();
  constexpr std::size_t bytes = large_memory::most_kept / 4;
  std::vector<void*> blocks;
  for (int i = 0; i != 6; ++i) blocks.push_back(large_memory::allocate(bytes));
  for (void* block : blocks) large_memory::free(block, bytes);  // AddressSanitizer's runs show that the rest is freed
  int again = 0;
  for (; large_memory::has_any(); ++again)
    ::operator delete (large_memory::allocate(bytes), std::align_val_t{large_memory::huge_page});
  CHECK(again == 4);
}

TEST_CASE("large memory: blocks of huge pages are aligned to them, and larger ones than it keeps go back", "[memory]") {
  large_memory::clear();
  constexpr std::size_t page = large_memory::huge_page;
  for (std::size_t const bytes : {page, page + 1, 3 * page, large_memory::most_kept, large_memory::most_kept + 1}) {
    auto* const block = static_cast<char*>(large_memory::allocate(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(block) % page == 0);
    block[0] = block[bytes - 1] = 'x';
    large_memory::free(block, bytes);
    CHECK(large_memory::has_any() == (bytes <= large_memory::most_kept));
    large_memory::clear();
    CHECK_FALSE(large_memory::has_any());
  }
  heist::detail::vector<char> all;
  all.resize(large_memory::most_kept + 1);
  all[large_memory::most_kept] = 'x';
}

TEST_CASE("large memory: blocks are disjoint, and as large as wanted", "[memory]") {
  std::vector<std::thread> threads;
  std::vector<char> right(4, 0);
  for (unsigned t = 0; t != 4; ++t) {
    threads.emplace_back([t, &right] {
      heist::fast_random random{t + 1};
      struct block {
        unsigned char* at;
        std::size_t bytes;
        unsigned char mark;
      };
      std::vector<block> held;
      bool all = true;
      for (int i = 0; i != 2000; ++i) {
        if (held.size() < 8 && random.below(2) == 0) {
          std::size_t const bytes = some_size(random);
          auto* const at = static_cast<unsigned char*>(large_memory::allocate(bytes));
          auto const mark = static_cast<unsigned char>(16 * t + static_cast<unsigned>(i) % 16);
          std::memset(at, mark, bytes);
          held.push_back({at, bytes, mark});
        } else if (!held.empty()) {
          std::size_t const k = random.below(static_cast<std::uint32_t>(held.size()));
          block const b = held[k];
          for (std::size_t j = 0; j < b.bytes; j += 97) all = all && b.at[j] == b.mark;
          all = all && b.at[b.bytes - 1] == b.mark;
          large_memory::free(b.at, b.bytes);
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(k));
        }
        if (i % 500 == 499) large_memory::clear();
      }
      for (auto const& b : held) large_memory::free(b.at, b.bytes);
      right[t] = all ? 1 : 0;
    });
  }
  for (auto& t : threads) t.join();
  CHECK(right == std::vector<char>(4, 1));
  large_memory::clear();
}

TEST_CASE("large memory: graphs leave theirs to the next, and an executor that ends gives it back", "[memory]") {
  {
    heist::executor<> ex{2};
    heist_test::watchdog guard{ex, std::chrono::seconds{60}};
    bool kept = false;
    for (int i = 0; i != 10 && !kept; ++i) {  // an interruption of a second is enough to give it back
      run_a_graph(ex);
      kept = large_memory::has_any();
    }
    CHECK(kept == !heist::under_asan);
    run_a_graph(ex);
  }
  CHECK_FALSE(large_memory::has_any());
}

TEST_CASE("large memory: an executor without work gives it back", "[memory]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}};
  run_a_graph(ex);
  while (large_memory::has_any()) {
    // A worker that was asleep before the graph ended does not know of its memory; it looks when it next falls asleep.
    ex.submit([] {}).get();
    std::this_thread::sleep_for(std::chrono::milliseconds{1200});
  }
  run_a_graph(ex);
}
