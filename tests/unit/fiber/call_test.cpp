// Calls on another stack: plain ones return, overtaken ones resume before that, on any thread; children are used again.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "heist/core/fiber/fiber_context.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fiber/fiber_contexts.hpp"

using heist::detail::call_continuation_stolen;
using heist_test::every_fiber_context;
using heist_test::leave;
using heist_test::nothing;
using heist_test::unused;

namespace {

/// Asks the kernel: a compiler may take std::this_thread::get_id() to be the same in all of a function.
pid_t this_thread() noexcept {
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

/// A thread's fiber_context, and a child that suspends itself `times` and then leaves.
template <class FiberContext>
struct overtaking {
  FiberContext main;
  unused<FiberContext> child;
  int times = 1;
  int steps = 0;
  bool left = false;

  static int run(void* self, void*) noexcept {
    auto& o = *static_cast<overtaking*>(self);
    o.main.keep_control();
    for (int i = 0; i < o.times; ++i) {
      ++o.steps;
      FiberContext::switch_to(o.child, o.main, nothing);
    }
    return leave<FiberContext>(o.child, o.main,
                               {[](void* self) noexcept { static_cast<overtaking*>(self)->left = true; }, self});
  }
  int call() noexcept { return FiberContext::call(main, child, &run, this, nullptr); }
  void go_on() { FiberContext::switch_to(main, child, nothing); }
};

template <class FiberContext>
int returns_second(void*, void* b) noexcept {
  return *static_cast<int*>(b);
}

/// As deep as there are children; at the bottom whatever `bottom` does.
template <class FiberContext>
struct nest {
  FiberContext main;
  std::vector<std::unique_ptr<unused<FiberContext>>> children;
  std::vector<int> status;
  std::size_t depth = 0;
  bool overtake = false;

  explicit nest(std::size_t n) : status(n + 1, -1) {
    for (std::size_t i = 0; i < n; ++i)
      children.push_back(std::make_unique<unused<FiberContext>>(static_cast<unsigned>(i)));
  }
  FiberContext& at(std::size_t i) noexcept { return i == 0 ? main : *children[i - 1]; }

  /// Level `i` runs on at(i).
  int level(std::size_t i) noexcept {
    depth = i;
    if (i == children.size()) {
      if (!overtake) return 7;
      for (std::size_t k = 0; k < i; ++k) at(k).keep_control();
      // The outermost caller resumes; it wakes the next, and so on.
      return leave<FiberContext>(at(i), main);
    }
    status[i] = FiberContext::call(at(i), at(i + 1), &run_next, this, &at(i));
    if (!overtake) return status[i] + 1;
    if (i != 0) return leave<FiberContext>(at(i), i + 1 == children.size() ? main : at(i + 1));
    FiberContext::switch_to(main, at(1), nothing);  // comes back when all have been overtaken
    return 1;
  }
  static int run_next(void* self, void*) noexcept {
    auto& n = *static_cast<nest*>(self);
    return n.level(n.depth + 1);
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("call: returns what the function returned, again and again", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  fiber_context main;
  unused<fiber_context> child;
  for (int i = 1; i < 1000; ++i)
    REQUIRE(fiber_context::call(main, child, &returns_second<fiber_context>, nullptr, &i) == i);
}

TEMPLATE_LIST_TEST_CASE("call: the function runs on the child's stack", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  fiber_context main;
  unused<fiber_context> child;
  char* frame = nullptr;
  fiber_context::call(
      main, child,
      [](void* a, void*) noexcept {
        *static_cast<void**>(a) = __builtin_frame_address(0);
        return 1;
      },
      &frame, nullptr);
  CHECK(frame > child.memory().bottom());
  CHECK(frame < child.memory().top());
}

TEMPLATE_LIST_TEST_CASE("call: overtaken as soon as somebody switches to the caller", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  overtaking<fiber_context> o;
  o.times = 5;
  REQUIRE(o.call() == call_continuation_stolen);
  for (int i = 1; i < 5; ++i) {
    CHECK(o.steps == i);
    CHECK_FALSE(o.left);
    o.go_on();
  }
  o.go_on();
  CHECK(o.steps == 5);
  CHECK(o.left);
}

TEMPLATE_LIST_TEST_CASE("call: a child that has left is called again, also with another function", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  overtaking<fiber_context> o;
  for (int round = 1; round <= 100; ++round) {
    o.left = false;
    REQUIRE(o.call() == call_continuation_stolen);
    CHECK_FALSE(o.left);
    o.go_on();
    REQUIRE(o.left);
    REQUIRE(fiber_context::call(o.main, o.child, &returns_second<fiber_context>, nullptr, &round) == round);
  }
  CHECK(o.steps == 100);
}

TEMPLATE_LIST_TEST_CASE("call: a child that has left may be started", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  overtaking<fiber_context> o;
  for (int round = 0; round < 3; ++round) {
    REQUIRE(o.call() == call_continuation_stolen);
    o.go_on();
    REQUIRE(o.left);
    o.left = false;
  }
  o.child.start(
      [](void* self, void*) noexcept {
        auto& o = *static_cast<overtaking<fiber_context>*>(self);
        o.steps = 100;
        fiber_context::switch_to(o.child, o.main, nothing, true);
        return 1;
      },
      &o, nullptr);
  o.go_on();
  CHECK(o.steps == 100);
}

TEMPLATE_LIST_TEST_CASE("call: many nested, each on a stack of its own", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  nest<fiber_context> n{200};
  CHECK(n.level(0) == 207);
  n.depth = 0;
  CHECK(n.level(0) == 207);
}

TEMPLATE_LIST_TEST_CASE("call: all of many nested are overtaken, from the outermost in", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  nest<fiber_context> n{100};
  n.overtake = true;
  for (int round = 0; round < 3; ++round) {
    std::fill(n.status.begin(), n.status.end(), -1);
    n.depth = 0;
    CHECK(n.level(0) == 1);
    for (std::size_t i = 0; i < 100; ++i) REQUIRE(n.status[i] == call_continuation_stolen);
  }
}

TEMPLATE_LIST_TEST_CASE("call: the caller is overtaken on another thread, the child stays on the first", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  heist_test::watchdog guard{"overtaken elsewhere", std::chrono::seconds{30}};
  struct shared {
    unused<fiber_context> parent, child;
    fiber_context* first = nullptr;  // the boot flows of two threads
    fiber_context* second = nullptr;
    pid_t before = 0, after = 0, of_child = 0;
    int status = -1;
    int kept = 0;

    static int run_child(void* self, void*) noexcept {
      auto& s = *static_cast<shared*>(self);
      s.parent.keep_control();
      fiber_context::switch_to(s.child, *s.first, nothing);
      s.of_child = this_thread();
      return leave<fiber_context>(s.child, *s.first);
    }
    static int run_parent(void* self, void*) noexcept {
      auto& s = *static_cast<shared*>(self);
      std::array<int volatile, 100> locals{};
      for (int i = 0; i < 100; ++i) locals[static_cast<std::size_t>(i)] = i;
      s.before = this_thread();
      s.status = fiber_context::call(s.parent, s.child, &run_child, self, nullptr);
      s.after = this_thread();
      for (int const i : locals) s.kept += i;
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
    CHECK(s.status == -1);
    pid_t other = 0;
    std::thread{[&] {
      fiber_context there;
      other = this_thread();
      s.second = &there;
      fiber_context::switch_to(there, s.parent, nothing);
    }}.join();
    CHECK(s.status == call_continuation_stolen);
    CHECK(s.before == this_thread());
    CHECK(s.after == other);
    CHECK(s.kept == 4950);
    fiber_context::switch_to(here, s.child, nothing);
    CHECK(s.of_child == this_thread());
  }
}
