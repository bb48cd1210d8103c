// Tasks after tasks: order, values, exceptions along edges, ranges, when_all, when_any, cancellation, names, places.
#include "heist/parallel/async/after.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "heist/async.hpp"
#include "heist/graph.hpp"
#include "heist/observe.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

TEST_CASE("after: values become arguments, of every kind of handle", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"after", 60s, [&] { return ex.state_text(); }};
  heist::shared_future<int> const a = ex.submit([] { return 20; });
  auto const nothing = ex.submit([] {}).share();
  CHECK(ex.submit(heist::after(a, nothing, a), [](int x, int y) { return x + y; }).get() == 40);
  // One that is given away may be taken.
  auto only = ex.submit([] { return std::make_unique<int>(7); });
  CHECK(*ex.submit(heist::after(std::move(only)), [](std::unique_ptr<int> p) { return p; }).get() == 7);
  CHECK_FALSE(only.valid());
  int here = 1;
  auto reference = ex.submit([&]() -> int& { return here; }).share();
  CHECK(ex.submit(heist::after(reference), [](int& x) { return &x; }).get() == &here);
  CHECK(ex.submit(heist::after(a), [](auto ctx, int x) { return ctx.submit([x] { return x; }).get(); }).get() == 20);
  CHECK(ex.submit(heist::after(), [] { return 3; }).get() == 3);
  static_assert(std::is_same_v<decltype(a.get()), int const&>);
  static_assert(std::is_void_v<decltype(nothing.get())>);
}

TEST_CASE("after: ranges, of handles that are kept and that are given away", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"ranges", 60s, [&] { return ex.state_text(); }};
  std::vector<heist::shared_future<int>> kept;
  std::vector<heist::future<std::string>> given;
  for (int i = 0; i < 50; ++i) {
    kept.push_back(ex.submit([i] { return i; }));
    given.push_back(ex.submit([i] { return std::string(static_cast<std::size_t>(i), 'x'); }));
  }
  auto sum = ex.submit(heist::after(kept, std::move(given), kept.front()),
                       [](heist::values<int> ints, auto const& texts, int first) {
                         std::size_t n = static_cast<std::size_t>(first) + ints.size();
                         for (int i : ints) n += static_cast<std::size_t>(i);
                         for (std::string& s : texts) n += std::exchange(s, {}).size();
                         return n;
                       });
  CHECK(sum.get() == 50 + 2 * 1225);
  std::vector<heist::shared_future<int>> const none;
  CHECK(ex.submit(heist::after(none), [](auto const& all) { return all.empty(); }).get());
}

namespace {

/// A range of `n` elements, each made when it is asked for, as those of std::views::transform are.
template <class F>
struct made_when_asked {
  struct iterator {
    using value_type = std::invoke_result_t<F const&>;
    using difference_type = std::ptrdiff_t;
    F const* make = nullptr;
    int at = 0;

    value_type operator*() const { return (*make)(); }
    iterator& operator++() {
      ++at;
      return *this;
    }
    iterator operator++(int) { return {make, at++}; }
    bool operator==(iterator const& other) const { return at == other.at; }
  };
  F make;
  int n;

  iterator begin() const { return {&make, 0}; }
  iterator end() const { return {&make, n}; }
};

}  // namespace

TEST_CASE("after: ranges that make their handles when they are asked", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"views", 60s, [&] { return ex.state_text(); }};
  std::array<char, 1000> const large{};  // so that a task has a block of its own, which sanitizers watch
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> n{0};
    auto const start = [&] { return ex.submit([&n, large] { n += 1 + large[0]; }).share(); };
    made_when_asked<decltype(start)> const started{start, 10};
    CHECK(ex.submit(heist::after(started), [&n] { return n.load(); }).get() == 10);
    auto const count = [&] { return ex.submit([large] { return 1 + large[0]; }).share(); };
    made_when_asked<decltype(count)> const counted{count, 10};
    CHECK(ex.submit(heist::after(counted), [](heist::values<int> v) {
              return std::accumulate(v.begin(), v.end(), 0);
            }).get() == 10);
  }
}

TEST_CASE("after: a task starts when all have ended, and only then", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"order", 60s, [&] { return ex.state_text(); }};
  std::atomic<bool> open{false};
  std::atomic<int> before{0};
  std::vector<heist::shared_future<void>> all;
  all.push_back(ex.submit([&] {
    while (!open) std::this_thread::yield();
    ++before;
  }));
  for (int i = 0; i < 200; ++i) all.push_back(ex.submit([&] { ++before; }));
  auto last = ex.submit(heist::after(all), [&] { return before.load(); });
  CHECK_FALSE(last.is_ready());
  open = true;
  CHECK(last.get() == 201);
}

TEST_CASE("after: a chain as long as you like, built ahead of its start, nests nothing", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"chain", 100s, [&] { return ex.state_text(); }};
  std::atomic<bool> open{false};
  heist::future<int> end = ex.submit([&] {
    while (!open) std::this_thread::yield();
    return 0;
  });
  for (int i = 0; i < 100'000; ++i) end = std::move(end).then([](int x) { return x + 1; });
  open = true;
  CHECK(end.get() == 100'000);
  // The same with an exception.
  open = false;
  heist::future<int> bad = ex.submit([&]() -> int {
    while (!open) std::this_thread::yield();
    throw std::runtime_error{"first"};
  });
  std::atomic<int> called{0};
  for (int i = 0; i < 100'000; ++i) bad = std::move(bad).then([&](int x) { return ++called, x; });
  open = true;
  bad.wait();
  ex.wait_idle();  // else a worker may free the exception: the thread sanitizer does not see libstdc++ count its users
  CHECK_THROWS_WITH(bad.get(), "first");
  CHECK(called == 0);
}

TEST_CASE("after: exceptions go along edges, the first in the order of the arguments", "[dynamic]") {
  heist::executor ex{2};
  auto one = ex.submit([]() -> int { throw std::runtime_error{"one"}; }).share();
  auto two = ex.submit([] { throw std::runtime_error{"two"}; }).share();
  auto good = ex.submit([] { return 1; }).share();
  one.wait(), two.wait(), good.wait();
  CHECK_THROWS_WITH(ex.submit(heist::after(good, one, two), [](int, int) {}).get(), "one");
  CHECK_THROWS_WITH(ex.submit(heist::after(good, two, one), [](int, int) {}).get(), "two");
  CHECK_THROWS_WITH(heist::when_all(good, two).get(), "two");
  CHECK_THROWS_WITH(two.get(), "two");
  CHECK_THROWS_WITH(two.get(), "two");
  ex.wait_idle();  // all of them were asked for
}

TEST_CASE("after: an exception at the end of dropped handles reaches wait_idle, once", "[dynamic]") {
  heist::executor ex{2};
  {
    auto bad = ex.submit([] { throw std::runtime_error{"dropped"}; }).share();
    static_cast<void>(ex.submit(heist::after(bad), [] {}));
  }
  CHECK_THROWS_WITH(ex.wait_idle(), "dropped");
  ex.wait_idle();
}

TEST_CASE("after: a token skips what has not begun", "[dynamic]") {
  heist::executor ex{2};
  std::stop_source source;
  std::atomic<bool> open{false};
  auto first = ex.submit([&] {
                   while (!open) std::this_thread::yield();
                 }).share();
  auto a = ex.submit(heist::with{.stop = source.get_token()}, heist::after(first), [] { return 1; });
  auto b = ex.submit(heist::after(first), heist::with{.stop = source.get_token()}, [] { return 1; });
  auto c = ex.submit(heist::with{.stop = source.get_token()}, heist::after(first), [] { return 1; });
  auto d = ex.submit(heist::after(first), heist::with{.name = "d"}, [] { return 1; });
  source.request_stop();
  open = true;
  CHECK_THROWS_AS(a.get(), heist::stopped_error);
  CHECK_THROWS_AS(b.get(), heist::stopped_error);
  CHECK_THROWS_AS(c.get(), heist::stopped_error);
  CHECK(d.get() == 1);
}

TEST_CASE("after: across executors", "[dynamic]") {
  heist::executor one{1}, two{1};
  auto a = one.submit([] { return 1; }).share();
  auto b = two.submit(heist::after(a), [](int x) { return x + 1; }).share();
  CHECK(one.submit(heist::after(b, a), [](int x, int y) { return x + y; }).get() == 3);
}

TEST_CASE("after: what throws on the way leaves nothing behind", "[dynamic]") {
  struct throwing {
    throwing() = default;
    throwing(throwing const&) { throw 5; }
    int operator()(int) const { return 0; }
  };
  heist::executor ex{1};
  auto a = ex.submit([] { return 1; }).share();
  throwing const f;
  CHECK_THROWS_AS(ex.submit(heist::after(a), f), int);
  heist::shared_future<int> const none;
  CHECK_THROWS_AS(ex.submit(heist::after(a, none), [](int, int) {}), heist::executor_error);
  CHECK_THROWS_AS(none.then([](int) {}), heist::executor_error);
  CHECK(a.get() == 1);
}

TEST_CASE("when_all, when_any: tuples, vectors, the first", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"when", 60s, [&] { return ex.state_text(); }};
  auto all = heist::when_all(ex.submit([] { return 1; }), ex.submit([] {}),
                             ex.submit([] { return std::string{"x"}; }).share());
  CHECK(all.get() == std::tuple{1, std::monostate{}, std::string{"x"}});
  std::vector<heist::future<int>> many;
  for (int i = 0; i < 20; ++i) many.push_back(ex.submit([i] { return i; }));
  auto const values = heist::when_all(std::move(many)).get();
  CHECK(std::accumulate(values.begin(), values.end(), 0) == 190);
  CHECK(heist::when_all(std::vector<heist::future<int>>{}).get().empty());
  heist::when_all(std::vector<heist::future<void>>{}).get();
  CHECK_THROWS_AS(heist::when_all(std::vector<heist::future<void>>{}).then([] {}), heist::executor_error);

  std::atomic<bool> open{false};
  auto slow = ex.submit([&] {
                  while (!open) std::this_thread::yield();
                }).share();
  auto fast = ex.submit([] { return 1; });
  CHECK(heist::when_any(slow, fast).get() == 1);
  CHECK(fast.get() == 1);  // it has kept its value
  auto later = heist::when_any(std::vector{slow, slow});
  auto after_it = ex.submit(heist::after(std::move(later)), [](std::size_t i) { return i; });
  open = true;
  CHECK(after_it.get() < 2);
  auto bad = ex.submit([] { throw 5; });
  CHECK(heist::when_any(bad).get() == 0);
  CHECK_THROWS_AS(bad.get(), int);
  CHECK_THROWS_AS(heist::when_any(std::vector<heist::shared_future<int>>{}), heist::executor_error);
}

TEST_CASE("wait_for, wait_until: limits in time, outside and inside of tasks", "[dynamic]") {
  heist::executor ex{1};
  heist_test::watchdog guard{"wait_for", 60s, [&] { return ex.state_text(); }};
  std::atomic<bool> open{false};
  auto slow = ex.submit([&](auto ctx) {
                  ctx.blocking([&] {
                    while (!open) std::this_thread::yield();
                  });
                }).share();
  CHECK_FALSE(slow.wait_for(1ms));
  CHECK_FALSE(slow.wait_until(std::chrono::system_clock::now() - 1h));
  CHECK_FALSE(slow.wait_until(std::chrono::system_clock::time_point::min()));
  CHECK_FALSE(slow.wait_for(std::chrono::seconds::min()));
  // The only worker resumes meanwhile.
  auto inside = ex.submit([slow] { return slow.wait_for(2ms); });
  CHECK_FALSE(inside.get());
  std::vector<std::thread> waiting;
  std::atomic<int> seen{0};
  for (int i = 0; i < 3; ++i) waiting.emplace_back([&, slow] { seen += slow.wait_for(10min); });
  // As long as can be said.
  waiting.emplace_back([&, slow] { seen += slow.wait_for(std::chrono::nanoseconds::max()); });
  waiting.emplace_back([&, slow] { seen += slow.wait_for(std::chrono::hours::max()); });
  waiting.emplace_back([&, slow] { seen += slow.wait_for(std::chrono::duration<double>{1e300}); });
  waiting.emplace_back([&, slow] { seen += slow.wait_until(std::chrono::steady_clock::time_point::max()); });
  open = true;
  for (std::thread& t : waiting) t.join();
  CHECK(seen == 7);
  CHECK(slow.wait_for(0ms));
}

TEST_CASE("with: priority, worker and name", "[dynamic]") {
  heist::executor<heist::policy::random, heist::recorder> ex{2};
  heist_test::watchdog guard{"with", 60s, [&] { return ex.state_text(); }};
  for (std::size_t w = 0; w != 2; ++w)
    CHECK(ex.submit(heist::with{.worker = w}, [](auto ctx) { return ctx.worker_id(); }).get() == w);
  CHECK_THROWS_AS(ex.submit(heist::with{.worker = 2}, [] {}), heist::executor_error);
  auto one = ex.submit([] { return 1; }).share();
  CHECK(ex.submit(heist::after(one), heist::with{.worker = 1}, [](auto ctx, int x) {
            return ctx.worker_id() + std::size_t(x);
          }).get() == 2);

  // On one worker that is held back, urgent tasks run first, even if they were submitted last.
  heist::executor single{1};
  std::atomic<bool> open{false}, begun{false};
  std::string order;
  auto gate = single.submit([&] {
    begun = true;
    while (!open) std::this_thread::yield();
  });
  while (!begun) std::this_thread::yield();
  auto low = single.submit(heist::with{.priority = heist::priority::low}, [&] { order += 'l'; });
  auto normal = single.submit([&] { order += 'n'; });
  auto high = single.submit(heist::with{.priority = heist::priority::high}, [&] { order += 'h'; });
  open = true;
  gate.get(), low.get(), normal.get(), high.get();
  CHECK(order == "hnl");
}

TEST_CASE("random programs of futures give what a sequential program gives", "[dynamic]") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    heist::executor ex{1 + seed % 3};
    heist_test::watchdog guard{"random", 100s, [&] { return ex.state_text(); }};
    std::uint64_t state = seed * 0x9E3779B97F4A7C15u;
    auto const random = [&state](std::uint64_t n) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return state % n;
    };
    constexpr int failed = -1;
    std::vector<heist::shared_future<long>> tasks;
    std::vector<long> expected;
    for (int i = 0; i < 2000; ++i) {
      std::vector<heist::shared_future<long>> before;
      long sum = i;
      bool fails = false;
      for (std::uint64_t k = tasks.empty() ? 0 : random(4); k != 0; --k) {
        auto const j = tasks.size() - 1 - random(std::min<std::uint64_t>(tasks.size(), 40));
        if (!tasks[j].valid()) continue;
        before.push_back(tasks[j]);
        fails = fails || expected[j] == failed;
        sum = (sum + expected[j]) % 1'000'003;
      }
      bool const throws = random(100) == 0;
      expected.push_back(fails || throws ? failed : sum);
      auto work = [i, throws](heist::values<long> all) {
        long n = i;
        for (long v : all) n = (n + v) % 1'000'003;
        if (throws) throw std::runtime_error{"planned"};
        return n;
      };
      tasks.push_back(ex.submit(heist::after(before), work));
      // Handles are dropped now and then; what comes later leaves them out.
      if (random(10) == 0) tasks[random(tasks.size())] = {};
    }
    try {
      ex.wait_idle();
    } catch (std::runtime_error const&) {  // of a handle that was dropped
    }
    for (std::size_t i = 0; i != tasks.size(); ++i) {
      if (!tasks[i].valid()) continue;
      if (expected[i] == failed) {
        CHECK_THROWS_AS(tasks[i].get(), std::runtime_error);
      } else {
        CHECK(tasks[i].get() == expected[i]);
      }
    }
  }
}

TEST_CASE("after: handles outlive their executor, and what needs it says that it is gone", "[dynamic]") {
  heist::future<int> one, two, three;
  heist::shared_future<int> shared;
  heist::graph_run run, failed;
  heist::task_graph g, throws;
  g.emplace([] {});
  throws.emplace([] { throw std::runtime_error{"asked to"}; });
  {
    heist::executor<> gone{std::size_t{2}};
    one = gone.submit([] { return 1; });
    two = gone.submit([] { return 2; });
    three = gone.submit([]() -> int { throw std::runtime_error{"asked to"}; });
    shared = gone.submit([] { return 4; });
    run = gone.run(g);
    failed = gone.run(throws);
    gone.submit([] {}).get();
  }
  CHECK_THROWS_WITH(shared.then([](int const& n) { return n; }), Catch::Contains("executor is gone"));
  CHECK_THROWS_AS(heist::when_all(shared, shared), heist::executor_error);
  CHECK_THROWS_AS(std::move(one).then([](int n) { return n; }), heist::executor_error);
  CHECK(two.wait_for(std::chrono::seconds{0}));
  CHECK(shared.get() == 4);
  heist::executor<> ex{std::size_t{2}};
  CHECK(ex.submit(heist::after(std::move(two), shared), [](int n, int const& m) { return n + m; }).get() == 6);
  CHECK_THROWS_AS(three.get(), std::runtime_error);
  run.request_stop();
  run.get();
  CHECK_FALSE(run.stopped());
  CHECK_THROWS_AS(failed.get(), std::runtime_error);
  ex.run(g).get();
}
