// Work whose shape is found as it runs: tasks after tasks, data flow, pipelines, coroutines, blocking calls.
#include <heist/heist.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "check.hpp"

// A coroutine runs on the executor's workers; what it awaits parks nothing.
heist::coroutine<int> add_later(heist::executor<>& ex, int a, int b) {
  co_await heist::resume_on(ex);
  int const x = co_await ex.submit([a] { return a; });
  heist::task_graph g;
  int y = 0;
  g.emplace([&] { y = b; });
  co_await ex.run(g);
  co_return x + y;
}

int main() {
  heist::executor ex{2};

  {  // a task after others; their values become its arguments; many may come after one
    heist::shared_future<int> a = ex.submit([] { return 20; }).share();
    heist::shared_future<int> b = ex.submit([] { return 22; }).share();
    auto sum = ex.submit(heist::after(a, b), [](int x, int y) { return x + y; });
    auto product = ex.submit(heist::after(a, b), [](auto ctx, int x, int y) { return ctx.submit([=] { return x * y; }).get(); });
    CHECK(sum.get() == 42 && product.get() == 440);
    // any number, known at run time only; order without values
    std::vector<heist::shared_future<void>> all;
    std::atomic<int> n{0};
    for (int i = 0; i < 100; ++i) all.push_back(ex.submit([&] { ++n; }).share());
    CHECK(ex.submit(heist::after(all), [&] { return n.load(); }).get() == 100);
    // an exception goes along the edges
    auto bad = ex.submit([]() -> int { throw std::runtime_error{"boom"}; }).share();
    auto never = ex.submit(heist::after(bad, a), [](int, int) { return 1; });
    bool caught = false;
    try {
      never.get();
    } catch (std::runtime_error const& e) {
      caught = std::string{e.what()} == "boom";
    }
    CHECK(caught);
    CHECK(heist::when_all(ex.submit([] { return 1; }), ex.submit([] { return std::string{"x"}; })).get() == std::tuple(1, std::string{"x"}));
    CHECK(heist::when_any(all).get() < all.size());
    CHECK(ex.submit([] { return 3; }).then([](int x) { return x + 1; }).get() == 4);
  }

  {  // a task that is finished from outside: a file, a timer, a device, a message; the graph waits, no worker does
    heist::task_graph g;
    heist::event<int> answer = g.emplace_event<int>();
    auto doubled = g.emplace([](int x) { return 2 * x; }, answer);
    auto run = ex.run(g);
    std::thread outside{[&] { answer.set_value(21); }};
    run.get();
    outside.join();
    CHECK(doubled.result() == 42);
    // any number of inputs that is known at run time only
    heist::task_graph many;
    std::vector<heist::task<int>> in;
    for (int i = 0; i < 100; ++i) in.push_back(many.emplace([i] { return i; }));
    auto total = many.emplace([](auto const& all) { int t = 0; for (int x : all) t += x; return t; }, heist::each(in));
    ex.run(many).get();
    CHECK(total.result() == 4950);
    // the last reader of a value may take it instead of copying it
    heist::task_graph moved;
    auto big = moved.emplace([] { return std::vector<int>(1000, 1); });
    auto same = moved.emplace([](std::vector<int>&& v) { v[0] = 2; return std::move(v); }, heist::take(big));
    ex.run(moved).get();
    CHECK(same.result().size() == 1000);
  }

  {  // data flow: tasks say what they read and write; the order follows as if they were called one after the other
    heist::flow f{ex};
    heist::datum<std::vector<double>> x{f, std::vector<double>(100, 1.0)}, y{f, std::vector<double>(100, 2.0)};
    heist::datum<double> dot{f, 0.0};
    for (int i = 0; i < 10; ++i) {
      f.task([](std::vector<double>& v) { for (double& e : v) e += 1; }, heist::update(x));
      f.task([](std::vector<double> const& v, std::vector<double>& w) { for (std::size_t k = 0; k < w.size(); ++k) w[k] = v[k]; }, heist::read(x), heist::write(y));
    }
    f.task([](std::vector<double> const& v, std::vector<double> const& w, double& d) { for (std::size_t k = 0; k < w.size(); ++k) d += v[k] * w[k]; },
           heist::read(x), heist::read(y), heist::update(dot));
    f.wait();  // rethrows the first exception
    CHECK(dot.value() == 100 * 11.0 * 11.0);
  }

  {  // a pipeline: tokens in order where a stage is serial, side by side where it is not
    std::vector<int> out;
    int next = 0;
    heist::pipeline p{
        4,  // tokens at a time
        heist::serial_stage([&](heist::token& t) { if (next == 1000) t.stop(); return next++; }),
        heist::parallel_stage([](int x) { return x * x; }),
        heist::serial_stage([&](int x) { out.push_back(x); }),
    };
    ex.run(p).get();
    CHECK(out.size() == 1000 && out[999] == 999 * 999);
  }

  {  // coroutines; std::execution where it is found is a door of its own (heist/execution.hpp)
    CHECK(heist::sync_wait(add_later(ex, 40, 2)) == 42);
  }

  {  // a call that blocks the thread: another worker takes its place meanwhile, so others go on even with one worker
    heist::executor one{1};
    std::atomic<bool> released{false};
    auto blocked = one.submit([&](auto ctx) { return ctx.blocking([&] { while (!released) std::this_thread::yield(); return 1; }); });
    one.submit([&] { released = true; }).get();
    CHECK(blocked.get() == 1);
  }

  {  // the calling thread may work, too, until its task is done: no wake-up for a short one, and workers = 0 is a serial program
    CHECK(ex.run_here([](auto ctx) { auto [a, b] = ctx.fork_join([] { return 1; }, [] { return 2; }); return a + b; }) == 3);
  }

  {  // urgency, place, and time
    using namespace std::chrono_literals;
    auto urgent = ex.submit(heist::with{.priority = heist::priority::high}, [] { return 1; });
    auto there = ex.submit(heist::with{.worker = 1}, [](auto ctx) { return ctx.worker_id(); });
    CHECK(urgent.get() == 1 && there.get() == 1);
    auto late = ex.submit([] { std::this_thread::sleep_for(50ms); });
    CHECK(!late.wait_for(1ms));
    late.get();
  }
  std::puts("07_dynamic: ok");
}
