// Algorithms ask of elements, functions and iterators what those of the standard library ask, and nothing more.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "faults/child_process.hpp"
#include "heist/algorithm.hpp"
#include "support/catch.hpp"
#include "unit/algorithm/archetypes.hpp"

using archetypes::called;
using archetypes::copied;
using archetypes::element;
using archetypes::iterator;
using archetypes::sentinel;

namespace {

/// 0 to n - 1, mixed.
template <class T>
std::vector<T> mixed(int n) {
  std::vector<T> v;
  v.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i != n; ++i) v.push_back(T(static_cast<int>(static_cast<unsigned>(i) * 7919u % 10007u)));
  return v;
}
template <class T>
iterator<T> first_of(std::vector<T>& v) {
  return iterator<T>(v.data());
}
template <class T>
sentinel<T> end_of(std::vector<T>& v) {
  return {iterator<T>(v.data() + v.size())};
}
template <class T>
bool in_order(std::vector<T> const& v, std::size_t n) {
  for (std::size_t i = 1; i < n; ++i) {
    if (v[i].key < v[i - 1].key) return false;
  }
  return n == 0 || v[0].key >= 0;  // a list of one has a key below 0
}
auto const is_even = [](auto const& x) { return archetypes::decision{x.key % 2 == 0}; };

constexpr int count = 6007;

}  // namespace

TEST_CASE("algorithms: elements that are moved, and compared by < alone, are sorted in every way", "[algo]") {
  heist::executor ex{2};
  auto v = mixed<element>(count);
  heist::sort(ex, v);
  CHECK(in_order(v, v.size()));
  v = mixed<element>(count);
  heist::stable_sort(ex, v);
  CHECK(in_order(v, v.size()));
  v = mixed<element>(count);
  heist::sort(ex, first_of(v), end_of(v), called(std::less<>{}), called(archetypes::key_of_it{}));
  CHECK(in_order(v, v.size()));
  v = mixed<element>(count);
  heist::stable_sort(ex, first_of(v), end_of(v));
  CHECK(in_order(v, v.size()));
  CHECK(heist::is_sorted(ex, first_of(v), end_of(v)));
  v = mixed<element>(count);
  heist::nth_element(ex, v, v.begin() + 3000);
  heist::sort(ex, v.begin(), v.begin() + 3000);
  CHECK(in_order(v, 3001));
  v = mixed<element>(count);
  heist::partial_sort(ex, first_of(v), first_of(v) + 100, end_of(v));
  CHECK(in_order(v, 100));
  CHECK(heist::max_element(ex, v)->key > 10'000);
  CHECK((*heist::min_element(ex, first_of(v), end_of(v))).key == 0);
}

TEST_CASE("algorithms: elements that are moved are looked at, changed and moved", "[algo]") {
  heist::executor ex{2};
  auto v = mixed<element>(count);
  CHECK(heist::for_each(ex, first_of(v), end_of(v), called([](element& e) { ++e.key; })));
  CHECK(heist::count_if(ex, first_of(v), end_of(v), is_even) > count / 3);
  CHECK((*heist::find_if(ex, first_of(v), end_of(v), is_even)).key == 7920);
  CHECK(heist::find_if_not(ex, v, is_even) == v.begin());
  CHECK_FALSE(heist::all_of(ex, v, is_even));
  CHECK_FALSE(heist::none_of(ex, first_of(v), end_of(v), is_even));
  heist::reverse(ex, first_of(v), end_of(v));
  CHECK(v.back().key == 1);
  auto const evens = heist::partition(ex, first_of(v), end_of(v), is_even);
  CHECK(heist::all_of(ex, first_of(v), evens, is_even));
  auto const odds = heist::remove_if(ex, first_of(v), end_of(v), is_even);
  CHECK(heist::none_of(ex, first_of(v), odds, is_even));
  auto const same = [](element const& a, element const& b) { return archetypes::decision{a.key % 4 == b.key % 4}; };
  auto const some = heist::unique(ex, first_of(v), odds, same);
  CHECK(heist::adjacent_find(ex, first_of(v), some, same) == some);
  std::vector<int> keys(v.size(), -1);
  heist::transform(ex, first_of(v), some, keys.begin(), called(archetypes::key_of_it{}));
  CHECK(keys[0] == v[0].key);
  CHECK(heist::transform_reduce(ex, first_of(v), some, 0, std::plus<>{}, called(archetypes::key_of_it{})) ==
        heist::reduce(ex, keys.begin(), keys.begin() + (some - first_of(v)), 0));
  CHECK(heist::histogram(ex, first_of(v), some, 2, [](element const& e) { return e.key % 2; })[0] == 0);
}

TEST_CASE("algorithms: elements that are copied are written and counted", "[algo]") {
  heist::executor ex{2};
  auto v = mixed<copied>(count);
  auto w = mixed<copied>(count);
  heist::fill(ex, first_of(w), end_of(w), copied(-3));
  heist::copy(ex, first_of(v), end_of(v), first_of(w));
  CHECK(heist::equal(ex, first_of(v), end_of(v), first_of(w), end_of(w)));
  heist::replace_if(ex, first_of(w), end_of(w), is_even, copied(7));
  CHECK(heist::mismatch(ex, v, w).in1 == v.begin());
  CHECK(heist::count(ex, first_of(w), end_of(w), copied(7)) > count / 3);
  CHECK(heist::find(ex, w, copied(7)) == w.begin());
  auto const evens = heist::copy_if(ex, first_of(v), end_of(v), first_of(w), is_even);
  CHECK(heist::all_of(ex, first_of(w), evens, is_even));
  heist::unique(ex, first_of(w), evens);
  heist::sort(ex, v);
  w = v;
  std::vector<copied> both(2 * v.size(), copied(0));
  heist::merge(ex, first_of(v), end_of(v), first_of(w), end_of(w), first_of(both));
  CHECK(in_order(both, both.size()));
  CHECK(both[1].key == 0);
  auto const add = [](copied const& a, copied const& b) { return copied((a.key + b.key) % 10'007); };
  int const sum = heist::reduce(ex, first_of(v), end_of(v), copied(1), add).key;
  CHECK(heist::transform_reduce(ex, v, copied(1), add, [](copied const& c) { return c; }).key == sum);
  heist::inclusive_scan(ex, first_of(v), end_of(v), first_of(w), add, copied(1));
  CHECK(w.back().key == sum);
  heist::exclusive_scan(ex, first_of(v), end_of(v), first_of(w), copied(1), add);
  CHECK(w[0].key == 1);
  heist::inclusive_scan(ex, v, w.begin(), add);
  heist::generate(ex, first_of(w), end_of(w), called([] { return copied(5); }));
  CHECK(w.back().key == 5);
  CHECK(heist::group_by(ex, first_of(v), end_of(v), [](copied const& c) { return copied(c.key % 3); }).size() == 3);
}

namespace {

/// An int that is not cheap to compare: scanned one by one.
struct boxed {
  int key;
  explicit boxed(int of) : key{of} {}
  boxed(boxed const& other) : key{other.key} {}
  boxed& operator=(boxed const& other) {
    key = other.key;
    return *this;
  }
};
struct plain {
  int key;
  explicit plain(int of) noexcept : key{of} {}
};

/// Answers that depend on how often it was asked.
struct liar {
  std::atomic<unsigned>* asked;
  int kind;
  template <class... E>
  bool operator()(E const&... e) const {
    if (((e.key < 0) || ...)) outside->store(true);
    unsigned const n = asked->fetch_add(1);
    if (kind == 0) return true;
    if (kind == 1) return n % 2 == 0;
    return (n * 1664525u + 1013904223u) >> 20 & 1;
  }
  static std::atomic<bool>* outside;
};
std::atomic<bool>* liar::outside = nullptr;

/// The elements, between guards of keys below 0.
template <class T>
struct guarded {
  static constexpr std::size_t guards = 32;
  std::vector<T> all;
  explicit guarded(std::size_t n) {
    for (std::size_t i = 0; i != n + 2 * guards; ++i)
      all.push_back(T(i < guards || i >= n + guards ? -1 : static_cast<int>((i - guards) * 7919 % n)));
  }
  auto begin() { return all.begin() + guards; }
  auto end() { return all.end() - guards; }
  /// Each element is there once, and the guards where they were.
  bool whole(bool all_of_them = true) {
    std::vector<int> keys;
    for (T const& x : all) keys.push_back(x.key);
    for (std::size_t i = 0; i != guards; ++i) {
      if (keys[i] != -1 || keys[keys.size() - 1 - i] != -1) return false;
    }
    if (!all_of_them) return true;
    std::sort(keys.begin() + guards, keys.end() - guards);
    for (std::size_t i = guards; i != keys.size() - guards; ++i) {
      if (keys[i] != static_cast<int>(i - guards)) return false;
    }
    return true;
  }
};

template <class T>
void lie_to_all(heist::executor<>& ex, std::size_t n, int kind) {
  std::atomic<unsigned> asked{0};
  liar const lie{&asked, kind};
  auto const whole = [&](auto&& change, bool all_of_them = true) {
    guarded<T> v{n};
    change(v);
    return v.whole(all_of_them);
  };
  auto const half = static_cast<std::ptrdiff_t>(n / 2);
  CHECK(whole([&](auto& v) { heist::sort(ex, v.begin(), v.end(), lie); }));
  CHECK(whole([&](auto& v) { heist::stable_sort(ex, v.begin(), v.end(), lie); }));
  CHECK(whole([&](auto& v) { heist::nth_element(ex, v.begin(), v.begin() + half, v.end(), lie); }));
  CHECK(whole([&](auto& v) { heist::partial_sort(ex, v.begin(), v.begin() + half, v.end(), lie); }));
  CHECK(whole([&](auto& v) { heist::partition(ex, v.begin(), v.end(), lie); }));
  CHECK(whole([&](auto& v) { heist::remove_if(ex, v.begin(), v.end(), lie); }, false));
  CHECK(whole([&](auto& v) { heist::unique(ex, v.begin(), v.end(), lie); }, false));
  CHECK(whole([&](auto& v) { heist::replace_if(ex, v.begin(), v.end(), lie, T(3)); }, false));
  guarded<T> v{n}, w{n}, out{2 * n};
  heist::copy_if(ex, v.begin(), v.end(), out.begin(), lie);
  CHECK(out.whole(false));
  heist::merge(ex, v.begin(), v.end(), w.begin(), w.end(), out.begin(), lie);
  CHECK(out.whole(false));
  auto const in_it = [&](auto at) { return at >= v.begin() && at <= v.end(); };
  CHECK(in_it(heist::min_element(ex, v.begin(), v.end(), lie)));
  CHECK(in_it(heist::minmax_element(ex, v.begin(), v.end(), lie).max));
  CHECK(in_it(heist::find_if(ex, v.begin(), v.end(), lie)));
  CHECK(in_it(heist::adjacent_find(ex, v.begin(), v.end(), lie)));
  CHECK(in_it(heist::mismatch(ex, v.begin(), v.end(), w.begin(), w.end(), lie).in1));
}

}  // namespace

TEST_CASE("algorithms: comparisons and predicates that lie lead to some result, and never out of the range", "[algo]") {
  std::atomic<bool> outside{false};
  liar::outside = &outside;
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    for (std::size_t const n : {1u, 30u, 200u, 5003u, 150'001u}) {
      for (int kind = 0; kind != 3; ++kind) {
        INFO(workers << " workers, " << n << " elements, lie " << kind);
        lie_to_all<plain>(ex, n, kind);
        lie_to_all<boxed>(ex, n, kind);
      }
    }
  }
  CHECK_FALSE(outside);
}

namespace {

/// All folds of mixed numbers with 1, 2 and 3 workers and several grains.
template <class T, class Element, class Op>
bool has_one_result(Op op) {
  std::vector<Element> v(30'011);
  std::uint32_t x = 1;
  for (auto& e : v) {
    x = x * 1664525u + 1013904223u;
    e = static_cast<Element>(static_cast<double>(x >> 8) / (1 << 22) - 1.5);
  }
  std::vector<T> results, last;
  for (std::size_t const workers : {1u, 2u, 3u}) {
    heist::executor ex{workers};
    for (std::size_t const grain : {std::size_t{1}, std::size_t{1000}, heist::loop_options::automatic}) {
      heist::loop_options const wanted{.grain = grain};
      results.push_back(heist::reduce(ex, v, T(1), op, wanted));
      results.push_back(heist::transform_reduce(
          ex, v, T(1), op, [](Element e) { return e; }, wanted));
      std::vector<T> sums(v.size());
      heist::inclusive_scan(ex, v, sums.begin(), op, T(1), wanted);
      if (last.empty()) last = sums;
      if (std::memcmp(last.data(), sums.data(), sums.size() * sizeof(T)) != 0) return false;
    }
  }
  // transform_reduce folds another type of element, with leaves of its own. Each algorithm must give the same bits in
  // all runs.
  for (std::size_t i = 2; i != results.size(); ++i) {
    if (std::memcmp(&results[i], &results[i % 2], sizeof(T)) != 0) return false;
  }
  return true;
}
}  // namespace

TEST_CASE("reductions: the same bits with any number of workers, for every mix of first value, element and operation",
          "[algo]") {
  CHECK(has_one_result<int, double>(std::plus<>{}));
  CHECK(has_one_result<int, double>(std::plus<double>{}));
  CHECK(has_one_result<int, double>(std::multiplies<>{}));
  CHECK(has_one_result<double, int>(std::plus<>{}));
  CHECK(has_one_result<float, double>([](auto a, auto b) { return a + b; }));
  CHECK(has_one_result<signed char, int>(std::plus<>{}));
  CHECK(has_one_result<unsigned, long long>(std::multiplies<>{}));
  CHECK(has_one_result<unsigned, signed char>(std::bit_xor<>{}));
  std::vector<int> signs(10'001);
  for (std::size_t i = 0; i != signs.size(); ++i) signs[i] = i % 2 == 0 ? 1 : -1;
  std::vector<bool> truths;
  for (std::size_t const workers : {1u, 2u, 3u}) {
    heist::executor ex{workers};
    for (std::size_t const grain : {1u, 7u, 1000u}) truths.push_back(heist::reduce(ex, signs, true, {.grain = grain}));
  }
  CHECK(std::count(truths.begin(), truths.end(), truths[0]) == 9);
}

TEST_CASE("reductions: elements that do not convert to the result's type are folded two by two", "[algo]") {
  using both = std::pair<int, int>;
  struct bounds {
    both operator()(both a, both b) const { return {std::min(a.first, b.first), std::max(a.second, b.second)}; }
    both operator()(both a, int b) const { return (*this)(a, both(b, b)); }
    both operator()(int a, int b) const { return both(std::min(a, b), std::max(a, b)); }
  };
  auto const add = [](element const& a, element const& b) { return element(a.key + b.key); };
  auto const join = [](std::unique_ptr<std::vector<int>> a, std::unique_ptr<std::vector<int>> b) {
    a->insert(a->end(), b->begin(), b->end());
    return a;
  };
  heist::executor ex{3};
  for (int const n : {0, 1, 2, 3, 513, 1025, 5003}) {
    INFO(n << " elements");
    std::vector<int> v;
    for (int i = 0; i != n; ++i) v.push_back(i * 7919 % 10'007);
    both const least_and_most = n == 0 ? both(1, 1) : both(0, *std::max_element(v.begin(), v.end()));
    CHECK(heist::reduce(ex, v, both(n == 0, n == 0), bounds{}) == least_and_most);
    CHECK(heist::reduce(ex, v, both(n == 0, n == 0), heist::any_order(bounds{})) == least_and_most);
    auto const moved = mixed<element>(n);
    CHECK(heist::reduce(ex, moved, element(5), add).key == std::accumulate(v.begin(), v.end(), 5));
    std::vector<std::unique_ptr<std::vector<int>>> parts;
    for (int const i : v) parts.push_back(std::make_unique<std::vector<int>>(1, i));
    auto const all = heist::reduce(ex, std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()),
                                   std::make_unique<std::vector<int>>(), join);
    CHECK(*all == v);
  }
}

TEST_CASE("algorithms: what std::move_iterator reads is moved", "[algo]") {
  heist::executor ex{2};
  auto v = mixed<element>(count);
  std::vector<element> w;
  for (int i = 0; i != count; ++i) w.emplace_back(-1);
  auto const from = std::make_move_iterator(first_of(v)), to = std::make_move_iterator(first_of(v) + count);
  heist::copy(ex, from, to, first_of(w));
  CHECK(v[5].key == -1000);
  CHECK(w[5].key == 5 * 7919 % 10'007);
  CHECK(heist::find_if(ex, from, to, is_even) == from);
  auto const back = std::make_move_iterator(w.begin());
  auto const evens = heist::copy_if(ex, back, std::make_move_iterator(w.end()), v.begin(), is_even);
  CHECK(heist::all_of(ex, v.begin(), evens, is_even));
}

TEST_CASE("stable_sort: elements that are copied byte by byte, but only moved by programs", "[algo]") {
  struct moved {
    int key;
    explicit moved(int of) noexcept : key{of} {}
    moved(moved&&) noexcept = default;
    moved& operator=(moved&&) noexcept = default;
  };
  static_assert(std::is_trivially_copyable_v<moved> && !std::is_copy_constructible_v<moved>);
  heist::executor ex{2};
  auto v = mixed<moved>(30'011);
  heist::stable_sort(ex, v, [](moved const& a, moved const& b) { return a.key % 16 < b.key % 16; });
  CHECK(std::is_sorted(v.begin(), v.end(), [](moved const& a, moved const& b) { return a.key % 16 < b.key % 16; }));
  heist::sort(ex, v, {}, &moved::key);
  CHECK(in_order(v, v.size()));
}

#ifndef NDEBUG
TEST_CASE("algorithms: an output that overlaps its input ends the program with a sentence in debug builds", "[algo]") {
  auto const says = [](char const* words, auto&& f) {
    auto const report = heist_test::run_child([&] {
      heist::executor ex{1};
      std::vector<int> v(100);
      f(ex, v);
    });
    INFO(report.text());
    CHECK(report.signal == SIGABRT);
    CHECK(report.says(words));
  };
  auto const odd = [](int x) { return x % 2 != 0; };
  says("remove_if", [&](auto& ex, auto& v) { heist::copy_if(ex, v, v.begin(), std::not_fn(odd)); });
  says("begins inside", [](auto& ex, auto& v) { heist::copy(ex, v.begin() + 1, v.end(), v.begin()); });
  says("begins inside", [](auto& ex, auto& v) { heist::inclusive_scan(ex, v.begin(), v.end() - 1, v.begin() + 1); });
  says("overlaps one of its inputs",
       [](auto& ex, auto& v) { heist::merge(ex, v.begin(), v.begin() + 9, v.begin() + 9, v.end(), v.begin()); });
}
#endif

TEST_CASE("algorithms: an output beside its input, and the input itself, are right", "[algo]") {
  heist::executor ex{2};
  std::vector<int> v(20'000);
  std::iota(v.begin(), v.end(), 0);
  auto const half = v.begin() + 10'000;
  heist::copy(ex, v.begin(), half, half);
  CHECK(v[10'007] == 7);
  CHECK(heist::copy_if(ex, half, v.end(), v.begin(), [](int x) { return x % 2 == 0; }) - v.begin() == 5000);
  CHECK(v[7] == 14);
  heist::transform(ex, v, v.begin(), [](int x) { return x + 1; });
  heist::inclusive_scan(ex, v, v.begin());
  CHECK(v[1] == 4);
}
