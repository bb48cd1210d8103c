// Every algorithm with iterators and with a range, with projections, and with options last or directly after the
// arguments without defaults.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heist/algorithm.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"

using heist::context;

namespace {

std::vector<int> numbers() {
  std::vector<int> v(3000);
  for (std::size_t i = 0; i != v.size(); ++i) v[i] = static_cast<int>(i * 7919 % 1000);
  return v;
}
bool even(int x) {
  return x % 2 == 0;
}
int tens(int x) {
  return x / 10;
}

/// Runs `f` in a task: algorithms with heist::context.
template <class F>
void inside(F f) {
  heist::executor ex{2};
  ex.invoke([&](context c) { f(c); });
}

}  // namespace

TEST_CASE("forms: searches and counts by iterators and with options", "[algo]") {
  inside([](context c) {
    auto const v = numbers();
    auto w = v;
    auto const b = v.begin(), e = v.end();
    CHECK(heist::find(c, b, e, 77, {.grain = 9}) == std::ranges::find(v, 77));
    CHECK(heist::find(c, b, e, 77, tens, {.grain = 9}) == std::ranges::find(v, 77, tens));
    CHECK(heist::find_if(c, b, e, even, {.grain = 9}) == std::ranges::find_if(v, even));
    CHECK(heist::find_if(c, b, e, even, tens, {.grain = 9}) == std::ranges::find_if(v, even, tens));
    CHECK(heist::find_if_not(c, b, e, even, {.grain = 9}) == std::ranges::find_if_not(v, even));
    CHECK(heist::any_of(c, b, e, even, {.grain = 9}));
    CHECK_FALSE(heist::all_of(c, b, e, even, {.grain = 9}));
    CHECK_FALSE(heist::none_of(c, b, e, even, {.grain = 9}));
    CHECK(heist::count(c, b, e, 77, {.grain = 9}) == std::ranges::count(v, 77));
    CHECK(heist::count(c, b, e, 77, tens) == std::ranges::count(v, 77, tens));
    CHECK(heist::count_if(c, b, e, even, {.grain = 9}) == std::ranges::count_if(v, even));
    CHECK(heist::equal(c, v, w, {.grain = 9}));
    w[2000] += 1;
    CHECK_FALSE(heist::equal(c, b, e, w.begin(), w.end(), {.grain = 9}));
    CHECK(heist::equal(c, v, w, {}, tens, tens, {.grain = 9}) == std::ranges::equal(v, w, {}, tens, tens));
    CHECK(heist::mismatch(c, v, w, {.grain = 9}).in2 == w.begin() + 2000);
    CHECK(heist::mismatch(c, b, e, w.begin(), w.end(), {}, std::negate{}, std::negate{}).in1 == b + 2000);
    CHECK(heist::adjacent_find(c, b, e, {.grain = 9}) == e);
    CHECK(heist::adjacent_find(c, v, std::less{}, tens, {.grain = 9}) ==
          std::ranges::adjacent_find(v, std::less{}, tens));
    CHECK_FALSE(heist::is_sorted(c, v, {.grain = 9}));
    CHECK_FALSE(heist::is_sorted(c, b, e, {.grain = 9}));
    CHECK(heist::min_element(c, v, {.grain = 9}) == std::ranges::min_element(v));
    CHECK(heist::max_element(c, b, e, {.grain = 9}) == std::ranges::max_element(v));
    CHECK(heist::minmax_element(c, b, e, {.grain = 9}).max == std::ranges::minmax_element(v).max);
    CHECK(heist::histogram(c, b, e, 1000, {.grain = 9}) == std::vector<std::size_t>(1000, 3));
    CHECK(heist::histogram(c, b, e, 100, tens) == heist::histogram(c, v, 100, tens, {.grain = 9}));
    auto const groups = heist::group_by(c, b, e, tens, {.grain = 9});
    CHECK(groups.size() == 100);
    CHECK(groups[3].key == 3);
  });
}

TEST_CASE("forms: what writes, by iterators, of two ranges, through projections and with options", "[algo]") {
  inside([](context c) {
    auto const v = numbers();
    auto const b = v.begin(), e = v.end();
    std::vector<int> out(v.size()), expected(v.size());
    heist::transform(c, b, e, out.begin(), std::negate{}, tens, {.grain = 9});
    std::ranges::transform(v, expected.begin(), std::negate{}, tens);
    CHECK(out == expected);
    std::ranges::transform(v, v, expected.begin(), std::plus{}, tens, std::negate{});
    heist::transform(c, v, v, out.begin(), std::plus{}, tens, std::negate{}, {.grain = 9});
    CHECK(out == expected);
    std::ranges::fill(out, 0);
    CHECK(heist::transform(c, b, e, b, e, out.begin(), std::plus{}, tens, std::negate{}, {.grain = 9}) == out.end());
    CHECK(out == expected);
    std::ranges::transform(v, v, expected.begin(), std::plus{});
    heist::transform(c, b, e, b, out.begin(), std::plus{}, {.grain = 9});
    CHECK(out == expected);
    CHECK(heist::copy(c, b, e, out.begin(), {.grain = 9}) == out.end());
    CHECK(heist::replace_if(c, out.begin(), out.end(), even, 1, {.grain = 9}) == out.end());
    CHECK(std::ranges::none_of(out, even));
    CHECK(heist::fill(c, out.begin(), out.end(), 4, {.grain = 9}) == out.end());
    CHECK(heist::generate(c, out.begin(), out.end(), [] { return 5; }, {.grain = 9}) == out.end());
    CHECK(out == std::vector<int>(v.size(), 5));
    expected.resize(static_cast<std::size_t>(std::ranges::copy_if(v, expected.begin(), even).out - expected.begin()));
    auto w = v;
    w.erase(heist::copy_if(c, b, e, w.begin(), even, {.grain = 9}), w.end());
    CHECK(w == expected);
    w = v;
    w.erase(heist::remove_if(c, w.begin(), w.end(), std::not_fn(even), {.grain = 9}), w.end());
    CHECK(w == expected);
    w = v;
    CHECK(heist::partition(c, w.begin(), w.end(), even, {.grain = 9}) ==
          w.begin() + static_cast<long>(expected.size()));
    heist::sort(c, w, {.grain = 40});
    CHECK(heist::unique(c, w, {.grain = 9}) == w.begin() + 1000);
    w.resize(1000);
    CHECK(heist::unique(c, w.begin(), w.end(), {}, tens, {.grain = 9}) == w.begin() + 100);
  });
}

TEST_CASE("forms: reductions and scans by iterators and with options", "[algo]") {
  inside([](context c) {
    auto const v = numbers();
    auto const b = v.begin(), e = v.end();
    int const sum = std::accumulate(b, e, 0);
    CHECK(heist::reduce(c, v, {.grain = 9}) == sum);
    CHECK(heist::reduce(c, b, e) == sum);
    CHECK(heist::reduce(c, b, e, {.grain = 9}) == sum);
    CHECK(heist::reduce(c, b, e, 1, {.grain = 9}) == sum + 1);
    long const product = std::inner_product(b, e, b, 0L);
    CHECK(heist::transform_reduce(c, v, v, 0L, {.grain = 9}) == product);
    CHECK(heist::transform_reduce(c, b, e, b, 0L) == product);
    CHECK(heist::transform_reduce(c, b, e, b, 0L, {.grain = 9}) == product);
    CHECK(heist::transform_reduce(c, b, e, b, 0L, std::plus{}, std::multiplies{}, {.grain = 9}) == product);
    std::vector<int> out(v.size()), expected(v.size());
    std::inclusive_scan(b, e, expected.begin());
    heist::inclusive_scan(c, v, out.begin(), {.grain = 9});
    CHECK(out == expected);
    std::ranges::fill(out, 0);
    heist::inclusive_scan(c, b, e, out.begin(), {.grain = 9});
    CHECK(out == expected);
    std::inclusive_scan(b, e, expected.begin(), std::plus{}, 3);
    heist::inclusive_scan(c, b, e, out.begin(), std::plus{}, 3, {.grain = 9});
    CHECK(out == expected);
    std::exclusive_scan(b, e, expected.begin(), 3);
    heist::exclusive_scan(c, v, out.begin(), 3, {.grain = 9});
    CHECK(out == expected);
    std::ranges::fill(out, 0);
    heist::exclusive_scan(c, b, e, out.begin(), 3, {.grain = 9});
    CHECK(out == expected);
    std::transform_inclusive_scan(b, e, expected.begin(), std::plus{}, tens);
    heist::transform_inclusive_scan(c, b, e, out.begin(), std::plus{}, tens, {.grain = 9});
    CHECK(out == expected);
    std::transform_inclusive_scan(b, e, expected.begin(), std::plus{}, tens, 2);
    heist::transform_inclusive_scan(c, b, e, out.begin(), std::plus{}, tens, 2, {.grain = 9});
    CHECK(out == expected);
    std::transform_exclusive_scan(b, e, expected.begin(), 2, std::plus{}, tens);
    heist::transform_exclusive_scan(c, b, e, out.begin(), 2, std::plus{}, tens, {.grain = 9});
    CHECK(out == expected);
  });
}

TEST_CASE("forms: sorts and merges by iterators and with options", "[algo]") {
  inside([](context c) {
    auto const v = numbers();
    auto sorted = v;
    std::ranges::sort(sorted);
    auto w = v;
    CHECK(heist::sort(c, w.begin(), w.end(), {.grain = 50}) == w.end());
    CHECK(w == sorted);
    w = v;
    CHECK(heist::stable_sort(c, w, {.grain = 50}) == w.end());
    CHECK(w == sorted);
    w = v;
    CHECK(heist::stable_sort(c, w.begin(), w.end(), {.grain = 50}) == w.end());
    CHECK(w == sorted);
    w = v;
    CHECK(heist::nth_element(c, w.begin(), w.begin() + 500, w.end(), {.grain = 50}) == w.end());
    CHECK(w[500] == sorted[500]);
    CHECK(heist::partial_sort(c, w, w.begin() + 900, {.grain = 50}) == w.end());
    CHECK(std::equal(w.begin(), w.begin() + 900, sorted.begin()));
    std::vector<int> both(2 * v.size()), expected(2 * v.size());
    std::ranges::merge(sorted, sorted, expected.begin());
    CHECK(heist::merge(c, sorted, sorted, both.begin(), {.grain = 50}) == both.end());
    CHECK(both == expected);
    std::ranges::fill(both, 0);
    heist::merge(c, sorted.begin(), sorted.end(), sorted.begin(), sorted.end(), both.begin(), {.grain = 50});
    CHECK(both == expected);
  });
}

TEST_CASE("forms: a grain of 0 is refused by all", "[algo]") {
  heist::executor ex{1};
  std::vector<int> v(10), both(20);
  CHECK_THROWS_WITH(heist::equal(ex, v, v, {.grain = 0}), Catch::Contains("a grain of 0"));
  CHECK_THROWS_WITH(heist::inclusive_scan(ex, v, v.begin(), {.grain = 0}), Catch::Contains("a grain of 0"));
  CHECK_THROWS_WITH(heist::merge(ex, v, v, both.begin(), {.grain = 0}), Catch::Contains("a grain of 0"));
  CHECK_THROWS_WITH(heist::histogram(ex, v, 10, {.grain = 0}), Catch::Contains("a grain of 0"));
  CHECK_THROWS_WITH(heist::partition(ex, v, even, {.grain = 0}), Catch::Contains("a grain of 0"));
  CHECK_THROWS_WITH(heist::unique(ex, v, {.grain = 0}), Catch::Contains("a grain of 0"));
}

TEST_CASE("algorithm forms: arrays as ranges and outputs, outputs of temporary ranges, a bit-field as a number",
          "[algo]") {
  heist::executor<> ex{2};
  int const in[5]{1, 2, 3, 4, 5};
  int out[5]{};
  CHECK(heist::inclusive_scan(ex, in, out, std::plus<>{}) == out + 5);
  CHECK(out[4] == 15);
  CHECK(heist::inclusive_scan(ex, in, out, std::plus<>{}, 10) == out + 5);
  CHECK(out[4] == 25);
  CHECK(heist::exclusive_scan(ex, in, out, 0, std::plus<>{}) == out + 5);
  CHECK(out[4] == 10);
  CHECK(heist::copy_if(
            ex, in, out, [](int n) { return n > 2; }, std::identity{}) == out + 3);
  CHECK(heist::copy(ex, in, in + 5, out) == out + 5);
  struct {
    unsigned bins : 4;
  } const few{6};
  CHECK(heist::histogram(ex, in, in + 5, few.bins) == std::vector<std::size_t>{0, 1, 1, 1, 1, 1});
  CHECK(heist::histogram(ex, in, 6).size() == 6);
  // Where the output has ended, also if the range is gone.
  std::vector<int> kept(3);
  auto const end = heist::copy_if(ex, std::vector<int>{1, 2, 3}, kept.begin(), [](int n) { return n != 2; });
  kept.resize(static_cast<std::size_t>(end - kept.begin()));
  CHECK(kept == std::vector<int>{1, 3});
  CHECK(heist::copy(ex, std::vector<int>{7, 8}, kept.begin()) == kept.end());
  CHECK(heist::inclusive_scan(ex, std::vector<int>{7, 8}, kept.begin()) == kept.end());
  CHECK(kept == std::vector<int>{7, 15});
  static_assert(std::is_same_v<decltype(heist::find(ex, std::vector<int>{}, 1)), std::ranges::dangling>);
  // As objects they are passed on.
  auto const apply = [&](auto const& algorithm, auto&&... arguments) { return algorithm(ex, arguments...); };
  CHECK(apply(heist::reduce, kept, 0) == 22);
  CHECK(apply(
            heist::count_if, kept, [](int n) { return n > 7; }, std::identity{}) == 1);
}
