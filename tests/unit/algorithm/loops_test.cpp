// Loops: every iteration runs exactly once, on any worker; and the ways to end a loop early.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "heist/algorithm.hpp"
#include "heist/graph.hpp"
#include "heist/tiers.hpp"
#include "support/catch.hpp"
#include "unit/algorithm/every_executor.hpp"

using heist::context;
using heist_test::boundary_lengths;
using heist_test::in_every_executor;

namespace {

/// How often each of n iterations ran.
class visits {
 public:
  explicit visits(std::size_t n) : times_(n) {}
  void operator()(std::size_t i) { times_[i].fetch_add(1, std::memory_order_relaxed); }  // relaxed: joins order them
  bool all(int wanted) const {
    for (auto const& t : times_) {
      if (t.load(std::memory_order_relaxed) != wanted) return false;  // relaxed: as above
    }
    return true;
  }

 private:
  std::vector<std::atomic<int>> times_;
};

}  // namespace

TEST_CASE("loops: each iteration runs once, in every executor, at every length, with and without a grain", "[algo]") {
  in_every_executor([](context ctx) {
    for (std::size_t const n : boundary_lengths) {
      CAPTURE(n);
      visits seen{n};
      CHECK(heist::for_each_index(ctx, std::size_t{0}, n, [&](std::size_t i) { seen(i); }));
      CHECK(heist::for_each_index(ctx, std::size_t{0}, n, [&](context, std::size_t i) { seen(i); }, {.grain = 1}));
      CHECK(heist::for_each_index(ctx, std::size_t{0}, n, [&](std::size_t i) { seen(i); }, {.grain = 7}));
      CHECK(heist::for_each_block(ctx, std::size_t{0}, n,
                                  [&](std::size_t lo, std::size_t hi) {
                                    for (; lo != hi; ++lo) seen(lo);
                                  },
                                  {.grain = 3}));
      CHECK(seen.all(4));
    }
  });
}

TEST_CASE("loops: elements of every kind of range, through projections", "[algo]") {
  heist::executor ex{2};
  std::vector<int> v(1000);
  heist::for_each(ex, v, [](int& x) { x = 1; });
  heist::for_each(ex, v.begin(), v.end(), [](int& x) { x += 1; }, {.grain = 1});
  heist::for_each_n(ex, v.begin(), 500, [](int& x) { x += 1; });
  CHECK(std::accumulate(v.begin(), v.end(), 0) == 2500);
  std::deque<std::pair<int, std::string>> d(100, {3, "x"});
  heist::for_each(
      ex, d, [](std::string& s) { s += "y"; }, &std::pair<int, std::string>::second);
  CHECK(std::ranges::all_of(d, [](auto const& p) { return p.second == "xy"; }));
  std::atomic<int> sum{0};
  std::deque<int> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0);
  heist::for_each(
      ex, numbers, [&](int i) { sum += i; }, [](int i) { return 2 * i; });
  CHECK(sum == 9900);
  std::array<int, 3> three{1, 2, 3};
  heist::for_each(ex, three, [](context, int& x) { x = -x; });
  CHECK(three == std::array<int, 3>{-1, -2, -3});
  int plain[] = {1, 2};
  heist::for_each(ex, plain, [](int& x) { x *= 2; });
  CHECK(plain[1] == 4);
}

TEST_CASE("loops: numbers of every type, below 0 and up to the last", "[algo]") {
  heist::executor ex{2};
  std::atomic<std::int64_t> sum{0};
  heist::for_each_index(ex, -5, 6, [&](int i) { sum += i; });
  CHECK(sum == 0);
  heist::for_each_index(ex, 5, -5, [&](int) { sum += 1; });
  CHECK(sum == 0);
  heist::for_each_index(ex, std::int8_t{-128}, std::int8_t{127}, [&](std::int8_t i) { sum += i; });
  CHECK(sum == -255);
  std::atomic<std::size_t> most{0};
  std::size_t const last = std::numeric_limits<std::size_t>::max();
  heist::for_each_index(ex, last - 3, last,
                        [&](std::size_t i) {
                          if (i > most) most = i;
                        },
                        {.grain = 1});
  CHECK(most == last - 1);
  heist::for_each_block(ex, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min() + 2,
                        [&](std::int64_t lo, std::int64_t hi) { sum += hi - lo; });
  CHECK(sum == -253);
}

TEST_CASE("loops: each pair of a two-dimensional one runs once, whatever the shape", "[algo]") {
  in_every_executor([](context ctx) {
    for (std::size_t const rows : {0u, 1u, 15u, 16u, 17u, 50u}) {
      for (std::size_t const columns : {0u, 1u, 63u, 64u, 65u, 130u}) {
        CAPTURE(rows, columns);
        visits seen{rows * columns};
        auto const visit = [&](std::size_t i, std::size_t j) { seen((i - 3) * columns + j - 7); };
        CHECK(heist::for_each_index_2d(ctx, {3, 3 + rows}, {7, 7 + columns}, visit));
        CHECK(heist::for_each_index_2d(ctx, {3, 3 + rows}, {7, 7 + columns}, visit, {.grain = 5}));
        CHECK(seen.all(2));
      }
    }
  });
}

TEST_CASE("loops: a body may loop, fork, submit and wait", "[algo]") {
  in_every_executor([](context ctx) {
    std::vector<int> sums(40);
    heist::for_each_index(ctx, 0, 40,
                          [&](context c, int i) {
                            std::atomic<int> sum{0};
                            heist::for_each_index(c, 0, i, [&](context inner, int k) {
                              auto const [a, b] = inner.fork_join([&] { return k; }, [] { return 1; });
                              sum += a + b;
                            });
                            sum += c.submit([i] { return i; }).get();
                            sums[static_cast<std::size_t>(i)] = sum;
                          },
                          {.grain = 1});
    bool right = true;
    for (int i = 0; i != 40; ++i) right = right && sums[static_cast<std::size_t>(i)] == i * (i - 1) / 2 + 2 * i;
    CHECK(right);
  });
}

TEST_CASE("loops: in the tasks of a graph, and with the executor inside a task", "[algo]") {
  heist::executor ex{2};
  heist::task_graph g;
  std::vector<int> v(10'000, 1);
  auto twice = g.emplace([&](auto ctx) { heist::for_each(ctx, v, [](int& x) { x *= 2; }); });
  auto sum = g.emplace([&](auto ctx) { return heist::reduce(ctx, v, 0); });
  twice.precede(sum);
  int result = 0;
  g.emplace([&](int s) { result = s; }, sum);
  ex.run(g).get();
  CHECK(result == 20'000);
  CHECK(ex.invoke([&] { return heist::reduce(ex, v, 0); }) == 20'000);
  heist::executor<heist::policy::replay> other{2};
  CHECK(other.invoke([&] { return heist::reduce(other, v, 0) + heist::reduce(ex, v, 0); }) == 40'000);
}

TEST_CASE("loops: the first exception comes, and what had not begun is not begun", "[algo]") {
  in_every_executor([](context ctx) {
    for (int const bad : {0, 1, 500, 99'999}) {
      CAPTURE(bad);
      std::atomic<int> after{0}, running{0};
      std::string what;
      try {
        heist::for_each_index(ctx, 0, 100'000,
                              [&](int i) {
                                ++running;
                                if (i == bad) {
                                  --running;
                                  throw std::out_of_range{std::to_string(i)};
                                }
                                ++after;
                                --running;
                              },
                              {.grain = 1});
      } catch (std::out_of_range const& e) {
        what = e.what();
      }
      CHECK(what == std::to_string(bad));
      CHECK(running == 0);  // no iteration runs any more
      CHECK(after < 100'000);
    }
  });
}

TEST_CASE("loops: of exceptions thrown at once, that of the first iterations comes", "[algo]") {
  heist::executor ex{4};
  for (int round = 0; round != 50; ++round) {
    int which = -1;
    try {
      heist::for_each_index(ex, 0, 64, [](context, int i) { throw i; }, {.grain = 1});
    } catch (int i) {
      which = i;
    }
    CHECK(which >= 0);
    CHECK(which < 64);
  }
}

TEST_CASE("loops: a stop ends them, also one from before", "[algo]") {
  in_every_executor([](context ctx) {
    std::stop_source stop;
    std::atomic<int> n{0};
    CHECK_FALSE(heist::for_each_index(ctx, 0, 1'000'000'000,
                                      [&](int) {
                                        if (++n == 10) stop.request_stop();
                                      },
                                      {.stop = stop.get_token()}));
    CHECK(n >= 10);
    CHECK_THROWS_AS(heist::for_each_index(ctx, 0, 10, [&](int) { n = -1; }, {.stop = stop.get_token()}),
                    heist::stopped_error);
    CHECK(n >= 10);
  });
}

namespace {

/// A call of each algorithm on a range, which may be empty.
template <class On>
void all_stopped(On& on, std::vector<int> v, heist::loop_options const& o) {
  std::vector<int> out(2 * v.size() + 1), other(v.size() + 1);
  bool called = false;
  auto const f = [&](int) { called = true; };
  auto const index = [&](std::size_t) { called = true; };
  auto const pred = [&](int) { return called = true; };
  auto const less = [&](int, int) { return called = true; };
  auto const copy = v;
  std::size_t const size = v.size();
  CHECK_THROWS_AS(heist::for_each(on, v, f, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::for_each(
                      on, v, [&](context, int) { called = true; }, o),
                  heist::stopped_error);
  CHECK_THROWS_AS(heist::for_each_n(on, v.begin(), std::ssize(v), f, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::for_each_index(on, std::size_t{0}, size, index, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::for_each_block(
                      on, std::size_t{0}, size, [&](std::size_t, std::size_t) { called = true; }, o),
                  heist::stopped_error);
  CHECK_THROWS_AS(heist::for_each_index_2d(
                      on, {0, size}, {0, size}, [&](std::size_t, std::size_t) { called = true; }, o),
                  heist::stopped_error);
  CHECK_THROWS_AS(heist::reduce(on, v, 0, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::reduce(on, v, 0.0, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::inclusive_scan(on, v, out.begin(), o), heist::stopped_error);
  CHECK_THROWS_AS(heist::find_if(on, v, pred, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::any_of(on, v, pred, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::count(on, v, 1, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::equal(on, v, v, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::equal(on, v, other, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::mismatch(on, v, v, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::adjacent_find(on, v, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::is_sorted(on, v, less, {}, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::min_element(on, v, less, {}, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::transform(
                      on, v, out.begin(), [](int x) { return x + 1; }, o),
                  heist::stopped_error);
  CHECK_THROWS_AS(heist::fill(on, v, 7, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::reverse(on, v, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::copy_if(on, v, out.begin(), pred, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::remove_if(on, v, pred, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::unique(on, v, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::partition(on, v, pred, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::merge(on, v, copy, out.begin(), o), heist::stopped_error);
  CHECK_THROWS_AS(heist::sort(on, v, less, {}, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::stable_sort(on, v, less, {}, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::nth_element(on, v, v.begin(), less, {}, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::partial_sort(on, v, v.begin(), less, {}, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::histogram(on, v, 10, o), heist::stopped_error);
  CHECK_THROWS_AS(heist::group_by(
                      on, v, [](int x) { return x; }, o),
                  heist::stopped_error);
  CHECK_FALSE(called);
  CHECK(v == copy);
}

}  // namespace

TEST_CASE("algorithms: a stop that was requested before the call is reported, also for empty ranges", "[algo]") {
  std::stop_source stop;
  stop.request_stop();
  heist::loop_options const o{.stop = stop.get_token()};
  std::vector<int> v(9000);
  std::iota(v.rbegin(), v.rend(), 0);
  for (std::size_t const n : {0u, 1u, 2u, 100u, 9000u}) {
    INFO(n << " elements");
    std::vector<int> const some(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n));
    heist::executor ex{2};
    all_stopped(ex, some, o);
    ex.submit([&](context c) { all_stopped(c, some, o); }).get();
  }
}

TEST_CASE("loops: a thread outside works, too: it begins before it is a worker, goes on as one, and others may end it",
          "[algo]") {
  heist::executor ex{2};
  for (std::size_t const n : {1u, 63u, 64u, 1000u, 1'000'000u}) {
    visits seen{n};
    CHECK(heist::for_each_index(ex, std::size_t{0}, n, [&](std::size_t i) { seen(i); }));
    CHECK(seen.all(1));
  }
  // one that needs a context has one, and is on a worker, wherever it runs
  std::atomic<int> wrong{0};
  heist::for_each_index(ex, 0, 10'000, [&](context c, int) { wrong += c.worker_id() < ex.worker_count() ? 0 : 1; });
  CHECK(wrong == 0);
  CHECK_THROWS_AS(heist::for_each_index(ex, 0, 10'000,
                                        [](int i) {
                                          if (i == 0) throw 1;
                                        }),
                  int);
}

TEST_CASE("loops: a thread outside does all of it where the workers sleep and nobody is asked for help", "[algo]") {
  heist::executor ex{1};
  auto const outside = std::this_thread::get_id();
  // Until the only worker sleeps, calls wait for it.
  for (bool here = false; !here;) {
    std::this_thread::yield();
    std::atomic<int> remote{0};
    std::vector<int> v(5000, 1);
    heist::for_each(ex, v, [&](context c, int& x) {
      x = std::get<0>(c.fork_join([] { return 1; }, [] { return 2; }));
      remote += std::this_thread::get_id() == outside ? 0 : 1;
    });
    CHECK(heist::reduce(ex, v, 0) == 5000);
    here = remote == 0;
  }
}

TEST_CASE("loops: from many threads outside at once", "[algo]") {
  heist::executor ex{2};
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&ex, &right, t] {
      for (int round = 0; round != 20; ++round) {
        std::vector<std::int64_t> v(3000 * static_cast<std::size_t>(t + 1));
        heist::for_each_index(ex, std::size_t{0}, v.size(), [&](std::size_t i) { v[i] = static_cast<int>(i); });
        heist::sort(ex, v, std::greater{});
        auto const n = static_cast<std::int64_t>(v.size());
        right += v.front() == n - 1 && heist::reduce(ex, v, std::int64_t{0}) == n * (n - 1) / 2 ? 1 : 0;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(right == 80);
}

TEST_CASE("loops: a grain of 0, and more pairs than can be counted, are refused in one sentence", "[algo]") {
  heist::executor ex{1};
  std::vector<int> v(10);
  CHECK_THROWS_WITH(heist::for_each(ex, v, [](int) {}, {.grain = 0}), Catch::Contains("a grain of 0 iterations"));
  CHECK_THROWS_AS(heist::reduce(ex, v, 0, std::plus{}, {.grain = 0}), heist::algorithm_error);
  CHECK_THROWS_AS(heist::sort(ex, v, {}, {}, {.grain = 0}), heist::algorithm_error);
  std::size_t const many = std::size_t{1} << 40;
  CHECK_THROWS_AS(heist::for_each_index_2d(ex, {0, many}, {0, many}, [](std::size_t, std::size_t) {}),
                  heist::algorithm_error);
}

TEST_CASE("loops: run again and again with a region, under policies with memory", "[algo]") {
  heist::options const squads{.machine = heist::topology::parse("package:2 l3:1(size=256KiB) core:2 pu:1")};
  auto const sweep = [](auto&& ex) {
    std::vector<double> v(10'000, 1.0);
    heist::region phase{{.branching = 2, .bytes = 80'000}};
    for (int step = 0; step != 10; ++step) heist::for_each(ex, v, [](double& x) { x *= 2; }, {.region = &phase});
    CHECK(std::ranges::all_of(v, [](double x) { return x == 1024; }));
    double sum = 0;
    for (int step = 0; step != 3; ++step) sum += heist::reduce(ex, v, 0.0, std::plus{}, {.region = &phase});
    CHECK(sum == 3 * 10'240'000.0);
  };
  sweep(heist::executor<heist::policy::cats>{squads});
  sweep(heist::executor<heist::policy::cab>{squads});
  sweep(heist::executor<heist::policy::replay>{2});
  sweep(heist::executor{2});
}

TEST_CASE("loops: a fixed division is the same at every run, and a followed one finds its steals", "[algo]") {
  heist::executor<heist::policy::replay> ex{2};
  heist::region phase;
  std::vector<int> v(100'000, 0);
  auto const run = [&] { heist::for_each(ex, v, [](int& x) { ++x; }, {.region = &phase}); };
  run();
  phase.follow(phase.tree(), heist::replay_mode::strict_unordered);
  for (int i = 0; i != 5; ++i) {
    run();
    CHECK(phase.explain().empty());
  }
  CHECK(std::ranges::count(v, 6) == 100'000);
}

TEST_CASE("loops: what measures work and span sees them", "[algo]") {
  heist::executor ex{2};
  std::vector<int> v(1000, 1);
  auto const measured = heist::measure_work_span(ex, [&](auto ctx) {
    heist::for_each(ctx, v, [](int& x) { x = 2; });
    return heist::reduce(ctx, v, 0);
  });
  CHECK(measured.result == 2000);
}
