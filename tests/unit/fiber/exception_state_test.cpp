// Each flow handles its own exceptions: current_exception(), `throw;` and uncaught_exceptions() do not cross.
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "heist/fiber/flow.hpp"
#include "support/catch.hpp"

using heist::detail::flow;
using heist::detail::stack;

namespace {

struct from_fiber : std::runtime_error {
  using runtime_error::runtime_error;
};
struct from_main : std::runtime_error {
  using runtime_error::runtime_error;
};

/// A fiber and the thread that it shares control with.
struct pair {
  flow* main = nullptr;
  flow* fiber = nullptr;
  std::string rethrown;
  int uncaught = -1;
  bool exception_before = false;

  void to_main(bool ends = false) {
    flow::switch_to(*fiber, *main, {[](void*) noexcept {}, nullptr}, ends);
  }
  void to_fiber() {
    flow::switch_to(*main, *fiber, {[](void*) noexcept {}, nullptr});
  }
};

/// Suspended in the middle of unwinding.
struct suspends_in_destructor {
  pair& p;
  ~suspends_in_destructor() {
    int const before = std::uncaught_exceptions();
    p.to_main();
    p.uncaught = std::uncaught_exceptions() - before;
  }
};

void fiber_that_suspends_in_catch(void* argument) {
  pair& p = *static_cast<pair*>(argument);
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
}

void fiber_that_suspends_while_unwinding(void* argument) {
  pair& p = *static_cast<pair*>(argument);
  try {
    suspends_in_destructor const d{p};
    throw from_fiber{"unwinding"};
  } catch (std::exception const& e) {
    p.rethrown = e.what();
  }
  p.to_main(true);
}

}  // namespace

TEST_CASE("exceptions: a fiber suspended in a handler rethrows its own, and the thread keeps its own", "[fiber]") {
  pair p;
  flow main;
  flow fiber{stack::map(1 << 17), &fiber_that_suspends_in_catch, &p, 0};
  p.main = &main;
  p.fiber = &fiber;
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

TEST_CASE("exceptions: a fiber that starts while a thread handles one sees none", "[fiber]") {
  pair p;
  flow main;
  flow fiber{stack::map(1 << 17), &fiber_that_suspends_in_catch, &p, 0};
  p.main = &main;
  p.fiber = &fiber;
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

TEST_CASE("exceptions: they go along when a fiber moves to another thread", "[fiber]") {
  pair p;
  flow fiber{stack::map(1 << 17), &fiber_that_suspends_in_catch, &p, 0};
  p.fiber = &fiber;
  bool clean_after[2] = {false, false};
  for (bool& clean : clean_after) {
    std::thread{[&] {
      flow here;
      p.main = &here;
      p.to_fiber();
      clean = !std::current_exception() && std::uncaught_exceptions() == 0;
    }}.join();
  }
  CHECK(p.rethrown == "A");
  CHECK(clean_after[0]);
  CHECK(clean_after[1]);
}

TEST_CASE("exceptions: uncaught_exceptions() counts per flow, also during unwinding", "[fiber]") {
  pair p;
  flow main;
  flow fiber{stack::map(1 << 17), &fiber_that_suspends_while_unwinding, &p, 0};
  p.main = &main;
  p.fiber = &fiber;
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
