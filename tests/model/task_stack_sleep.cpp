// The task stack with the sleep of idle::standard. While the owner forks or joins, a thief with an unanswered request
// for work does not sleep for ever. The owner's work is coarse: the owner resumes only after thieves have run certain
// tasks. A wakeup or a request that is lost for good is therefore a deadlock.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>
#include <string_view>

#include "engine/script.hpp"
#include "engine/suite.hpp"
#include "heist/core/sync/idle_gate.hpp"
#include "heist/core/sync/task_stack.hpp"

namespace {

using model::env;
using order = std::memory_order;

constexpr heist::detail::idle_config wakes_on_push{false, false, true};

/// The owner's steps, as text: + fork, 2 a fork of two tasks at once, - join. The letter a waits until a thread has
/// begun the first task. The nth capital waits until a thread has ended the nth task. Steps before | are done before
/// the threads start.
using model::script;

constexpr std::size_t max_tasks = 5;
constexpr int nothing = -1;

/// An event that threads wait for asleep. It is minimal, because core/sync/completion.hpp has its own harness.
struct event {
  env::park_word word;

  void happens() {
    word.store(1, order::release);
    word.wake_all();
  }
  void wait() {
    while (word.load(order::acquire) == 0) word.wait(0);
  }
};

template <class Env>
struct executor {
  struct slot {
    typename Env::template plain<int> number{nothing};
    typename Env::template plain<bool> visible{false};
    void make_public() { visible = true; }
  };
  struct task {
    event ended;
    typename Env::template plain<int> runs{0};
  };

  explicit executor(std::size_t workers) : gate{workers, wakes_on_push} {}

  heist::detail::idle_gate<Env> gate;
  std::array<slot, max_tasks> slots;
  heist::detail::task_stack<slot, Env> stack{slots.data(), max_tasks, false};
  std::array<task, max_tasks> tasks;
  event first_begun;
  int last = 0;              // the thread that has run this one never comes back
  bool first_waits = false;  // the thread that runs the first task waits in it until the last task has ended

  void run(int number) {
    model::check(number >= 0, "a slot was stolen in which nothing was forked");
    task& t = tasks[static_cast<std::size_t>(number)];
    model::check(t.runs == 0, "a task ran twice");
    t.runs = 1;
    if (number == 0 && first_waits) {
      first_begun.happens();
      tasks[static_cast<std::size_t>(last)].ended.wait();
    }
    t.ended.happens();
  }

  // --- owner, as core/fork/parent_first.hpp and core/fork/join_stolen.hpp do it ---

  std::array<int, max_tasks> pending{};
  std::size_t depth = 0;
  int forks = 0;

  void fork(std::size_t count = 1) {
    for (std::size_t i = 0; i < count; ++i) {
      slots[depth].number = pending[depth] = forks++;
      slots[depth++].visible = false;
    }
    slot* const at = slots.data() + (depth - 1);
    if (stack.fork_is_plain(at)) return;
    if (stack.forked(at, count) == heist::detail::task_stack<slot, Env>::fork_outcome::published) gate.pushed();
  }
  void join() {
    slot* const at = slots.data() + --depth;
    bool mine = true;
    if (!stack.join_is_plain(at)) {
      auto const what = stack.join(at);
      if (what.published) gate.pushed();
      mine = what.mine;
    }
    task& t = tasks[static_cast<std::size_t>(pending[depth])];
    if (mine) return run(pending[depth]);
    t.ended.wait();
    model::check(t.runs == 1, "a task was called stolen that did not run");
    stack.reclaim(at);
  }
  void own(std::string_view what) {
    for (char c : what) {
      if (c == '+') fork();
      if (c == '2') fork(2);
      if (c == '-') join();
      if (c == 'a') first_begun.wait();
      if (c >= 'A' && c <= 'Z') tasks[static_cast<std::size_t>(c - 'A')].ended.wait();
    }
  }

  // --- thieves, as core/scheduler/worker_loop.hpp and core::stealable do it ---

  slot* explore() {
    auto const stolen_task = stack.steal();
    if (stolen_task.status == heist::detail::steal_status::empty) stack.ask();
    if (stolen_task.item != nullptr)
      model::check(stolen_task.item->visible, "a slot was stolen that was not made public");
    return stolen_task.item;
  }
  bool any_work() {
    if (stack.maybe_stealable()) return true;
    stack.ask();
    return false;
  }

  slot* search(std::size_t me, bool looks) {
    gate.start_stealing();
    bool notified = false;
    for (;; looks = true) {
      if (slot* const s = looks ? explore() : nullptr) {
        gate.found_work([this] { return any_work(); }, notified);
        return s;
      }
      auto const outcome = gate.try_sleep(
          me, [this] { return any_work(); }, [] {}, [] {});
      notified = outcome == heist::detail::idle_outcome::slept;
      if (notified) {
        gate.start_stealing();
      } else {
        Env::relax();
      }
    }
  }
  void thief(std::size_t me, bool looks) {
    for (int number = nothing; number != last && (number != 0 || !first_waits); looks = true) {
      slot* const s = search(me, looks);
      number = s->number;
      run(number);
    }
  }
};

/// `Last`: the last task that thieves run. `FirstWaits`: the first does not end before it, and there are two thieves.
/// `Looks`: the thieves have not looked before.
template <class Env, script Owner, int Last, bool FirstWaits = false, bool Looks = true>
void overlap(model::execution& t) {
  constexpr std::size_t thieves = FirstWaits ? 2 : 1;
  auto& e = t.make<executor<Env>>(thieves + 1);
  e.last = Last;
  e.first_waits = FirstWaits;
  static constexpr std::string_view all{Owner.text.data()};
  static constexpr std::size_t before = all.find('|') + 1;  // 0 if there is none
  e.own(all.substr(0, before));
  t.thread([&e] { e.own(all.substr(before)); });
  for (std::size_t w = 0; w < thieves; ++w) {
    t.thread([&e, w] { e.thief(w, Looks); });
  }
  t.alike(thieves);
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}, .heavy = true};
  model::limits const three_plain{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const wide{.config = {.steps = 2000}, .random_executions = 50'000};

  all.verify("task stack, sleep: 2 coarse tasks overlap", three, overlap<env, "+A-", 0>);
  all.verify("task stack, sleep: the same without membarrier", three, overlap<model::symmetric_env, "+A-", 0>);
  all.verify("task stack, sleep: twice, in the same slot", three_plain, overlap<env, "+A-+B-", 1>);
  all.verify("task stack, sleep: after a join that may find it", three_plain, overlap<env, "+-+B-", 1, false, false>);
  all.verify("task stack, sleep: a fork serves", three_plain, overlap<env, "++A+B---", 1>);
  all.verify("task stack, sleep: a join serves", three_plain, overlap<env, "+++A-B--", 1>);
  all.verify("task stack, sleep: 3 coarse tasks overlap", three_plain, overlap<env, "2B", 1, true, false>);
  all.verify("task stack, sleep: 2 sleepers, a fork serves", three_plain, overlap<env, "++|a+B", 1, true, false>);
  all.verify("task stack, sleep: 2 sleepers, a join serves", three_plain, overlap<env, "+++|a-B", 1, true, false>);
  all.verify("task stack, sleep: 2 sleepers, a public join before", two, overlap<env, "++|-++a-C", 2, true, false>);
  all.verify("task stack, sleep: 3 coarse tasks overlap, random", wide, overlap<env, "2B", 1, true>);
  all.verify("task stack, sleep: 2 sleepers, a fork serves, random", wide, overlap<env, "++|a+B", 1, true>);
  all.verify("task stack, sleep: 2 sleepers, a join serves, random", wide, overlap<env, "+++|a-B", 1, true>);
  all.verify("task stack, sleep: a public join before, random", wide, overlap<env, "++|-++a-C", 2, true>);
  return all.finish();
}
