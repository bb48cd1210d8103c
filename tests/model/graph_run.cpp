// The end of a graph run (H11): by its last task, an exception or a stop, in any order. The next run finds the right
// state (H12). The graph, its runs and the worker loop are the shipped lines; see README.md, "The world".
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "engine/suite.hpp"
#include "heist/graph/task_graph.hpp"
#include "world/bounds.hpp"
#include "world/small_executor.hpp"

/// As graph/run_end.hpp, which has futures, shares a handle.
struct heist::detail::run_access {
  static graph_run share(graph_run const& run) {
    graph_run second;
    second.state_ = &run.checked();
    second.state_->hold();
    return second;
  }
};

namespace {

using heist::detail::virtual_thread;
using model::env;

/// The exception of a task. The task writes its field, and the thread that catches it reads the field.
struct failure {
  failure(int who, int& alive) : who{who}, alive{alive} { ++alive; }
  failure(failure const& other) : who{other.who}, alive{other.alive} { ++alive; }
  ~failure() { --alive; }
  env::plain<int> who;
  int& alive;
};
constexpr int none = -1, callback = 9;

/// Two sources a and b; c comes after both, d after a.
enum task_name : std::size_t { a, b, c, d };

using executor = world::scheduler<heist::idle::spinning, 2>;

struct stage {
  std::unique_ptr<executor> workers;
  heist::task_graph graph;
  std::array<env::plain<int>, 4> ran;
  std::array<bool, 4> throws{};  // changed between runs
  int& alive;

  stage(virtual_thread* threads, int& alive) : workers{std::make_unique<executor>(threads)}, alive{alive} {}

  void work(std::size_t i) {
    ran[i] = ran[i] + 1;
    if (throws[i]) throw failure{static_cast<int>(i), alive};
  }
  auto task(std::size_t i) {
    return [this, i] { work(i); };
  }
  void build() {
    auto [ta, tb, tc, td] = graph.emplace(task(a), task(b), task(c), task(d));
    ta.precede(tc, td);
    tb.precede(tc);
  }
  template <class... Options>
  heist::graph_run start(std::size_t passes, Options&&... options) {
    return heist::detail::start_access::run(graph, *workers, passes, std::forward<Options>(options)...);
  }
  /// The task or callback whose exception get() throws; `none` if it throws none, or stopped_error.
  int outcome(heist::graph_run const& run) {
    try {
      run.get();
    } catch (heist::stopped_error const&) {
      model::check(run.stopped(), "get() says that a run was stopped which was not");
    } catch (failure const& f) {
      model::check(f.alive > 0, "an exception was destroyed while it was kept");
      return f.who;
    }
    return none;
  }
  void all_ran(int times) {
    for (auto const& n : ran) model::check(n == times, "a task was left out, or ran twice");
  }
  bool every_one_ran(int times) {
    for (auto const& n : ran) {
      if (n != times) return false;
    }
    return true;
  }
};

/// A thread outside calls `Script::outside(stage&)` with it.
template <class Script>
void play(model::execution& t) {
  auto& alive = t.make<int>(0);
  auto& threads = t.make<std::array<virtual_thread, 2>>();
  auto* const s = new stage{threads.data(), alive};
  t.thread([s] {
    heist::detail::set_this_worker(nullptr);
    Script::outside(*s);
    s->workers.reset();
    delete s;
  });
  for (virtual_thread& thread : threads) {
    t.thread([&thread] { thread.main(); });
  }
  t.finally([&alive] { model::check(alive == 0, "an exception was never destroyed, or twice"); });
}

/// One task throws while another completes; the next run is as if nothing had been.
struct one_throws {
  static void outside(stage& s) {
    s.build();
    s.throws[a] = true;
    {
      auto const run = s.start(1);
      model::check(s.outcome(run) == a, "the exception did not arrive");
      model::check(s.ran[a] == 1 && s.ran[b] <= 1, "a source ran twice");
      model::check(s.ran[c] == 0 && s.ran[d] == 0, "a task ran although its predecessor has thrown");
      model::check(!run.stopped(), "nobody has stopped it");
    }
    s.throws[a] = false;
    int const before = s.ran[b];
    s.start(1).get();
    model::check(s.ran[a] == 2 && s.ran[b] == before + 1 && s.ran[c] == 1 && s.ran[d] == 1,
                 "the second run is not whole");
  }
};

/// Both sources may throw. The handle holds every exception that was thrown, and get() throws the first one again.
struct both_throw {
  static void outside(stage& s) {
    s.build();
    s.throws[a] = s.throws[b] = true;
    auto const run = s.start(1);
    int const who = s.outcome(run);
    model::check(who == a || who == b, "no exception was kept");
    model::check(run.exceptions().size() == static_cast<std::size_t>(s.ran[a] + s.ran[b]), "an exception is missing");
    model::check(s.alive == s.ran[a] + s.ran[b], "an exception was kept twice");
    model::check(s.ran[who] == 1 && s.ran[c] == 0 && s.ran[d] == 0, "a task ran after an exception");
  }
};

/// A stop at any time.
template <bool Throws, int Passes>
struct stopped {
  static void outside(stage& s) {
    s.build();
    s.throws[a] = Throws;
    auto const run = s.start(Passes);
    run.request_stop();
    int const who = s.outcome(run);
    model::check(run.is_ready(), "a run that was waited for has not ended");
    model::check(who == (Throws && s.ran[a] != 0 ? int{a} : none), "not the exception that was thrown");
    model::check(run.stopped() || who == a || s.every_one_ran(Passes), "tasks were skipped for no reason");
    model::check(!Throws || (s.ran[a] <= 1 && s.ran[c] == 0 && s.ran[d] == 0), "a task ran after an exception");
    model::check(s.ran[d] <= s.ran[a] && s.ran[c] <= s.ran[b] && s.ran[c] <= s.ran[a], "a task ran before another");
  }
};

/// Two passes, of which the first fails or not.
template <bool Throws>
struct two_passes {
  static void outside(stage& s) {
    s.build();
    s.throws[a] = Throws;
    auto const run = s.start(2);
    model::check(s.outcome(run) == (Throws ? int{a} : none), "not the exception that was thrown");
    if (!Throws) return s.all_ran(2);
    model::check(s.ran[a] == 1 && s.ran[b] <= 1 && s.ran[c] == 0 && s.ran[d] == 0, "a pass began after an exception");
  }
};

/// The callback at the end is called once, and throws alone or after a task has thrown: the first exception counts.
template <bool Throws>
struct called_at_end {
  static void outside(stage& s) {
    s.build();
    s.throws[b] = Throws;
    auto& called = *new env::plain<int>{0};
    {
      auto const run = s.start(1, [&s, &called] {
        ++called;
        throw failure{callback, s.alive};
      });
      model::check(s.outcome(run) == (Throws ? int{b} : callback), "not the first exception");
      model::check(called == 1 && s.alive == 1, "called twice, or not at all");
    }
    delete &called;
  }
};

/// Two runs in line, of which the first is stopped.
struct in_line {
  static void outside(stage& s) {
    s.build();
    auto const first = s.start(1);
    auto const second = s.start(1);
    first.request_stop();
    second.get();
    first.wait();  // its last task came before, but a thread that waits for the run may be woken later
    for (auto const& n : s.ran) model::check(n == 2 || (n == 1 && first.stopped()), "the second run is not whole");
    model::check(!second.stopped(), "nobody has stopped it");
  }
};

/// A run as a task of another graph: its exception becomes that one's.
template <bool Throws>
struct nested {
  static void outside(stage& s) {
    heist::task_graph inner;
    auto [ta, tb, tc] = inner.emplace(s.task(a), s.task(b), s.task(c));
    ta.precede(tc);
    auto whole = s.graph.compose(inner);
    whole.precede(s.graph.emplace(s.task(d)));
    s.throws[a] = Throws;
    {
      auto const run = s.start(1);
      model::check(s.outcome(run) == (Throws ? int{a} : none), "not the exception that was thrown");
      if (!Throws) s.all_ran(1);
      model::check(!Throws || (s.ran[a] == 1 && s.ran[c] == 0 && s.ran[d] == 0), "a task ran after an exception");
    }
    s.workers.reset();
  }
};

/// The handle is dropped at once.
struct released {
  static void outside(stage& s) {
    s.build();
    s.throws[b] = true;
    static_cast<void>(s.start(1));
    s.graph = {};  // waits for the run
    model::check(s.ran[b] == 1 || s.ran[a] == 1, "the graph was destroyed before it ran");
  }
};

/// A handle of a run that has ended is kept while the graph runs again.
struct kept_handle {
  static void outside(stage& s) {
    s.build();
    s.throws[a] = true;
    auto const first = s.start(1);
    first.wait();
    s.throws[a] = false;
    auto const second = s.start(1);
    model::check(s.outcome(second) == none, "the second run has not failed");
    model::check(s.outcome(first) == a, "the exception of the first run is gone");
  }
};

/// With a condition, where tokens are counted: a runs twice, then d. b runs beside them.
template <bool Throws>
struct chosen {
  static void outside(stage& s) {
    auto [ta, tb, td] = s.graph.emplace(s.task(a), s.task(b), s.task(d));
    auto again = s.graph.emplace_condition([&s] { return s.ran[a] == 1 ? 0 : 1; });
    auto begin = s.graph.placeholder();
    begin.precede(ta, tb);
    ta.precede(again);
    again.precede(ta, td);
    s.throws[b] = Throws;
    auto const run = s.start(1);
    model::check(s.outcome(run) == (Throws && s.ran[b] != 0 ? int{b} : none), "not the exception that was thrown");
    model::check(Throws || (s.ran[a] == 2 && s.ran[b] == 1 && s.ran[d] == 1), "a task was left out, or ran twice");
    model::check(s.ran[d] == 0 || s.ran[a] == 2, "the loop was left early");
  }
};

/// Another thread stops the run while this one waits for it.
void stopped_by_another(model::execution& t) {
  auto& alive = t.make<int>(0);
  auto& threads = t.make<std::array<virtual_thread, 2>>();
  auto& handle = t.make<env::atomic<heist::graph_run*>>(nullptr);
  auto& left = t.make<env::atomic<bool>>(false);
  auto* const s = new stage{threads.data(), alive};
  t.thread([&, s] {
    heist::detail::set_this_worker(nullptr);
    s->build();
    s->throws[a] = true;
    {
      auto run = s->start(1);
      handle.store(&run, std::memory_order_release);
      int const who = s->outcome(run);
      model::check(who == a || (who == none && run.stopped() && s->ran[a] == 0), "not the exception that was thrown");
      while (!left.load(std::memory_order_acquire)) env::read_again();
    }
    s->workers.reset();
    delete s;
  });
  for (virtual_thread& thread : threads) {
    t.thread([&thread] { thread.main(); });
  }
  t.thread([&] {
    heist::detail::set_this_worker(nullptr);
    heist::graph_run* run = nullptr;
    while ((run = handle.load(std::memory_order_acquire)) == nullptr) env::read_again();
    run->request_stop();
    left.store(true, std::memory_order_release);
  });
  t.finally([&alive] { model::check(alive == 0, "an exception was never destroyed, or twice"); });
}

/// Two threads start runs of the same graph; the first one fails.
void started_by_two(model::execution& t) {
  auto& alive = t.make<int>(0);
  auto& threads = t.make<std::array<virtual_thread, 2>>();
  auto& others = t.make<env::atomic<int>>(2);
  auto& failed = t.make<env::atomic<int>>(0);
  auto* const s = new stage{threads.data(), alive};
  auto const ta = s->graph.emplace([s] {
    s->ran[a] = s->ran[a] + 1;
    if (s->ran[a] == 1) throw failure{a, s->alive};
  });
  s->graph.emplace(s->task(b)).succeed(ta);
  for (int i = 0; i < 2; ++i) {
    t.thread([&, s] {
      heist::detail::set_this_worker(nullptr);
      {
        auto const run = s->start(1);
        if (s->outcome(run) == a) failed.fetch_add(1, std::memory_order_relaxed);
      }
      if (others.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      model::check(failed.load(std::memory_order_relaxed) == 1, "the exception arrived at both, or at nobody");
      model::check(s->ran[a] == 2 && s->ran[b] == 1, "the second run is not whole");
      s->workers.reset();
      delete s;
    });
  }
  for (virtual_thread& thread : threads) {
    t.thread([&thread] { thread.main(); });
  }
  t.finally([&alive] { model::check(alive == 0, "an exception was never destroyed, or twice"); });
}

/// A run that fails has two handles, and another thread has the second one. The first is dropped, or asked and dropped;
/// then the graph runs again.
template <bool Asks>
void two_handles(model::execution& t) {
  auto& alive = t.make<int>(0);
  auto& threads = t.make<std::array<virtual_thread, 2>>();
  auto& second = t.make<env::atomic<heist::graph_run*>>(nullptr);
  auto& left = t.make<env::atomic<bool>>(false);
  auto* const s = new stage{threads.data(), alive};
  t.thread([&, s] {
    heist::detail::set_this_worker(nullptr);
    s->build();
    s->throws[a] = true;
    {
      auto const run = s->start(1);
      second.store(new heist::graph_run{heist::detail::run_access::share(run)}, std::memory_order_release);
      if (Asks) model::check(s->outcome(run) == a, "the exception did not arrive at the first handle");
    }
    while (!left.load(std::memory_order_acquire)) env::read_again();
    s->throws[a] = false;
    model::check(s->outcome(s->start(1)) == none, "the second run has not failed");
    s->workers.reset();
    delete s;
  });
  for (virtual_thread& thread : threads) {
    t.thread([&thread] { thread.main(); });
  }
  t.thread([&, s] {
    heist::detail::set_this_worker(nullptr);
    heist::graph_run* run = nullptr;
    while ((run = second.load(std::memory_order_acquire)) == nullptr) env::read_again();
    model::check(s->outcome(*run) == a, "the exception did not arrive at the second handle");
    delete run;
    left.store(true, std::memory_order_release);
  });
  t.finally([&alive] { model::check(alive == 0, "an exception was never destroyed, or twice"); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const one = world::bounds(1, 0), weak = world::bounds(0, 1);
  model::limits two = world::bounds(2, 0);
  two.heavy = true;
  model::limits const wide{.config = {.steps = 4000}, .random_executions = 10'000};

  all.verify("H11 run: a task throws, then a second run", one, play<one_throws>);
  all.verify("H11 run: both throw", one, play<both_throw>);
  all.verify("H11 run: stop", one, play<stopped<false, 1>>);
  all.verify("H11 run: stop and throw", one, play<stopped<true, 1>>);
  all.verify("H11 run: stop in 2 passes", one, play<stopped<false, 2>>);
  all.verify("H11 run: 2 passes", one, play<two_passes<false>>);
  all.verify("H11 run: 2 passes, throw", one, play<two_passes<true>>);
  all.verify("H11 run: a callback throws", one, play<called_at_end<false>>);
  all.verify("H11 run: a callback throws after a task", one, play<called_at_end<true>>);
  all.verify("H11 run: in line", one, play<in_line>);
  all.verify("H11 run: nested", one, play<nested<false>>);
  all.verify("H11 run: nested, throw", one, play<nested<true>>);
  all.verify("H11 run: the handle dropped", one, play<released>);
  all.verify("H11 run: the handle kept", one, play<kept_handle>);
  all.verify("H11 run: a condition", one, play<chosen<false>>);
  all.verify("H11 run: a condition, throw", one, play<chosen<true>>);
  all.verify("H11 run: another thread stops", wide, stopped_by_another);
  all.verify("H11 run: two threads start", wide, started_by_two);
  all.verify("H11 run: two handles, one dropped", wide, two_handles<false>);
  all.verify("H11 run: two handles, both asked", wide, two_handles<true>);
  all.verify("H11 run: both throw, older values", weak, play<both_throw>);
  all.verify("H11 run: stop and throw, older values", weak, play<stopped<true, 1>>);
  all.verify("H11 run: in line, older values", weak, play<in_line>);
  all.verify("H11 run: nested, throw, older values", weak, play<nested<true>>);
  all.verify("H11 run: both throw, 2 pre-emptions", two, play<both_throw>);
  all.verify("H11 run: stop and throw, 2 pre-emptions", two, play<stopped<true, 1>>);
  return all.finish();
}
