// A function's registers survive calls and switches: values, and the floating-point control words.
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <thread>

#include "heist/core/fiber/fiber_context.hpp"
#include "support/catch.hpp"
#include "support/rounding.hpp"
#include "support/watchdog.hpp"
#include "unit/fiber/fiber_contexts.hpp"

using heist::detail::call_continuation_stolen;
using heist_test::every_fiber_context;
using heist_test::leave;
using heist_test::mode_in_use;
using heist_test::nothing;
using heist_test::rounding;
using heist_test::unused;

namespace {

/// More values than there are registers, of all kinds, alive across `cross()`; changes with the seed. A wrong register
/// changes the result.
template <class Cross>
HEIST_NOINLINE double many_values(std::uint64_t seed, Cross&& cross) {
  std::uint64_t a = seed + 1, b = seed * 3, c = seed ^ 0x55, d = seed << 3, e = ~seed, f = seed + 77, g = seed * 11,
                h = seed - 5;
  double p = static_cast<double>(a), q = p / 3, r = q + 1, s = r * r, t = s - p, u = t / 7, v = u + q, w = v * 0.5;
  typedef double four __attribute__((vector_size(32)));
  four x{p, q, r, s}, y = x * 2.0, z = x + y;
  long double l = static_cast<long double>(p) / 7, m = l * l;
  cross();
  std::uint64_t const sum = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
  double const numbers = p + 2 * q + 3 * r + 4 * s + 5 * t + 6 * u + 7 * v + 8 * w;
  four const vectors = x + 2.0 * y + 3.0 * z;
  return static_cast<double>(sum % 1000003) + numbers + vectors[0] + vectors[1] + vectors[2] + vectors[3] +
         static_cast<double>(l + m);
}

/// Loses whatever the caller left in registers, saved or not.
void use_all_registers(std::uint64_t seed) {
  double volatile sink = many_values(seed * 1234567, [] { asm volatile("" ::: "memory"); });
  static_cast<void>(sink);
}

/// The child suspends after it has used all registers, and so does the context that switches to it.
template <class FiberContext>
struct two_sides {
  FiberContext* main;
  FiberContext* child;
  int suspensions;
  double in_child = 0;

  static int run(void* self, void*) noexcept {
    auto& s = *static_cast<two_sides*>(self);
    s.in_child = many_values(9, [&] {
      use_all_registers(1);
      s.main->keep_control();
      for (int i = 0; i < s.suspensions; ++i) FiberContext::switch_to(*s.child, *s.main, nothing);
    });
    if (s.suspensions == 0) return 1;
    return leave<FiberContext>(*s.child, *s.main);
  }
};

double const expected = many_values(9, [] {});

}  // namespace

TEMPLATE_LIST_TEST_CASE("registers: values survive a plain call", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  fiber_context main;
  unused<fiber_context> child;
  two_sides<fiber_context> s{&main, &child, 0};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    int status = 0;
    double const got = many_values(
        seed, [&] { status = fiber_context::call(main, child, &two_sides<fiber_context>::run, &s, nullptr); });
    REQUIRE(status == 1);
    REQUIRE(got == many_values(seed, [] {}));
    REQUIRE(s.in_child == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("registers: values survive an overtaken call, and the switches to the child", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  fiber_context main;
  unused<fiber_context> child;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    two_sides<fiber_context> s{&main, &child, 3};
    int status = -1;
    double const over_call = many_values(
        seed, [&] { status = fiber_context::call(main, child, &two_sides<fiber_context>::run, &s, nullptr); });
    REQUIRE(status == call_continuation_stolen);
    REQUIRE(over_call == many_values(seed, [] {}));
    for (int i = 0; i < 3; ++i) {
      double const over_switch = many_values(seed, [&] {
        use_all_registers(seed);
        fiber_context::switch_to(main, child, nothing);
      });
      REQUIRE(over_switch == many_values(seed, [] {}));
    }
    REQUIRE(s.in_child == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("registers: values survive a call that is overtaken on another thread", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  heist_test::watchdog guard{"overtaken elsewhere", std::chrono::seconds{30}};
  struct shared {
    unused<fiber_context> parent, child;
    fiber_context* first = nullptr;
    fiber_context* second = nullptr;
    double got = 0;

    static int run_child(void* self, void*) noexcept {
      auto& s = *static_cast<shared*>(self);
      s.parent.keep_control();
      use_all_registers(5);
      fiber_context::switch_to(s.child, *s.first, nothing);
      return leave<fiber_context>(s.child, *s.first);
    }
    static int run_parent(void* self, void*) noexcept {
      auto& s = *static_cast<shared*>(self);
      s.got = many_values(9, [&] { fiber_context::call(s.parent, s.child, &run_child, self, nullptr); });
      fiber_context::switch_to(s.parent, *s.second, nothing, true);
      return 1;
    }
  };
  for (int round = 0; round < 20; ++round) {
    shared s;
    fiber_context here;
    s.first = &here;
    s.parent.start(&shared::run_parent, &s, nullptr);
    fiber_context::switch_to(here, s.parent, nothing);
    std::thread{[&] {
      fiber_context there;
      s.second = &there;
      use_all_registers(6);
      fiber_context::switch_to(there, s.parent, nothing);
    }}.join();
    CHECK(s.got == expected);
    fiber_context::switch_to(here, s.child, nothing);
  }
}

TEMPLATE_LIST_TEST_CASE("control words: each fiber_context keeps its own rounding mode over switch_to", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  struct shared {
    fiber_context main;
    unused<fiber_context> fiber;
    int first = -2, second = -2;
  } s;
  s.fiber.start(
      [](void* a, void*) noexcept {
        auto& s = *static_cast<shared*>(a);
        std::fesetround(FE_DOWNWARD);
        fiber_context::switch_to(s.fiber, s.main, nothing);
        s.first = mode_in_use();
        std::fesetround(FE_TONEAREST);
        fiber_context::switch_to(s.fiber, s.main, nothing);
        s.second = mode_in_use();
        fiber_context::switch_to(s.fiber, s.main, nothing, true);
        return 1;
      },
      &s, nullptr);
  rounding const up{FE_UPWARD};
  for (int i = 0; i < 3; ++i) {
    fiber_context::switch_to(s.main, s.fiber, nothing);
    REQUIRE(mode_in_use() == FE_UPWARD);
  }
  CHECK(s.first == FE_DOWNWARD);
  CHECK(s.second == FE_TONEAREST);
}

TEMPLATE_LIST_TEST_CASE("control words: an overtaken caller goes on with those that it called with", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  struct shared {
    fiber_context main;
    unused<fiber_context> child;
    int later_in_child = -2;

    static int run(void* self, void*) noexcept {
      auto& s = *static_cast<shared*>(self);
      s.main.keep_control();
      std::fesetround(FE_DOWNWARD);
      fiber_context::switch_to(s.child, s.main, nothing);
      s.later_in_child = mode_in_use();
      return leave<fiber_context>(s.child, s.main);
    }
  } s;
  rounding const up{FE_UPWARD};
  for (int round = 0; round < 3; ++round) {
    REQUIRE(fiber_context::call(s.main, s.child, &shared::run, &s, nullptr) == call_continuation_stolen);
    CHECK(mode_in_use() == FE_UPWARD);
    std::fesetround(FE_TONEAREST);
    fiber_context::switch_to(s.main, s.child, nothing);
    CHECK(mode_in_use() == FE_TONEAREST);
    CHECK(s.later_in_child == FE_DOWNWARD);
    std::fesetround(FE_UPWARD);
  }
}

TEMPLATE_LIST_TEST_CASE("control words: a called child starts with its caller's", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  fiber_context main;
  unused<fiber_context> child;
  for (int const mode : {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST, FE_UPWARD}) {
    rounding const set{mode};
    int seen = -2;
    fiber_context::call(
        main, child,
        [](void* a, void*) noexcept {
          *static_cast<int*>(a) = mode_in_use();
          return 1;
        },
        &seen, nullptr);
    CHECK(seen == mode);
  }
}

TEMPLATE_LIST_TEST_CASE("control words: they go along to another thread", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  heist_test::watchdog guard{"control words elsewhere", std::chrono::seconds{30}};
  struct shared {
    unused<fiber_context> fiber;
    fiber_context* back = nullptr;
    int seen = -2;
  } s;
  s.fiber.start(
      [](void* a, void*) noexcept {
        auto& s = *static_cast<shared*>(a);
        std::fesetround(FE_DOWNWARD);
        fiber_context::switch_to(s.fiber, *s.back, nothing);
        s.seen = mode_in_use();
        fiber_context::switch_to(s.fiber, *s.back, nothing, true);
        return 1;
      },
      &s, nullptr);
  for (int i = 0; i < 2; ++i) {
    std::thread{[&] {
      fiber_context here;
      s.back = &here;
      fiber_context::switch_to(here, s.fiber, nothing);
      CHECK(mode_in_use() == FE_TONEAREST);
    }}.join();
  }
  CHECK(s.seen == FE_DOWNWARD);
}
