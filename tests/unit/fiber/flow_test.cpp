// heist::detail::flow: control goes where it is sent, on whichever thread, and `then` runs once the old side is left.
#include "heist/fiber/flow.hpp"

#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

using heist::detail::after_switch;
using heist::detail::flow;
using heist::detail::stack;

namespace {

after_switch nothing() {
  return {[](void*) noexcept {}, nullptr};
}

/// A fiber that does `steps` in turn, switching back to `back` after each.
struct program {
  std::vector<int> trace;
  flow* back = nullptr;
  flow* self = nullptr;
  int steps = 0;

  static void start(void* argument) {
    auto& p = *static_cast<program*>(argument);
    for (int i = 0; i < p.steps; ++i) {
      p.trace.push_back(i);
      flow::switch_to(*p.self, *p.back, nothing());
    }
    flow::switch_to(*p.self, *p.back, nothing(), true);
  }
};

}  // namespace

TEST_CASE("flow: control alternates between a thread and a fiber", "[fiber]") {
  program p;
  p.steps = 1000;
  flow main;
  flow fiber{stack::map(1 << 16), &program::start, &p, 0};
  p.back = &main;
  p.self = &fiber;
  for (int i = 0; i < p.steps; ++i) {
    flow::switch_to(main, fiber, nothing());
    REQUIRE(p.trace.size() == static_cast<std::size_t>(i) + 1);
  }
  flow::switch_to(main, fiber, nothing());
  CHECK(p.trace.size() == 1000);
}

TEST_CASE("flow: `then` runs on the new side, after the old one has been left", "[fiber]") {
  struct shared {
    flow* main = nullptr;
    flow* fiber = nullptr;
    int order = 0;
    int then_at = 0;
    int started_at = 0;
  } s;
  flow main;
  flow fiber{stack::map(1 << 16),
             [](void* argument) {
               auto& s = *static_cast<shared*>(argument);
               s.started_at = ++s.order;
               flow::switch_to(*s.fiber, *s.main, nothing(), true);
             },
             &s, 3};
  s.main = &main;
  s.fiber = &fiber;
  flow::switch_to(main, fiber,
                  {[](void* a) noexcept {
                     auto& s = *static_cast<shared*>(a);
                     s.then_at = ++s.order;
                   },
                   &s});
  CHECK(s.then_at == 1);
  CHECK(s.started_at == 2);
}

TEST_CASE("flow: every colour starts inside its stack, aligned", "[fiber]") {
  struct shared {
    flow* main = nullptr;
    flow* fiber = nullptr;
    char* frame = nullptr;
    double sum = 0;
  };
  for (unsigned colour = 0; colour < 40; ++colour) {
    shared s;
    flow main;
    flow fiber{stack::map(1 << 16),
               [](void* argument) {
                 auto& s = *static_cast<shared*>(argument);
                 alignas(16) double volatile locals[8] = {1, 2, 3, 4, 5, 6, 7, 8};
                 s.frame = reinterpret_cast<char*>(const_cast<double*>(locals));
                 for (double const d : locals) s.sum += d;
                 flow::switch_to(*s.fiber, *s.main, nothing(), true);
               },
               &s, colour};
    s.main = &main;
    s.fiber = &fiber;
    flow::switch_to(main, fiber, nothing());
    CHECK(s.sum == 36);
    CHECK(reinterpret_cast<std::uintptr_t>(s.frame) % 16 == 0);
    if (!heist::under_asan) {  // which may keep locals elsewhere
      CHECK(s.frame > fiber.memory().bottom());
      CHECK(s.frame < fiber.memory().top());
    }
  }
}

TEST_CASE("flow: a fiber goes on on another thread and keeps its locals", "[fiber]") {
  heist_test::watchdog guard{"migration", std::chrono::seconds{30}};
  program p;
  p.steps = 200;
  flow fiber{stack::map(1 << 16), &program::start, &p, 0};
  p.self = &fiber;
  for (int i = 0; i < p.steps + 1; ++i) {
    std::thread{[&] {
      flow here;
      p.back = &here;
      flow::switch_to(here, fiber, nothing());
    }}.join();
  }
  CHECK(p.trace.size() == 200);
  for (int i = 0; i < 200; ++i) REQUIRE(p.trace[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("flow: a fiber that is never finished is freed without harm", "[fiber]") {
  for (int i = 0; i < 50; ++i) {
    program p;
    p.steps = 10;
    flow main;
    flow fiber{stack::map(1 << 16), &program::start, &p, 0};
    p.back = &main;
    p.self = &fiber;
    flow::switch_to(main, fiber, nothing());
    CHECK(p.trace.size() == 1);
  }
}
