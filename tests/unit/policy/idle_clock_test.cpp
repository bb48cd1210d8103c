// An idle policy's search ends and its pauses stay short with any clock: one that differs between processors, jumps or
// stands still. The clock is only advice. Nothing else about sleeping reads a clock.
#include <array>
#include <cstdint>
#include <limits>

#include "heist/core/base/random.hpp"
#include "heist/core/policy/idle.hpp"
#include "support/catch.hpp"

namespace {

constexpr std::uint32_t longest_pause = 1024;  // relax instructions, some 25 us at most

template <class Idle>
void search_ends(Idle& idle, std::uint64_t worked) {
  idle.begin(4, worked);
  REQUIRE(idle.wake_delay() <= longest_pause);
  if (Idle::never_sleeps) return;
  int failures = 0;
  while (idle.failed() != heist::idle::step::sleep) {
    REQUIRE(idle.pauses() <= longest_pause);
    REQUIRE(++failures < 10'000);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("idle: a clock that jumps, stands still or runs backwards delays nobody", "[policy]",
                   heist::idle::adaptive, heist::idle::spinning, heist::idle::bws, heist::idle::standard) {
  TestType idle;
  auto const backwards = std::uint64_t{10} - std::uint64_t{20};  // as the loop computes it, end minus beginning
  for (std::uint64_t const worked : {std::uint64_t{0}, std::uint64_t{1}, backwards, std::uint64_t{1} << 63,
                                     std::numeric_limits<std::uint64_t>::max()}) {
    for (int i = 0; i < 100; ++i) search_ends(idle, worked);  // the same again and again: it does not add up
  }
  heist::fast_random random{5};
  for (int i = 0; i < 1000; ++i) search_ends(idle, random.next() << random.below(64));
}
