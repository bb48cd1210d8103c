// The squad protocol (H10): no inter-squad task lies in a pool while a squad that may take it is free and its head
// sleeps. A squad is busy with one task at a time. Frames that can resume find a member. Workers here are as in
// core/scheduler/worker_loop.hpp. Unless a harness says otherwise, a task that is taken keeps its worker busy for ever:
// a lost wakeup is a deadlock.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/locality/squads/squad_set.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"

namespace {

using model::env;
using order = std::memory_order;

constexpr heist::detail::idle_config wakes_on_push{false, false, true};
constexpr heist::detail::idle_config keeps_a_thief{false, true, false};

/// Other events that may happen. Workers look only for events that can happen in the harness.
enum class also { nothing, flat, stop, collects };

constexpr std::size_t max_tasks = 7;
constexpr std::size_t max_squads = 2;

template <class Env, also Also>
struct machine {
  struct task;
  struct frame;
  using squads_type = heist::detail::squad_set<task, frame, Env>;
  using squad_type = typename squads_type::squad_type;

  /// A frame of a task's subtree that resumes, or a flat task that every worker may take.
  struct frame {
    frame* next = nullptr;
    task* of = nullptr;
    env::plain<int> payload{7};
    env::plain<int> runs{0};
  };
  struct task {
    task* older = nullptr;
    task* newer = nullptr;
    env::plain<int> payload{7};
    env::plain<int> runs{0};
    env::plain<int> result{0};
    task* parent = nullptr;
    std::size_t first_child = 0, children = 0;  // of an inter-squad task that forks: its place in `tasks`
    env::plain<bool> holds{false};
    bool hands_over = false;  // its subtree ends in `rest`, which any member may run
    frame rest;
    env::atomic<int> outstanding{0};
    env::plain<squad_type*> scheduler{nullptr};  // the squad that it was suspended in
  };
  struct worker {
    std::size_t number;
    squad_type& in;
    bool head = true;
  };
  struct stolen_task {
    task* inter = nullptr;
    frame* other = nullptr;
    bool beside = false;  // a task that does not keep the squad busy
    explicit operator bool() const { return inter != nullptr || other != nullptr; }
  };

  machine(std::size_t squads, std::size_t workers, heist::detail::idle_config config) {
    set.make(squads, workers, config);
  }

  squads_type set;
  heist::detail::injection_queue<frame, Env> requests;
  env::atomic<bool> stop{false};
  env::atomic<task*> collected{nullptr};  // the children that a scope has not dealt; shipped: a list under a lock
  std::array<task, max_tasks> tasks;
  std::array<frame, 2> frames;
  bool beside_is_fine = false;
  std::array<env::plain<int>, max_squads> inside{0, 0};  // subtrees that a squad runs
  env::atomic<int> left{0};                              // tasks without a parent that have not ended; 0: not counted

  // --- what runs ---

  void enter(squad_type& s) {
    model::check(inside[s.number] == 0, "a squad runs two inter-squad tasks at once");
    inside[s.number] = 1;
  }
  void leave(squad_type& s, bool by_head) {
    inside[s.number] = 0;
    set.release(s, by_head);
  }
  /// Before there are threads: `s` runs something already.
  void occupy(std::size_t s) {
    set[s].pool.set_busy();
    inside[s] = 1;
  }

  static void begin(frame& f) {
    model::check(f.payload == 7, "a frame came out without what was written before");
    model::check(f.runs == 0, "a frame ran twice");
    f.runs = 1;
  }
  void begin(worker w, stolen_task b, int times = 1) {
    task& t = *b.inter;
    model::check(t.payload == 7, "a task came out without what was written before");
    t.runs += 1;
    model::check(t.runs <= times, "a task ran too often");
    model::check(!b.beside || beside_is_fine, "a task was taken beside one that waits for nothing outside");
    t.holds = !b.beside;
    if (t.holds) enter(w.in);
  }

  /// A task to its end, as locality/squads/inter_task.hpp does it.
  void run(worker w, stolen_task b) {
    if (b.other != nullptr) {
      begin(*b.other);
      if (b.other->of != nullptr) end(w, *b.other->of);
      return;
    }
    task& t = *b.inter;
    begin(w, b, t.children == 0 ? 1 : 2);
    if (t.children != 0 && t.runs == 1) return suspend(w, t);
    if (t.hands_over) return set.add_ready(w.in, t.rest);
    end(w, t);
  }
  void suspend(worker w, task& t) {
    t.scheduler = &w.in;
    t.outstanding.store(static_cast<int>(t.children) + 1, order::relaxed);
    for (std::size_t i = t.children; i-- != 0;) set.add(w.in, tasks[t.first_child + i]);
    if (t.holds) leave(w.in, w.head);
    child_ended(t);  // fiber::after_park enlists after it has released the squad
  }
  void child_ended(task& parent) {
    if (parent.outstanding.fetch_sub(1, order::acq_rel) == 1) set.add_pinned(*parent.scheduler, parent);
  }
  void end(worker w, task& t) {
    for (std::size_t i = 0; i < t.children; ++i) {
      model::check(tasks[t.first_child + i].result == 1, "a parent went on before its children had ended");
    }
    t.result = 1;
    task* const parent = t.parent;
    if (t.holds) leave(w.in, w.head);
    if (parent != nullptr) {
      child_ended(*parent);
    } else if (left.fetch_sub(1, order::acq_rel) == 1) {
      stop_all();
    }
  }
  void stop_all() {
    stop.store(true, order::release);
    set[0].gate.wake_all();
  }

  /// tasks[0] forks; with `deep` its children do, too.
  void plant(bool deep) {
    auto const fork = [this](std::size_t parent, std::size_t first) {
      tasks[parent].first_child = first;
      tasks[parent].children = 2;
      tasks[first].parent = tasks[first + 1].parent = &tasks[parent];
    };
    fork(0, 1);
    if (deep) {
      fork(1, 3);
      fork(2, 5);
    }
    left.store(1, order::relaxed);
  }

  /// A scope has forked its first child.
  void collect(task& t) {
    collected.store(&t, order::release);
    set.collect_begins();
  }
  /// A head, or the scope itself, which joins: squad_scope::claim and distribute_claimed, or start.
  bool distribute() {
    task* const t = collected.exchange(nullptr, order::acq_rel);
    if (t == nullptr) return false;
    set.collect_ends();
    set.add(set[0], *t);
    return true;
  }

  // --- workers ---

  void submit(frame& f) {
    requests.push(f);
    set[0].gate.submitted();
  }

  bool work_for(worker w) const {
    return (Also == also::flat && !requests.maybe_empty()) || set.may_take(w.in, w.head);
  }
  bool stopping() const { return Also == also::stop && stop.load(order::acquire); }

  stolen_task explore(worker w) {
    if (frame* const f = set.take_ready(w.in)) return {nullptr, f};
    if (w.head) {
      auto from = static_cast<std::uint32_t>((w.in.number + 1) % set.size());
      if (task* const t = set.head_take(w.in, from)) return {t, nullptr};
      if (Also == also::collects && !w.in.pool.busy() && set.collects() && distribute()) {
        if (task* const t = set.head_take(w.in, from)) return {t, nullptr};
      }
    }
    if (Also == also::flat) {
      bool more = false;
      frame* const f = requests.take(more);
      if (more) w.in.gate.submitted();
      if (f != nullptr) return {nullptr, f};
    }
    stolen_task last;
    if (w.head) last.inter = set.head_take_any(w.in, last.beside);
    return last;
  }

  /// worker_loop::wait_for_task. `looks`: it has not looked before.
  stolen_task search(worker w, bool looks = true) {
    auto& gate = w.in.gate;
    gate.start_stealing();
    bool notified = false;
    if (w.head) set.head_returns(w.in);
    for (;; looks = true) {
      if (stolen_task const b = looks ? explore(w) : stolen_task{}) {
        gate.found_work([&] { return work_for(w); }, notified);
        if (w.head) set.head_leaves(w.in);
        return b;
      }
      if (stopping()) {
        gate.wake_all();
        return {};
      }
      if (w.head) set.head_falls_asleep(w.in);
      auto const outcome = gate.try_sleep(
          w.number, [&] { return work_for(w) || stopping(); }, [] {}, [] {});
      if (w.head) set.head_is_awake(w.in);
      notified = outcome == heist::detail::idle_outcome::slept;
      if (notified) {
        gate.start_stealing();
      } else {
        Env::relax();
      }
    }
  }
  /// worker_loop::run.
  void work(worker w, bool looks = true) {
    for (; stolen_task b = search(w, looks); looks = true) {
      w.in.gate.set_active();
      for (; b; b = {nullptr, set.take_ready(w.in)}) run(w, b);
      w.in.gate.set_inactive();
    }
  }
  /// A head whose task never ends.
  void take_inter(worker w, bool looks = true) {
    stolen_task const b = search(w, looks);
    model::check(b.inter != nullptr, "there was a task for the head");
    begin(w, b);
  }
  /// A worker whose task, flat or not, never ends.
  void take_any(worker w, bool looks = true) {
    stolen_task const b = search(w, looks);
    model::check(bool{b}, "there was a task");
    b.inter != nullptr ? begin(w, b) : begin(*b.other);
  }
};

enum class how { open, pinned };

template <class Machine>
void add(Machine& m, how h, std::size_t squad, std::size_t task) {
  h == how::open ? m.set.add(m.set[squad], m.tasks[task]) : m.set.add_pinned(m.set[squad], m.tasks[task]);
}

/// Q1: a thread adds a task to a free squad whose head may be about to sleep. `Remote`: the thread adds it to a squad
/// that is busy for ever, so another head must come.
template <class Env, how How, bool Remote = false>
void added(model::execution& t) {
  auto& m = t.make<machine<Env, also::nothing>>(Remote ? 2 : 1, 1, wakes_on_push);
  if (Remote) m.occupy(0);
  t.thread([&m] { add(m, How, 0, 0); });
  t.thread([&m] { m.take_inter({0, m.set[m.set.size() - 1]}); });
}

/// Q1: a scope collects a child, and does something else for ever, or joins soon; the head may be about to sleep.
template <class Env, bool Joins>
void collected(model::execution& t) {
  auto& m = t.make<machine<Env, also::collects>>(1, 1, wakes_on_push);
  t.thread([&m] {
    m.collect(m.tasks[0]);
    if (Joins) m.distribute();
  });
  t.thread([&m] { m.take_inter({0, m.set[0]}); });
}

/// The collecting scope ends. There is nothing more to do, and heads may sleep.
void collected_and_distributed(model::execution& t) {
  auto& m = t.make<machine<env, also::collects>>(1, 1, wakes_on_push);
  t.thread([&m] {
    m.set.collect_begins();
    m.set.collect_ends();
    model::check(!m.work_for({0, m.set[0]}), "a head stays awake though nothing is collected");
  });
}

/// Q2: the head's squad is busy; a member ends that while a scope collects.
template <class Env>
void collected_and_released(model::execution& t) {
  auto& m = t.make<machine<Env, also::collects>>(1, 1, wakes_on_push);
  m.occupy(0);
  t.thread([&m] { m.collect(m.tasks[0]); });
  t.thread([&m] { m.leave(m.set[0], false); });
  t.thread([&m] { m.take_inter({0, m.set[0]}); });
}

/// Q1: two tasks, added by one or by two, for two free squads.
template <bool ByTwo, bool Looks>
void added_twice(model::execution& t) {
  auto& m = t.make<machine<env, also::nothing>>(2, 2, wakes_on_push);
  t.thread([&m] {
    add(m, how::open, 0, 0);
    if (!ByTwo) add(m, how::open, 0, 1);
  });
  if (ByTwo) t.thread([&m] { add(m, how::open, 1, 1); });
  for (std::size_t s = 0; s < 2; ++s) {
    t.thread([&m, s] { m.take_inter({s, m.set[s]}, Looks); });
  }
}

/// Q1: the squad has another member, which may be about to sleep as well and can take nothing from a pool.
template <how How, bool Looks>
void added_next_to_a_member(model::execution& t) {
  auto& m = t.make<machine<env, also::stop>>(1, 2, wakes_on_push);
  t.thread([&m] { add(m, How, 0, 0); });
  t.thread([&m] {
    m.take_inter({0, m.set[0]}, Looks);
    m.stop_all();
  });
  t.thread([&m] { model::check(!m.search({1, m.set[0], false}, Looks), "there was nothing for a member"); });
}

/// Q2: the squad is busy; a member ends that while another thread adds a task and the head may be about to sleep.
/// `Remote`: the task goes to another squad, which is busy for ever.
template <class Env, how How, bool Remote = false>
void released(model::execution& t) {
  auto& m = t.make<machine<Env, also::nothing>>(Remote ? 2 : 1, 1, wakes_on_push);
  std::size_t const busy = m.set.size() - 1;
  m.occupy(busy);
  if (Remote) m.occupy(0);
  t.thread([&m] { add(m, How, 0, 0); });
  t.thread([&m, busy] { m.leave(m.set[busy], false); });
  t.thread([&m, busy] { m.take_inter({0, m.set[busy]}); });
}

/// Q2: the head ends it and searches.
template <class Env, how How>
void released_by_head(model::execution& t) {
  auto& m = t.make<machine<Env, also::nothing>>(1, 1, wakes_on_push);
  m.occupy(0);
  t.thread([&m] { add(m, How, 0, 0); });
  t.thread([&m] {
    m.leave(m.set[0], true);
    m.take_inter({0, m.set[0]});
  });
}

/// The moment when a member ends the first task of squad 0.
enum class busy { never, until_after, until_before };

/// Q3: a task is added that belongs to squad 0, whose head may take a flat task instead; then the other head must come.
template <class Env, busy Busy, bool Looks>
void pinned_and_left(model::execution& t) {
  auto& m = t.make<machine<Env, also::flat>>(2, 2, wakes_on_push);
  if (Busy != busy::never) m.occupy(0);
  m.requests.push(m.frames[0]);
  t.thread([&m] {
    if (Busy == busy::until_before) m.leave(m.set[0], false);
    add(m, how::pinned, 0, 0);
    if (Busy == busy::until_after) m.leave(m.set[0], false);
  });
  for (std::size_t s = 0; s < 2; ++s) {
    t.thread([&m, s] { m.take_any({s, m.set[s]}, s == 0 || Looks); });
  }
}

/// Q2: the subtree that keeps the squad busy for ever begins to wait for something outside: its head takes one task
/// more.
template <class Env, how How>
void waits_outside(model::execution& t) {
  auto& m = t.make<machine<Env, also::nothing>>(1, 1, wakes_on_push);
  m.occupy(0);
  m.beside_is_fine = true;
  t.thread([&m] { add(m, How, 0, 0); });
  t.thread([&m] { m.set.wait_outside_begins(m.set[0]); });
  t.thread([&m] { m.take_inter({0, m.set[0]}); });
}

/// The wait is over and a member ends the subtree, while the head takes a task beside it; both tasks get their turn.
template <int Squads>
void beside(model::execution& t) {
  auto& m = t.make<machine<env, also::stop>>(std::size_t{Squads}, std::size_t{Squads}, wakes_on_push);
  m.left.store(2, order::relaxed);
  m.occupy(0);
  m.beside_is_fine = true;
  m.set.wait_outside_begins(m.set[0]);
  for (std::size_t i = 0; i < 2; ++i) m.set.add_pinned(m.set[0], m.tasks[i]);
  t.thread([&m] {
    m.set.wait_outside_ends(m.set[0]);
    m.leave(m.set[0], false);
  });
  for (std::size_t s = 0; s < Squads; ++s) {
    t.thread([&m, s] { m.work({s, m.set[s]}); });
  }
}

/// Heads compete for open and pinned tasks, which end.
template <int Tasks>
void contend(model::execution& t) {
  auto& m = t.make<machine<env, also::stop>>(2, 2, wakes_on_push);
  m.left.store(Tasks, order::relaxed);
  m.set.add(m.set[0], m.tasks[0]);
  if (Tasks > 2) m.set.add_pinned(m.set[1], m.tasks[2]);
  t.thread([&m] { m.set.add(m.set[0], m.tasks[1]); });
  for (std::size_t s = 0; s < 2; ++s) {
    t.thread([&m, s] { m.work({s, m.set[s]}); });
  }
}

/// A task suspends itself, its children run in any squad, and the last of them lets it resume. A thread outside adds
/// the task, or the task is there already.
template <class Env, bool KeepsThief, bool Outside, bool Deep>
void suspended(model::execution& t) {
  auto& m = t.make<machine<Env, also::stop>>(2, 2, KeepsThief ? keeps_a_thief : wakes_on_push);
  m.plant(Deep);
  if (Outside) {
    t.thread([&m] { m.set.add(m.set[0], m.tasks[0]); });
  } else {
    m.set.add(m.set[0], m.tasks[0]);
  }
  for (std::size_t s = 0; s < 2; ++s) {
    t.thread([&m, s] { m.work({s, m.set[s]}); });
  }
}

/// Frames of a busy squad can resume, one for each member.
template <class Env, int Frames, bool KeepsThief, bool Looks>
void ready(model::execution& t) {
  auto& m = t.make<machine<Env, also::nothing>>(1, 2, KeepsThief ? keeps_a_thief : wakes_on_push);
  m.occupy(0);
  t.thread([&m] {
    for (std::size_t f = 0; f < Frames; ++f) m.set.add_ready(m.set[0], m.frames[f]);
  });
  for (std::size_t w = 0; w < Frames; ++w) {
    t.thread([&m, w] { m.take_any({w, m.set[0], w == 0}, Looks); });
  }
}

/// There are two frames. One member has just ended another task, and so is no thief. It takes one frame and puts one
/// back while the other member falls asleep.
template <class Env>
void put_back(model::execution& t) {
  auto& m = t.make<machine<Env, also::nothing>>(1, 2, wakes_on_push);
  m.occupy(0);
  for (auto& f : m.frames) m.set[0].ready.push(f);
  t.thread([&m] {
    auto* const f = m.set.take_ready(m.set[0]);
    f != nullptr ? m.begin(*f) : m.take_any({0, m.set[0]});
  });
  t.thread([&m] { m.take_any({1, m.set[0], false}, false); });
}

/// Squads of two: heads take tasks, whose subtrees end in frames that any member takes.
template <bool KeepsThief, int Squads>
void handed_over(model::execution& t) {
  auto& m = t.make<machine<env, also::stop>>(std::size_t{Squads}, std::size_t{2} * Squads,
                                             KeepsThief ? keeps_a_thief : wakes_on_push);
  constexpr std::size_t count = Squads == 1 ? 2 : 3;
  m.left.store(count, order::relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    m.tasks[i].hands_over = true;
    m.tasks[i].rest.of = &m.tasks[i];
  }
  m.set.add(m.set[0], m.tasks[0]);
  t.thread([&m] { m.set.add(m.set[0], m.tasks[1]); });
  if (count > 2) m.set.add_pinned(m.set[1], m.tasks[2]);
  for (std::size_t w = 0; w < 2 * Squads; ++w) {
    t.thread([&m, w] { m.work({w, m.set[w / 2], w % 2 == 0}); });
  }
}

/// The same, but the task that was taken beside keeps the head for ever: another head must come for the task that is
/// pinned then.
void outside_forever(model::execution& t) {
  auto& m = t.make<machine<env, also::nothing>>(std::size_t{2}, std::size_t{2}, wakes_on_push);
  m.occupy(0);
  m.beside_is_fine = true;
  m.set.wait_outside_begins(m.set[0]);
  m.set.add_pinned(m.set[0], m.tasks[0]);
  t.thread([&m] {
    m.set.wait_outside_ends(m.set[0]);
    m.leave(m.set[0], false);
    add(m, how::pinned, 0, 1);
  });
  for (std::size_t s = 0; s < 2; ++s) {
    t.thread([&m, s] { m.take_inter({s, m.set[s]}, s == 0); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  using model::symmetric_env;
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const three_plain{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};
  model::limits const one{.config = {.preemptions = 1, .odd_failures = 0}};
  model::limits const wide{.config = {.steps = 4000}, .random_executions = 50'000};

  all.verify("squads: a task is added, the head falls asleep", three, added<env, how::open>);
  all.verify("squads: the same without membarrier", three, added<symmetric_env, how::open>);
  all.verify("squads: a pinned one", three, added<env, how::pinned>);
  all.verify("squads: to a squad busy for ever", three, added<env, how::open, true>);
  all.verify("squads: pinned to a squad busy for ever", three, added<env, how::pinned, true>);
  all.verify("squads: a scope collects", three, collected<env, false>);
  all.verify("squads: a scope collects, without membarrier", three, collected<symmetric_env, false>);
  all.verify("squads: a scope collects, and joins", three, collected<env, true>);
  all.verify("squads: nothing is collected any more", three, collected_and_distributed);
  all.verify("squads: a scope collects, a member releases", three_plain, collected_and_released<env>);
  all.verify("squads: a frame can go on", three, ready<env, 1, false, true>);
  all.verify("squads: a frame can go on (adaptive)", three, ready<env, 1, true, true>);
  all.verify("squads: 2 frames, one is put back", three_plain, put_back<env>);
  all.verify("squads: released by the head", three, released_by_head<env, how::open>);
  all.verify("squads: released by the head, a pinned one", three, released_by_head<env, how::pinned>);
  all.verify("squads: released by a member, a task is added", three_plain, released<env, how::open>);
  all.verify("squads: released, a pinned one", three_plain, released<env, how::pinned>);
  all.verify("squads: released, elsewhere", three_plain, released<env, how::open, true>);
  all.verify("squads: the head falls asleep beside a member", two, added_next_to_a_member<how::open, false>);
  all.verify("squads: pinned, the head leaves", two, pinned_and_left<env, busy::never, false>);
  all.verify("squads: pinned, then a member releases", one, pinned_and_left<env, busy::until_after, false>);
  all.verify("squads: a member releases, then pinned", one, pinned_and_left<env, busy::until_before, false>);
  all.verify("squads: the subtree waits outside", three_plain, waits_outside<env, how::open>);
  all.verify("squads: the subtree waits outside, a pinned task", three_plain, waits_outside<env, how::pinned>);
  all.verify("squads: a task is taken beside another", three_plain, beside<1>);
  all.verify("squads: the same, it keeps the head for ever, random", wide, outside_forever);
  all.verify("squads: a task is taken beside another, 2 squads, random", wide, beside<2>);
  all.verify("squads: 2 frames can go on", two, ready<env, 2, false, false>);
  all.verify("squads: a task suspends itself", one, suspended<env, false, false, false>);
  all.verify("squads: 2 frames can go on, random", wide, ready<env, 2, false, false>);
  all.verify("squads: 2 tasks, 2 squads, random", wide, added_twice<false, true>);
  all.verify("squads: 2 tasks, added by two, random", wide, added_twice<true, true>);
  all.verify("squads: beside a member, random", wide, added_next_to_a_member<how::pinned, true>);
  all.verify("squads: pinned, the head leaves, random", wide, pinned_and_left<env, busy::never, true>);
  all.verify("squads: heads compete for 2 tasks, random", wide, contend<2>);
  all.verify("squads: heads compete for 3 tasks, random", wide, contend<3>);
  all.verify("squads: a tree from outside, random", wide, suspended<env, false, true, false>);
  all.verify("squads: a tree from outside, random (adaptive)", wide, suspended<env, true, true, false>);
  all.verify("squads: a tree of 7 tasks, random", wide, suspended<env, false, false, true>);
  all.verify("squads: subtrees end in frames, 1 squad, random", wide, handed_over<false, 1>);
  all.verify("squads: subtrees end in frames, random", wide, handed_over<false, 2>);
  all.verify("squads: subtrees end in frames, random (adaptive)", wide, handed_over<true, 2>);
  return all.finish();
}
