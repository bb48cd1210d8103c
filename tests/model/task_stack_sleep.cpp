// The task stack with the sleep of default_idle: no thief sleeps for ever while its request for work is unanswered and
// the owner forks or joins. The owner's work is coarse: it goes on only after certain tasks have been run by others, so
// a wakeup or a request that is lost for good is a deadlock.
#undef NDEBUG  // the assertions of the shipped code are part of what is proved
#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/sched/idle_gate.hpp"
#include "heist/sync/completion.hpp"
#include "heist/sync/task_stack.hpp"

namespace {

using model::env;
using order = std::memory_order;

constexpr heist::idle_rules wakes_on_push{false, false, true};

/// What the owner does, as text: + fork, - join; for the nth task forked, the nth small letter waits until somebody has
/// begun it, the nth capital until somebody has ended it.
template <std::size_t N>
struct script {
  std::array<char, N> text;
  constexpr script(char const (&t)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = t[i];
  }
};

constexpr std::size_t max_tasks = 5;
constexpr int nothing = -1;

template <class Env>
struct executor {
  using completion = heist::basic_completion<Env>;

  struct slot {
    typename Env::template plain<int> number{nothing};
    completion finished;
    void make_public() { finished.reset(); }
  };
  struct task {
    completion begun, ended;
    typename Env::template plain<int> runs{0};
  };

  explicit executor(std::size_t workers) : gate{workers, wakes_on_push} {}

  heist::idle_gate<Env> gate;
  std::array<slot, max_tasks> slots;
  heist::task_stack<slot, Env> stack{slots.data(), max_tasks, false};
  std::array<task, max_tasks> tasks;
  env::atomic<bool> stop{false};
  int first_waits_for = nothing;  // the first task ends only after this one

  static void wait_for(completion& c) {
    heist::thread_waiter<Env, 0> waiter;
    if (c.enlist(waiter)) waiter.wait();
  }
  void run(int number) {
    model::check(number >= 0, "a slot was stolen in which nothing was forked");
    task& t = tasks[static_cast<std::size_t>(number)];
    model::check(t.runs == 0, "a task ran twice");
    t.runs = 1;
    t.begun.complete();
    if (number == 0 && first_waits_for != nothing) wait_for(tasks[static_cast<std::size_t>(first_waits_for)].ended);
    t.ended.complete();
  }

  // --- owner, as fork/parent_first.hpp and fork/join_stolen.hpp do it ---

  std::array<int, max_tasks> pending{};
  std::size_t depth = 0;
  int forks = 0;

  void fork() {
    slot* const at = slots.data() + depth;
    at->number = pending[depth++] = forks++;
    if (stack.fork_is_plain(at)) return;
    if (stack.forked(at) == heist::task_stack<slot, Env>::fork_outcome::published) gate.pushed();
  }
  void join() {
    slot* const at = slots.data() + --depth;
    bool mine = true;
    if (!stack.join_is_plain(at)) {
      auto const what = stack.join(at);
      if (what.published) gate.pushed();
      mine = what.mine;
    }
    if (mine) return run(pending[depth]);
    wait_for(at->finished);
    stack.reclaim(at);
  }
  template <class Script>
  void own(Script const& what) {
    for (char c : what.text) {
      if (c == '+') fork();
      if (c == '-') join();
      if (c >= 'a' && c <= 'z') wait_for(tasks[static_cast<std::size_t>(c - 'a')].begun);
      if (c >= 'A' && c <= 'Z') wait_for(tasks[static_cast<std::size_t>(c - 'A')].ended);
    }
    stop.store(true, order::release);
    gate.wake_all();
  }

  // --- thieves, as sched/worker_loop.hpp and core::stealable do it ---

  slot* explore() {
    auto const loot = stack.steal();
    if (loot.status == heist::steal_status::empty) stack.ask();
    return loot.item;
  }
  bool work_anywhere() {
    if (stack.maybe_stealable()) return true;
    stack.ask();
    return false;
  }
  bool stopping() const { return stop.load(order::acquire); }

  slot* search(std::size_t me, bool looks) {
    gate.become_thief();
    for (;; looks = true) {
      if (slot* const s = looks ? explore() : nullptr) {
        gate.found_work([this] { return work_anywhere(); });
        return s;
      }
      if (stopping()) {
        gate.wake_all();
        return nullptr;
      }
      auto const outcome = gate.try_sleep(
          me, [this] { return work_anywhere() || stopping(); }, [] {}, [] {});
      if (outcome == heist::idle_outcome::slept) {
        gate.become_thief();
      } else {
        Env::relax();
      }
    }
  }
  void thief(std::size_t me, bool looks) {
    while (slot* const s = search(me, looks)) {
      run(s->number);
      s->finished.complete();
    }
  }
};

/// `FirstWaitsFor`: the task without which the first does not end. `Looks`: the thieves have not looked before.
template <class Env, script Owner, int Thieves, int FirstWaitsFor = nothing, bool Looks = true>
void overlap(model::execution& t) {
  auto& e = t.make<executor<Env>>(std::size_t{Thieves + 1});
  e.first_waits_for = FirstWaitsFor;
  t.thread([&e] { e.own(Owner); });
  for (std::size_t w = 0; w < Thieves; ++w) {
    t.thread([&e, w] { e.thief(w, Looks); });
  }
  t.finally([&e] {
    for (int i = 0; i < e.forks; ++i) {
      model::check(e.tasks[static_cast<std::size_t>(i)].runs == 1, "a task is lost");
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.rules = {.preemptions = 3}};
  model::limits const two{.rules = {.preemptions = 2, .odd_failures = 0}};
  model::limits const three_plain{.rules = {.preemptions = 3, .odd_failures = 0}};
  model::limits const wide{.rules = {.steps = 2000}, .random_executions = 50'000};

  all.prove("task stack, sleep: 2 coarse tasks overlap", three, overlap<env, "+A-", 1>);
  all.prove("task stack, sleep: the same without membarrier", three, overlap<model::symmetric_env, "+A-", 1>);
  all.prove("task stack, sleep: twice, in the same slot", three_plain, overlap<env, "+A-+B-", 1>);
  all.prove("task stack, sleep: after a join that may find it", three_plain, overlap<env, "+-+B-", 1>);
  all.prove("task stack, sleep: 2 private, a fork serves", three_plain, overlap<env, "++a+B---", 1>);
  all.prove("task stack, sleep: 2 private, 2 sleepers, a fork serves", two, overlap<env, "++a+B---", 2, 1, false>);
  all.prove("task stack, sleep: 2 private, 2 sleepers, a join serves", two, overlap<env, "+++a-B--", 2, 1, false>);
  all.prove("task stack, sleep: the same, a public join before", two, overlap<env, "++-++a-C--", 2, 2, false>);
  all.prove("task stack, sleep: the same, random", wide, overlap<env, "++-++a-C--", 2, 2>);
  return all.finish();
}
