// Sorts, merge, nth_element, partition: beside those of the standard library, on inputs that are made to be difficult.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "heist/algorithm.hpp"
#include "support/catch.hpp"
#include "unit/algorithm/every_executor.hpp"

using heist::context;
using heist_test::boundary_lengths;
using heist_test::in_every_executor;
using heist_test::slow;

namespace {

/// Numbers of one kind of input.
std::vector<int> input(int kind, std::size_t n, std::mt19937& random) {
  std::vector<int> v(n);
  int const m = static_cast<int>(n);
  for (int i = 0; i != m; ++i) {
    int& x = v[static_cast<std::size_t>(i)];
    switch (kind) {
      case 0:
        x = static_cast<int>(random() % 1'000'000);
        break;
      case 1:
        x = i;
        break;  // sorted
      case 2:
        x = -i;
        break;  // reversed
      case 3:
        x = 7;
        break;  // all equal
      case 4:
        x = static_cast<int>(random() % 5);
        break;  // few distinct
      case 5:
        x = i < m / 2 ? i : m - i;
        break;  // organ pipes
      case 6:
        x = i % 1000;
        break;  // saw teeth
      case 7:
        x = i == m - 1 ? -1 : i;
        break;  // the last is the least
      default:
        x = (i * 31) % 64 == 0 ? static_cast<int>(random()) : i;
        break;  // some out of place
    }
  }
  return v;
}
constexpr int input_kinds = 9;

struct wide {
  std::int64_t key, order;
  char more[48];
};

}  // namespace

TEST_CASE("sort, stable_sort: every kind of input at every length, in every executor", "[algo]") {
  in_every_executor([](context ctx) {
    std::mt19937 random{1};
    for (std::size_t const n : boundary_lengths) {
      for (int kind = 0; kind != input_kinds; ++kind) {
        if (slow && kind % 2 == 1) continue;
        CAPTURE(n, kind);
        std::vector<int> const given = input(kind, n, random);
        auto expected = given;
        std::ranges::sort(expected);
        auto v = given;
        CHECK(heist::sort(ctx, v) == v.end());
        CHECK(v == expected);
        v = given;
        heist::sort(ctx, v.begin(), v.end(), std::greater{}, std::negate{}, {.grain = 30});
        CHECK(v == expected);
        CHECK(heist::is_sorted(ctx, v));
        std::vector<std::pair<int, int>> p(n);
        for (std::size_t i = 0; i != n; ++i) p[i] = {given[i] / 100, static_cast<int>(i)};
        heist::stable_sort(ctx, p, {}, &std::pair<int, int>::first);
        CHECK(std::ranges::is_sorted(p));
      }
    }
  });
}

TEST_CASE("sort: many workers partition a large range together", "[algo]") {
  std::mt19937 random{2};
  heist::executor ex{3};
  for (int kind = 0; kind != input_kinds; ++kind) {
    if (slow && kind % 3 != 0) continue;
    CAPTURE(kind);
    auto v = input(kind, 400'000, random);
    auto expected = v;
    std::ranges::sort(expected);
    auto w = v;
    heist::sort(ex, v);
    CHECK(v == expected);
    auto const middle = w.begin() + 123'456;
    heist::nth_element(ex, w, middle);
    CHECK(*middle == expected[123'456]);
    CHECK(std::all_of(w.begin(), middle, [&](int x) { return x <= *middle; }));
    CHECK(std::all_of(middle, w.end(), [&](int x) { return x >= *middle; }));
  }
}

TEST_CASE("sort: strings, wide structs, what only moves, ranges that are not contiguous", "[algo]") {
  std::mt19937 random{3};
  heist::executor ex{2};
  std::vector<std::string> s(20'000);
  for (auto& x : s) x = "a long enough string to be on the heap " + std::to_string(random() % 5000);
  auto expected = s;
  std::ranges::sort(expected);
  auto t = s;
  heist::sort(ex, s);
  CHECK(s == expected);
  heist::stable_sort(ex, t);
  CHECK(t == expected);
  std::vector<wide> w(30'000);
  for (std::size_t i = 0; i != w.size(); ++i)
    w[i] = {static_cast<std::int64_t>(random() % 100), static_cast<std::int64_t>(i), {}};
  auto by_key = w;
  heist::sort(ex, w, {}, &wide::key);
  CHECK(std::ranges::is_sorted(w, {}, &wide::key));
  heist::stable_sort(ex, by_key, {}, &wide::key);
  CHECK(std::ranges::is_sorted(by_key, [](wide const& a, wide const& b) {
    return std::pair{a.key, a.order} < std::pair{b.key, b.order};
  }));
  std::deque<int> d(10'000);
  for (int& x : d) x = static_cast<int>(random());
  heist::sort(ex, d);
  CHECK(std::ranges::is_sorted(d));
  std::vector<std::unique_ptr<int>> u;
  for (int i = 0; i != 30'000; ++i) u.push_back(std::make_unique<int>(i * 17 % 30'011));
  auto const value = [](auto const& x) { return *x; };
  heist::sort(ex, u, {}, value);
  CHECK(std::ranges::is_sorted(u, {}, value));
  heist::stable_sort(ex, u, std::greater{}, value);
  CHECK(std::ranges::is_sorted(u, std::greater{}, value));
  heist::reverse(ex, u);
  heist::partial_sort(ex, u, u.begin() + 100, {}, value);
  CHECK(*u[99] == *std::ranges::min_element(u.begin() + 99, u.end(), {}, value)->get());
}

TEST_CASE("sort: a comparison that throws loses no element", "[algo]") {
  in_every_executor([](context ctx) {
    std::mt19937 random{4};
    for (int round = 0; round != (slow ? 6 : 40); ++round) {
      std::vector<std::string> v(10'000);
      for (std::size_t i = 0; i != v.size(); ++i) v[i] = "string number " + std::to_string(i * 7919 % v.size());
      auto all = v;
      std::ranges::sort(all);
      std::atomic<int> left{static_cast<int>(random() % 150'000)};
      auto const less = [&](std::string const& a, std::string const& b) {
        if (--left == 0) throw std::runtime_error{"no order"};
        return a < b;
      };
      bool thrown = false;
      try {
        round % 2 == 0 ? heist::sort(ctx, v, less) : heist::stable_sort(ctx, v, less);
      } catch (std::runtime_error const&) {
        thrown = true;
      }
      CHECK(thrown == (left <= 0));
      if (!thrown) CHECK(v == all);
      std::ranges::sort(v);
      CHECK(v == all);
    }
  });
}

TEST_CASE("sort: a comparison that is no order ends, reads nothing outside and loses nothing", "[algo]") {
  heist::executor ex{3};
  std::mt19937 random{5};
  for (std::size_t const n : {2u, 24u, 25u, 100u, 5000u, 200'000u}) {
    for (int kind = 0; kind != 4; ++kind) {
      std::vector<int> v(n);
      std::iota(v.begin(), v.end(), 0);
      std::ranges::shuffle(v, random);
      auto const less = [kind](int a, int b) {
        switch (kind) {
          case 0:
            return true;
          case 1:
            return a <= b;
          case 2:
            return (static_cast<unsigned>(a) * 2654435761u ^ static_cast<unsigned>(b) * 40503u) % 3 == 0;
          default:
            return a % 2 != b % 2;
        }
      };
      heist::sort(ex, v, less);
      heist::stable_sort(ex, v, less);
      heist::nth_element(ex, v, v.begin() + static_cast<long>(n / 2), less);
      std::ranges::sort(v);
      bool complete = true;
      for (std::size_t i = 0; i != n; ++i) complete = complete && v[i] == static_cast<int>(i);
      CHECK(complete);
    }
  }
}

TEST_CASE("sort: what drives quicksort to its worst costs n log n comparisons", "[algo]") {
  // McIlroy, "A killer adversary for quicksort": an order that is decided while it is asked for.
  heist::executor ex{1};
  int const n = 20'000;
  std::vector<int> value(n, n), v(n);
  std::iota(v.begin(), v.end(), 0);
  int solid = 0, candidate = 0;
  long comparisons = 0;
  heist::sort(ex, v, [&](int a, int b) {
    ++comparisons;
    auto& va = value[static_cast<std::size_t>(a)];
    auto& vb = value[static_cast<std::size_t>(b)];
    if (va == n && vb == n) (a == candidate ? va : vb) = solid++;
    if (va == n) candidate = a;
    if (vb == n) candidate = b;
    return va < vb;
  });
  CHECK(std::ranges::is_sorted(v, {}, [&](int i) { return value[static_cast<std::size_t>(i)]; }));
  CHECK(comparisons < 60L * n);  // n log2 n is 14 n
}

TEST_CASE("sort: stopped in between it loses nothing", "[algo]") {
  heist::executor ex{2};
  for (bool const stable : {false, true}) {
    std::stop_source stop;
    std::vector<int> v(300'000);
    for (std::size_t i = 0; i != v.size(); ++i) v[i] = static_cast<int>(i * 7919 % v.size());
    std::atomic<int> left{1'000'000};
    auto const less = [&](int a, int b) {
      if (--left == 0) stop.request_stop();
      return a < b;
    };
    if (stable) {
      CHECK_THROWS_AS(heist::stable_sort(ex, v, less, {}, {.stop = stop.get_token()}), heist::stopped_error);
    } else {
      CHECK_THROWS_AS(heist::sort(ex, v, less, {}, {.stop = stop.get_token()}), heist::stopped_error);
    }
    std::ranges::sort(v);
    CHECK(v.front() == 0);
    CHECK(v.back() == static_cast<int>(v.size()) - 1);
    CHECK(std::ranges::adjacent_find(v) == v.end());
  }
}

TEST_CASE("merge: as std::merge, stable, at every pair of lengths", "[algo]") {
  in_every_executor([](context ctx) {
    std::mt19937 random{6};
    for (std::size_t const n : boundary_lengths) {
      for (std::size_t const m : {std::size_t{0}, std::size_t{1}, n / 2, n, n + 3}) {
        CAPTURE(n, m);
        std::vector<std::pair<int, int>> a(n), b(m);
        for (auto& x : a) x = {static_cast<int>(random() % 50), 1};
        for (auto& x : b) x = {static_cast<int>(random() % 50), 2};
        std::ranges::sort(a);
        std::ranges::sort(b);
        std::vector<std::pair<int, int>> expected(n + m), out(n + m);
        auto const first = &std::pair<int, int>::first;
        std::ranges::merge(a, b, expected.begin(), {}, first, first);
        CHECK(heist::merge(ctx, a, b, out.begin(), {}, first, first) == out.end());
        CHECK(out == expected);
        std::ranges::fill(out, std::pair{0, 0});
        heist::merge(ctx, a, b, out.begin(), {}, first, first, {.grain = 5});
        CHECK(out == expected);
      }
    }
  });
}

TEST_CASE("nth_element, partial_sort, partition, at every length", "[algo]") {
  in_every_executor([](context ctx) {
    std::mt19937 random{7};
    for (std::size_t const n : boundary_lengths) {
      for (int const kind : {0, 3, 4, 5}) {
        if (slow && kind > 3) continue;
        CAPTURE(n, kind);
        auto const given = input(kind, n, random);
        auto sorted = given;
        std::ranges::sort(sorted);
        for (std::size_t const at : {std::size_t{0}, n / 3, n == 0 ? 0 : n - 1, n}) {
          auto v = given;
          auto const nth = v.begin() + static_cast<long>(at);
          heist::nth_element(ctx, v, nth);
          if (at < n) CHECK(*nth == sorted[at]);
          v = given;
          heist::partial_sort(ctx, v.begin(), v.begin() + static_cast<long>(at), v.end());
          CHECK(std::equal(v.begin(), v.begin() + static_cast<long>(at), sorted.begin()));
          std::ranges::sort(v);
          CHECK(v == sorted);
        }
        auto v = given;
        auto const odd = [](int x) { return x % 2 != 0; };
        auto const middle = heist::partition(ctx, v, odd);
        CHECK(middle - v.begin() == std::ranges::count_if(given, odd));
        CHECK(std::ranges::is_partitioned(v, odd));
        std::ranges::sort(v);
        CHECK(v == sorted);
      }
    }
  });
}
