// heist::detail::arena: aligned, disjoint, stays where it is until clear().
#include "heist/core/memory/arena.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

#include "heist/core/base/random.hpp"
#include "support/catch.hpp"

using heist::detail::arena;

TEST_CASE("arena: every block is aligned and belongs to its owner alone", "[memory]") {
  arena a;
  heist::fast_random random{5};
  struct block {
    unsigned char* at;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<block> blocks;
  for (int i = 0; i < 5000; ++i) {
    std::size_t const bytes = 1 + random.below(i % 100 == 0 ? 300000 : 200);
    std::size_t const alignment = std::size_t{1} << random.below(8);
    auto* const at = static_cast<unsigned char*>(a.allocate(bytes, alignment));
    REQUIRE(reinterpret_cast<std::uintptr_t>(at) % alignment == 0);
    auto const mark = static_cast<unsigned char>(i);
    at[0] = at[bytes - 1] = mark;
    blocks.push_back({at, bytes, mark});
  }
  bool kept = true;
  for (auto const& b : blocks) kept = kept && b.at[0] == b.mark && b.at[b.bytes - 1] == b.mark;
  CHECK(kept);
}

TEST_CASE("arena: it can be used again after clear()", "[memory]") {
  arena a;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) std::memset(a.allocate(1000, 8), i, 1000);
    a.clear();
    a.clear();
  }
  CHECK(a.allocate(8, 8) != nullptr);
}

TEST_CASE("arena: what it has had before clear() it hands out again, in the same order", "[memory]") {
  arena a;
  std::vector<void*> before, after;
  for (int i = 0; i < 1000; ++i) before.push_back(a.allocate(100, 8));
  a.clear();
  for (int i = 0; i < 1000; ++i) after.push_back(a.allocate(100, 8));
  CHECK(before == after);
  a.clear();
  void* const large = a.allocate(std::size_t{1} << 20, 64);  // no piece of the chunks that it has
  std::memset(large, 1, std::size_t{1} << 20);
}
