// A stop reaches every kind of waiting (tests/README.md, "Waits and stops"). Each test stops a task that waits for something
// that would not end by itself.
#include <heist/heist.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

// Code that handles faults must not swallow a stop.
static_assert(!std::is_base_of_v<heist::error, heist::stopped_error>);

namespace {

using heist::context;

/// Returns when the context says that it is stopped; before that it says that it has begun.
void until_stopped(context c, std::atomic<int>& begun) {
  ++begun;
  begun.notify_all();
  while (!c.stop_requested()) std::this_thread::yield();
}

struct wait_kind {
  char const* name;
  std::function<void(heist::executor<>& ex, context c, std::atomic<int>& begun)> wait;
};

std::vector<wait_kind> waits() {
  return {
      {"fork_join", [](auto&, context c, auto& n) { c.fork_join([&](context d) { until_stopped(d, n); }, [] {}); }},
      {"scope",
       [](auto&, context c, auto& n) {
         heist::scope s{c};
         s.fork([&](auto d) { until_stopped(d, n); });
         s.join();
       }},
      {"context::submit", [](auto&, context c, auto& n) { c.submit([&](context d) { until_stopped(d, n); }).get(); }},
      {"context::submit, shared",
       [](auto&, context c, auto& n) { c.submit([&](context d) { until_stopped(d, n); }).share().get(); }},
      {"context::submit, for a time",
       [](auto&, context c, auto& n) {
         auto f = c.submit([&](context d) { until_stopped(d, n); });
         f.wait_for(std::chrono::hours{1});
       }},
      {"context::submit, two deep",
       [](auto&, context c, auto& n) {
         c.submit([&](context d) { d.submit([&](context e) { until_stopped(e, n); }).get(); }).get();
       }},
      {"context::submit, forks",
       [](auto&, context c, auto& n) {
         c.submit([&](context d) {
            d.fork_join([&](context e) { until_stopped(e, n); }, [&](context e) { until_stopped(e, n); });
          }).get();
       }},
      {"executor::submit",
       [](auto& ex, context, auto& n) { ex.submit([&](context d) { until_stopped(d, n); }).get(); }},
      {"executor::submit, without a context",
       [](auto& ex, context, auto& n) {
         ex.submit([&] { ex.submit([&](context d) { until_stopped(d, n); }).get(); }).get();
       }},
      {"executor::submit, shared, for a time",
       [](auto& ex, context, auto& n) {
         heist::shared_future<void> f = ex.submit([&](context d) { until_stopped(d, n); });
         f.wait_for(std::chrono::hours{1});
       }},
      {"executor::submit, with a priority",
       [](auto& ex, context, auto& n) {
         heist::with const urgent{.priority = heist::priority::high, .name = "urgent"};
         ex.submit(urgent, [&](context d) { until_stopped(d, n); }).get();
       }},
      {"executor_ref::submit",
       [](auto& ex, context, auto& n) {
         heist::executor_ref{ex}.submit([&](context d) { until_stopped(d, n); }).get();
       }},
      {"a task with a token",
       [](auto&, context c, auto& n) {
         std::stop_source own;
         c.submit(heist::with{.stop = own.get_token()}, [&](context d) { until_stopped(d, n); }).get();
       }},
      {"a task with a token and a name",
       [](auto& ex, context, auto& n) {
         std::stop_source own;
         heist::with const how{.name = "named", .stop = own.get_token()};
         ex.submit(how, [&](context d) { until_stopped(d, n); }).get();
       }},
      {"a task after another",
       [](auto&, context c, auto& n) {
         auto before = c.submit([] { return 1; });
         c.submit(heist::after(std::move(before)), [&](context d, int) { until_stopped(d, n); }).get();
       }},
      {"a task with a token, after another",
       [](auto& ex, context c, auto& n) {
         std::stop_source own;
         auto before = c.submit([] {});
         ex.submit(heist::after(std::move(before)), heist::with{.stop = own.get_token()}, [&](context d) {
             until_stopped(d, n);
           }).get();
       }},
      {"what a chain of tasks comes after",
       [](auto&, context c, auto& n) {
         heist::future<void> f = c.submit([&](context d) { until_stopped(d, n); });
         for (int i = 0; i != 10'000; ++i) f = std::move(f).then([](context) {});
         f.get();
       }},
      {"what a task comes after, shared",
       [](auto&, context c, auto& n) {
         auto f = c.submit([&](context d) { until_stopped(d, n); }).share();
         auto g = c.submit([&](context d) {
                     until_stopped(d, n);
                     return 1;
                   }).share();
         c.submit(heist::after(f, f, g), [](int) {}).get();
       }},
      {"when_all",
       [](auto&, context c, auto& n) {
         std::vector<heist::future<void>> all;
         for (int i = 0; i != 2; ++i) all.push_back(c.submit([&](context d) { until_stopped(d, n); }));
         heist::when_all(std::move(all)).get();
       }},
      {"when_any",
       [](auto&, context c, auto& n) {
         auto f = c.submit([&](context d) { until_stopped(d, n); });
         auto g = c.submit([&](context d) {
                     until_stopped(d, n);
                     return 1;
                   }).share();
         heist::when_any(f, g).get();
         f.get();
         g.get();
       }},
      {"a task after the first of a range",
       [](auto&, context c, auto& n) {
         std::vector<heist::future<void>> all;
         for (int i = 0; i != 2; ++i) all.push_back(c.submit([&](context d) { until_stopped(d, n); }));
         heist::when_any(all).then([](std::size_t) {}).get();
         for (auto& f : all) f.get();
       }},
      {"a task after a run",
       [](auto&, context c, auto& n) {
         heist::task_graph g;
         g.emplace([&](context d) { until_stopped(d, n); });
         auto run = c.run(g);
         auto after = c.submit(heist::after(run), [] {});
         CHECK_THROWS_AS(after.get(), heist::stopped_error);
       }},
      {"a task that always comes after another and after a run",
       [](auto& ex, context c, auto& n) {
         heist::task_graph g;
         g.emplace([&](context d) { until_stopped(d, n); });
         auto f = c.submit([&](context d) { until_stopped(d, n); });
         ex.submit(heist::after_always(std::move(f), c.run(g)), [](auto, auto) {}).get();
       }},
      {"another executor's submit",
       [](auto&, context, auto& n) {
         heist::executor<> other{std::size_t{1}};
         other.submit([&](context d) { until_stopped(d, n); }).get();
       }},
      {"executor::run_here", [](auto& ex, context, auto& n) { ex.run_here([&](context d) { until_stopped(d, n); }); }},
      {"executor::invoke", [](auto& ex, context, auto& n) { ex.invoke([&](context d) { until_stopped(d, n); }); }},
      {"a run",
       [](auto& ex, context, auto& n) {
         heist::task_graph g;
         g.emplace([&](context d) { until_stopped(d, n); });
         ex.run(g).wait();
       }},
      {"a run that waits for an event",
       [](auto&, context c, auto& n) {
         heist::task_graph g;
         g.emplace([&] { ++n, n.notify_all(); });
         static_cast<void>(g.emplace_event<void>());
         CHECK_THROWS_AS(c.run(g).get(), heist::stopped_error);
       }},
      {"a run that waits for a limiter",
       [](auto&, context c, auto& n) {
         heist::limiter one{1};
         heist::task_graph takes, waits;
         takes.emplace([] {}).acquire(one);
         c.run(takes).get();
         waits.emplace([&] { ++n, n.notify_all(); });
         waits.emplace([&] { FAIL("the limiter is taken"); }).limit(one);
         CHECK_THROWS_AS(c.run(waits).get(), heist::stopped_error);
         CHECK(one.available() == 0);
       }},
      {"a pipeline",
       [](auto&, context c, auto& n) {
         heist::pipeline p{2, heist::serial_stage([](heist::token&) { return 1; }),
                           heist::serial_stage([&](context d, int) { until_stopped(d, n); })};
         CHECK_THROWS_AS(c.run(p).get(), heist::stopped_error);
       }},
      {"a scalable_pipeline",
       [](auto&, context c, auto& n) {
         heist::scalable_pipeline p{2};
         p.add(heist::stage_mode::serial, [](heist::token& t) {
           if (t.number() == 0 && t.deferrals() == 0) t.defer(2);
         });
         p.add(heist::stage_mode::serial, [&](context d, heist::token&) { until_stopped(d, n); });
         CHECK_THROWS_AS(c.run(p).get(), heist::stopped_error);
       }},
      {"a flow",
       [](auto& ex, context, auto& n) {
         heist::flow f{ex};
         heist::datum<int> x{f, 0};
         for (int i = 0; i != 3; ++i) f.task([&](context d, int&) { until_stopped(d, n); }, heist::update(x));
         CHECK_THROWS_AS(f.wait(), heist::stopped_error);
       }},
      {"a flow's window",
       [](auto& ex, context, auto& n) {
         heist::flow f{ex, {.window = 2}};
         heist::datum<int> x{f, 0};
         for (int i = 0; i != 5; ++i) f.task([&](context d, int&) { until_stopped(d, n); }, heist::update(x));
       }},
      {"a blocking call",
       [](auto&, context c, auto& n) {
         std::stop_token const token = c.stop_token();
         c.blocking([&] {
           std::mutex m;
           std::condition_variable_any told;
           std::unique_lock lock{m};
           ++n, n.notify_all();
           CHECK_FALSE(told.wait(lock, token, [] { return false; }));
         });
       }},
  };
}

#if HEIST_COROUTINES
heist::coroutine<> awaits_task(heist::executor<>& ex, std::atomic<int>& n) {
  co_await ex.submit([&](context d) { until_stopped(d, n); });
}
heist::coroutine<> awaits_coroutine(heist::executor<>& ex, std::atomic<int>& n) {
  co_await heist::resume_on(ex);
  co_await awaits_task(ex, n);
}
heist::coroutine<> awaits_after_another(heist::executor<>& ex, std::atomic<int>& n) {
  co_await ex.submit([] {});
  heist::shared_future<void> f = ex.submit([&](context d) { until_stopped(d, n); });
  co_await f.then([] {});
}
heist::coroutine<> awaits_any(heist::executor<>& ex, std::atomic<int>& n) {
  heist::future<void> f = ex.submit([&](context d) { until_stopped(d, n); });
  co_await heist::when_any(f);
}
heist::coroutine<> awaits_remote(heist::executor<>& ex, std::atomic<int>& n) {
  heist::executor<> other{std::size_t{1}};
  auto const goes = [](heist::executor<>& to, std::atomic<int>& m) -> heist::coroutine<> {
    co_await heist::resume_on(to);
    co_await awaits_task(to, m);
  };
  co_await heist::resume_on(ex);
  co_await goes(other, n);
  co_await ex.submit([&](context d) { until_stopped(d, n); });  // stopped already
}
heist::coroutine<> awaits_run(heist::executor<>& ex, std::atomic<int>& n) {
  co_await heist::resume_on(ex);
  heist::task_graph g;
  g.emplace([&](context d) { until_stopped(d, n); });
  CHECK_THROWS_AS(co_await ex.run(g), heist::stopped_error);
}
heist::coroutine<> parks(heist::executor<>& ex, std::atomic<int>& n) {
  co_await ex.submit([] {});
  ex.submit([&](context d) { until_stopped(d, n); }).get();
}

void add_coroutines(std::vector<wait_kind>& to) {
  auto const add = [&to](char const* name, heist::coroutine<> (*what)(heist::executor<>&, std::atomic<int>&)) {
    to.push_back({name, [what](auto& ex, context, auto& n) { heist::sync_wait(what(ex, n)); }});
  };
  add("a coroutine", &awaits_task);
  add("a coroutine that another awaits", &awaits_coroutine);
  add("a coroutine's await after another", &awaits_after_another);
  add("a coroutine that awaits the first of some", &awaits_any);
  add("a coroutine on another executor", &awaits_remote);
  add("a coroutine's run", &awaits_run);
  add("a coroutine that parks", &parks);
  to.push_back({"a coroutine of a task that is waited for",
                [](auto& ex, context c, auto& n) { c.submit([&] { heist::sync_wait(awaits_task(ex, n)); }).get(); }});
}
#else
void add_coroutines(std::vector<wait_kind>&) {}
#endif

enum class stop_way { handle, token, exception, submitted, scope };
constexpr std::pair<stop_way, char const*> stop_ways[]{{stop_way::handle, "request_stop"},
                                                       {stop_way::token, "a stop_token"},
                                                       {stop_way::exception, "a sibling's exception"},
                                                       {stop_way::submitted, "the token of a submitted task"},
                                                       {stop_way::scope, "the scope of the task"}};

}  // namespace

TEST_CASE("stop: it reaches a task that waits, whatever it waits for", "[dynamic]") {
  std::vector<wait_kind> kinds = waits();
  add_coroutines(kinds);
  for (wait_kind const& kind : kinds) {
    for (auto const& [way, name] : stop_ways) {
      INFO(kind.name << ", stopped by " << name);
      heist::executor<> ex{std::size_t{3}};
      heist_test::watchdog guard{ex, std::chrono::seconds{60}, kind.name};
      std::atomic<int> begun{0};
      std::stop_source source;
      if (way == stop_way::submitted) {
        auto f = ex.submit(heist::with{.stop = source.get_token()}, [&](context c) { kind.wait(ex, c, begun); });
        begun.wait(0);
        source.request_stop();
        f.wait();
        continue;
      }
      if (way == stop_way::scope) {
        ex.submit([&](context c) {
            heist::scope s{c};
            s.fork([&](context d) { kind.wait(ex, d, begun); });
            c.blocking([&] { begun.wait(0); });
            s.request_stop();
            s.join();
          }).get();
        continue;
      }
      heist::task_graph g, outer;
      g.emplace([&](context c) { kind.wait(ex, c, begun); });
      if (way == stop_way::exception) {
        g.emplace([&](context c) {
          c.blocking([&] { begun.wait(0); });
          throw std::runtime_error{"asked to"};
        });
      }
      outer.compose(g);  // the wait is in a part of the run that is stopped
      auto run = ex.run(outer, heist::with{.stop = source.get_token()});
      begun.wait(0);
      if (way == stop_way::handle) run.request_stop();
      if (way == stop_way::token) source.request_stop();
      if (way == stop_way::exception) {
        CHECK_THROWS_AS(run.get(), std::runtime_error);
      } else {
        CHECK_THROWS_AS(run.get(), heist::stopped_error);
      }
    }
  }
}

TEST_CASE("stop: it does not reach what another task has started, nor what nobody waits for", "[dynamic]") {
  heist::executor<> ex{std::size_t{4}};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "not reached"};
  std::atomic<bool> go{false}, seen{false};
  heist::shared_future<void> others = ex.submit([&](context c) {
    while (!go) std::this_thread::yield();
    seen = seen || c.stop_requested();
  });
  heist::shared_future<void> before = ex.submit([&](context c) {
    while (!go) std::this_thread::yield();
    seen = seen || c.stop_requested();
  });
  heist::future<void> released;
  std::atomic<int> begun{0};
  heist::task_graph g;
  g.emplace([&](context c) {
    released = c.submit([&](context d) {
      while (!go) std::this_thread::yield();
      seen = seen || d.stop_requested();
    });
    heist::future<void> after_others = c.submit(heist::after(before), [] {});
    heist::future<std::size_t> any_of_others = heist::when_any(others, before);
    heist::future<void> first = c.submit([] {});
    heist::future<std::size_t> any = heist::when_any(first, released);
    first.get();
    heist::future<void> after_any = std::move(any).then([&](context, std::size_t) {
      while (!go) std::this_thread::yield();
    });
#if HEIST_COROUTINES
    auto const awaits = [](heist::shared_future<void> f) -> heist::coroutine<> { co_await f; };
    ++begun, begun.notify_all();
    heist::sync_wait(awaits(others));
#else
    ++begun, begun.notify_all();
#endif
    after_any.get();
    any_of_others.get();
    after_others.get();
    others.get();
  });
  auto run = ex.run(g);
  begun.wait(0);
  run.request_stop();
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  go = true;
  CHECK_THROWS_AS(run.get(), heist::stopped_error);
  released.get();
  CHECK_FALSE(seen);
}

TEST_CASE("stop: it comes while what the task waits for ends", "[dynamic]") {
  heist::executor<> ex{std::size_t{3}};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "at the end"};
  for (int round = 0; round != 300; ++round) {
    std::atomic<int> begun{0};
    std::atomic<bool> stopping{false};
    auto const ends = [&](context c) {
      while (!stopping && !c.stop_requested()) std::this_thread::yield();
    };
    heist::task_graph g;
    g.emplace([&](context c) {
      heist::shared_future<void> one = c.submit(ends), two = c.submit(heist::after(one), [] {});
      heist::shared_future<std::size_t> any = heist::when_any(one, two);
      heist::future<void> last = heist::when_any(two, any, any.then([](std::size_t) {})).then([](std::size_t) {});
      ++begun, begun.notify_all();
#if HEIST_COROUTINES
      auto const awaits = [](heist::future<void> f, heist::shared_future<void> also, context d) -> heist::coroutine<> {
        co_await std::move(f);
        co_await also;
        co_await d.submit([] {});
      };
      if (round % 2 != 0) return heist::sync_wait(awaits(std::move(last), two, c));
#endif
      last.get();
      any.get();
    });
    auto run = ex.run(g);
    begun.wait(0);
    for (int i = 0; i != round % 50; ++i) std::this_thread::yield();
    if (round % 3 == 0) stopping = true;
    run.request_stop();
    stopping = true;
    run.wait();
    ex.wait_idle();
  }
}

TEST_CASE("stop: a context's token tells of the stop, in tasks that can be stopped", "[dynamic]") {
  heist::executor<> ex{std::size_t{2}};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "tokens"};
  CHECK_FALSE(ex.invoke([](context c) { return c.stop_token().stop_possible(); }));
  heist::task_graph g, outer;
  std::stop_token last;
  std::atomic<int> begun{0}, told{0};
  g.emplace([&](context c) {
    last = c.stop_token();
    std::stop_callback const tells{last, [&]() noexcept { ++told; }};
    ++begun, begun.notify_all();
    while (told == 0) std::this_thread::yield();
    CHECK(c.stop_requested());
  });
  outer.compose(g);
  for (int round = 0; round != 3; ++round) {
    begun = told = 0;
    auto run = ex.run(outer);
    begun.wait(0);
    run.request_stop();
    run.wait();
    CHECK(told == 1);
    CHECK(last.stop_requested());
  }
}

TEST_CASE("stop: a scope's stop reaches the tokens of its children, and a join ends it", "[dynamic]") {
  heist::executor<> ex{std::size_t{3}};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "tokens of a scope"};
  ex.submit([](context c) {
      heist::scope s{c};
      std::stop_token last;
      for (int round = 0; round != 10; ++round) {
        std::atomic<int> begun{0}, told{0};
        s.fork([&](context d) {
          last = d.stop_token();
          CHECK_FALSE(last.stop_requested());
          std::stop_callback const tells{last, [&]() noexcept { ++told; }};
          ++begun, begun.notify_all();
          d.fork_join([&](context e) { until_stopped(e, begun); },
                      [&](context e) {
                        heist::scope inner{e};
                        inner.fork([&](context f) {
                          while (!f.stop_token().stop_requested()) std::this_thread::yield();
                        });
                      });
          while (told == 0) std::this_thread::yield();  // bits are set before tokens are told
        });
        c.blocking([&] { begun.wait(0); });
        s.request_stop();
        s.request_stop();
        s.join();
        CHECK(told == 1);
        CHECK(last.stop_requested());
        CHECK_FALSE(c.stop_requested());
      }
    }).get();
}
