// The hand-off of fibers (H8): a parked fiber resumes once, on one thread at a time, and sees all its writes before it
// parked.
//
// core/scheduler/fiber.hpp and core/scheduler/core_fibers.ipp are no templates over Env. This file models their
// protocol (core/scheduler/README.md, "Parking"), function by function under the same names. The shipped parts are the
// completion, the deque and the injection queue. A fiber's stack is the plain fields `context` and `frame`, so a switch
// without order is a data race.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/core/sync/work_deque.hpp"

namespace {

using model::env;
using order = std::memory_order;
using completion = heist::detail::basic_completion<env>;

struct fiber;
struct worker;
struct executor;

/// A result that a task waits for; lives on the frame that waits.
struct job {
  completion finished;
  env::plain<int> result{0};

  void complete() {
    result = 7;
    finished.complete();
  }
};

constexpr std::size_t max_jobs = 2;

/// An entry of a deque or of the injection queue. It is the resumption of a fiber, a task that completes a job, or a
/// task that waits for one job after the other.
struct item {
  enum class kind { resumption, completes, waits };
  kind what{};
  fiber* self = nullptr;
  std::array<job*, max_jobs> jobs{};
  env::plain<item*> next{nullptr};
};

struct fiber {
  explicit fiber(executor& scheduler) : scheduler{scheduler} { resume_item.self = this; }

  executor& scheduler;
  env::plain<worker*> on{nullptr};
  env::plain<fiber*> next_cached{nullptr};
  item resume_item;
  struct parked_waiter : heist::detail::completion_waiter {
    fiber* self;
  };
  env::plain<completion*> awaited{nullptr};
  parked_waiter waiter{{&wake}, this};

  // The stack: the place where its frames resume (0: in the loop; n: in the task, before the nth job), and their item.
  env::plain<std::size_t> context{0};
  env::plain<item*> frame{nullptr};

  int runner = 0;  // for the harness: the thread that runs on it

  static void wake(heist::detail::completion_waiter& w) noexcept;
  bool wait_for(completion& c);
  static void after_park(fiber& f);
  void switch_and_become_cached(fiber& to);
  static void after_leaving_cached(fiber& f);

  /// Leaves `from` for `to`; `arrived` runs on the new stack.
  static void switch_to(fiber& from, fiber& to, void (*arrived)(fiber&)) {
    from.leave();
    to.enter();
    arrived(from);
  }
  void leave() {
    model::check(runner == model::self(), "a fiber is left by a thread that does not run it");
    context = static_cast<std::size_t>(context);  // registers are saved
    runner = 0;
  }
  void enter() {
    model::check(runner == 0, "a fiber is run by two threads at once");
    runner = model::self();
    context = static_cast<std::size_t>(context);
  }
};

struct worker {
  executor& scheduler;
  heist::detail::work_deque<item*, env> deque{2};
  fiber* current = nullptr;
  fiber* cached = nullptr;
  explicit worker(executor& scheduler) : scheduler{scheduler} {}
};

struct executor {
  static constexpr std::size_t max_workers = 2;
  static constexpr std::size_t max_fibers = 6;

  heist::detail::injection_queue<item, env> requests;
  std::array<worker*, max_workers> workers{};
  std::array<worker*, model::max_threads> of_thread{};
  std::array<fiber*, max_fibers> fibers{};  // all there are; freed with the executor
  env::atomic<std::size_t> made{0};
  std::size_t allowed;  // one for each worker and each task that waits
  env::atomic<int> waiting_tasks{0};

  explicit executor(std::size_t n) : allowed{n} {
    for (std::size_t i = 0; i < n; ++i) {
      workers[i] = new worker{*this};
      workers[i]->current = &acquire_fiber(*workers[i]);
      workers[i]->current->on = workers[i];
    }
  }
  ~executor() {
    for (fiber* f : fibers) delete f;
    for (worker* w : workers) delete w;
  }

  fiber& acquire_fiber(worker& w) {
    if (fiber* const f = w.cached; f != nullptr) {
      w.cached = f->next_cached;
      return *f;
    }
    std::size_t const number = made.fetch_add(1, order::relaxed);
    model::check(number < allowed, "more fibers were made than workers and waiting tasks need");
    return *(fibers[number] = new fiber{*this});
  }

  static void push(worker& w, item& i) { model::check(w.deque.push(&i), "push failed"); }
  void make_runnable(item& i) {
    if (worker* const w = of_thread[static_cast<std::size_t>(model::self())]; w != nullptr) {
      push(*w, i);
    } else {
      requests.push(i);
    }
  }

  /// Own deque, injection queue, the deques of other workers.
  item* find(worker& w) {
    if (item* const i = w.deque.pop()) return i;
    bool more = false;
    if (item* const i = requests.take(more); i != nullptr) return i;
    for (worker* stolen_from : workers) {
      if (stolen_from == nullptr || stolen_from == &w || stolen_from->deque.maybe_empty()) continue;
      if (item* const i = stolen_from->deque.steal().item) return i;
    }
    return nullptr;
  }

  /// A thread's life: steps of the current fiber, until all tasks that wait are over.
  void run(worker& w) {
    of_thread[static_cast<std::size_t>(model::self())] = &w;
    w.current->enter();
    while (waiting_tasks.load(order::acquire) != 0) {
      fiber& f = *w.current;
      model::check(f.on == &w, "a fiber goes on without knowing its worker");
      if (f.context != 0) {
        go_on(f);
        continue;
      }
      item* const i = find(w);
      if (i == nullptr) {
        env::read_again();
      } else if (i->what == item::kind::resumption) {
        f.switch_and_become_cached(*i->self);
      } else if (i->what == item::kind::completes) {
        i->jobs[0]->complete();
      } else {
        f.frame = i;
        f.context = 1;
      }
    }
  }

  /// The task that waits: stage n waits for its nth job, if there is one.
  void go_on(fiber& f) {
    item& task = *f.frame;
    std::size_t const stage = f.context;
    if (stage > 1) {
      job* const over = task.jobs[stage - 2];
      model::check(over->result == 7, "a fiber goes on before what it waited for");
      delete over;
    }
    if (stage <= max_jobs && task.jobs[stage - 1] != nullptr) {
      f.context = stage + 1;
      f.wait_for(task.jobs[stage - 1]->finished);
    } else {
      f.frame = nullptr;
      f.context = 0;
      waiting_tasks.fetch_sub(1, order::acq_rel);
    }
  }
};

/// False if there was nothing to wait for; otherwise the worker is on another fiber.
bool fiber::wait_for(completion& c) {
  if (c.is_ready()) return false;
  worker& w = *on;
  fiber& next = scheduler.acquire_fiber(w);
  awaited = &c;
  next.on = &w;
  w.current = &next;
  switch_to(*this, next, &after_park);
  return true;
}

void fiber::after_park(fiber& f) {
  worker& w = *f.on;  // still the worker that parked it: no thread can have resumed it
  bool const enlisted = f.awaited->add_entry(f.waiter);
  if (!enlisted) executor::push(w, f.resume_item);
}

void fiber::wake(heist::detail::completion_waiter& w) noexcept {
  fiber& f = *static_cast<parked_waiter&>(w).self;
  f.scheduler.make_runnable(f.resume_item);
}

void fiber::switch_and_become_cached(fiber& to) {
  worker& w = *on;
  to.on = &w;
  w.current = &to;
  switch_to(*this, to, &after_leaving_cached);
}

void fiber::after_leaving_cached(fiber& f) {
  worker& w = *f.on;
  f.next_cached = w.cached;
  w.cached = &f;
}

/// Tasks and jobs of an execution, in the deque of a worker before the threads start.
struct script {
  executor& e;
  std::array<item, 4> items;
  std::size_t used = 0;
  explicit script(executor& e) : e{e} {}

  void waits(std::size_t w, std::array<job*, max_jobs> jobs) {
    add(w, item::kind::waits, jobs);
    e.waiting_tasks.fetch_add(1, order::relaxed);
    ++e.allowed;
  }
  void completes(std::size_t w, job* j) { add(w, item::kind::completes, {j, nullptr}); }

 private:
  void add(std::size_t w, item::kind what, std::array<job*, max_jobs> jobs) {
    item& i = items[used++];
    i.what = what;
    i.jobs = jobs;
    executor::push(*e.workers[w], i);
  }
};

/// An executor and the tasks of its workers; go() starts the workers.
template <std::size_t Workers>
struct scene {
  model::execution& t;
  executor& e = t.make<executor>(Workers);
  script& s = t.make<script>(e);

  void go() {
    for (std::size_t w = 0; w < Workers; ++w) {
      t.thread([&e = e, w] { e.run(*e.workers[w]); });
    }
  }
  void outside(job* first, job* second = nullptr) {
    t.thread([first, second] {
      first->complete();
      if (second != nullptr) second->complete();
    });
  }
};

/// A task waits on one worker; a thread outside completes the job that it waits for.
template <std::size_t Workers>
void completed_outside(model::execution& t) {
  scene<Workers> x{t};
  job* const j = new job;
  x.s.waits(0, {j, nullptr});
  x.go();
  x.outside(j);
}

/// Another worker completes it, and may itself continue with the fiber.
void completed_by_worker(model::execution& t) {
  scene<2> x{t};
  job* const j = new job;
  x.s.waits(0, {j, nullptr});
  x.s.completes(1, j);
  x.go();
}

/// One worker alone parks the fiber and completes the job that the fiber waits for.
void completed_by_the_same(model::execution& t) {
  scene<1> x{t};
  job* const j = new job;
  x.s.completes(0, j);
  x.s.waits(0, {j, nullptr});
  x.go();
}

/// A fiber waits twice; its waiter and its resumption are used again.
void waits_twice(model::execution& t) {
  scene<1> x{t};
  job* const first = new job;
  job* const second = new job;
  x.s.waits(0, {first, second});
  x.go();
  x.outside(first, second);
}

/// The same on two workers: the second one completes both, and may continue with the fiber.
void waits_twice_for_worker(model::execution& t) {
  scene<2> x{t};
  job* const first = new job;
  job* const second = new job;
  x.s.waits(0, {first, second});
  x.s.completes(1, second);  // the deque's youngest is done first
  x.s.completes(1, first);
  x.go();
}

/// Two tasks wait on one worker: it needs three fibers, and spare ones are taken up again.
void two_wait(model::execution& t) {
  scene<1> x{t};
  job* const first = new job;
  job* const second = new job;
  x.s.waits(0, {first, nullptr});
  x.s.waits(0, {second, nullptr});
  x.go();
  x.outside(first, second);
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};

  all.verify("H8 fibers: completed by the same worker", three, completed_by_the_same);
  all.verify("H8 fibers: completed from outside, 1 worker", three, completed_outside<1>);
  all.verify("H8 fibers: completed from outside, 2 workers", three, completed_outside<2>);
  all.verify("H8 fibers: completed by another worker", three, completed_by_worker);
  all.verify("H8 fibers: waits twice", three, waits_twice);
  all.verify("H8 fibers: waits twice, for a worker", three, waits_twice_for_worker);
  all.verify("H8 fibers: 2 tasks wait on 1 worker", three, two_wait);
  return all.finish();
}
