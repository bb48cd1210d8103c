// Values that tasks may capture and return: large, over-aligned, const, by reference, none, move-only.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist_test::every_policy;
using heist_test::slow;

namespace {

struct kibibyte {
  std::array<unsigned char, 1024> bytes{};
  explicit kibibyte(int seed) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<unsigned char>(i * 7 + static_cast<std::size_t>(seed));
  }
  bool holds(int seed) const { return bytes == kibibyte{seed}.bytes; }
};

struct alignas(64) over_aligned {
  int value = 0;
  bool aligned() const { return reinterpret_cast<std::uintptr_t>(this) % 64 == 0; }
};

/// Runs `body(context)` so often, on one worker and on more, that tasks are stolen; it says whether all is right.
template <class Policy, class Body>
void check_on_all(char const* what, Body const& body) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<Policy> ex{workers};
    heist_test::watchdog guard{ex, 60s, what};
    for (int round = 0; round < (slow ? 30 : 150); ++round) {
      INFO(what << ", workers " << workers << ", round " << round);
      REQUIRE(ex.invoke([&](auto ctx) { return body(ctx); }));
    }
  }
}

void now_and_then() {
  heist_test::yield();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("values: large results", "[fork]", every_policy) {
  check_on_all<TestType>("large results", [](auto ctx) {
    std::string const text(100, 'x');
    auto const [a, b, c, d] = ctx.fork_join([&] { return text + "a"; },
                                            [&] {
                                              now_and_then();
                                              return text + "b";
                                            },
                                            [] { return kibibyte{3}; },
                                            [](auto) {
                                              now_and_then();
                                              return kibibyte{4};
                                            });
    auto const [e, f] = ctx.fork_join([] { return kibibyte{5}; }, [&] { return text; });
    return a == text + "a" && b == text + "b" && c.holds(3) && d.holds(4) && e.holds(5) && f == text;
  });
}

TEMPLATE_LIST_TEST_CASE("values: over-aligned captures and results", "[fork]", every_policy) {
  check_on_all<TestType>("over-aligned", [](auto ctx) {
    over_aligned one, two;
    one.value = 1;
    two.value = 2;
    auto const task = [](over_aligned const& value) {
      return [captured = value] {
        now_and_then();
        return captured.aligned() ? captured : over_aligned{};
      };
    };
    auto const [a, b] = ctx.fork_join(task(one), task(two));
    auto const [c, d, e] = ctx.fork_join(task(two), task(one), task(two));
    bool in_scope = true;
    {
      heist::scope s{ctx};
      for (int i = 0; i < 3; ++i)
        s.fork([&in_scope, captured = two, i] {
          if (i == 1) in_scope = captured.aligned() && captured.value == 2;
        });
    }
    return a.aligned() && b.aligned() && a.value == 1 && b.value == 2 && c.value == 2 && d.value == 1 && e.aligned() &&
           e.value == 2 && in_scope;
  });
}

TEMPLATE_LIST_TEST_CASE("values: references refer to what was returned", "[fork]", every_policy) {
  check_on_all<TestType>("references", [](auto ctx) {
    int x = 1;
    std::string const text = "text";
    auto result = ctx.fork_join([&]() -> int& { return x; }, [&]() -> std::string const& { return text; });
    static_assert(std::is_same_v<decltype(result), std::tuple<int&, std::string const&>>);
    auto three = ctx.fork_join([&]() -> int const& { return x; }, [&]() -> int& { return x; }, [] { return 3; });
    static_assert(std::is_same_v<decltype(three), std::tuple<int const&, int&, int>>);
    return &std::get<0>(result) == &x && &std::get<1>(result) == &text && &std::get<0>(three) == &x &&
           &std::get<1>(three) == &x;
  });
}

TEMPLATE_LIST_TEST_CASE("values: const results, and none", "[fork]", every_policy) {
  check_on_all<TestType>("const and void", [](auto ctx) {
    int seen = 0;
    auto result = ctx.fork_join([]() -> std::string const { return "one"; }, [&seen] { seen = 2; },
                                []() -> std::string const { return "three"; });
    static_assert(std::is_same_v<std::tuple_element_t<1, decltype(result)>, std::monostate>);
    auto two = ctx.fork_join([&seen] { ++seen; }, []() -> std::string const { return "two"; });
    return std::get<0>(result) == "one" && std::get<2>(result) == "three" && std::get<1>(two) == "two" && seen == 3;
  });
}

TEMPLATE_LIST_TEST_CASE("values: results and closures that can only be moved", "[fork]", every_policy) {
  check_on_all<TestType>("move-only", [](auto ctx) {
    auto const task = [](int v) {
      return [p = std::make_unique<int>(v)]() mutable {
        now_and_then();
        return std::move(p);
      };
    };
    auto [a, b] = ctx.fork_join(task(1), task(2));
    auto [c, d, e] = ctx.fork_join(task(3), task(4), task(5));
    int in_scope = 0;
    {
      heist::scope s{ctx};
      s.fork([&in_scope, p = std::make_unique<int>(6)] { in_scope = *p; });
    }
    return *a == 1 && *b == 2 && *c == 3 && *d == 4 && *e == 5 && in_scope == 6;
  });
}

TEMPLATE_LIST_TEST_CASE("values: closures are called where they are, also mutable ones", "[fork]", every_policy) {
  check_on_all<TestType>("mutable closures", [](auto ctx) {
    auto count = [n = 0]() mutable { return ++n; };
    auto other = [n = 10](auto) mutable { return ++n; };
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
      auto const [a, b] = ctx.fork_join(count, other);
      sum += a + b;
    }
    auto const [a, b, c] = ctx.fork_join(
        count, [] { return 0; }, other);
    return sum == 1 + 2 + 3 + 11 + 12 + 13 && a == 4 && b == 0 && c == 14;
  });
}

TEMPLATE_LIST_TEST_CASE("values: const closures, function pointers, function objects", "[fork]", every_policy) {
  check_on_all<TestType>("callables", [](auto ctx) {
    struct object {
      int operator()() const { return 2; }
    };
    auto const closure = [] { return 1; };
    int (*const function)() = [] { return 3; };
    object const constant;
    auto const [a, b, c, d] = ctx.fork_join(closure, object{}, function, constant);
    auto const [e, f] = ctx.fork_join(function, closure);
    return a == 1 && b == 2 && c == 3 && d == 2 && e == 3 && f == 1;
  });
}

TEMPLATE_LIST_TEST_CASE("values: one context is made from another", "[fork]", every_policy) {
  check_on_all<TestType>("contexts", [](auto ctx) {
    heist::context const any = ctx;
    auto const [a, b] = ctx.fork_join([](heist::context c) { return std::get<0>(c.fork_join([] { return 1; })); },
                                      [](auto c) {
                                        heist::context const inner = c;
                                        auto const [x, y] = inner.fork_join([] { return 2; }, [] { return 3; });
                                        return x + y;
                                      });
    auto const [c, d] = any.fork_join([] { return 4; }, [](heist::context) { return 5; });
    return a == 1 && b == 5 && c == 4 && d == 5;
  });
}
