// What programs that come from other libraries needed and had to emulate. Names are proposals in the field's terms; the behaviour binds.
#include <heist/heist.hpp>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"

using namespace std::chrono_literals;

// A library that takes an executor without a template parameter has all that an executor offers.
static double work_of_a_library(heist::executor_ref any, std::vector<double>& v) {
  heist::for_each(any, v, [](double& x) { x += 1; });
  heist::sort(any, v);
  std::atomic<int> n{0};
  any.post([&] { ++n; });
  any.wait_idle();
  CHECK(n == 1);
  CHECK(any.run_here([] { return 7; }) == 7);
  CHECK(any.sleeping_workers() <= any.worker_count());
  CHECK(!any.state_text().empty());
  return heist::reduce(any, v, 0.0);
}

int main() {
  heist::executor ex{2};

  {  // executor_ref
    std::vector<double> v{3, 1, 2};
    CHECK(work_of_a_library(ex, v) == 9);
    heist::executor_ref any{ex};
    heist::task_graph g;
    int runs = 0;
    g.emplace([&] { ++runs; });
    any.run_until(g, [&] { return runs == 3; }).get();
    CHECK(runs == 3);
  }

  {  // a run of a graph is waited for with a time limit, and a task comes after it
    heist::task_graph g;
    heist::event<void> gate = g.emplace_event<void>();
    std::atomic<bool> ran{false};
    auto last = g.emplace([&] { ran = true; });
    gate.precede(last);
    auto run = ex.run(g);
    CHECK(!run.wait_for(5ms));
    auto after = ex.submit(heist::after(run), [&] { return ran.load(); });
    gate.set_value();
    CHECK(run.wait_until(std::chrono::steady_clock::now() + 10s));
    CHECK(after.get());
    run.get();
  }

  {  // a task that comes after others whatever became of them
    auto good = ex.submit([] { return 1; }).share();
    auto bad = ex.submit([]() -> int { throw std::runtime_error{"boom"}; }).share();
    auto told = ex.submit(heist::after_always(good, bad), [&](heist::shared_future<int> const& a, heist::shared_future<int> const& b) {
      bool failed = false;
      try {
        b.get();
      } catch (std::runtime_error const&) {
        failed = true;
      }
      return a.get() == 1 && failed;
    });
    CHECK(told.get());
  }

  {  // a future that is ready from the start
    heist::future<std::string> f = heist::make_ready_future(std::string{"here"});
    CHECK(f.is_ready() && f.get() == "here");
    CHECK(ex.submit(heist::after(heist::make_ready_future(20).share()), [](int x) { return x + 1; }).get() == 21);
    heist::future<int> e = heist::make_exceptional_future<int>(std::make_exception_ptr(std::runtime_error{"no"}));
    bool thrown = false;
    try {
      e.get();
    } catch (std::runtime_error const&) {
      thrown = true;
    }
    CHECK(thrown);
  }

  {  // a pipeline whose number and kinds of stages are known at run time only, with the token's line for buffers of one's own
    for (int stages = 1; stages <= 5; ++stages) {
      std::size_t const lines = 3;
      std::vector<long> buffer(lines);
      std::vector<long> out;
      heist::scalable_pipeline p{lines};
      p.add(heist::stage_mode::serial, [&](heist::token& t) {
        if (t.number() == 100) return t.stop();
        buffer[t.line()] = static_cast<long>(t.number());
      });
      for (int s = 1; s < stages; ++s) p.add(s % 2 ? heist::stage_mode::parallel : heist::stage_mode::serial, [&](heist::token& t) { buffer[t.line()] += 1; });
      p.add(heist::stage_mode::serial, [&](heist::token& t) { out.push_back(buffer[t.line()]); });
      ex.run(p).get();
      CHECK(out.size() == 100);
      for (std::size_t i = 0; i != out.size(); ++i) CHECK(out[i] == static_cast<long>(i) + stages - 1);
    }
  }

  {  // a token that waits for a later one (frames of a video that refer to frames that come later)
    std::vector<std::size_t> order;
    heist::pipeline p{4,
                      heist::serial_stage([&](heist::token& t) {
                        if (t.number() == 6) return t.stop(), std::size_t{0};
                        if (t.number() == 1 && t.deferrals() == 0) return t.defer(4), std::size_t{0};  // called again after token 4 has left this stage
                        order.push_back(t.number());
                        return t.number();
                      }),
                      heist::parallel_stage([](std::size_t) {})};
    ex.run(p).get();
    CHECK((order == std::vector<std::size_t>{0, 2, 3, 4, 1, 5}) || (order == std::vector<std::size_t>{0, 2, 3, 4, 5, 1}));
  }

  {  // reductions: of what can only be moved, and over blocks
    std::vector<std::unique_ptr<int>> v;
    for (int i = 0; i < 1000; ++i) v.push_back(std::make_unique<int>(i));
    auto all = heist::reduce(ex, std::move(v), std::make_unique<int>(0), [](std::unique_ptr<int> a, std::unique_ptr<int> b) {
      *a += *b;
      return a;
    });
    CHECK(*all == 499500);
    std::vector<double> x(10000, 0.5);
    double const sum = heist::reduce_by_index(
        ex, std::size_t{0}, x.size(), 0.0,
        [&](heist::index_range r, double so_far) {  // a block at a time, as a vectorised loop or a BLAS call wants it
          for (std::size_t i = r.first; i != r.last; ++i) so_far += x[i];
          return so_far;
        },
        std::plus<>{});
    CHECK(sum == 5000.0);
  }

  {  // all that a piece of code starts is stopped from outside, nested
    std::stop_source all;
    std::atomic<int> began{0};
    auto f = ex.submit(heist::with{.stop = all.get_token()}, [&](auto ctx) {
      // what a task starts inherits its stop token: submit, scope, loops, graphs, pipelines
      auto inner = ctx.submit([&](auto c) {
        while (!c.stop_requested()) std::this_thread::yield();
        ++began;
        return c.stop_requested();
      });
      all.request_stop();
      return inner.get();
    });
    bool stopped = false;
    try {
      CHECK(f.get());
    } catch (heist::stopped_error const&) {
      stopped = true;
    }
    CHECK(stopped || began == 1);
  }

  {  // a list, or any forward range: cut where it can be, in one pass, instead of a vector of iterators by hand
    std::list<int> l(1000);
    std::iota(l.begin(), l.end(), 0);
    std::atomic<long> sum{0};
    heist::for_each(ex, l, [&](int& x) { sum += x; });
    CHECK(sum == 499500);
  }

  {  // data flow whose number of inputs is known at run time only
    for (int inputs : {1, 5, 40}) {
      heist::flow f{ex};
      std::vector<heist::datum<int>> in;  // a datum can be moved
      for (int i = 0; i < inputs; ++i) in.emplace_back(f, 0);
      heist::datum<int> sum{f, 0};
      for (int i = 0; i < inputs; ++i) f.task([i](int& x) { x = i + 1; }, heist::update(in[static_cast<std::size_t>(i)]));
      f.task([](auto const& all, int& s) { for (int x : all) s += x; }, heist::read(heist::each(in)), heist::update(sum));
      f.wait();
      CHECK(sum.value() == inputs * (inputs + 1) / 2);
    }
  }

  {  // a loop called by a thread of the program's own, while all workers are busy for long: the caller does it alone rather than wait
    std::atomic<bool> stop{false};
    std::vector<heist::future<void>> busy;
    for (int i = 0; i < 4; ++i) busy.push_back(ex.submit([&] { while (!stop) std::this_thread::yield(); }));
    std::vector<int> v(1000, 1);
    auto const begin = std::chrono::steady_clock::now();
    heist::for_each(ex, v, [](int& x) { x = 2; });
    CHECK(std::chrono::steady_clock::now() - begin < 1s && v[999] == 2);
    stop = true;
    for (auto& b : busy) b.get();
  }

  std::puts("09_moving_in: ok");
}
