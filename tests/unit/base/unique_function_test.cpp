// heist::unique_function: keeps any callable, moves it, destroys it once.
#include "heist/core/base/unique_function.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/catch.hpp"

using heist::unique_function;

namespace {

int functions_alive = 0;

/// Counts its living copies; `Bytes` decides whether it is stored in place.
template <std::size_t Bytes>
struct sized {
  sized() { ++functions_alive; }
  sized(sized&&) noexcept { ++functions_alive; }
  sized(sized const&) = delete;
  ~sized() { --functions_alive; }
  int operator()() const { return static_cast<int>(Bytes); }
  std::array<char, Bytes> padding{};
};

struct throws_when_moved {
  throws_when_moved() = default;
  throws_when_moved(throws_when_moved&&) {}  // NOLINT: not noexcept on purpose
  int operator()() const { return 7; }
};

struct throws_when_made {
  throws_when_made() = default;
  throws_when_made(throws_when_made&&) { throw std::runtime_error{"no"}; }
  void operator()() const {}
};

static_assert(!std::is_copy_constructible_v<unique_function<void()>>);
static_assert(std::is_nothrow_move_constructible_v<unique_function<void()>>);
static_assert(!std::is_constructible_v<unique_function<int(int)>, int (*)()>);

}  // namespace

TEST_CASE("unique_function: an empty one says so", "[base]") {
  unique_function<void()> none;
  unique_function<void()> null = nullptr;
  CHECK_FALSE(none);
  CHECK_FALSE(null);
  unique_function<void()> moved = std::move(none);
  CHECK_FALSE(moved);
}

TEST_CASE("unique_function: small and large callables are destroyed exactly once", "[base]") {
  functions_alive = 0;
  {
    unique_function<int()> small = sized<1>{};
    unique_function<int()> large = sized<100>{};
    CHECK(functions_alive == 2);
    CHECK(small() == 1);
    CHECK(large() == 100);
    unique_function<int()> other = std::move(small);
    CHECK_FALSE(small);
    CHECK(functions_alive == 2);
    CHECK(other() == 1);
    other = std::move(large);
    CHECK(functions_alive == 1);
    CHECK(other() == 100);
    auto& same = other;
    other = std::move(same);  // to itself
    CHECK(other() == 100);
    std::swap(small, other);
    CHECK(small() == 100);
    other = nullptr;
  }
  CHECK(functions_alive == 0);
}

TEST_CASE("unique_function: keeps what moves only, and what may throw when it moves", "[base]") {
  unique_function<int(std::unique_ptr<int>)> f = [kept = std::make_unique<int>(40)](std::unique_ptr<int> more) {
    return *kept + *more;
  };
  auto g = std::move(f);
  CHECK(g(std::make_unique<int>(2)) == 42);
  unique_function<int()> t = throws_when_moved{};
  auto u = std::move(t);
  CHECK(u() == 7);
}

TEST_CASE("unique_function: a callable that cannot be moved in leaves nothing behind", "[base]") {
  CHECK_THROWS_AS(unique_function<void()>{throws_when_made{}}, std::runtime_error);
}

TEST_CASE("unique_function: references and results pass through unchanged", "[base]") {
  int x = 1;
  unique_function<int&(int&)> same = [](int& i) -> int& { return i; };
  same(x) = 5;
  CHECK(x == 5);
  unique_function<long()> widened = [] { return 3; };
  CHECK(widened() == 3L);
  unique_function<void()> throws = [] { throw std::string{"out"}; };
  CHECK_THROWS_AS(throws(), std::string);
  unique_function<int()> pointer = +[] { return 9; };
  CHECK(pointer() == 9);
}
