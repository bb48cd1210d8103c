// The direct task stack: every forked task runs once, by its owner or by one thief, and sees all writes before its
// fork. A slot is used again only after its thief has finished with it. Private tasks become public while the thieves
// have nothing.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/task_stack.hpp"

#include <array>
#include <cstddef>

#include "engine/script.hpp"
#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"

namespace {

using model::env;
using order = std::memory_order;

/// As fork_slot, in the manner of core/scheduler/fork_slot.hpp: the owner writes `number`, the rest has no value until
/// it is made public.
struct slot {
  env::plain<int> number{-1};
  env::plain<bool> visible{false};
  heist::detail::basic_completion<env> finished;
  env::plain<int> outcome{-1};

  void make_public() {
    finished.reset();
    visible = true;
  }
};
using stack = heist::detail::task_stack<slot, env>;

struct task {
  env::plain<int> written{0};
  env::plain<int> runs{0};
};

/// The owner's steps, as text: + fork, 2 a fork of two tasks at once, - join, * publish_all.
using model::script;

constexpr std::size_t max_tasks = 8;

template <std::size_t Capacity>
struct board {
  std::array<slot, Capacity + 2> slots;
  stack tasks{slots.data(), Capacity, false};
  std::array<task, max_tasks> all;

  // Of the owner.
  struct forked_task {
    slot* at;
    int number;
    bool on_stack;
  };
  std::array<forked_task, max_tasks> pending{};
  std::size_t depth = 0;
  int forks = 0;
  slot* next = slots.data();

  // Thieves that will never come back.
  env::atomic<int> gone{0};
  int thieves = 0;

  void run(int number) {
    model::check(number >= 0, "a slot was stolen in which nothing was forked");
    task& t = all[static_cast<std::size_t>(number)];
    model::check(t.written == 7, "a task came out without what was written before");
    model::check(t.runs == 0, "a task ran twice");
    t.runs = 1;
  }

  /// No thief is on the way, and none of those that look finds a task. The next fork or join must publish one, if it
  /// can.
  bool must_publish() { return thieves != 0 && gone.load(order::acquire) == thieves && !tasks.maybe_stealable(); }

  void write(slot* at) {
    int const number = forks++;
    all[static_cast<std::size_t>(number)].written = 7;
    at->number = number;
    at->visible = false;
    pending[depth++] = {at, number, true};
  }

  /// `checked`: tasks of a fork that does not fit are taken off the stack again, and run in place. Otherwise their
  /// joins go to the stack.
  void fork(int count = 1, bool checked = true) {
    slot* const from = next;
    slot* const at = from + (count - 1);
    for (slot* s = from; s <= at; ++s) write(s);
    next = at + 1;
    bool const must = must_publish() && at < tasks.end();
    bool published = false;
    if (!tasks.fork_is_plain(at)) {
      auto const what = tasks.forked(at, static_cast<std::size_t>(count));
      if (what == stack::fork_outcome::full) {
        model::check(at >= tasks.end(), "full, but there is room");
        next = from;
        for (slot* s = from; checked && s < tasks.end() && s <= at; ++s) s->number = -1;
        for (int i = 1; checked && from < tasks.end() && i <= count; ++i) {
          pending[depth - static_cast<std::size_t>(i)].on_stack = false;
        }
      }
      published = what == stack::fork_outcome::published;
    } else {
      model::check(at < tasks.end(), "a fork is plain that finds the stack full");
    }
    model::check(published || !must, "a fork leaves everything private, though the others have nothing");
  }

  void join() {
    auto const [at, number, on_stack] = pending[--depth];
    if (!on_stack) return run(number);
    bool const must = must_publish() && at > tasks.split();
    bool published = false;
    bool mine = true;
    if (!tasks.join_is_plain(at)) {
      auto const what = tasks.join(at);
      published = what.published;
      mine = what.mine;
    }
    model::check(published || !must, "a join leaves everything private, though the others have nothing");
    next = at;
    if (mine) {
      at->number = -1;
      return run(number);
    }
    while (!at->finished.is_ready()) env::read_again();
    model::check(at->outcome == number, "the outcome in the slot is not that of the task");
    model::check(all[static_cast<std::size_t>(number)].runs == 1, "a task was called stolen that did not run");
    at->outcome = -1;
    at->number = -1;
    tasks.reclaim(at);
  }

  /// By a thief: takes a task, or asks for one.
  bool steal() {
    auto const stolen_task = tasks.steal();
    model::check((stolen_task.item != nullptr) == (stolen_task.status == heist::detail::steal_status::stolen),
                 "status and item differ");
    if (stolen_task.status == heist::detail::steal_status::empty) tasks.ask();
    if (stolen_task.item == nullptr) return false;
    slot& s = *stolen_task.item;
    model::check(&s >= tasks.first() && &s < tasks.end(), "a slot was stolen that does not count");
    model::check(s.visible, "a slot was stolen that was not made public");
    run(s.number);
    s.outcome = static_cast<int>(s.number);
    s.finished.complete();
    return true;
  }

  void check_end() {
    model::check(depth == 0, "the script of the harness does not join what it forks");
    for (int i = 0; i < forks; ++i) model::check(all[static_cast<std::size_t>(i)].runs == 1, "a task is lost");
    model::check(tasks.size_snapshot() == 0 && !tasks.maybe_stealable(), "something is left on the stack");
    model::check(tasks.split() == tasks.first(), "the owner has not got its slots back");
  }
};

/// Thieves try a few times, asking where there is nothing, and go.
template <std::size_t Capacity, script Owner, int Thieves, int Steals, bool Checked = true>
void owner_and_thieves(model::execution& t) {
  auto& b = t.make<board<Capacity>>();
  b.thieves = Thieves;
  t.thread([&] {
    for (char c : Owner.text) {
      if (c == '+') b.fork();
      if (c == '2') b.fork(2, Checked);
      if (c == '-') b.join();
      if (c == '*') b.tasks.publish_all(b.next);
    }
  });
  for (int i = 0; i < Thieves; ++i) {
    t.thread([&] {
      for (int k = 0; k < Steals; ++k) b.steal();
      b.gone.fetch_add(1, order::release);
    });
  }
  t.alike(Thieves);
  t.finally([&] { b.check_end(); });
}

/// One thread plays the owner and the thieves. A request publishes tasks, a fork without public tasks publishes, and
/// half of the tasks become public at a time.
void alone(model::execution& t) {
  auto& b = t.make<board<8>>();
  t.thread([&] {
    using outcome = stack::fork_outcome;
    slot* const s = b.slots.data();
    auto const fork = [&](std::ptrdiff_t i) { return b.tasks.forked(s + i); };
    model::check(!b.tasks.fork_is_plain(s), "the first fork is not public");
    model::check(fork(0) == outcome::published && b.tasks.split() == s + 1, "the first fork is not public");
    for (std::ptrdiff_t i = 1; i < 5; ++i) model::check(b.tasks.fork_is_plain(s + i), "a fork nobody asked for");
    model::check(b.tasks.join_is_plain(s + 4), "a join nobody asked for");
    model::check(b.tasks.size_snapshot() == 1, "more is public than was asked for");
    b.tasks.ask();
    model::check(!b.tasks.fork_is_plain(s + 4) && !b.tasks.join_is_plain(s + 4), "a request is not seen");
    auto what = b.tasks.join(s + 4);
    model::check(what.mine && what.published && b.tasks.split() == s + 3, "a join asked for does not publish half");
    model::check(b.tasks.fork_is_plain(s + 4) && b.tasks.join_is_plain(s + 3), "a request is served twice");
    model::check(!b.tasks.join_is_plain(s + 2), "a public task is joined like a private one");
    what = b.tasks.join(s + 2);
    model::check(what.mine && !what.published && b.tasks.split() == s + 2, "a public task is not taken back");
    model::check(b.tasks.fork_is_plain(s + 2), "a fork nobody asked for, after a public join");
    model::check(b.tasks.join_is_plain(s + 2), "a join nobody asked for, after a public join");
    b.tasks.ask();
    model::check(fork(2) == outcome::published && b.tasks.split() == s + 3, "a fork asked for does not publish");
    for (std::ptrdiff_t i = 2; i >= 0; --i) what = b.tasks.join(s + i);
    model::check(what.mine && !b.tasks.maybe_stealable(), "the stack is not empty");
    model::check(!b.tasks.fork_is_plain(s), "with nothing public a fork is plain");
    model::check(b.tasks.steal().status == heist::detail::steal_status::empty,
                 "something was stolen from an empty stack");
    model::check(b.tasks.forked(s + 2, 3) == outcome::published && b.tasks.size_snapshot() == 3,
                 "tasks that were forked at once are not all public");
    model::check(b.tasks.publish_all(s + 9) && b.tasks.size_snapshot() == 8, "not all was made public");
    model::check(!b.tasks.publish_all(s + 8), "there is nothing left to make public");
    model::check(b.tasks.fork_is_plain(s + 7) && !b.tasks.fork_is_plain(s + 8),
                 "the limits are those of another stack");
    model::check(fork(8) == outcome::full, "the stack is full");
    for (std::ptrdiff_t i = 0; i < 8; ++i) {
      model::check(b.tasks.steal().item == s + i, "not the oldest was stolen");
      model::check(b.tasks.fork_is_plain(s) == (i < 7), "asked too early, or never");
    }
    model::check(!b.tasks.join(s + 7).mine, "a stolen task is joined as the owner's");
    b.tasks.ask();
    b.tasks.reclaim(s + 7);
    model::check(b.tasks.join_is_plain(s + 7) && !b.tasks.fork_is_plain(s + 7), "the request stays with the joins");
    model::check(fork(7) == outcome::published, "a slot that was stolen is not published again");
    b.tasks.ask();
    model::check(!b.tasks.join(s + 8).published, "there is nothing private to publish");
    model::check(b.tasks.join_is_plain(s + 8) && !b.tasks.fork_is_plain(s + 7), "the request stays with the joins");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const three_plain{.config = {.preemptions = 3, .odd_failures = 0}};

  all.verify("task stack: alone", three, alone);
  all.verify("task stack: +-+- and 2 steals, a slot used again", three, owner_and_thieves<4, "+-+-", 1, 2>);
  all.verify("task stack: ++-- and 2 steals", three, owner_and_thieves<4, "++--", 1, 2>);
  all.verify("task stack: ++-+-- and 2 steals", three, owner_and_thieves<4, "++-+--", 1, 2>);
  all.verify("task stack: +++--- and 2 steals", three, owner_and_thieves<4, "+++---", 1, 2>);
  all.verify("task stack: ++-++--- and 1 steal", three, owner_and_thieves<4, "++-++---", 1, 1>);
  all.verify("task stack: ++*-++--- and 1 steal", three, owner_and_thieves<4, "++*-++---", 1, 1>);
  all.verify("task stack: ++*-++--- and 2 steals", three, owner_and_thieves<4, "++*-++---", 1, 2>);
  all.verify("task stack: ++*-- and 2 steals", three, owner_and_thieves<4, "++*--", 1, 2>);
  all.verify("task stack: 2-- and 2 steals", three, owner_and_thieves<4, "2--", 1, 2>);
  all.verify("task stack: +- and 2 thieves", three, owner_and_thieves<4, "+-", 2, 1>);
  all.verify("task stack: ++-- and 2 thieves", three, owner_and_thieves<4, "++--", 2, 1>);
  all.verify("task stack: +-+- and 2 thieves", three_plain, owner_and_thieves<4, "+-+-", 2, 1>);
  all.verify("task stack: ++*-- and 2 thieves", three_plain, owner_and_thieves<4, "++*--", 2, 1>);
  all.verify("task stack: ++-- full at 1, 2 steals", three, owner_and_thieves<1, "++--", 1, 2>);
  all.verify("task stack: +++-+--- full at 2, 2 steals", three, owner_and_thieves<2, "+++-+---", 1, 2>);
  all.verify("task stack: +2+---- of which one fits, 3 steals", three, owner_and_thieves<2, "+2+----", 1, 3>);
  all.refute("task stack: the same, joined on the stack", three, "in which nothing was forked",
             owner_and_thieves<2, "+2+----", 1, 3, false>);
  return all.finish();
}
