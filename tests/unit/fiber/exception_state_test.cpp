// Each fiber_context handles its own exceptions: current_exception(), `throw;` and uncaught_exceptions() do not cross.
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "heist/core/fiber/fiber_context.hpp"
#include "support/catch.hpp"
#include "unit/fiber/fiber_contexts.hpp"

using heist_test::every_fiber_context;
using heist_test::nothing;
using heist_test::unused;

namespace {

struct from_fiber : std::runtime_error {
  using runtime_error::runtime_error;
};
struct from_main : std::runtime_error {
  using runtime_error::runtime_error;
};

/// A fiber and the thread that it shares control with.
template <class FiberContext>
struct pair {
  FiberContext* main = nullptr;
  unused<FiberContext> fiber;
  std::string rethrown;
  int uncaught = -1;
  bool exception_before = false;

  void to_main(bool ends = false) { FiberContext::switch_to(fiber, *main, nothing, ends); }
  void to_fiber() { FiberContext::switch_to(*main, fiber, nothing); }
};

/// Suspended in the middle of unwinding.
template <class FiberContext>
struct suspends_in_destructor {
  pair<FiberContext>& p;
  ~suspends_in_destructor() {
    int const before = std::uncaught_exceptions();
    p.to_main();
    p.uncaught = std::uncaught_exceptions() - before;
  }
};

template <class FiberContext>
int fiber_that_suspends_in_catch(void* argument, void*) noexcept {
  auto& p = *static_cast<pair<FiberContext>*>(argument);
  p.exception_before = static_cast<bool>(std::current_exception());
  try {
    throw from_fiber{"A"};
  } catch (from_fiber const&) {
    p.to_main();
    p.uncaught = std::uncaught_exceptions();
    try {
      throw;
    } catch (std::exception const& e) {
      p.rethrown = e.what();
    }
  }
  p.to_main(true);
  return 1;
}

template <class FiberContext>
int fiber_that_suspends_while_unwinding(void* argument, void*) noexcept {
  auto& p = *static_cast<pair<FiberContext>*>(argument);
  try {
    suspends_in_destructor<FiberContext> const d{p};
    throw from_fiber{"unwinding"};
  } catch (std::exception const& e) {
    p.rethrown = e.what();
  }
  p.to_main(true);
  return 1;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("exceptions: a fiber suspended in a handler rethrows its own, and the thread keeps its own",
                        "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  pair<fiber_context> p;
  fiber_context main;
  p.fiber.start(&fiber_that_suspends_in_catch<fiber_context>, &p, nullptr);
  p.main = &main;
  p.to_fiber();
  CHECK_FALSE(static_cast<bool>(std::current_exception()));
  CHECK(std::uncaught_exceptions() == 0);
  try {
    throw from_main{"B"};
  } catch (from_main const&) {
    p.to_fiber();
    CHECK(p.rethrown == "A");
    CHECK(p.uncaught == 0);
    try {
      throw;
    } catch (std::exception const& e) {
      CHECK(std::string{e.what()} == "B");
    }
  }
  CHECK_FALSE(static_cast<bool>(std::current_exception()));
}

TEMPLATE_LIST_TEST_CASE("exceptions: a fiber that starts while a thread handles one sees none", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  pair<fiber_context> p;
  fiber_context main;
  p.fiber.start(&fiber_that_suspends_in_catch<fiber_context>, &p, nullptr);
  p.main = &main;
  try {
    throw from_main{"B"};
  } catch (from_main const&) {
    p.to_fiber();
    CHECK_FALSE(p.exception_before);
    CHECK(std::current_exception() != nullptr);
  }
  p.to_fiber();
  CHECK(p.rethrown == "A");
}

TEMPLATE_LIST_TEST_CASE("exceptions: they go along when a fiber moves to another thread", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  pair<fiber_context> p;
  p.fiber.start(&fiber_that_suspends_in_catch<fiber_context>, &p, nullptr);
  bool clean_after[2] = {false, false};
  for (bool& clean : clean_after) {
    std::thread{[&] {
      fiber_context here;
      p.main = &here;
      p.to_fiber();
      clean = !std::current_exception() && std::uncaught_exceptions() == 0;
    }}.join();
  }
  CHECK(p.rethrown == "A");
  CHECK(clean_after[0]);
  CHECK(clean_after[1]);
}

TEMPLATE_LIST_TEST_CASE("exceptions: uncaught_exceptions() counts per fiber_context, also during unwinding", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  pair<fiber_context> p;
  fiber_context main;
  p.fiber.start(&fiber_that_suspends_while_unwinding<fiber_context>, &p, nullptr);
  p.main = &main;
  p.to_fiber();
  CHECK(std::uncaught_exceptions() == 0);
  try {
    throw from_main{"B"};  // would end the program if the fiber's unwinding were taken for ours
  } catch (from_main const&) {
  }
  p.to_fiber();
  CHECK(p.uncaught == 0);
  CHECK(p.rethrown == "unwinding");
}

TEMPLATE_LIST_TEST_CASE("exceptions: a child that leaves in a handler's wake keeps nothing of it", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  struct shared {
    fiber_context main;
    unused<fiber_context> child;
    bool clean_in_child = false;

    static int run(void* self, void*) noexcept {
      auto& s = *static_cast<shared*>(self);
      s.main.keep_control();
      try {
        throw from_fiber{"C"};
      } catch (from_fiber const&) {
        fiber_context::switch_to(s.child, s.main, nothing);  // the caller sees no exception
      }
      s.clean_in_child = !std::current_exception();
      return heist_test::leave<fiber_context>(s.child, s.main);
    }
  } s;
  for (int round = 0; round < 3; ++round) {
    REQUIRE(fiber_context::call(s.main, s.child, &shared::run, &s, nullptr) == heist::detail::call_continuation_stolen);
    CHECK_FALSE(static_cast<bool>(std::current_exception()));
    try {
      throw from_main{"D"};
    } catch (from_main const&) {
      fiber_context::switch_to(s.main, s.child, nothing);
      CHECK(s.clean_in_child);
      CHECK_THROWS_AS(std::rethrow_exception(std::current_exception()), from_main);
    }
    CHECK_FALSE(static_cast<bool>(std::current_exception()));
  }
}

TEST_CASE("exceptions: handles_exception() tells handlers and unwinding from the rest", "[fiber]") {
  using heist::detail::handles_exception;
  CHECK_FALSE(handles_exception());
  bool while_unwinding = false, in_handler = false;
  struct looks {
    bool& seen;
    ~looks() { seen = handles_exception(); }
  };
  try {
    looks const l{while_unwinding};
    throw from_main{"E"};
  } catch (from_main const&) {
    in_handler = handles_exception();
  }
  CHECK(while_unwinding);
  CHECK(in_handler);
  CHECK_FALSE(handles_exception());
}
