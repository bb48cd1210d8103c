// Child-first forks: a frame that has called its child resumes once, on the worker of the child or on that of a thief.
// The frame resumes after it has been left completely, and takes the child's outcome after the child's end. A slot is
// used again only when its thief has finished with it.
//
// core/fork/child_first.hpp, core/scheduler/fiber.hpp and core/scheduler/core_fibers.ipp are no templates over Env.
// This file models their protocol, function by function under the same names. The shipped parts are the task stack, the
// completion, the deque and the injection queue. A fiber's stack is a few plain fields, so a switch without order is a
// data race. Threads are workers; each runs the steps of its current fiber. Fibers are left for good, as by the native
// flow.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>
#include <new>

#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/core/sync/task_stack.hpp"

namespace {

using model::env;
using order = std::memory_order;
using completion = heist::detail::basic_completion<env>;

struct fiber;
struct worker;
struct executor;

/// The result that a leaf waits for.
struct job {
  completion finished;
  env::plain<int> result{0};

  void complete() {
    result = 7;
    finished.complete();
  }
};

/// On the stack of the fiber that calls; the completion has no value until the slot is made public.
struct caller_frame {
  explicit caller_frame(fiber* f) : parent{f} {}
  ~caller_frame() {
    if (made) finished.~completion();
  }
  env::plain<fiber*> parent;
  env::plain<bool> continuation_stolen{false};
  env::plain<int> out{0};
  env::plain<bool> made{false};
  union {
    completion finished;
  };
};

struct continuation_slot {
  env::atomic<caller_frame*> frame{nullptr};

  void make_public() {
    caller_frame& f = *frame.load(order::relaxed);  // its own
    model::check(!f.made, "a frame is made public twice");
    ::new (static_cast<void*>(&f.finished)) completion;
    f.made = true;
  }
};

/// An entry of the injection queue, or of a worker's own work: a fiber that can resume, a task, or one that completes a
/// job.
struct item {
  enum class kind { resumption, task, completes };
  kind what{};
  fiber* self = nullptr;
  job* awaited = nullptr;
  int calls = 1;
  env::plain<item*> next{nullptr};
};

/// Where the frame on a fiber resumes.
enum class place { loop, begin, run, called, has_waited, job_done, ending };

struct fiber {
  explicit fiber(executor& scheduler) : scheduler{scheduler} {
    resume_item.what = item::kind::resumption;
    resume_item.self = this;
  }

  executor& scheduler;
  env::plain<worker*> on{nullptr};
  env::plain<fiber*> next_cached{nullptr};
  env::plain<caller_frame*> called_by{nullptr};
  item resume_item;
  struct parked_waiter : heist::detail::completion_waiter {
    fiber* self;
  };
  env::plain<completion*> awaited{nullptr};
  parked_waiter waiter{{&wake}, this};

  // The stack.
  env::plain<place> context{place::loop};
  int level = 0;                  // the depth of calls above this one
  int calls = 0;                  // the number of calls still to make
  job* to_await = nullptr;        // the job that the leaf waits for
  caller_frame* frame = nullptr;  // the frame of the call in progress
  bool returned = false;          // the child has returned here: no thief took the continuation
  continuation_slot* at = nullptr;

  int runner = 0;  // for the harness: the thread that runs this fiber

  static void wake(heist::detail::completion_waiter& w) noexcept;
  void wait_for(completion& c);
  static void after_park(fiber& f);
  void switch_and_become_cached(fiber& to);
  static void after_leaving(fiber& f);

  void leave() {
    model::check(runner == model::self(), "a fiber is left by a thread that does not run it");
    context = static_cast<place>(context);  // registers are saved
    runner = 0;
  }
  void enter() {
    model::check(runner == 0, "a fiber is run by two threads at once");
    runner = model::self();
    context = static_cast<place>(context);
  }
};

constexpr std::size_t max_depth = 3;

struct worker {
  executor& scheduler;
  item* to_do = nullptr;  // linked; its own
  std::array<continuation_slot, max_depth> slots;
  heist::detail::task_stack<continuation_slot, env> continuations;
  continuation_slot* continuation_top = slots.data();
  fiber* current = nullptr;
  fiber* unused = nullptr;
  worker(executor& scheduler, bool alone) : scheduler{scheduler}, continuations{slots.data(), max_depth, alone} {}
};

struct executor {
  static constexpr std::size_t max_workers = 3;
  static constexpr std::size_t max_fibers = 10;

  heist::detail::injection_queue<item, env> requests;
  std::array<worker*, max_workers> workers{};
  std::array<fiber*, max_fibers> fibers{};  // all there are; freed with the executor
  env::atomic<std::size_t> made{0};
  env::atomic<int> tasks{0};
  int const leaf;                 // level of the calls that call no more
  bool const handed;              // thieves say when they have read a slot
  completion* overlap = nullptr;  // leaves are busy until it is done: a caller has gone on meanwhile

  executor(std::size_t n, int leaf, bool handed) : leaf{leaf}, handed{handed} {
    for (std::size_t i = 0; i < n; ++i) {
      workers[i] = new worker{*this, n == 1};
      workers[i]->current = &acquire_unused(*workers[i]);
    }
  }
  ~executor() {
    for (worker* w : workers) {
      if (w != nullptr) model::check(w->continuation_top == w->slots.data(), "a continuation is left on a worker");
      delete w;
    }
    for (fiber* f : fibers) delete f;
  }

  // --- core/scheduler/core_fibers.ipp ---

  fiber& acquire_unused(worker& w) {
    if (fiber* const f = w.unused; f != nullptr) {
      w.unused = f->next_cached;
      model::check(f->on == &w, "a fresh fiber belongs to another worker");
      return *f;
    }
    std::size_t const number = made.fetch_add(1, order::relaxed);
    model::check(number < max_fibers, "more fibers were made than the harness needs");
    fiber* const f = fibers[number] = new fiber{*this};
    f->on = &w;
    return *f;
  }

  /// Every worker may continue with a fiber: in one queue, in place of the deques.
  void make_runnable(item& i) { requests.push(i); }

  static bool join(worker& w, continuation_slot* at) {
    return w.continuations.join_is_plain(at) || w.continuations.join(at).mine;
  }

  caller_frame* take_own_continuation(worker& w, caller_frame* caller) {
    if (w.continuation_top == w.continuations.first()) return nullptr;
    continuation_slot* const at = w.continuation_top - 1;
    caller_frame& frame = *caller;  // a thief may have emptied the slot
    frame.continuation_stolen = true;
    bool const was_private = at >= w.continuations.split();
    if (!join(w, at)) {
      forget_continuations(w);
      return nullptr;
    }
    if (was_private) at->make_public();
    w.continuation_top = at;
    return &frame;
  }

  void forget_continuations(worker& w) const {
    for (continuation_slot* s = w.slots.data(); handed && s != w.continuation_top; ++s) {
      while (s->frame.load(order::acquire) != nullptr) env::read_again();
    }
    w.continuations.reclaim(w.continuations.first());
    w.continuation_top = w.continuations.first();
  }

  item* steal_continuation(worker& stolen_from) const {
    auto const stolen_task = stolen_from.continuations.steal();
    if (stolen_task.status == heist::detail::steal_status::empty) stolen_from.continuations.ask();
    if (stolen_task.status != heist::detail::steal_status::stolen) return nullptr;
    caller_frame* const frame = stolen_task.item->frame.load(order::relaxed);
    if (handed) stolen_task.item->frame.store(nullptr, order::release);
    fiber& f = *static_cast<fiber*>(frame->parent);
    if (f.called_by != nullptr) f.called_by->continuation_stolen = true;
    return &f.resume_item;
  }

  static void finish_child(fiber& child) {
    child.called_by = nullptr;
    child.context = place::loop;
  }

  // --- core/fork/child_first.hpp ---

  static void begin_child(fiber& child) {
    worker& w = *child.on;
    child.at = w.continuation_top - 1;
    model::check(child.at->frame.load(order::relaxed) == child.called_by, "the youngest continuation is another's");
    if (!w.continuations.fork_is_plain(child.at)) w.continuations.forked(child.at);
  }

  bool end_child(fiber& child, caller_frame const& frame) const {
    if (frame.continuation_stolen) return false;
    worker& w = *child.on;
    if (join(w, child.at)) {
      w.continuation_top = child.at;
      return true;
    }
    forget_continuations(w);
    return false;
  }

  void call_child(fiber& f) {
    worker& w = *f.on;
    f.frame = new caller_frame{&f};
    fiber& child = acquire_unused(w);
    continuation_slot* const at = w.continuation_top;
    model::check(at != w.continuations.end(), "more calls than the harness has slots");
    at->frame.store(f.frame, order::relaxed);
    w.continuation_top = at + 1;
    child.called_by = f.frame;
    child.level = f.level + 1;
    child.calls = 1;
    child.to_await = f.to_await;
    f.to_await = nullptr;
    f.returned = false;
    w.current = &child;
    f.leave();
    child.enter();
    child.context = place::begin;
  }

  /// At its end a child returns to its caller, or completes the call.
  void end_of_child(fiber& child) {
    caller_frame& frame = *child.called_by;
    frame.out = 7;
    if (!end_child(child, frame)) {
      frame.finished.complete();
      finish_child(child);
      return;
    }
    worker& w = *child.on;
    fiber& parent = *static_cast<fiber*>(frame.parent);
    child.context = place::loop;
    child.leave();
    parent.enter();
    parent.returned = true;
    model::check(parent.on == &w, "a child returns to a caller on another worker");
    w.current = &parent;
    child.next_cached = w.unused;
    w.unused = &child;
  }

  // --- workers ---

  /// The next item: the worker's own work, then a fiber that can resume, then another worker's continuation.
  item* find(worker& w) {
    bool more = false;  // no worker sleeps here
    if (w.to_do == nullptr) w.to_do = requests.take(more, ~0u);
    if (item* const i = w.to_do; i != nullptr) {
      w.to_do = i->next;
      return i;
    }
    for (worker* stolen_from : workers) {
      if (stolen_from == nullptr || stolen_from == &w) continue;
      if (item* const i = steal_continuation(*stolen_from)) return i;
    }
    return nullptr;
  }

  /// A thread's life: steps of the current fiber, until all tasks are over.
  void run(worker& w) {
    w.current->enter();
    for (;;) {
      fiber& f = *w.current;
      if (f.context == place::loop && tasks.load(order::acquire) == 0) return;
      model::check(f.on == &w, "a fiber goes on without knowing its worker");
      go_on(f, w);
    }
  }

  void go_on(fiber& f, worker& w) {
    switch (f.context) {
      case place::loop:
        return look_for_work(f, w);
      case place::begin:
        f.context = place::run;
        return begin_child(f);
      case place::run:
        if (f.level != leaf) {
          f.context = place::called;
          return call_child(f);
        }
        if (overlap != nullptr && !overlap->is_ready()) return env::read_again();
        f.context = place::job_done;
        if (f.to_await != nullptr) f.wait_for(f.to_await->finished);
        return;
      case place::called:
        f.context = place::has_waited;
        if (overlap != nullptr && !f.returned) overlap->complete();
        if (!f.returned) f.wait_for(f.frame->finished);
        return;
      case place::has_waited:
        model::check(f.frame->out == 7, "a frame goes on before its child has ended");
        delete f.frame;
        f.context = --f.calls == 0 ? place::ending : place::run;
        return;
      case place::job_done:
        if (f.to_await != nullptr) {
          model::check(f.to_await->result == 7, "a fiber goes on before what it waited for");
          delete f.to_await;
          f.to_await = nullptr;
        }
        f.context = place::ending;
        return;
      case place::ending:
        if (f.called_by != nullptr) return end_of_child(f);
        f.context = place::loop;
        tasks.fetch_sub(1, order::acq_rel);
        return;
    }
  }

  void look_for_work(fiber& f, worker& w) {
    model::check(w.continuation_top == w.slots.data(), "a loop runs while a caller waits for it");
    item* const i = find(w);
    if (i == nullptr) {
      env::read_again();
    } else if (i->what == item::kind::resumption) {
      f.switch_and_become_cached(*i->self);
    } else if (i->what == item::kind::completes) {
      i->awaited->complete();
    } else {
      f.level = 0;
      f.calls = i->calls;
      f.to_await = i->awaited;
      f.context = place::run;
    }
  }
};

void fiber::wait_for(completion& c) {
  if (c.is_ready()) return;
  worker& w = *on;
  caller_frame* const own = scheduler.take_own_continuation(w, called_by);
  fiber& to = own != nullptr ? *static_cast<fiber*>(own->parent) : scheduler.acquire_unused(w);
  awaited = &c;
  to.on = &w;
  w.current = &to;
  leave();
  to.enter();
  after_park(*this);
}

void fiber::after_park(fiber& f) {
  bool const enlisted = f.awaited->add_entry(f.waiter);
  if (!enlisted) f.scheduler.make_runnable(f.resume_item);
}

void fiber::wake(heist::detail::completion_waiter& w) noexcept {
  fiber& f = *static_cast<parked_waiter&>(w).self;
  f.scheduler.make_runnable(f.resume_item);
}

void fiber::switch_and_become_cached(fiber& to) {
  worker& w = *on;
  to.on = &w;
  w.current = &to;
  leave();
  to.enter();
  after_leaving(*this);
}

void fiber::after_leaving(fiber& f) {
  worker& w = *f.on;
  f.next_cached = w.unused;
  w.unused = &f;
}

/// Where the job is completed that the leaf of the first task waits for. `caller`: that resumes while the leaf is busy.
enum class completes { no, outside, remote, caller };

/// Workers of which the first has `Tasks` tasks, each of which makes `Calls` calls, one after the other, `Depth` deep.
template <std::size_t Workers, int Tasks, int Calls, int Depth, completes Job = completes::no, bool Handed = true>
void calls(model::execution& t) {
  auto& e = t.make<executor>(Workers, Depth, Handed);
  auto& items = t.make<std::array<item, 3>>();
  auto const add = [](worker& w, item& i) {
    i.next = w.to_do;
    w.to_do = &i;
  };
  if (Job == completes::caller) e.overlap = &t.make<completion>();
  job* const j = Job == completes::no || Job == completes::caller ? nullptr : new job;
  for (std::size_t i = 0; i < Tasks; ++i) {
    items[i].what = item::kind::task;
    items[i].calls = Calls;
    items[i].awaited = i + 1 == Tasks ? j : nullptr;  // it is run first
    add(*e.workers[0], items[i]);
    e.tasks.fetch_add(1, order::relaxed);
  }
  if (Job == completes::remote) {
    items[Tasks].what = item::kind::completes;
    items[Tasks].awaited = j;
    add(*e.workers[1], items[Tasks]);
  }
  for (std::size_t w = 0; w < Workers; ++w) {
    t.thread([&e, w] { e.run(*e.workers[w]); });
  }
  if (Job == completes::outside) t.thread([j] { j->complete(); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};
  model::limits const wide{.config = {.steps = 3000}, .random_executions = 50'000};

  all.verify("continuations: 1 call, 2 workers", three, calls<2, 1, 1, 1>);
  all.verify("continuations: 1 call, its caller goes on meanwhile", three, calls<2, 1, 1, 1, completes::caller>);
  all.verify("continuations: 2 calls, 2 workers", two, calls<2, 1, 2, 1>);
  all.verify("continuations: 2 tasks, 2 workers, a slot used again", two, calls<2, 2, 1, 1>);
  all.refute("continuations: the same, slots not handed back", two, "", calls<2, 2, 1, 1, completes::no, false>);
  all.verify("continuations: 2 deep, 2 workers", two, calls<2, 1, 1, 2>);
  all.verify("continuations: 2 deep, 3 workers, random", wide, calls<3, 1, 1, 2>);
  all.verify("continuations: the child waits, 1 worker", three, calls<1, 1, 1, 1, completes::outside>);
  all.verify("continuations: the child waits, 2 workers", two, calls<2, 1, 1, 1, completes::outside>);
  all.verify("continuations: the child waits for the other worker", three, calls<2, 1, 1, 1, completes::remote>);
  all.verify("continuations: 2 deep, the leaf waits, 1 worker", three, calls<1, 1, 1, 2, completes::outside>);
  all.verify("continuations: 2 deep, the leaf waits, 2 workers", two, calls<2, 1, 1, 2, completes::remote>);
  all.verify("continuations: 2 calls, 2 deep, random", wide, calls<2, 1, 2, 2, completes::remote>);
  return all.finish();
}
