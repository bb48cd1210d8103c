// Waits that close a cycle (H20): one of them is refused, whatever the order of the waits, and none where there is no
// cycle. The code repeats by hand how core/scheduler/checked_wait.ipp and core/executor/circular_wait.ipp use
// core/sync/wait_cycle.hpp.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/wait_cycle.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"

namespace {

using model::env;
using completion = heist::detail::basic_completion<env>;
using careful_waiter = heist::detail::basic_careful_waiter<env>;
using cycles = heist::detail::basic_wait_cycles<env, 8>;

constexpr std::uint32_t none = 99;

/// The state that a task and its handles share. The last owner frees it.
struct task {
  completion finished;
  env::atomic<std::uint32_t> owners{1};
  env::atomic<std::uint8_t> waits{0};
  env::atomic<std::uint8_t> resumed{0};
  env::plain<int> frame{0};  // 1: has been left
  env::plain<int> result{0};

  void release() {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

struct waiter : careful_waiter {
  explicit waiter(task& t) noexcept : careful_waiter{&wake_checked}, self{&t} {}
  task* self;

  static void wake_checked(heist::detail::completion_waiter& w) noexcept {
    auto& me = static_cast<waiter&>(w);
    task& t = *me.self;
    switch (me.notified()) {
      case careful_waiter::place::left:
        model::check(t.frame == 1, "a frame resumes that has not been left");
        return t.resumed.store(1, std::memory_order_release);
      case careful_waiter::place::back:
        delete &me;
        return;
      default:
        return;
    }
  }
};

/// A waiter that is a part of a task (wait_as_part): its waker frees it, unless it is entering.
struct part : careful_waiter {
  explicit part(task& t) noexcept : careful_waiter{&wake_up}, of{&t} {}
  task* of;

  static void wake_up(heist::detail::completion_waiter& w) noexcept {
    auto& me = static_cast<part&>(w);
    task& t = *me.of;
    place const was = me.notified();
    if (was == place::entering) return;
    delete &me;
    if (was != place::left) return;
    model::check(t.frame == 1, "a part goes on that has not been left");
    t.resumed.store(1, std::memory_order_release);
  }
};

/// A task that comes after another one, and has no code.
struct link : heist::detail::completion_waiter {
  explicit link(task& t) noexcept : completion_waiter{&wake_up}, of{&t} {}
  task* of;

  static void wake_up(heist::detail::completion_waiter& w) noexcept {
    auto* const me = static_cast<link*>(&w);
    task& t = *me->of;
    delete me;
    t.result = 7;
    t.finished.complete();
    t.release();
  }
};

completion const* end_of_waiter(heist::detail::completion_waiter const& w) {
  if (w.wake == &link::wake_up) return &static_cast<link const&>(w).of->finished;
  if (w.wake == &part::wake_up) {
    auto const& me = static_cast<part const&>(w);
    return me.has_stepped_back() ? nullptr : &me.of->finished;
  }
  auto const& me = static_cast<waiter const&>(w);
  return me.has_stepped_back() ? nullptr : &me.self->finished;
}

struct program {
  cycles all;
  env::atomic<int> rejected{0};
  std::array<task*, 4> tasks{};

  bool closes_cycle(task& self, task& awaited, careful_waiter& me) {
    if (self.finished.waiters() == nullptr) return false;
    if (awaited.waits.load(std::memory_order_relaxed) == 0) return false;
    return all.closed_by(self.finished, awaited.finished, &end_of_waiter,
                         [&me](std::size_t) { return me.step_back(); });
  }

  /// The task waits for `awaited`, if any, and ends.
  void run(task& self, task* awaited, bool in_part) {
    if (awaited != nullptr && in_part) wait_as_part(self, *awaited);
    if (awaited != nullptr && !in_part) wait(self, *awaited);
    self.result = 7;
    self.finished.complete();
    self.release();
  }

  void wait(task& self, task& awaited) {
    self.waits.store(1, std::memory_order_relaxed);
    auto* me = new waiter{self};
    me->begin();
    bool is_rejected = false;
    bool waits = awaited.finished.add_entry(*me);
    if (waits) {
      env::fence(std::memory_order_seq_cst);
      self.frame = 1;
      is_rejected = closes_cycle(self, awaited, *me);
      waits = !is_rejected && me->leave();
    }
    while (waits && self.resumed.load(std::memory_order_acquire) == 0) env::read_again();
    if (is_rejected) {
      rejected.fetch_add(1, std::memory_order_relaxed);
    } else {
      model::check(awaited.result == 7, "a task resumes before what it waited for");
      delete me;
    }
    awaited.release();
  }

  void wait_as_part(task& self, task& awaited) {
    self.waits.store(1, std::memory_order_relaxed);
    auto* me = new part{self};
    me->begin();
    bool const in_line = awaited.finished.add_entry(*me);
    bool is_rejected = false;
    if (in_line) {
      env::fence(std::memory_order_seq_cst);
      is_rejected = closes_cycle(self, awaited, *me);
    }
    self.frame = 1;
    if (is_rejected) {
      rejected.fetch_add(1, std::memory_order_relaxed);
    } else {
      if (!in_line || !me->leave()) {
        delete me;
      } else {
        while (self.resumed.load(std::memory_order_acquire) == 0) env::read_again();
      }
      model::check(awaited.result == 7, "a part goes on before what it waited for");
    }
    awaited.release();
  }
};

/// Task i waits for task Waits[i], the first `Parts` of them by a part. A task whose entry is `none` only ends.
/// `After`: the last task has no code, and comes after that one.
template <int Rejected, std::size_t Parts, std::uint32_t After, std::uint32_t... Waits>
void waits(model::execution& t) {
  constexpr std::array<std::uint32_t, sizeof...(Waits)> of{Waits...};
  constexpr std::size_t count = of.size() + (After != none ? 1 : 0);
  auto& p = t.make<program>();
  for (std::size_t i = 0; i != count; ++i) p.tasks[i] = new task;
  for (std::uint32_t const on : of) {
    if (on != none) p.tasks[on]->owners.fetch_add(1, std::memory_order_relaxed);
  }
  if constexpr (After != none) {
    p.tasks[count - 1]->waits.store(1, std::memory_order_relaxed);
    model::check(p.tasks[After]->finished.add_entry(*new link{*p.tasks[count - 1]}), "a task has ended already");
  }
  for (std::size_t i = 0; i != of.size(); ++i) {
    t.thread([&p, i, on = of[i]] { p.run(*p.tasks[i], on == none ? nullptr : p.tasks[on], i < Parts); });
  }
  t.finally([&p] {
    model::check(p.rejected.load(std::memory_order_relaxed) == Rejected, "not as many waits are refused as should be");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const two{.config = {.preemptions = 2}};

  all.verify("H20 circles of waits: of two tasks", three, waits<1, 0, none, 1, 0>);
  all.verify("H20 circles of waits: two tasks and one that comes after", three, waits<1, 0, 0, 1, 2>);
  all.verify("H20 circles of waits: of three tasks", two, waits<1, 0, none, 1, 2, 0>);
  all.verify("H20 circles of waits: of two tasks, for one of which a third waits", two, waits<1, 0, none, 1, 0, 0>);
  all.verify("H20 circles of waits: none, three tasks in a row", two, waits<0, 0, none, 1, 2, none>);
  all.verify("H20 circles of waits: none, two tasks wait for one that waits", two, waits<0, 0, none, 1, none, 0>);
  all.verify("H20 circles of waits: of two tasks, one of which waits in a part", three, waits<1, 1, none, 1, 0>);
  all.verify("H20 circles of waits: of two tasks, which both wait in a part", three, waits<1, 2, none, 1, 0>);
  all.verify("H20 circles of waits: of three tasks, two of which wait in a part", two, waits<1, 2, none, 1, 2, 0>);
  all.verify("H20 circles of waits: none, a part and a task wait for one that waits", two,
             waits<0, 1, none, 1, none, 0>);
  return all.finish();
}
