// Errors inside a called child stay there, or end the program where they happen.
#include <csignal>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>

#include "faults/child_process.hpp"
#include "heist/core/fiber/fiber_context.hpp"
#include "support/catch.hpp"
#include "unit/fiber/fiber_contexts.hpp"

using heist_test::every_fiber_context;
using heist_test::unused;

TEMPLATE_LIST_TEST_CASE("call: exceptions are thrown and caught inside", "[fiber]", every_fiber_context) {
  using fiber_context = TestType;
  fiber_context main;
  unused<fiber_context> child;
  std::string text;
  auto const body = [](void* a, void*) noexcept {
    try {
      try {
        throw std::runtime_error{"inner"};
      } catch (std::runtime_error const& e) {
        *static_cast<std::string*>(a) += e.what();
        throw std::logic_error{"outer"};
      }
    } catch (std::logic_error const& e) {
      *static_cast<std::string*>(a) += e.what();
      return std::uncaught_exceptions() + 2;
    }
  };
  for (int i = 0; i < 100; ++i) {
    text.clear();
    REQUIRE(fiber_context::call(main, child, body, &text, nullptr) == 2);
    REQUIRE(text == "innerouter");
    REQUIRE_FALSE(static_cast<bool>(std::current_exception()));
  }
}

namespace {

HEIST_NOINLINE int throws() {
  throw std::runtime_error{"lost"};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("call: an exception that leaves the function ends the program", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  auto const report = heist_test::run_child([] {
    fiber_context main;
    unused<fiber_context> child;
    fiber_context::call(
        main, child, [](void*, void*) noexcept { return throws(); }, nullptr, nullptr);
  });
  CHECK(report.signal == SIGABRT);
  CHECK(report.says("lost"));
}

namespace {

/// Uses at least `bytes` of the stack.
HEIST_NOINLINE int use_stack(std::size_t bytes) {
  char frame[512];
  frame[0] = static_cast<char>(bytes);
  asm volatile("" : : "r"(frame) : "memory");  // all of it is used
  if (bytes < sizeof frame) return frame[0];
  int const deeper = use_stack(bytes - sizeof frame);
  asm volatile("" : : "r"(frame) : "memory");
  return deeper + frame[0];  // after the call: no tail call
}

template <class FiberContext>
void overflow(std::size_t bytes) {
  FiberContext main;
  unused<FiberContext> child;
  FiberContext::call(
      main, child,
      [](void* bytes, void*) noexcept {
        static_cast<void>(use_stack(*static_cast<std::size_t*>(bytes)));
        return 1;
      },
      &bytes, nullptr);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("call: a frame that does not fit hits the guard below the stack", "[fiber]",
                        every_fiber_context) {
  using fiber_context = TestType;
  auto const fits = heist_test::run_child([] { overflow<fiber_context>(std::size_t{1} << 14); });
  INFO(fits.text());
  CHECK(fits.clean());
  auto const overflows = heist_test::run_child([] { overflow<fiber_context>(std::size_t{1} << 18); });
  CHECK_FALSE(overflows.clean());
  CHECK_FALSE(overflows.timed_out);
}
