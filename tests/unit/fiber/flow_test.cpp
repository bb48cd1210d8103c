// heist::detail::fiber_context: control goes where it is sent, on whichever thread, and `then` runs once the old side
// is left.
#include "heist/core/fiber/fiber_context.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fiber/fiber_contexts.hpp"

using heist_test::every_fiber_context;
using heist_test::nothing;
using heist_test::unused;

namespace {

/// A fiber that does `steps` in turn, switching back to `back` after each.
template <class FiberContext>
struct program {
  std::vector<int> trace;
  FiberContext* back = nullptr;
  FiberContext* self = nullptr;
  int steps = 0;

  static int run(void* argument, void*) noexcept {
    auto& p = *static_cast<program*>(argument);
    for (int i = 0; i < p.steps; ++i) {
      p.trace.push_back(i);
      FiberContext::switch_to(*p.self, *p.back, nothing);
    }
    FiberContext::switch_to(*p.self, *p.back, nothing, true);
    return 1;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("fiber_context: control alternates between a thread and a fiber", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  program<fiber_context> p;
  p.steps = 1000;
  fiber_context main;
  unused<fiber_context> fiber;
  fiber.start(&program<fiber_context>::run, &p, nullptr);
  p.back = &main;
  p.self = &fiber;
  for (int i = 0; i < p.steps; ++i) {
    fiber_context::switch_to(main, fiber, nothing);
    REQUIRE(p.trace.size() == static_cast<std::size_t>(i) + 1);
  }
  fiber_context::switch_to(main, fiber, nothing);
  CHECK(p.trace.size() == 1000);
}

TEMPLATE_LIST_TEST_CASE("fiber_context: a started function gets both its arguments", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  struct shared {
    fiber_context main;
    unused<fiber_context> fiber;
    int seen = 0;
  } s;
  int second = 5;
  s.fiber.start(
      [](void* a, void* b) noexcept {
        auto& s = *static_cast<shared*>(a);
        s.seen = *static_cast<int*>(b);
        fiber_context::switch_to(s.fiber, s.main, nothing, true);
        return 1;
      },
      &s, &second);
  fiber_context::switch_to(s.main, s.fiber, nothing);
  CHECK(s.seen == 5);
}

TEMPLATE_LIST_TEST_CASE("fiber_context: `then` runs on the new side, after the old one has been left", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  struct shared {
    fiber_context main;
    unused<fiber_context> fiber{3};
    int order = 0;
    int then_at = 0;
    int started_at = 0;
    char const* then_on = nullptr;
  } s;
  s.fiber.start(
      [](void* argument, void*) noexcept {
        auto& s = *static_cast<shared*>(argument);
        s.started_at = ++s.order;
        fiber_context::switch_to(s.fiber, s.main, nothing, true);
        return 1;
      },
      &s, nullptr);
  fiber_context::switch_to(s.main, s.fiber,
                           {[](void* a) noexcept {
                              auto& s = *static_cast<shared*>(a);
                              s.then_at = ++s.order;
                              s.then_on = static_cast<char const*>(__builtin_frame_address(0));
                            },
                            &s});
  CHECK(s.then_at == 1);
  CHECK(s.started_at == 2);
  CHECK(s.then_on > s.fiber.memory().bottom());
  CHECK(s.then_on < s.fiber.memory().top());
}

TEMPLATE_LIST_TEST_CASE("fiber_context: every colour starts inside its stack, aligned", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  struct shared {
    explicit shared(unsigned color) : fiber{color} {}
    fiber_context main;
    unused<fiber_context> fiber;
    std::uintptr_t frame = 0;
    double sum = 0;

    void look() noexcept {
      alignas(16) double volatile locals[8] = {1, 2, 3, 4, 5, 6, 7, 8};
      frame = reinterpret_cast<std::uintptr_t>(locals);
      for (double const d : locals) sum += d;
    }
  };
  auto const check = [](shared const& s) {
    CHECK(s.sum == 36);
    CHECK(s.frame % 16 == 0);
    if (!heist::under_asan) {  // which may keep locals elsewhere
      CHECK(s.frame > reinterpret_cast<std::uintptr_t>(s.fiber.memory().bottom()));
      CHECK(s.frame < reinterpret_cast<std::uintptr_t>(s.fiber.memory().top()));
    }
  };
  for (unsigned color = 0; color < 40; ++color) {
    shared started{color};
    started.fiber.start(
        [](void* argument, void*) noexcept {
          auto& s = *static_cast<shared*>(argument);
          s.look();
          fiber_context::switch_to(s.fiber, s.main, nothing, true);
          return 1;
        },
        &started, nullptr);
    fiber_context::switch_to(started.main, started.fiber, nothing);
    check(started);

    shared called{color};
    CHECK(fiber_context::call(
              called.main, called.fiber,
              [](void* argument, void*) noexcept {
                static_cast<shared*>(argument)->look();
                return 1;
              },
              &called, nullptr) == 1);
    check(called);
  }
}

TEMPLATE_LIST_TEST_CASE("fiber_context: neighbouring colours start at different places", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  auto const depth_of = [](unsigned color) {
    fiber_context main;
    unused<fiber_context> child{color};
    char const* frame = nullptr;
    fiber_context::call(
        main, child,
        [](void* a, void*) noexcept {
          *static_cast<char const**>(a) = static_cast<char const*>(__builtin_frame_address(0));
          return 1;
        },
        &frame, nullptr);
    return child.memory().top() - frame;
  };
  for (unsigned color = 0; color + 1 < heist::detail::stack_colors; ++color)
    CHECK(depth_of(color + 1) - depth_of(color) == 2 * heist::cache_line_size);
}

TEMPLATE_LIST_TEST_CASE("fiber_context: a fiber goes on on another thread and keeps its locals", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  heist_test::watchdog guard{"migration", std::chrono::seconds{30}};
  program<fiber_context> p;
  p.steps = 200;
  unused<fiber_context> fiber;
  fiber.start(&program<fiber_context>::run, &p, nullptr);
  p.self = &fiber;
  for (int i = 0; i < p.steps + 1; ++i) {
    std::thread{[&] {
      fiber_context here;
      p.back = &here;
      fiber_context::switch_to(here, fiber, nothing);
    }}.join();
  }
  CHECK(p.trace.size() == 200);
  for (int i = 0; i < 200; ++i) REQUIRE(p.trace[static_cast<std::size_t>(i)] == i);
}

TEMPLATE_LIST_TEST_CASE("fiber_context: a fiber that is never finished is freed without harm", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  for (int i = 0; i < 50; ++i) {
    program<fiber_context> p;
    p.steps = 10;
    fiber_context main;
    unused<fiber_context> fiber;
    fiber.start(&program<fiber_context>::run, &p, nullptr);
    p.back = &main;
    p.self = &fiber;
    fiber_context::switch_to(main, fiber, nothing);
    CHECK(p.trace.size() == 1);
  }
}
