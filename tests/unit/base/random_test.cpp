// heist::fast_random: no zero state, no favourite, all below the bound.
#include "heist/core/base/random.hpp"

#include <array>
#include <cstdint>
#include <set>

#include "support/catch.hpp"

using heist::fast_random;

TEST_CASE("fast_random: no seed leads to a stuck generator", "[base]") {
  // The second seed makes the mixed state zero: (0 - 0xD1B5...) / 0x9E37... modulo 2^64.
  std::uint64_t inverse = 1;  // inverse of the multiplier, by Newton's iteration
  for (int i = 0; i < 6; ++i) inverse *= 2 - 0x9E3779B97F4A7C15u * inverse;
  std::uint64_t const zero_state = (0 - 0xD1B54A32D192ED03u) * inverse;
  for (std::uint64_t const seed : {std::uint64_t{0}, zero_state, ~std::uint64_t{0}}) {
    fast_random r{seed};
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(r.next());
    CHECK(seen.size() == 1000);
  }
}

TEST_CASE("fast_random: below() stays below every bound", "[base]") {
  fast_random r{42};
  for (std::uint32_t const bound : {1u, 2u, 3u, 7u, 4095u, 1u << 31, 0xFFFFFFFFu}) {
    for (int i = 0; i < 1000; ++i) REQUIRE(r.below(bound) < bound);
  }
  for (int i = 0; i < 100; ++i) REQUIRE(r.below(1) == 0);
}

TEST_CASE("fast_random: below() reaches every number about equally often", "[base]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    fast_random r{seed};
    std::array<int, 7> hits{};
    for (int i = 0; i < 7000; ++i) ++hits[r.below(7)];
    for (int const h : hits) {
      CHECK(h > 800);
      CHECK(h < 1200);
    }
  }
}

TEST_CASE("fast_random: neighbouring seeds, as workers have them, choose differently", "[base]") {
  int equal = 0;
  fast_random a{1}, b{2};
  for (int i = 0; i < 1000; ++i) equal += a.below(16) == b.below(16);
  CHECK(equal < 120);
}
