// A task stack that thieves open. Every forked task runs once and sees all writes before its fork, whatever the owner
// does meanwhile. A thief that opens the stack of an owner in a long task gets a task if the owner has forked one.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>

#include "engine/script.hpp"
#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/task_stack.hpp"

namespace {

using model::env;
using order = std::memory_order;

constexpr int nothing = -1;

/// As fork_slot, in the manner of core/scheduler/fork_slot.hpp: the mark is `run`, and the thief calls `taken`.
struct slot {
  env::atomic<int> mark{nothing};
  env::plain<int> number{nothing};
  env::plain<int> part_of{nothing};
  env::plain<int> taken{nothing};
  heist::detail::basic_completion<env> finished;
  env::plain<int> outcome{nothing};

  bool pending() const noexcept { return mark.load(order::acquire) != nothing; }
  void make_public() { make_public(mark.load(order::relaxed)); }
  bool open() noexcept {
    int const what = mark.load(order::acquire);
    if (what != nothing) make_public(what);
    return what != nothing;
  }

 private:
  void make_public(int what) {
    finished.reset();
    taken = what;
  }
};
using stack = heist::detail::task_stack<slot, env, 0>;

struct task {
  env::plain<int> written{0};
  env::plain<int> runs{0};
};

/// The owner's steps: + fork, - join, * publish_all. Forks between ( and ) are part of something else. w is a long
/// task, which ends when the thieves are gone.
using model::script;

constexpr std::size_t max_tasks = 6, capacity = 4;

struct board {
  std::array<slot, capacity + 1> slots;
  stack tasks{slots.data(), capacity, false};
  std::array<task, max_tasks> all;

  // The owner's fields. A thief that opens the stack reads them.
  env::plain<int> part{0};
  env::plain<slot*> labelled{slots.data()};
  int outer_part = 0;
  slot* outer_labelled = nullptr;

  // Of the owner.
  std::array<int, max_tasks> part_of{};
  std::array<int, capacity + 1> pending{};
  std::size_t depth = 0;
  int forks = 0;

  env::atomic<int> gone{0};
  env::atomic<bool> in_long_task{false};
  env::atomic<bool> opening{false};

  void run(int number) {
    model::check(number >= 0, "a slot was stolen in which nothing was forked");
    task& t = all[static_cast<std::size_t>(number)];
    model::check(t.written == 7, "a task came out without what was written before");
    model::check(t.runs == 0, "a task ran twice");
    t.runs = 1;
  }

  void label(slot* end) {
    slot* const split = tasks.split();
    slot* const from = labelled;
    for (slot* s = split < from ? from : split; s < end; ++s) s->part_of = static_cast<int>(part);
  }

  void fork() {
    slot& at = slots[depth];
    int const number = forks++;
    all[static_cast<std::size_t>(number)].written = 7;
    part_of[static_cast<std::size_t>(number)] = static_cast<int>(part);
    at.number = number;
    at.mark.store(number, order::release);
    pending[depth++] = number;
    if (tasks.fork_is_plain(&at)) return;
    stack::owner_part const here{tasks};
    label(&at + 1);
    tasks.forked(&at);
  }

  void join() {
    slot& at = slots[--depth];
    int const number = pending[depth];
    at.mark.store(nothing, order::relaxed);
    env::free_fence();
    bool mine = tasks.join_is_plain(&at);
    if (!mine) {
      stack::owner_part const here{tasks};
      label(&at);
      mine = tasks.join(&at).mine;
      if (!mine) at.mark.store(number, order::release);
    }
    if (mine) return run(number);
    while (!at.finished.is_ready()) env::read_again();
    model::check(at.outcome == number, "the outcome in the slot is not that of the task");
    at.mark.store(nothing, order::relaxed);
    stack::owner_part const here{tasks};
    tasks.reclaim(&at);
  }

  void part_begins() {
    stack::owner_part const here{tasks};
    label(&slots[depth]);
    outer_part = static_cast<int>(part);
    outer_labelled = static_cast<slot*>(labelled);
    labelled = &slots[depth];
    part = outer_part + 1;
  }
  void part_ends() {
    stack::owner_part const here{tasks};
    part = outer_part;
    labelled = outer_labelled;
  }

  void owner(char c, int thieves) {
    if (c == '+') fork();
    if (c == '-') join();
    if (c == '(') part_begins();
    if (c == ')') part_ends();
    if (c == '*') {
      stack::owner_part const here{tasks};
      label(&slots[depth]);
      tasks.publish_all(&slots[depth]);
    }
    if (c == 'w') {
      in_long_task.store(true, order::release);
      while (gone.load(order::acquire) != thieves) env::read_again();
    }
  }

  /// Asks nothing: open() must do without.
  bool steal() {
    auto const stolen = tasks.steal();
    if (stolen.item == nullptr) return false;
    slot& s = *stolen.item;
    int const number = static_cast<int>(s.taken);
    run(number);
    model::check(s.number == number, "a thief calls another task than the slot's");
    model::check(s.part_of == part_of[static_cast<std::size_t>(number)], "a task is part of what it was not forked in");
    s.outcome = number;
    s.finished.complete();
    return true;
  }
  /// As core::open_task_stacks().
  void open() {
    if (opening.exchange(true, order::acquire)) return;
    if (tasks.open_begin()) {
      env::heavy_fence();
      tasks.open_end([this](slot* end) { label(end); });
    }
    opening.store(false, order::release);
  }

  /// By a thief. Alone, it gets something from an owner that stays in a long task and has tasks.
  void thief(int attempts, bool alone, int left_in_long_task) {
    int got_there = 0;
    for (int k = 0; k != attempts; ++k) {
      bool const there = in_long_task.load(order::acquire);
      if (steal()) {
        got_there += there;
        continue;
      }
      open();
      bool const got = steal();
      got_there += got && there;
      model::check(!alone || !there || got || got_there >= left_in_long_task,
                   "a thief gets nothing from an owner in a long task");
    }
    gone.fetch_add(1, order::release);
  }

  void check_end() {
    model::check(depth == 0, "the script of the harness does not join what it forks");
    for (int i = 0; i < forks; ++i) model::check(all[static_cast<std::size_t>(i)].runs == 1, "a task is lost");
    model::check(!tasks.maybe_stealable() && !tasks.maybe_openable(), "something is left on the stack");
  }
};

template <script Owner, int Thieves, int Attempts, int Left = 0>
void opened(model::execution& t) {
  auto& b = t.make<board>();
  t.thread([&] {
    for (char c : Owner.text) b.owner(c, Thieves);
  });
  for (int i = 0; i < Thieves; ++i) t.thread([&] { b.thief(Attempts, Thieves == 1, Left); });
  t.alike(Thieves);
  t.finally([&] { b.check_end(); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const three_plain{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const two_plain{.config = {.preemptions = 2, .odd_failures = 0}};

  all.verify("opened stack: ++-- and 1 attempt", three, opened<"++--", 1, 1>);
  all.verify("opened stack: ++-- and 2 attempts", three_plain, opened<"++--", 1, 2>);
  all.verify("opened stack: ++-+-- and 1 attempt, a slot used again", three, opened<"++-+--", 1, 1>);
  all.verify("opened stack: ++w-- and 2 attempts", three, opened<"++w--", 1, 2, 2>);
  all.verify("opened stack: +++w--- and 3 attempts", three_plain, opened<"+++w---", 1, 3, 3>);
  all.verify("opened stack: ++(+w-)-- and 3 attempts", two_plain, opened<"++(+w-)--", 1, 3, 3>);
  all.verify("opened stack: ++()-- and 2 attempts", three_plain, opened<"++()--", 1, 2>);
  all.verify("opened stack: ++(+-)-- and 1 attempt", three_plain, opened<"++(+-)--", 1, 1>);
  all.verify("opened stack: ++*-- and 1 attempt", three_plain, opened<"++*--", 1, 1>);
  all.verify("opened stack: ++-- and 2 thieves", two_plain, opened<"++--", 2, 1>);
  all.verify("opened stack: +++w--- and 2 thieves", two_plain, opened<"+++w---", 2, 1>);
  return all.finish();
}
