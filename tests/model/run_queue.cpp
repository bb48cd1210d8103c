// Tasks for one thread (run_queue): none is lost, none runs twice, and every waiter is woken.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/run_queue.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"

namespace {

using model::env;

struct task {
  task* next = nullptr;
  env::plain<int> runs{0};
  heist::detail::basic_completion<env>* ended = nullptr;
};

struct loop {
  using queue_type = heist::detail::run_queue<task, env>;
  queue_type queue;

  template <class IsOver>
  void run_while(IsOver is_over) {
    auto const run = [](task& t) {
      t.runs = t.runs + 1;
      if (t.ended != nullptr) t.ended->complete();
    };
    queue.run_while(is_over, run, [](heist::detail::basic_completion<env>& woken) {
      heist::detail::thread_waiter<env, 1> me;
      if (woken.add_entry(me)) me.wait();
    });
  }
  void run() {
    run_while([this](std::size_t) { return queue.is_finished() && queue.is_empty(); });
  }
  void run_until(heist::detail::basic_completion<env>& end) {
    queue_type::end_watch watch{queue};
    if (end.add_entry(watch)) run_while([&watch](std::size_t) { return watch.is_complete; });
  }
};

/// Threads push, and finish the queue when all have pushed. Other threads run the queue.
template <int Pushers, int Runners>
void finished(model::execution& t) {
  struct state : loop {
    std::array<task, Pushers> tasks;
    env::atomic<int> pushed{0};
  };
  auto& s = t.make<state>();
  for (auto& one : s.tasks) {
    t.thread([&s, &one] {
      s.queue.push(one);
      if (s.pushed.fetch_add(1, std::memory_order_acq_rel) == Pushers - 1) s.queue.finish();
    });
  }
  for (int i = 0; i != Runners; ++i) t.thread([&s] { s.run(); });
  t.finally([&s] {
    for (auto& one : s.tasks) model::check(one.runs == 1, "a task has not run once");
    model::check(s.queue.is_empty(), "the queue is not empty");
  });
}

/// A thread runs the queue, which it destroys at the end, until something is complete, before which a task must have
/// run.
void until(model::execution& t) {
  struct state {
    loop* of = new loop;
    task one;
    env::atomic<int> began{0};
    heist::detail::basic_completion<env> end;
  };
  auto& s = t.make<state>();
  t.thread([&s] {
    s.of->queue.push(s.one);
    s.end.complete();
  });
  t.thread([&s] {
    s.of->run_until(s.end);
    s.of->run_while([&s](std::size_t) { return s.of->queue.is_empty(); });
    delete s.of;
  });
  t.finally([&s] { model::check(s.one.runs == 1, "the task has not run once"); });
}

/// Two run it, each until something else is complete. The one that leaves first may have been woken for the task that
/// the other one waits for.
void two_runners(model::execution& t) {
  struct state : loop {
    task one;
    heist::detail::basic_completion<env> end, ran;
  };
  auto& s = t.make<state>();
  s.one.ended = &s.ran;
  t.thread([&s] { s.run_until(s.end); });
  t.thread([&s] { s.run_until(s.ran); });
  t.thread([&s] {
    s.queue.push(s.one);
    s.end.complete();
  });
  t.finally([&s] { model::check(s.one.runs == 1, "the task has not run once"); });
}

/// Two run it, each until something else is complete, and no task comes.
void two_ends(model::execution& t) {
  struct state : loop {
    heist::detail::basic_completion<env> first, second;
  };
  auto& s = t.make<state>();
  t.thread([&s] { s.run_until(s.first); });
  t.thread([&s] { s.run_until(s.second); });
  t.thread([&s] {
    s.first.complete();
    s.second.complete();
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};

  all.verify("run_queue: one pushes, one runs", three, finished<1, 1>);
  all.verify("run_queue: two push, one runs", three, finished<2, 1>);
  all.verify("run_queue: one pushes, two run", two, finished<1, 2>);
  all.verify("run_queue: until something is complete, and is destroyed", three, until);
  all.verify("run_queue: two leave at different times", two, two_runners);
  all.verify("run_queue: two ends", two, two_ends);
  return all.finish();
}
