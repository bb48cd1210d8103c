// Reductions, scans, searches, counts, packs, groups: beside those of the standard library; and the same bits
// everywhere.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

#include "heist/algorithm.hpp"
#include "support/catch.hpp"
#include "unit/algorithm/every_executor.hpp"

using heist::context;
using heist_test::boundary_lengths;
using heist_test::in_every_executor;

namespace {

std::vector<int> numbers(std::size_t n, int below) {
  std::mt19937 random{static_cast<unsigned>(n)};
  std::vector<int> v(n);
  for (int& x : v) x = static_cast<int>(random() % static_cast<unsigned>(below));
  return v;
}

/// Numbers whose sum depends on the order in which they are added.
std::vector<double> fractions(std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i != n; ++i)
    v[i] = std::sin(static_cast<double>(i)) * std::pow(10.0, static_cast<double>(i % 17));
  return v;
}

std::uint64_t bits(double x) {
  std::uint64_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}

/// A matrix of 2 x 2: its product is associative and does not commute.
struct matrix {
  std::uint64_t a, b, c, d;
  friend matrix operator*(matrix x, matrix y) {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  }
  bool operator==(matrix const&) const = default;
};

}  // namespace

TEST_CASE("reduce, scans: as those of std, in order, at every length, in every executor", "[algo]") {
  in_every_executor([](context ctx) {
    for (std::size_t const n : heist_test::leaf_lengths) {
      CAPTURE(n);
      std::vector<int> const v = numbers(n, 1000);
      std::int64_t const sum = std::accumulate(v.begin(), v.end(), std::int64_t{5});
      CHECK(heist::reduce(ctx, v, std::int64_t{5}) == sum);
      CHECK(heist::reduce(ctx, v.begin(), v.end(), std::int64_t{5}, std::plus{}, {.grain = 3}) == sum);
      CHECK(heist::reduce(ctx, v, 5.0, heist::any_order(std::plus{})) == static_cast<double>(sum));
      CHECK(heist::transform_reduce(ctx, v, v, std::int64_t{0}) ==
            std::inner_product(v.begin(), v.end(), v.begin(), std::int64_t{0}));
      CHECK(heist::reduce(ctx, v, 7, [](int a, int b) { return std::max(a, b); }) ==
            std::accumulate(v.begin(), v.end(), 7, [](int a, int b) { return std::max(a, b); }));

      std::vector<matrix> m(n);
      for (std::size_t i = 0; i != n; ++i) m[i] = {i, i + 1, 3, static_cast<std::uint64_t>(v[i])};
      matrix const one{1, 0, 0, 1};
      std::vector<matrix> expected(n), out(n, one);
      std::inclusive_scan(m.begin(), m.end(), expected.begin(), std::multiplies{});
      CHECK(heist::inclusive_scan(ctx, m, out.begin(), std::multiplies{}) == out.end());
      CHECK(out == expected);
      if (n != 0) CHECK(heist::reduce(ctx, m, one, std::multiplies{}) == expected.back());
      std::exclusive_scan(m.begin(), m.end(), expected.begin(), matrix{2, 1, 1, 1}, std::multiplies{});
      heist::exclusive_scan(ctx, m, out.begin(), matrix{2, 1, 1, 1}, std::multiplies{});
      CHECK(out == expected);
      heist::exclusive_scan(ctx, m, m.begin(), matrix{2, 1, 1, 1}, std::multiplies{}, {.grain = 1});  // in place
      CHECK(m == expected);

      std::vector<std::int64_t> sums(n), right(n);
      std::inclusive_scan(v.begin(), v.end(), right.begin(), std::plus{}, std::int64_t{3});
      heist::inclusive_scan(ctx, v, sums.begin(), std::plus{}, std::int64_t{3});
      CHECK(sums == right);
      auto const square = [](int x) { return std::int64_t{x} * x; };
      std::transform_inclusive_scan(v.begin(), v.end(), right.begin(), std::plus{}, square);
      heist::transform_inclusive_scan(ctx, v, sums.begin(), std::plus{}, square);
      CHECK(sums == right);
      std::transform_exclusive_scan(v.begin(), v.end(), right.begin(), std::int64_t{1}, std::plus{}, square);
      heist::transform_exclusive_scan(ctx, v, sums.begin(), std::int64_t{1}, std::plus{}, square);
      CHECK(sums == right);
    }
  });
}

TEST_CASE("reduce, scans: of fractions, the same bits with any number of workers, policy, order and schedule",
          "[algo]") {
  for (std::size_t const n : heist_test::leaf_lengths) {
    if (n == 0) continue;
    std::vector<double> const v = fractions(n);
    heist::executor one{1};
    double const sum = heist::reduce(one, v, 0.5);
    double const squares = heist::transform_reduce(one, v, 0.5, std::plus{}, [](double x) { return x * x; });
    std::vector<double> scanned(n);
    heist::inclusive_scan(one, v, scanned.begin());
    auto const same = [&](context ctx) {
      CAPTURE(n);
      CHECK(bits(heist::reduce(ctx, v, 0.5)) == bits(sum));
      CHECK(bits(heist::reduce(ctx, v, 0.5, std::plus{}, {.grain = 1})) == bits(sum));
      CHECK(bits(heist::transform_reduce(ctx, v, 0.5, std::plus{}, [](double x) { return x * x; })) == bits(squares));
      std::vector<double> out(n);
      heist::inclusive_scan(ctx, v, out.begin(), std::plus{}, {.grain = 1});
      CHECK(std::memcmp(out.data(), scanned.data(), n * sizeof(double)) == 0);
      heist::exclusive_scan(ctx, v, out.begin(), 0.0);
      bool right = true;
      for (std::size_t i = 1; i != n; ++i)
        right = right && std::abs(out[i] - scanned[i - 1]) <= 1e-6 * std::abs(out[i]) + 1e6;
      CHECK(right);
    };
    in_every_executor(same);
    heist_test::in_executor<heist::policy::random>("16 workers", {.workers = 16}, same);
    CHECK(bits(heist::reduce(one, v, 0.5)) == bits(sum));  // from outside
  }
}

TEST_CASE("reduce: words keep their order; a value without a default constructor; only moved", "[algo]") {
  heist::executor ex{3};
  std::vector<std::string> words(3000);
  std::string all;
  for (std::size_t i = 0; i != words.size(); ++i) all += words[i] = std::to_string(i) + " ";
  CHECK(heist::reduce(ex, words, std::string{}, std::plus{}) == all);
  struct no_default {
    explicit no_default(int x) : value{x} {}
    int value;
  };
  auto const r = heist::transform_reduce(
      ex, words, no_default{0}, [](no_default a, no_default b) { return no_default{a.value + b.value}; },
      [](std::string const& w) { return no_default{static_cast<int>(w.size())}; });
  CHECK(r.value == static_cast<int>(all.size()));
}

TEST_CASE("find, count, any_of, extremes, equal ...: as those of std::ranges, in every executor", "[algo]") {
  in_every_executor([](context ctx) {
    for (std::size_t const n : boundary_lengths) {
      CAPTURE(n);
      for (int const below : {1, 3, 1000, 1'000'000}) {
        std::vector<int> const v = numbers(n, below);
        for (int const x : {0, 2, 500, -1}) {
          CHECK(heist::find(ctx, v, x) == std::ranges::find(v, x));
          CHECK(heist::find(ctx, v, x, {}, {.grain = 1}) == std::ranges::find(v, x));
          CHECK(heist::count(ctx, v, x) == std::ranges::count(v, x));
        }
        auto const small = [](int x) { return x < 3; };
        CHECK(heist::find_if_not(ctx, v, small) == std::ranges::find_if_not(v, small));
        CHECK(heist::count_if(ctx, v, small, std::negate{}) == std::ranges::count_if(v, small, std::negate{}));
        CHECK(heist::any_of(ctx, v, small) == std::ranges::any_of(v, small));
        CHECK(heist::all_of(ctx, v, small) == std::ranges::all_of(v, small));
        CHECK(heist::none_of(ctx, v, small) == std::ranges::none_of(v, small));
        auto const tens = [](int x) { return x / 10; };
        CHECK(heist::min_element(ctx, v, {}, tens, {.grain = 1}) == std::ranges::min_element(v, {}, tens));
        CHECK(heist::max_element(ctx, v, {}, tens, {.grain = 1}) == std::ranges::max_element(v, {}, tens));
        auto const [least, most] = heist::minmax_element(ctx, v, {}, tens, {.grain = 1});
        CHECK(least == std::ranges::minmax_element(v, {}, tens).min);
        CHECK(most == std::ranges::minmax_element(v, {}, tens).max);
        CHECK(heist::adjacent_find(ctx, v, {}, tens) == std::ranges::adjacent_find(v, {}, tens));
        CHECK(heist::is_sorted(ctx, v) == std::ranges::is_sorted(v));
        auto w = v;
        CHECK(heist::equal(ctx, v, w));
        if (n != 0) {
          w[n - 1 - n / 3] += 1;
          CHECK_FALSE(heist::equal(ctx, v, w));
          CHECK(heist::mismatch(ctx, v, w).in1 - v.begin() == static_cast<long>(n - 1 - n / 3));
          w.pop_back();
          CHECK_FALSE(heist::equal(ctx, v, w));
        }
      }
    }
  });
}

TEST_CASE("find: the first of two, also where the second is found before it", "[algo]") {
  heist::executor ex{2};
  for (int round = 0; round != 20; ++round) {
    std::atomic<bool> second{false};
    std::vector<int> v(2000);
    v[100] = v[1900] = 1;
    auto const it = heist::find_if(
        ex, v,
        [&](int const& x) {
          if (&x == &v[1900]) second = true;
          if (&x == &v[90]) {  // waits a while for the other to be found; not forever: one worker may have both
            for (int i = 0; i != 100'000 && !second; ++i) heist::os_env::relax();
          }
          return x == 1;
        },
        {}, {.grain = 1});
    CHECK(it - v.begin() == 100);
  }
}

TEST_CASE("transform, fill, generate, copy, replace_if, reverse", "[algo]") {
  in_every_executor([](context ctx) {
    for (std::size_t const n : boundary_lengths) {
      CAPTURE(n);
      std::vector<int> const v = numbers(n, 100);
      std::vector<int> out(n), expected(n);
      CHECK(heist::transform(ctx, v, out.begin(), std::negate{}) == out.end());
      std::ranges::transform(v, expected.begin(), std::negate{});
      CHECK(out == expected);
      heist::transform(ctx, out, out.begin(), [](int x) { return x + 1; }, std::negate{}, {.grain = 1});
      std::ranges::transform(v, expected.begin(), [](int x) { return x + 1; });
      CHECK(out == expected);
      heist::transform(ctx, v, expected, out.begin(), std::plus{});
      std::ranges::transform(v, expected.begin(), [](int x) { return 2 * x + 1; });
      CHECK(out == expected);
      CHECK(heist::copy(ctx, v, out.begin()) == out.end());
      CHECK(out == v);
      heist::replace_if(
          ctx, out, [](int x) { return x < 50; }, 7);
      std::ranges::replace_copy_if(
          v, expected.begin(), [](int x) { return x < 50; }, 7);
      CHECK(out == expected);
      CHECK(heist::reverse(ctx, out, {.grain = 1}) == out.end());
      std::ranges::reverse(expected);
      CHECK(out == expected);
      CHECK(heist::fill(ctx, out, 3) == out.end());
      CHECK(heist::count(ctx, out, 3) == static_cast<long>(n));
      std::atomic<int> next{0};
      heist::generate(ctx, out, [&] { return next++; });
      std::ranges::sort(out);
      std::iota(expected.begin(), expected.end(), 0);
      CHECK(out == expected);
    }
  });
}

TEST_CASE("copy_if, remove_if, unique: what is kept is in its order", "[algo]") {
  in_every_executor([](context ctx) {
    for (std::size_t const n : boundary_lengths) {
      for (int const below : {1, 2, 3, 100}) {
        CAPTURE(n, below);
        std::vector<int> const v = numbers(n, below);
        auto const odd = [](int x) { return x % 2 == 1; };
        std::vector<int> expected, out(n);
        std::ranges::copy_if(v, std::back_inserter(expected), odd);
        out.erase(heist::copy_if(ctx, v, out.begin(), odd), out.end());
        CHECK(out == expected);
        auto w = v;
        expected = v;
        std::erase_if(expected, odd);
        w.erase(heist::remove_if(ctx, w, odd), w.end());
        CHECK(w == expected);
        w = expected = v;
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
        w.erase(heist::unique(ctx, w), w.end());
        CHECK(w == expected);
      }
    }
  });
}

TEST_CASE("remove_if, unique: of large ranges, whatever stands on the places of what is kept, and what only moves",
          "[algo]") {
  heist::executor ex{3};
  std::size_t const n = 60'000;
  // How much is removed, and where: everywhere, only in front, only behind, in the middle, all, nothing.
  std::vector<std::function<bool(std::size_t)>> const removed{[](std::size_t i) { return i % 2 == 0; },
                                                              [](std::size_t i) { return i % 100 == 7; },
                                                              [](std::size_t i) { return i < 1500; },
                                                              [](std::size_t i) { return i > 50'000; },
                                                              [](std::size_t i) { return i / 9000 == 3; },
                                                              [](std::size_t i) { return i % 100 != 7; },
                                                              [](std::size_t) { return true; },
                                                              [](std::size_t) { return false; }};
  for (std::size_t k = 0; k != removed.size(); ++k) {
    CAPTURE(k);
    std::vector<std::string> v(n), expected;
    std::vector<std::unique_ptr<std::size_t>> u(n);
    std::vector<std::size_t> doubled;
    for (std::size_t i = 0; i != n; ++i) {
      v[i] = "a string that is on the heap, number " + std::to_string(i);
      u[i] = std::make_unique<std::size_t>(i);
      if (!removed[k](i)) expected.push_back(v[i]);
      doubled.push_back(i);
      if (removed[k](i)) doubled.push_back(i);
    }
    v.erase(heist::remove_if(ex, v, [&](std::string const& s) { return removed[k](std::stoul(s.substr(37))); }),
            v.end());
    CHECK(v == expected);
    auto const end = heist::remove_if(ex, u, [&](auto const& p) { return removed[k](*p); });
    CHECK(std::equal(u.begin(), end, expected.begin(), expected.end(),
                     [](auto const& p, std::string const& s) { return *p == std::stoul(s.substr(37)); }));
    doubled.erase(heist::unique(ex, doubled), doubled.end());
    bool each = doubled.size() == n;
    for (std::size_t i = 0; each && i != n; ++i) each = doubled[i] == i;
    CHECK(each);
  }
}

TEST_CASE("remove_if, unique: a predicate that throws changes nothing", "[algo]") {
  heist::executor ex{2};
  std::vector<std::string> v(10'000);
  for (std::size_t i = 0; i != v.size(); ++i) v[i] = "number " + std::to_string(i);
  auto w = v;
  CHECK_THROWS_AS(heist::remove_if(ex, w, [&](std::string const& s) { return s == "number 7000" ? throw 1 : true; }),
                  int);
  CHECK(w == v);
  CHECK_THROWS_AS(heist::unique(ex, w, [&](auto const& a, auto const&) { return a == "number 7000" ? throw 1 : true; }),
                  int);
  CHECK(w == v);
}

TEST_CASE("histogram, group_by: what belongs together, in its order", "[algo]") {
  in_every_executor([](context ctx) {
    for (std::size_t const n : boundary_lengths) {
      CAPTURE(n);
      std::vector<int> const v = numbers(n, 10);
      std::vector<std::size_t> expected(10);
      for (int const x : v) ++expected[static_cast<std::size_t>(x)];
      CHECK(heist::histogram(ctx, v, 10) == expected);
      CHECK(heist::histogram(ctx, v, 10, std::identity{}, {.grain = 1}) == expected);
      std::map<int, std::vector<std::pair<int, std::size_t>>> groups;
      std::vector<std::pair<int, std::size_t>> pairs(n);
      for (std::size_t i = 0; i != n; ++i) groups[v[i]].push_back(pairs[i] = {v[i], i});
      auto const made = heist::group_by(ctx, pairs, [](auto const& p) { return p.first; });
      CHECK(made.size() == groups.size());
      CHECK(std::ranges::equal(
          made, groups, [](auto const& a, auto const& b) { return a.key == b.first && a.elements == b.second; }));
    }
  });
  heist::executor ex{2};
  std::vector<int> const v{1, 2, 3, -4};
  CHECK_THROWS_WITH(heist::histogram(ex, v, 10), Catch::Contains("bin -4, and there are 10"));
}
