// Debug builds notice a task that could resume on another thread while it handles an exception.
#include <csignal>

#include "faults/child_process.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "support/catch.hpp"
#include "unit/fork/every_policy.hpp"

namespace {

#ifdef NDEBUG
constexpr bool asserts = false;
#else
constexpr bool asserts = true;
#endif

template <class Policy, class F>
heist_test::child_report in_a_child(std::size_t workers, F f) {
  return heist_test::run_child([&] {
    heist::executor<Policy> ex{workers};
    ex.invoke([&](auto ctx) { f(ctx); });
  });
}

/// In debug builds the program ends with a sentence that says all of `words`; in others it just resumes.
void check_ends_in_debug_builds(heist_test::child_report const& report, char const* words) {
  INFO(report.text());
  CHECK_FALSE(report.timed_out);
  if (asserts) {
    CHECK(report.signal == SIGABRT);
    CHECK(report.says(words));
    CHECK(report.says("fix it by"));
  } else {
    CHECK(report.clean());
  }
}

}  // namespace

TEST_CASE("child-first forks in a handler, or while a destructor unwinds: debug builds say so", "[sched]") {
  auto const in_handler = [](auto ctx) {
    try {
      throw 1;
    } catch (int) {
      ctx.fork_join([] {}, [] {});
    }
  };
  auto const report = in_a_child<heist_test::child_first>(1, in_handler);
  check_ends_in_debug_builds(report, "catch block");
  auto const parent_first = in_a_child<heist_test::parent_first>(1, in_handler);
  INFO(parent_first.text());
  CHECK(parent_first.clean());
  auto const after_handler = in_a_child<heist_test::child_first>(1, [](auto ctx) {
    try {
      throw 1;
    } catch (int) {
    }
    ctx.fork_join([] {}, [] {});
  });
  INFO(after_handler.text());
  CHECK(after_handler.clean());
}
