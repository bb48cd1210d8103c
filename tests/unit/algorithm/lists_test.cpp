// Ranges that cannot be cut anywhere, elements that can only be moved, and reductions over blocks of indices.
#include "heist/algorithm.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "every_executor.hpp"
#include "heist/async.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

TEST_CASE("lists: for_each calls once for each element, at every length, in every executor", "[algo]") {
  heist_test::in_every_executor([](heist::context c) {
    for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{100}, std::size_t{2047},
                                std::size_t{2048}, std::size_t{2049}, std::size_t{4097}, std::size_t{20'001}}) {
      std::list<int> l(n);
      CHECK(heist::for_each(c, l, [](int& x) { ++x; }));
      CHECK(heist::for_each(c, l.begin(), l.end(), [](heist::context, int& x) { ++x; }));
      CHECK(heist::for_each(c, l, [](int& x) { ++x; }, {.grain = 7}));
      CHECK(heist::for_each_n(c, l.begin(), static_cast<std::ptrdiff_t>(n / 2), [](int& x) { --x; }));
      std::size_t i = 0, wrong = 0;
      for (int const x : l) wrong += x != (i++ < n / 2 ? 2 : 3);
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("lists: every kind of forward range, projections, executor_ref, a thread outside", "[algo]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  std::forward_list<int> f(3000, 1);
  std::atomic<long> sum{0};
  CHECK(heist::for_each(heist::executor_ref{ex}, f, [&](int x) { sum += x; }));
  std::set<int> s;
  std::map<int, int> m;
  for (int i = 0; i != 3000; ++i) s.insert(i), m[i] = 2 * i;
  CHECK(heist::for_each(ex, s, [&](int x) { sum += x; }));
  CHECK(heist::for_each(
      ex, m, [&](int x) { sum += x; }, &std::pair<int const, int>::second));
  std::list<bool> const empty;
  CHECK(heist::for_each(ex, empty, [](bool) { FAIL("there is no element"); }));
  CHECK(sum == 3000 + 3 * 4'498'500L);
  CHECK(heist::reduce(ex, s, 5L) == 4'498'505);
  CHECK(heist::reduce(ex, s.begin(), s.end(), 0L, std::plus<>{}, {.grain = 100}) == 4'498'500);
  CHECK(heist::reduce(ex, std::list<std::string>{"a", "b", "c"}, std::string{"-"}) == "-abc");
  CHECK(heist::transform_reduce(ex, m, 0L, std::plus<>{}, [](auto const& p) { return long{p.second}; }) ==
        2 * 4'498'500L);
  CHECK(heist::transform_reduce(ex, f.begin(), f.end(), 1L, std::multiplies<>{}, [](int) { return 1L; }) == 1);
  CHECK(heist::reduce(ex, std::list<int>{}, 7) == 7);
}

TEST_CASE("lists: sums of fractions have the same bits with any number of workers, words keep their order", "[algo]") {
  std::list<double> l;
  std::list<std::string> words;
  std::string expected;
  for (int i = 0; i != 5000; ++i) {
    l.push_back(1.0 / (1 + i % 977));
    words.push_back(std::to_string(i));
    expected += words.back();
  }
  double first = 0;
  heist_test::in_every_executor([&](heist::context c) {
    double const sum = heist::reduce(c, l, 0.0);
    if (first == 0) first = sum;
    CHECK(sum == first);
    CHECK(heist::reduce(c, words, std::string{}) == expected);
  });
}

TEST_CASE("lists: exceptions and stops end the loop, also while it walks", "[algo]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  std::list<int> l(10'000);
  std::iota(l.begin(), l.end(), 0);
  CHECK_THROWS_AS(heist::for_each(ex, l,
                                  [](int x) {
                                    if (x == 5000) throw std::runtime_error{"planned"};
                                  }),
                  std::runtime_error);
  CHECK_THROWS_AS(heist::reduce(ex, l, 0, [](int, int) -> int { throw std::runtime_error{"planned"}; }),
                  std::runtime_error);
  std::stop_source stop;
  std::atomic<int> start_time{0};
  CHECK_FALSE(heist::for_each(ex, l,
                              [&](int) {
                                ++start_time;
                                stop.request_stop();
                              },
                              {.stop = stop.get_token()}));
  CHECK(start_time < 10'000);
  CHECK_THROWS_AS(heist::for_each(ex, l, [](int) {}, {.stop = stop.get_token()}), heist::stopped_error);
  CHECK_THROWS_AS(heist::reduce(ex, l, 0, {.stop = stop.get_token()}), heist::stopped_error);
  CHECK_THROWS_AS(heist::for_each(ex, l, [](int) {}, {.grain = 0}), heist::algorithm_error);

  // An iterator that stops, or throws, when it is moved.
  struct counting {
    using iterator_category = std::forward_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = int const*;
    using reference = int const&;
    counting& operator++() {
      if (++at == 500) (*reaches)();
      return *this;
    }
    counting operator++(int) {
      counting const before = *this;
      ++*this;
      return before;
    }
    int const& operator*() const { return at; }
    bool operator==(counting const& other) const { return at == other.at; }
    int at = 0;
    std::function<void()>* reaches = nullptr;
  };
  bool called = false;
  auto const note = [&](int) { called = true; };
  std::function<void()> throws = [] { throw std::runtime_error{"planned"}; };
  CHECK_THROWS_AS(heist::for_each(ex, counting{0, &throws}, counting{1000}, note), std::runtime_error);
  std::stop_source other;
  std::function<void()> stops = [&] { other.request_stop(); };
  CHECK_FALSE(heist::for_each(ex, counting{0, &stops}, counting{1000}, note, {.stop = other.get_token()}));
  CHECK_FALSE(called);
  std::stop_source third;
  stops = [&] { third.request_stop(); };
  CHECK_THROWS_AS(heist::reduce(ex, counting{0, &stops}, counting{1000}, 0, std::plus<>{}, {.stop = third.get_token()}),
                  heist::stopped_error);
}

TEST_CASE("lists: a loop over a list does not wait for busy workers", "[algo]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  std::atomic<bool> stop{false};
  std::vector<heist::future<void>> busy;
  for (int i = 0; i != 4; ++i) {
    busy.push_back(ex.submit([&] {
      while (!stop) std::this_thread::yield();
    }));
  }
  std::list<int> l(1000, 1);
  CHECK(heist::for_each(ex, l, [](int& x) { x = 2; }));
  CHECK(heist::reduce(ex, l, 0) == 2000);
  stop = true;
  for (auto& b : busy) b.get();
}

TEST_CASE("reduce: elements that can only be moved, out of what is given away and of nothing else", "[algo]") {
  using owner = std::unique_ptr<long>;
  auto const add = [](owner a, owner b) {
    *a += *b;
    return a;
  };
  auto const made = [](long n) {
    std::vector<owner> v;
    for (long i = 0; i != n; ++i) v.push_back(std::make_unique<long>(i));
    return v;
  };
  heist_test::in_every_executor([&](heist::context c) {
    for (long const n : {0L, 1L, 2L, 511L, 513L, 10'000L}) {
      std::vector<owner> v = made(n);
      owner const all = heist::reduce(c, std::move(v), std::make_unique<long>(7), add);
      CHECK(*all == 7 + n * (n - 1) / 2);
      for (auto const& each : v) CHECK(each == nullptr);
    }
  });
  heist::executor ex{2};
  std::vector<owner> v = made(1000);
  CHECK(*heist::reduce(ex, std::make_move_iterator(v.begin()), std::make_move_iterator(v.end()), owner{new long{0}},
                       add) == 499'500);
  CHECK(*heist::transform_reduce(ex, std::vector<long>(1000, 2), owner{new long{0}}, add,
                                 [](long x) { return std::make_unique<long>(x); }) == 2000);
  CHECK_THROWS_AS(heist::reduce(ex, made(1000), owner{new long{0}}, [](owner, owner) -> owner { throw 1; }), int);
  // reduce() leaves elements that can be copied in place, in a container and behind a view.
  std::vector<std::string> words{"a long enough word that is allocated", "b"};
  CHECK(heist::reduce(ex, std::span{words}, std::string{}).size() == 37);
  CHECK(heist::reduce(ex, std::move(words), std::string{}).size() == 37);
  CHECK(words[1] == "b");
}

TEST_CASE("reduce_by_index: blocks in their order, the same bits everywhere, what holds for reduce", "[algo]") {
  std::vector<double> x(50'001);
  for (std::size_t i = 0; i != x.size(); ++i) x[i] = 1.0 / static_cast<double>(1 + i % 977);
  auto const sum_of = [&](heist::index_range r, double so_far) {
    for (std::size_t i = r.first; i != r.last; ++i) so_far += x[i];
    return so_far;
  };
  double first = 0;
  heist_test::in_every_executor([&](heist::context c) {
    double const sum = heist::reduce_by_index(c, std::size_t{0}, x.size(), 0.0, sum_of, std::plus<>{});
    if (first == 0) first = sum;
    CHECK(sum == first);
    for (int const n : {0, 1, 2, 511, 512, 513, 4097, 20'001}) {
      std::string expected;
      for (int i = 3; i < n; ++i) expected += std::to_string(i) + ',';
      auto const words = [](heist::index_range r, std::string so_far) {
        for (std::size_t i = r.first; i != r.last; ++i) so_far += std::to_string(i) + ',';
        return so_far;
      };
      CHECK(heist::reduce_by_index(c, 3, n, std::string{}, words) == expected);
      CHECK(heist::reduce_by_index(c, 3, n, std::string{}, words, {.grain = 100}) == expected);
      CHECK(heist::reduce_by_index(c, 3, n, std::string{}, words, heist::any_order(std::plus<>{})).size() ==
            expected.size());
      long const count = n > 3 ? n - 3 : 0;
      CHECK(heist::reduce_by_index(c, 3, n, 0L, [](heist::index_range r, long so_far) {
              return so_far + static_cast<long>(r.size());
            }) == count);
      CHECK(heist::reduce_by_index(c, 3, n, 0L, [](heist::context in, heist::index_range r, long so_far) {
              auto [a, b] = in.fork_join([] { return 0L; }, [&] { return static_cast<long>(r.size()); });
              return so_far + a + b;
            }) == count);
    }
  });
}

TEST_CASE("reduce_by_index: a grain is the length of the ranges; stops, exceptions, a grain of 0", "[algo]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  std::atomic<std::size_t> shorter{0}, calls{0};
  CHECK(heist::reduce_by_index(heist::executor_ref{ex}, 0, 100'000, 0.0,
                               [&](heist::index_range r, double so_far) {
                                 ++calls;
                                 shorter += r.size() < 30'000;
                                 return so_far + static_cast<double>(r.size());
                               },
                               std::plus<>{}, {.grain = 30'000}) == 100'000);
  CHECK(calls == 4);
  CHECK(shorter == 1);
  auto const one = [](heist::index_range, double) { return 1.0; };
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(heist::reduce_by_index(ex, 0, 10, 0.0, one, {.stop = stop.get_token()}), heist::stopped_error);
  CHECK_THROWS_AS(heist::reduce_by_index(ex, 0, 0, 0.0, one, {.stop = stop.get_token()}), heist::stopped_error);
  CHECK_THROWS_AS(heist::reduce_by_index(ex, 0, 10, 0.0, one, {.grain = 0}), heist::algorithm_error);
  std::stop_source later;
  CHECK_THROWS_AS(heist::reduce_by_index(ex, 0, 10'000'000, 0.0,
                                         [&](heist::index_range, double) {
                                           later.request_stop();
                                           return 1.0;
                                         },
                                         {.stop = later.get_token()}),
                  heist::stopped_error);
  CHECK_THROWS_AS(heist::reduce_by_index(ex, 0, 1000, 0.0, [](heist::index_range, double) -> double { throw 1; }), int);
}

TEST_CASE("for_each_block_2d: blocks make up all pairs, once each, whatever the shape and the grain", "[algo]") {
  heist_test::in_every_executor([](heist::context c) {
    for (auto const& [n, m] : {std::pair<std::size_t, std::size_t>{0, 5},
                               {5, 0},
                               {1, 1},
                               {1, 300},
                               {300, 1},
                               {16, 64},
                               {17, 65},
                               {100, 130}}) {
      std::vector<std::atomic<char>> seen((n + 3) * (m + 2));
      std::atomic<std::size_t> large{0};
      auto const mark = [&seen, &large, width = m + 2](heist::index_range rows, heist::index_range columns) {
        large += (rows.size() > 16 && width > 66) || columns.size() > 64 || rows.size() == 0 || columns.size() == 0;
        for (std::size_t i = rows.first; i != rows.last; ++i) {
          for (std::size_t j = columns.first; j != columns.last; ++j) ++seen[i * width + j];
        }
      };
      heist::index_range const rows{std::size_t{3}, n + 3}, columns{std::size_t{2}, m + 2};
      CHECK(heist::for_each_block_2d(c, rows, columns, mark));
      CHECK(heist::for_each_block_2d(c, rows, columns, mark, {.grain = 50}));
      CHECK(heist::for_each_block_2d(c, rows, columns, [&](heist::context, auto r, auto k) { mark(r, k); }));
      CHECK(large == 0);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i != n + 3; ++i) {
        for (std::size_t j = 0; j != m + 2; ++j) wrong += seen[i * (m + 2) + j] != (i >= 3 && j >= 2 ? 3 : 0);
      }
      CHECK(wrong == 0);
    }
  });
}
