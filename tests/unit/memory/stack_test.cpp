// heist::detail::stack: aligned, writable from bottom to top, and an overflow ends the program at once.
#include "heist/core/memory/stack.hpp"

#include <pthread.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "faults/child_process.hpp"
#include "heist/core/base/errors.hpp"
#include "support/catch.hpp"

using heist::detail::page_size;
using heist::detail::stack;

TEST_CASE("stack: at least as large as asked for, in whole pages, all of it usable", "[memory]") {
  for (std::size_t const bytes : {std::size_t{1}, page_size(), page_size() + 1, std::size_t{1} << 20}) {
    stack s = stack::map(bytes);
    CHECK(s.usable() >= bytes);
    CHECK(s.usable() < bytes + page_size());
    CHECK(reinterpret_cast<std::uintptr_t>(s.top()) % page_size() == 0);
    CHECK(s.top() - s.bottom() == static_cast<std::ptrdiff_t>(s.usable()));
    for (char* at = s.bottom(); at < s.top(); at += 512) *at = 1;
    s.top()[-1] = 1;
  }
}

TEST_CASE("stack: all bytes of the guard below the bottom stop the program, and it is as large as asked for",
          "[memory]") {
  for (std::size_t const guard : {std::size_t{1}, page_size() + 1, heist::detail::default_guard}) {
    stack s = stack::map(1, 0, guard);
    auto const whole = static_cast<std::ptrdiff_t>((guard + page_size() - 1) / page_size() * page_size());
    for (std::ptrdiff_t const below : {std::ptrdiff_t{1}, whole / 2, whole}) {
      INFO("guard " << guard << ", " << below << " below the bottom");
      CHECK(s.overflowed_at(s.bottom() - below));
      auto const report = heist_test::run_child([&] { *static_cast<char volatile*>(s.bottom() - below) = 1; });
      INFO(report.text());
      CHECK_FALSE(report.clean());
      CHECK_FALSE(report.timed_out);
    }
    CHECK_FALSE(s.overflowed_at(s.bottom() - whole - 1));
    CHECK_FALSE(s.overflowed_at(s.bottom()));
    auto const twin = heist_test::run_child([&] { *static_cast<char volatile*>(s.bottom()) = 1; });
    CHECK(twin.clean());
  }
}

TEST_CASE("stack: without a guard nothing counts as an overflow", "[memory]") {
  stack const s = stack::map(4096, 0, 0);
  CHECK_FALSE(s.overflowed_at(s.bottom()));
  CHECK_FALSE(s.overflowed_at(s.bottom() - 1));
}

TEST_CASE("stack: what is given back is zero, the rest stays", "[memory]") {
  std::size_t const page = page_size();
  stack s = stack::map(4 * page, page);
  for (char* at = s.bottom(); at != s.top() + page; ++at) *at = 1;
  char* const end = s.top() - page + 1;  // in the uppermost page of the stack, which stays
  s.give_back(end);
  for (char* at = s.bottom(); at != s.top() - page; ++at) REQUIRE(*at == 0);
  for (char* at = s.top() - page; at != s.top(); ++at) REQUIRE(*at == 1);
  for (char* at = s.top(); at != s.top() + page; ++at) REQUIRE(*at == 0);
}

TEST_CASE("stack: moving hands the mapping over, and each mapping is returned once", "[memory]") {
  stack a = stack::map(4096);
  char* const bottom = a.bottom();
  *bottom = 7;
  stack b = std::move(a);
  CHECK(b.bottom() == bottom);
  CHECK(*bottom == 7);
  stack c = stack::map(4096);
  c = std::move(b);
  CHECK(c.bottom() == bottom);
  stack empty;
  CHECK(empty.top() == nullptr);
  empty = std::move(c);
  CHECK(*empty.bottom() == 7);
}

TEST_CASE("stack: a size that the system cannot give is a stack_error with a remedy", "[memory]") {
  for (std::size_t const bytes : {std::numeric_limits<std::size_t>::max() / 2, std::size_t{1} << 50}) {
    try {
      stack const s = stack::map(bytes);
      FAIL("mapped");
    } catch (heist::stack_error const& e) {
      CHECK(std::string{e.what()}.find("options::stack_size") != std::string::npos);
    }
  }
}

TEST_CASE("stack: a size so large that its rounding overflows is refused, not mapped small", "[memory]") {
  for (std::size_t const less :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{8192}}) {
    CHECK_THROWS_AS(stack::map(std::numeric_limits<std::size_t>::max() - less), heist::stack_error);
  }
}
