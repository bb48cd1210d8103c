// heist::detail::flow: control goes where it is sent, on whichever thread, and `then` runs once the old side is left.
#include "heist/fiber/flow.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fiber/flows.hpp"

using heist_test::every_flow;
using heist_test::fresh;
using heist_test::nothing;

namespace {

/// A fiber that does `steps` in turn, switching back to `back` after each.
template <class Flow>
struct program {
  std::vector<int> trace;
  Flow* back = nullptr;
  Flow* self = nullptr;
  int steps = 0;

  static int run(void* argument, void*) noexcept {
    auto& p = *static_cast<program*>(argument);
    for (int i = 0; i < p.steps; ++i) {
      p.trace.push_back(i);
      Flow::switch_to(*p.self, *p.back, nothing);
    }
    Flow::switch_to(*p.self, *p.back, nothing, true);
    return 1;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("flow: control alternates between a thread and a fiber", "[fiber]", every_flow) {
  using flow = TestType;
  program<flow> p;
  p.steps = 1000;
  flow main;
  fresh<flow> fiber;
  fiber.start(&program<flow>::run, &p, nullptr);
  p.back = &main;
  p.self = &fiber;
  for (int i = 0; i < p.steps; ++i) {
    flow::switch_to(main, fiber, nothing);
    REQUIRE(p.trace.size() == static_cast<std::size_t>(i) + 1);
  }
  flow::switch_to(main, fiber, nothing);
  CHECK(p.trace.size() == 1000);
}

TEMPLATE_LIST_TEST_CASE("flow: a started function gets both its arguments", "[fiber]", every_flow) {
  using flow = TestType;
  struct shared {
    flow main;
    fresh<flow> fiber;
    int seen = 0;
  } s;
  int second = 5;
  s.fiber.start(
      [](void* a, void* b) noexcept {
        auto& s = *static_cast<shared*>(a);
        s.seen = *static_cast<int*>(b);
        flow::switch_to(s.fiber, s.main, nothing, true);
        return 1;
      },
      &s, &second);
  flow::switch_to(s.main, s.fiber, nothing);
  CHECK(s.seen == 5);
}

TEMPLATE_LIST_TEST_CASE("flow: `then` runs on the new side, after the old one has been left", "[fiber]", every_flow) {
  using flow = TestType;
  struct shared {
    flow main;
    fresh<flow> fiber{3};
    int order = 0;
    int then_at = 0;
    int started_at = 0;
    char const* then_on = nullptr;
  } s;
  s.fiber.start(
      [](void* argument, void*) noexcept {
        auto& s = *static_cast<shared*>(argument);
        s.started_at = ++s.order;
        flow::switch_to(s.fiber, s.main, nothing, true);
        return 1;
      },
      &s, nullptr);
  flow::switch_to(s.main, s.fiber,
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

TEMPLATE_LIST_TEST_CASE("flow: every colour starts inside its stack, aligned", "[fiber]", every_flow) {
  using flow = TestType;
  struct shared {
    explicit shared(unsigned colour) : fiber{colour} {}
    flow main;
    fresh<flow> fiber;
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
  for (unsigned colour = 0; colour < 40; ++colour) {
    shared started{colour};
    started.fiber.start(
        [](void* argument, void*) noexcept {
          auto& s = *static_cast<shared*>(argument);
          s.look();
          flow::switch_to(s.fiber, s.main, nothing, true);
          return 1;
        },
        &started, nullptr);
    flow::switch_to(started.main, started.fiber, nothing);
    check(started);

    shared called{colour};
    CHECK(flow::call(
              called.main, called.fiber,
              [](void* argument, void*) noexcept {
                static_cast<shared*>(argument)->look();
                return 1;
              },
              &called, nullptr) == 1);
    check(called);
  }
}

TEMPLATE_LIST_TEST_CASE("flow: neighbouring colours start at different places", "[fiber]", every_flow) {
  using flow = TestType;
  auto const depth_of = [](unsigned colour) {
    flow main;
    fresh<flow> child{colour};
    char const* frame = nullptr;
    flow::call(
        main, child,
        [](void* a, void*) noexcept {
          *static_cast<char const**>(a) = static_cast<char const*>(__builtin_frame_address(0));
          return 1;
        },
        &frame, nullptr);
    return child.memory().top() - frame;
  };
  for (unsigned colour = 0; colour + 1 < heist::detail::stack_colours; ++colour)
    CHECK(depth_of(colour + 1) - depth_of(colour) == 2 * heist::cache_line_size);
}

TEMPLATE_LIST_TEST_CASE("flow: a fiber goes on on another thread and keeps its locals", "[fiber]", every_flow) {
  using flow = TestType;
  heist_test::watchdog guard{"migration", std::chrono::seconds{30}};
  program<flow> p;
  p.steps = 200;
  fresh<flow> fiber;
  fiber.start(&program<flow>::run, &p, nullptr);
  p.self = &fiber;
  for (int i = 0; i < p.steps + 1; ++i) {
    std::thread{[&] {
      flow here;
      p.back = &here;
      flow::switch_to(here, fiber, nothing);
    }}.join();
  }
  CHECK(p.trace.size() == 200);
  for (int i = 0; i < 200; ++i) REQUIRE(p.trace[static_cast<std::size_t>(i)] == i);
}

TEMPLATE_LIST_TEST_CASE("flow: a fiber that is never finished is freed without harm", "[fiber]", every_flow) {
  using flow = TestType;
  for (int i = 0; i < 50; ++i) {
    program<flow> p;
    p.steps = 10;
    flow main;
    fresh<flow> fiber;
    fiber.start(&program<flow>::run, &p, nullptr);
    p.back = &main;
    p.self = &fiber;
    flow::switch_to(main, fiber, nothing);
    CHECK(p.trace.size() == 1);
  }
}
