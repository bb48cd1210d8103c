// Data flow: the values that the program gives in its own order; renaming, commuting, windows, exceptions, misuse.
#include "heist/flow.hpp"

#include "heist/graph.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

TEST_CASE("flow: order follows from what is read and written", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"flow", 60s, [&] { return ex.state_text(); }};
  heist::flow f{ex};
  heist::datum<std::string> text{f, "a"};
  heist::datum<std::size_t> length{f, std::size_t{0}};
  heist::datum<std::vector<std::size_t>> seen{f};
  for (int i = 0; i < 200; ++i) {
    f.task([](std::string& s) { s += 'b'; }, heist::update(text));
    f.task([](std::string const& s, std::size_t& n) { n = s.size(); }, heist::read(text), heist::write(length));
    f.task([](heist::context, std::size_t const& n, std::vector<std::size_t>& all) { all.push_back(n); },
           heist::read(length), heist::update(seen));
  }
  REQUIRE(seen.value().size() == 200);
  for (std::size_t i = 0; i < 200; ++i) CHECK(seen.value()[i] == i + 2);
  CHECK(f.size() == 0);
}

TEST_CASE("flow: a pure write does not wait for readers where a new object will do", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"renaming", 60s, [&] { return ex.state_text(); }};
  heist::flow f{ex};
  heist::datum<int> number{f, 1};
  heist::datum<std::vector<int>> numbers{f, 3, 1};
  numbers.renew_with([] { return std::vector<int>(3); });
  std::atomic<bool> open{false};
  std::atomic<int> old{0}, unused{0};
  f.task(
      [&](heist::context c, int const& n, std::vector<int> const& v) {
        c.blocking([&] {
          while (!open) std::this_thread::yield();
        });
        old = n + v[0];
      },
      heist::read(number), heist::read(numbers));
  f.task(
      [](int& n, std::vector<int>& v) {
        n = 10;
        v[0] = 20;
      },
      heist::write(number), heist::write(numbers));
  f.task([&](int const& n, std::vector<int> const& v) { unused = n + v[0]; }, heist::read(number),
         heist::read(numbers));
  while (unused == 0) std::this_thread::yield();  // comes although the first one still reads
  open = true;
  f.wait();
  CHECK(old == 2);
  CHECK(unused == 30);
  CHECK(number.value() == 10);
}

TEST_CASE("flow: tasks that commute come in any order, one at a time", "[dynamic]") {
  heist::executor ex{3};
  heist_test::watchdog guard{"commute", 60s, [&] { return ex.state_text(); }};
  heist::flow f{ex, {.window = 64}};
  std::array<std::unique_ptr<heist::datum<long>>, 4> data;
  std::array<std::atomic<int>, 4> inside{};
  for (auto& d : data) d = std::make_unique<heist::datum<long>>(f, 0L);
  std::atomic<int> clashes{0};
  std::uint64_t state = 88172645463325252u;
  auto const random = [&state](std::uint64_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<std::size_t>(state % n);
  };
  std::array<long, 4> expected{};
  for (int i = 0; i < 20'000; ++i) {
    std::size_t const a = random(4), b = (a + 1 + random(3)) % 4;
    ++expected[a], ++expected[b];
    f.task(
        [&, a, b](long& x, long& y) {
          clashes += inside[a]++ != 0;
          clashes += inside[b]++ != 0;
          ++x, ++y;
          --inside[a], --inside[b];
        },
        heist::commute(*data[a]), heist::commute(*data[b]));
    if (i % 1000 == 999) f.task([](long& x) { ++x; }, heist::update(*data[a])), ++expected[a];
  }
  f.wait();
  CHECK(clashes == 0);
  for (std::size_t i = 0; i < 4; ++i) CHECK(data[i]->value() == expected[i]);
}

TEST_CASE("flow: exceptions skip what comes after, and wait() rethrows the first of the program", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"exceptions", 60s, [&] { return ex.state_text(); }};
  heist::flow f{ex};
  heist::datum<int> x{f, 0}, y{f, 0}, z{f, 0};
  std::atomic<bool> open{false};
  f.task(
      [&](int&) {
        while (!open) std::this_thread::yield();
        throw std::runtime_error{"first"};
      },
      heist::update(x));
  std::atomic<int> called{0};
  for (int i = 0; i < 50; ++i) {
    f.task([&](int const&, int& b) { b = ++called; }, heist::read(x), heist::update(y));
    f.task([&](int&) { ++called; }, heist::commute(x));
  }
  f.task([](int&) { throw std::runtime_error{"second"}; }, heist::update(z));
  open = true;
  ex.wait_idle();
  CHECK_THROWS_WITH(f.wait(), "first");
  CHECK(called == 0);
  f.wait();
  f.task([](int& n) { n = 5; }, heist::update(x));
  CHECK(x.value() == 5);
  {
    heist::flow released{ex};
    heist::datum<int> d{released, 0};
    released.task([](int&) { throw std::runtime_error{"dropped"}; }, heist::update(d));
  }
  CHECK_THROWS_WITH(ex.wait_idle(), "dropped");
}

TEST_CASE("flow: a small window, inside a task of the only worker, and a million tasks in little memory", "[dynamic]") {
  heist::executor ex{1};
  heist_test::watchdog guard{"window", 100s, [&] { return ex.state_text(); }};
  CHECK(ex.invoke([&] {
    heist::flow f{ex, {.window = 1}};
    heist::datum<int> n{f, 0};
    for (int i = 0; i < 1000; ++i) f.task([](int& v) { ++v; }, heist::update(n));
    f.wait();
    return n.value();
  }) == 1000);
  heist::flow f{ex, {.window = 100}};
  std::vector<std::unique_ptr<heist::datum<int>>> data;
  for (int i = 0; i < 10; ++i) data.push_back(std::make_unique<heist::datum<int>>(f, 0));
  for (std::size_t i = 0; i < 100'000; ++i) {
    f.task([](int& v) { ++v; }, heist::update(*data[i % 10]));
    CHECK_FALSE(f.size() > 128);
  }
  f.wait();
  for (auto const& d : data) CHECK(d->value() == 10'000);
}

TEST_CASE("flow: recorded once as a graph, and run again", "[dynamic]") {
  heist::executor ex{3};
  heist_test::watchdog guard{"recorded", 60s, [&] { return ex.state_text(); }};
  heist::task_graph g;
  auto f = std::make_unique<heist::flow>(g);
  heist::datum<long> x{*f, 1}, y{*f, 0}, total{*f, 0};
  std::atomic<int> inside{0}, wrong{0};
  for (int i = 0; i < 5; ++i) {
    f->task([](long& v) { v += 1; }, heist::update(x));
    f->task([](long const& v, long& w) { w = v; }, heist::read(x), heist::write(y));
    for (int k = 0; k < 4; ++k) {
      f->task(
          [&](heist::context, long const& w, long& sum) {
            wrong += inside.fetch_add(1) != 0;
            sum += w;
            inside.fetch_sub(1);
          },
          heist::read(y), heist::commute(total));
    }
  }
  f->wait();  // nothing: it runs nothing
  CHECK((x.value() == 1 && total.value() == 0));
  CHECK(f->size() == 30);
  CHECK(g.size() == 30);
  long v = 1, sum = 0;
  for (int run = 0; run < 20; ++run) {
    ex.run(g).get();
    for (int i = 0; i < 5; ++i) sum += 4 * ++v;
    REQUIRE((x.value() == v && y.value() == v && total.value() == sum));
  }
  CHECK(wrong == 0);
  // An exception ends the run, and the graph can run again.
  bool throws = true;
  f->task(
      [&](long const&) {
        if (throws) throw std::runtime_error{"recorded"};
      },
      heist::read(x));
  CHECK_THROWS_WITH(ex.run(g).get(), "recorded");
  throws = false;
  ex.run(g).get();
  heist::flow other{g};
  CHECK_THROWS_AS(other.task([](long&) {}, heist::update(x)), heist::executor_error);
}

TEST_CASE("flow: what does not fit is refused with a sentence", "[dynamic]") {
  heist::executor ex{1};
  CHECK_THROWS_AS((heist::flow{ex, {.window = 0}}), heist::executor_error);
  heist::flow f{ex}, other{ex};
  heist::datum<int> mine{f, 0}, external{other, 0};
  CHECK_THROWS_AS(f.task([](int&) {}, heist::update(external)), heist::executor_error);
  CHECK_THROWS_AS(f.task([](int const&, int&) {}, heist::read(mine), heist::write(mine)), heist::executor_error);
  f.task([](int const& a, int const& b) { static_cast<void>(a + b); }, heist::read(mine), heist::read(mine));
  f.wait();
}

TEST_CASE("flow: a task of its own that waits for it is told so", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"own flow", 60s, [&] { return ex.state_text(); }};
  heist::flow f{ex, {.window = 1}};
  heist::datum<int> x{f, 0}, y{f, 0};
  std::atomic<int> rejected{0};
  std::atomic<bool> given{false}, ended{false};
  // The flow is this task's from then on until it ends.
  f.task(
      [&](int& n) {
        while (!given) std::this_thread::yield();
        auto const count = [&](auto wait) {
          try {
            wait();
          } catch (heist::executor_error const&) {
            ++rejected;
          }
        };
        count([&] { f.wait(); });
        count([&] { static_cast<void>(x.value()); });
        count([&] { f.task([](int&) {}, heist::update(y)); });  // the window is full
        n = 1;
        ended = true;
      },
      heist::update(x));
  given = true;
  while (!ended) std::this_thread::yield();
  CHECK(x.value() == 1);
  CHECK(rejected == 3);
}

TEST_CASE("flow: where a value cannot be made anew there is no task, and all data are as before", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"not renewed", 60s, [&] { return ex.state_text(); }};
  heist::flow f{ex};
  heist::datum<int> number{f, 5};
  heist::datum<std::string> text{f, "five"};
  text.renew_with([]() -> std::string { throw std::runtime_error{"no text"}; });
  std::atomic<bool> open{false};
  f.task(
      [&](heist::context c, int const&, std::string const&) {
        c.blocking([&] {
          while (!open) std::this_thread::yield();
        });
      },
      heist::read(number), heist::read(text));
  bool ran = false;
  auto const both = [&](int& n, std::string& s) {
    n = 6;
    s = "six";
    ran = true;
  };
  CHECK_THROWS_AS(f.task(both, heist::write(number), heist::write(text)), std::runtime_error);
  open = true;
  CHECK(number.value() == 5);
  CHECK(text.value() == "five");
  CHECK_FALSE(ran);
  f.task(both, heist::write(number), heist::write(text));  // no task uses them any more
  CHECK(number.value() == 6);
}

TEST_CASE("flow: data whose number is known at run time only, read, written and updated", "[dynamic]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 60s};
    for (std::size_t const n : {0u, 1u, 5u, 40u, 300u}) {
      heist::flow f{ex, {.window = 64}};
      std::vector<heist::datum<long>> in;
      for (std::size_t i = 0; i != n; ++i) in.emplace_back(f, 0L);
      std::vector<heist::datum<std::string>> words;
      words.emplace_back(f, "a");
      words.emplace_back(f, "b");
      std::vector<heist::datum<long>*> pointers;
      for (auto& d : in) pointers.push_back(&d);
      heist::datum<long> sum{f, 0L};
      for (int round = 0; round != 3; ++round) {
        for (std::size_t i = 0; i != n; ++i) f.task([i](long& x) { x += static_cast<long>(i); }, heist::update(in[i]));
        f.task(
            [](heist::context, heist::values<long> all, long& s, auto const& text) {
              for (long const x : all) s += x;
              s += static_cast<long>(text[0].size() + text[1].size());
            },
            heist::read(heist::each(in)), heist::update(sum), heist::read(heist::each(words)));
        f.task(
            [](heist::values<long, long&> all) {
              for (long& x : all) x = 1;
            },
            heist::write(heist::each(pointers)));
        f.task(
            [](auto all) {
              for (std::string& s : all) s += 'c';
            },
            heist::update(heist::each(words)));
      }
      auto const m = static_cast<long>(n);
      CHECK(sum.value() == 3 * m * (m - 1) / 2 + 2 * m + 2 + 4 + 6);
      CHECK(words[1].value() == "bccc");
      for (auto& d : in) CHECK(d.value() == 1);
    }
  }
}

TEST_CASE("flow: each() of data that are named twice or belong to another flow is refused", "[dynamic]") {
  heist::executor ex{2};
  heist::flow f{ex}, other{ex};
  std::vector<heist::datum<int>> in;
  for (int i = 0; i != 5; ++i) in.emplace_back(f, i);
  std::vector<heist::datum<int>*> twice{&in[0], &in[1], &in[0]}, external;
  heist::datum<int> theirs{other, 1};
  external = {&in[0], &theirs};
  int sum = 0;
  f.task([&](auto all, int const& x) { sum = all[0] + all[1] + all[2] + x; }, heist::read(heist::each(twice)),
         heist::read(in[1]));
  f.wait();
  CHECK(sum == 2);
  auto const nothing = [](auto const&...) {};
  CHECK_THROWS_AS(f.task(nothing, heist::update(heist::each(twice))), heist::executor_error);
  CHECK_THROWS_AS(f.task(nothing, heist::read(heist::each(in)), heist::update(in[3])), heist::executor_error);
  CHECK_THROWS_AS(f.task(nothing, heist::commute(in[3]), heist::read(heist::each(in))), heist::executor_error);
  CHECK_THROWS_AS(f.task(nothing, heist::read(heist::each(external))), heist::executor_error);
  CHECK(f.size() == 0);
  // Renewed, and undone where a later one cannot be made.
  heist::datum<std::vector<int>> made{f, 3, 1};
  made.renew_with([]() -> std::vector<int> { throw std::runtime_error{"planned"}; });
  std::atomic<bool> open{false};
  f.task(
      [&](heist::context c, auto const&, auto const&) {
        c.blocking([&] {
          while (!open) std::this_thread::yield();
        });
      },
      heist::read(heist::each(in)), heist::read(made));
  CHECK_THROWS_AS(f.task(nothing, heist::write(heist::each(in)), heist::write(made)), std::runtime_error);
  open = true;
  for (int i = 0; i != 5; ++i) CHECK(in[static_cast<std::size_t>(i)].value() == i);
}

TEST_CASE("flow: each() in a flow that is recorded into a graph", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::task_graph g;
  heist::flow f{g};
  std::vector<heist::datum<int>> in;
  for (int i = 0; i != 10; ++i) in.emplace_back(f, i);
  heist::datum<int> sum{f, 0};
  for (auto& d : in) f.task([](int& x) { ++x; }, heist::update(d));
  f.task(
      [](auto const& all, int& s) {
        for (int const x : all) s += x;
      },
      heist::read(heist::each(in)), heist::update(sum));
  ex.run_n(g, 3).get();
  CHECK(sum.value() == 3 * 45 + 10 + 20 + 30);
}

TEST_CASE("flow: a datum is moved while tasks use it", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::flow f{ex};
  std::atomic<bool> open{false};
  heist::datum<std::string> first{f, "a"};
  f.task(
      [&](heist::context c, std::string& s) {
        c.blocking([&] {
          while (!open) std::this_thread::yield();
        });
        s += 'b';
      },
      heist::update(first));
  heist::datum<std::string> second{std::move(first)};
  f.task([](std::string& s) { s += 'c'; }, heist::update(second));
  CHECK_THROWS_AS(f.task([](std::string&) {}, heist::update(first)), heist::executor_error);
  CHECK_THROWS_AS(first.value(), heist::executor_error);
  heist::datum<std::string> third{f, "x"};
  third = std::move(second);
  open = true;
  second = heist::datum<std::string>{f, "y"};  // destroys the datum of "x", which waits for the flow
  CHECK(third.value() == "abc");
  CHECK(second.value() == "y");
}

TEST_CASE("random flows give what the program gives in its own order", "[dynamic]") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    heist::executor ex{1 + seed % 3};
    heist_test::watchdog guard{"random flows", 100s, [&] { return ex.state_text(); }};
    heist::flow f{ex, {.window = seed % 2 == 0 ? std::size_t{16} : std::size_t{512}}};
    std::uint64_t state = seed * 0x9E3779B97F4A7C15u;
    auto const random = [&state](std::uint64_t n) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return static_cast<std::size_t>(state % n);
    };
    constexpr std::size_t count = 6;
    std::vector<std::unique_ptr<heist::datum<std::uint64_t>>> data;
    std::array<std::uint64_t, count> expected{};
    for (std::size_t i = 0; i < count; ++i) {
      data.push_back(std::make_unique<heist::datum<std::uint64_t>>(f, i));
      expected[i] = i;
    }
    for (std::uint64_t i = 0; i < 5000; ++i) {
      std::size_t const a = random(count), b = (a + 1 + random(count - 1)) % count;
      switch (random(4)) {
        case 0:
          f.task([i](std::uint64_t& v) { v = i; }, heist::write(*data[a]));
          expected[a] = i;
          break;
        case 1:
          f.task([i](std::uint64_t const& v, std::uint64_t& w) { w = w * 31 + v + i; }, heist::read(*data[a]),
                 heist::update(*data[b]));
          expected[b] = expected[b] * 31 + expected[a] + i;
          break;
        case 2:
          f.task([i](std::uint64_t const& v, std::uint64_t& w) { w = v ^ i; }, heist::read(*data[a]),
                 heist::write(*data[b]));
          expected[b] = expected[a] ^ i;
          break;
        default:
          f.task([i](std::uint64_t& v) { v += i; }, heist::commute(*data[a]));  // sums commute
          expected[a] += i;
      }
    }
    for (std::size_t i = 0; i < count; ++i) CHECK(data[i]->value() == expected[i]);
  }
}

TEST_CASE("flow: a task that waits for its own flow is refused, however fast it begins", "[dynamic]") {
  heist::executor<> ex{std::size_t{3}};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "own flow"};
  int const rounds = heist::under_tsan || heist::under_asan ? 300 : 3000;
  std::atomic<int> told{0};
  for (int round = 0; round != rounds; ++round) {
    heist::flow f{ex};
    heist::datum<int> x{f, 0};
    for (int i = 0; i != 3; ++i) {
      f.task(
          [&, i](heist::context c, int&) {
            try {
              if (i % 2 == 0) {
                f.wait();
              } else {
                c.fork_join([&] { f.wait(); }, [] {});
              }
            } catch (heist::executor_error const&) {
              ++told;
            }
          },
          heist::update(x));
    }
    f.wait();
  }
  CHECK(told == 3 * rounds);
}
