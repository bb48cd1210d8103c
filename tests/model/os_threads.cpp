// Threads that change (H19). A blocking call hands its worker to another thread (core/sync/os_thread.hpp, used as in
// core/executor/blocking.ipp). A helper borrows the slot of a sleeping worker (core/sync/slot.hpp).
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/os_thread.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/sync/event_count.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/core/sync/slot.hpp"

namespace {

using model::env;

/// The state that threads that carry the worker change without an atomic operation.
struct worker {
  env::plain<int> work{0};
};

struct os_thread : heist::detail::basic_hand_over<worker, env> {
  os_thread* next = nullptr;
};

/// A frame that has left its worker; the thread that ran the call makes it runnable.
struct frame {
  frame* next = nullptr;
  env::plain<int> result{0};
};

/// An executor of one worker: its thread makes blocking calls, for each of which another one carries the worker.
struct executor {
  worker w;
  heist::detail::spin_lock<env> lock;
  env::plain<os_thread*> idle{nullptr};
  env::atomic<bool> stop{false};
  heist::detail::injection_queue<frame, env> ready;
  std::array<os_thread, 2> os_threads;
  std::array<frame, 1> frames;

  os_thread* find() {
    heist::detail::spin_guard guard{lock};
    os_thread* const c = idle;
    if (c != nullptr) idle = c->next;
    return c;
  }
  bool rest(os_thread& c) {
    heist::detail::spin_guard guard{lock};
    if (stop.load(std::memory_order_acquire)) return false;
    c.next = idle;
    idle = &c;
    return true;
  }
  void release_os_threads() {
    stop.store(true, std::memory_order_release);
    os_thread* c = nullptr;
    {
      heist::detail::spin_guard guard{lock};
      c = idle;
      idle = nullptr;
    }
    while (c != nullptr) {
      os_thread* const next = c->next;
      c->call(nullptr);
      c = next;
    }
  }

  /// Acts as the worker: runs ready frames until all frames have come back.
  void loop(int frames_left) {
    bool more = false;
    while (frames_left != 0) {
      frame* const f = ready.take(more);
      if (f == nullptr) {
        env::read_again();
        continue;
      }
      model::check(f->result == 7, "a frame resumes before its call was over");
      w.work = w.work + 1;
      --frames_left;
    }
    release_os_threads();
  }

  /// The first thread: begins on the worker, makes a call that blocks, and rests.
  void blocks(os_thread& me) {
    w.work = w.work + 1;
    os_thread* const other = find();
    model::check(other != nullptr, "nobody rests");
    other->call(&w);
    frames[0].result = 7;  // the call
    ready.push(frames[0]);
    worker* const next = rest(me) ? me.wait() : nullptr;
    model::check(next == nullptr, "a thread is called for nothing");
  }
};

void hand_over(model::execution& t) {
  auto& e = t.make<executor>();
  model::check(e.rest(e.os_threads[1]), "not stopped yet");
  t.thread([&e] { e.blocks(e.os_threads[0]); });
  t.thread([&e] {
    worker* const w = e.os_threads[1].wait();
    model::check(w == &e.w, "called without a worker");
    w->work = w->work + 1;
    e.loop(1);
  });
  t.finally([&e] { model::check(e.w.work == 3, "work was lost"); });
}

/// The thread that is called has hardly rested, and is called again.
void called_again(model::execution& t) {
  struct board {
    worker w;
    os_thread c;
    env::atomic<int> rests{0};
  };
  auto& b = t.make<board>();
  t.thread([&b] {
    for (int i = 0; i != 2; ++i) {
      while (b.rests.load(std::memory_order_acquire) != i + 1) env::read_again();
      if (i == 0) b.w.work = 1;
      b.c.call(i == 0 ? &b.w : nullptr);
    }
  });
  t.thread([&b] {
    for (int i = 0; i != 2; ++i) {
      b.rests.store(i + 1, std::memory_order_release);
      worker* const w = b.c.wait();
      model::check((w != nullptr) == (i == 0), "a thread was told of the wrong worker");
      if (w != nullptr) model::check(w->work == 1, "a worker is carried before it was left");
    }
  });
}

/// A worker that sleeps at its gate's event count, and the thread of its own.
struct host {
  heist::detail::event_count<env> notifier{1};
  heist::detail::basic_slot<env> slot;
  worker w;
  env::atomic<bool> task{false};
  env::atomic<int> helpers{0};

  /// As core/scheduler/worker_loop.hpp. `trims`: it is awake for a moment while it is among the sleepers.
  void sleep_until_there_is_a_task(bool trims) {
    while (!task.load(std::memory_order_acquire)) {
      auto const calls = notifier.prepare_wait();
      if (task.load(std::memory_order_acquire)) {
        notifier.cancel_wait();
        continue;
      }
      slot.lend();
      notifier.commit_wait(0, calls, trims ? 1 : 0, [this](auto) {
        if (!slot.keep()) return;
        w.work = w.work + 1;
        w.work = w.work - 1;
        slot.lend();
      });
      slot.take_back();
      w.work = w.work + 1;
      w.work = w.work - 1;
    }
    w.work = w.work + 1;
  }
  /// As core/executor/helper.ipp.
  void helper() {
    if (notifier.lend() == notifier.none) return;
    if (slot.borrow()) {
      w.work = w.work + 1;
      helpers.fetch_add(1, std::memory_order_relaxed);
      slot.give_back();
    }
    notifier.put_back(0);
    if (task.load(std::memory_order_relaxed)) notifier.notify_all();
  }
};

/// The worker sleeps, and is woken for a task while helpers come.
template <int Helpers, bool Trims>
void lent(model::execution& t) {
  auto& h = t.make<host>();
  t.thread([&h] { h.sleep_until_there_is_a_task(Trims); });
  t.thread([&h] {
    h.task.store(true, std::memory_order_release);
    h.notifier.notify_one();
  });
  for (int i = 0; i != Helpers; ++i) t.thread([&h] { h.helper(); });
  t.finally([&h] { model::check(h.w.work == 1 + h.helpers.load(std::memory_order_relaxed), "work was lost"); });
}

/// The worker has no thread, and helpers take turns at it.
template <int Helpers>
void for_callers(model::execution& t) {
  auto& h = t.make<host>();
  t.thread([&h] {
    h.w.work = 1;
    h.slot.lend();
  });
  for (int i = 0; i != Helpers; ++i) {
    t.thread([&h] {
      if (!h.slot.borrow()) return;
      h.w.work = h.w.work + 1;
      h.helpers.fetch_add(1, std::memory_order_relaxed);
      h.slot.give_back();
    });
  }
  t.finally([&h] { model::check(h.w.work == 1 + h.helpers.load(std::memory_order_relaxed), "work was lost"); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const two{.config = {.preemptions = 2}};
  model::limits const one{.config = {.preemptions = 1}};
  model::limits const spurious{.config = {.preemptions = 2, .spurious = 1}};

  all.verify("H19 carriers: a call that blocks, and the end", two, hand_over);
  all.verify("H19 carriers: called, and called again", three, called_again);
  all.verify("H19 slot: a helper while the host is woken", three, lent<1, false>);
  all.verify("H19 slot: the same, and the host is awake for a moment", spurious, lent<1, true>);
  all.verify("H19 slot: 2 helpers", one, lent<2, false>);
  all.verify("H19 slot: a worker for callers, and 2 of them", three, for_callers<2>);
  return all.finish();
}
