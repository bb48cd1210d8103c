// heist/locality/policy/boundary_level.hpp: Eq. 4 against its own definition, the paper's figures, and absurd input.
#include "heist/locality/policy/boundary_level.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "heist/core/base/random.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"

using heist::tier::boundary_level;
using heist::tier::flat_group_begin;
using heist::tier::flat_groups;
using heist_test::mib;

namespace {

constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();

static_assert(boundary_level(2, 4, 48 * mib, 6 * mib) == 4);  // also usable at compile time

/// Eq. 1 and 2 tried level by level; for numbers whose powers do not overflow.
std::uint32_t by_definition(std::uint64_t b, std::uint64_t m, std::uint64_t data, std::uint64_t cache) {
  std::uint64_t leaves = 1;
  for (std::uint32_t level = 1;; ++level, leaves *= b)
    if (leaves >= m && data <= cache * leaves) return level;
}

}  // namespace

TEST_CASE("boundary level: the paper's machine, 4 squads with 6 MiB each, and its sizes of heat", "[policy]") {
  CHECK(boundary_level(2, 4, 3072ull * 2048 * 8, 6 * mib) == 4);  // section V-B: 48 MiB, the best of Fig. 5
  CHECK(boundary_level(2, 4, 512ull * 512 * 8, 6 * mib) == 3);
  CHECK(boundary_level(2, 4, 1024ull * 1024 * 8, 6 * mib) == 3);
  CHECK(boundary_level(2, 4, 4096ull * 4096 * 8, 6 * mib) == 6);  // 128 / 6: 32 leaves
  CHECK(boundary_level(4, 4, 48 * mib, 6 * mib) == 3);
}

TEST_CASE("boundary level: 0 where there is one squad or Eq. 4 says nothing", "[policy]") {
  CHECK(boundary_level(2, 1, 48 * mib, 6 * mib) == 0);
  CHECK(boundary_level(2, 0, 48 * mib, 6 * mib) == 0);
  CHECK(boundary_level(1, 4, 48 * mib, 6 * mib) == 0);
  CHECK(boundary_level(0, 4, 48 * mib, 6 * mib) == 0);
  CHECK(boundary_level(2, 4, 0, 6 * mib) == 0);
  CHECK(boundary_level(2, 4, 48 * mib, 0) == 0);
}

TEST_CASE("boundary level: exact at powers and one byte beside them", "[policy]") {
  for (std::uint64_t const b : {2u, 3u, 5u, 7u, 10u, 16u}) {
    std::uint64_t power = b;
    for (std::uint32_t k = 1; power <= (std::uint64_t{1} << 40); ++k, power *= b) {
      REQUIRE(boundary_level(b, 2, power * 1000, 1000) == k + 1);
      REQUIRE(boundary_level(b, 2, power * 1000 + 1, 1000) == k + 2);
      REQUIRE(boundary_level(b, power, 1, 1000) == k + 1);
      REQUIRE(boundary_level(b, power + 1, 1, 1000) == k + 2);
      if (power > 2) REQUIRE(boundary_level(b, power - 1, 1, 1000) == k + 1);
    }
  }
}

TEST_CASE("boundary level: the smallest that satisfies both inequations", "[policy]") {
  heist::fast_random random(1);
  for (int i = 0; i < 20000; ++i) {
    std::uint64_t const b = 2 + random.below(20), m = 2 + random.below(200);
    std::uint64_t const data = 1 + random.below(1u << (1 + random.below(28))), cache = 1 + random.below(1000);
    REQUIRE(boundary_level(b, m, data, cache) == by_definition(b, m, data, cache));
  }
}

TEST_CASE("boundary level: absurd sizes neither overflow nor hang", "[policy]") {
  CHECK(boundary_level(2, 2, huge, 1) == 65);  // 2^64 is the first power of 2 that is enough
  CHECK(boundary_level(2, huge, 1, huge) == 65);
  CHECK(boundary_level(3, 2, huge, 1) == 42);  // 3^41 is the first power of 3 beyond 2^64
  CHECK(boundary_level(huge, huge, huge, 1) == 2);
  CHECK(boundary_level(huge - 1, huge, huge, 1) == 3);
  CHECK(boundary_level(2, 2, huge, huge) == 2);
  CHECK(boundary_level(std::uint64_t{1} << 63, 2, huge, 1) == 3);
}

TEST_CASE("flat groups: as few as the two constraints allow", "[policy]") {
  heist::fast_random random(2);
  for (int i = 0; i < 5000; ++i) {
    std::size_t const n = 1 + random.below(60);
    std::uint64_t const m = 2 + random.below(10), data = random.below(2000), cache = random.below(300);
    auto const fits = [&](std::size_t groups) { return (n + groups - 1) / groups * data <= cache * n; };
    std::size_t expected = m < n ? m : n;
    if (data != 0 && cache != 0)
      while (expected < n && !fits(expected)) ++expected;
    REQUIRE(flat_groups(n, m, data, cache) == expected);
  }
}

TEST_CASE("flat groups: one squad, no children, unknown and absurd sizes", "[policy]") {
  CHECK(flat_groups(0, 4, mib, mib) == 0);
  CHECK(flat_groups(100, 1, mib, 1) == 1);
  CHECK(flat_groups(100, 0, mib, 1) == 1);
  CHECK(flat_groups(100, 4, 0, 1) == 4);
  CHECK(flat_groups(100, 4, mib, 0) == 4);
  CHECK(flat_groups(3, 4, mib, mib) == 3);
  CHECK(flat_groups(100, 4, huge, 1) == 100);
  CHECK(flat_groups(std::numeric_limits<std::size_t>::max(), huge, huge, huge) == huge);
  CHECK(flat_groups(std::numeric_limits<std::size_t>::max(), 2, 1, huge) == 2);
}

TEST_CASE("flat groups: consecutive, all children once, sizes differ by at most one", "[policy]") {
  for (std::size_t n = 1; n < 50; ++n) {
    for (std::size_t groups = 1; groups <= n; ++groups) {
      REQUIRE(flat_group_begin(n, groups, 0) == 0);
      REQUIRE(flat_group_begin(n, groups, groups) == n);
      for (std::size_t g = 0; g < groups; ++g) {
        auto const size = flat_group_begin(n, groups, g + 1) - flat_group_begin(n, groups, g);
        REQUIRE((size == n / groups || size == (n + groups - 1) / groups));
      }
    }
  }
  CHECK(flat_group_begin(huge, huge, huge) == huge);
}
