// heist::detail::result_slot: one value, or a reference, or nothing, made later.
#include "heist/core/base/result.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>

#include "support/catch.hpp"

using heist::detail::result_slot;

namespace {

int alive = 0;
struct counted {
  explicit counted(int n) : n{n} { ++alive; }
  counted(counted&& other) noexcept : n{other.n} { ++alive; }
  ~counted() { --alive; }
  int n;
};

struct pinned {  // neither moves nor copies
  explicit pinned(int n) : n{n} {}
  pinned(pinned const&) = delete;
  int n;
};

}  // namespace

TEST_CASE("result_slot: a value is made in place and destroyed once", "[base]") {
  alive = 0;
  {
    result_slot<counted> slot;
    CHECK_FALSE(slot.full());
    slot.fill([] { return counted{1}; });
    CHECK(slot.full());
    CHECK(alive == 1);
    slot.fill([] { return counted{2}; });
    CHECK(alive == 1);
    CHECK(slot.get().n == 2);
    {
      counted const taken = slot.take();
      CHECK(taken.n == 2);
    }
    slot.reset();
    CHECK_FALSE(slot.full());
    CHECK(alive == 0);
    slot.reset();
    slot.fill([] { return counted{3}; });
  }
  CHECK(alive == 0);
}

TEST_CASE("result_slot: a maker that throws leaves it empty", "[base]") {
  alive = 0;
  result_slot<counted> slot;
  slot.fill([] { return counted{1}; });
  CHECK_THROWS_AS(slot.fill([]() -> counted { throw std::runtime_error{"no"}; }), std::runtime_error);
  CHECK_FALSE(slot.full());
  CHECK(alive == 0);
}

TEST_CASE("result_slot: what cannot move is made where it stays", "[base]") {
  result_slot<pinned> slot;
  slot.fill([] { return pinned{4}; });
  CHECK(slot.get().n == 4);
}

TEST_CASE("result_slot: a reference stays the same object", "[base]") {
  int x = 1;
  result_slot<int&> slot;
  slot.fill([&]() -> int& { return x; });
  slot.take() = 6;
  CHECK(x == 6);
  CHECK(&slot.get() == &x);
  result_slot<int const&> constant;
  constant.fill([&]() -> int const& { return x; });
  CHECK(&constant.take() == &x);
}

TEST_CASE("result_slot: const values, values that move only, and void", "[base]") {
  result_slot<std::string const> text;
  text.fill([] { return std::string(100, 'x'); });
  CHECK(text.get().size() == 100);
  result_slot<std::unique_ptr<int>> unique;
  unique.fill([] { return std::make_unique<int>(3); });
  CHECK(*unique.take() == 3);
  result_slot<void> nothing;
  bool called = false;
  nothing.fill([&] { called = true; });
  CHECK(called);
  CHECK(nothing.full());
  nothing.reset();
  CHECK_FALSE(nothing.full());
  static_assert(std::is_same_v<heist::detail::value_or_monostate<void>, std::monostate>);
  static_assert(std::is_same_v<heist::detail::value_or_monostate<int&>, int&>);
}
