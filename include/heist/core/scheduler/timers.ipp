// Bodies of timers.hpp.
#pragma once

#include "heist/core/scheduler/timers.hpp"

#include <pthread.h>  // pthread_setname_np

#include <string>
#include <system_error>
#include <thread>
#include <utility>  // exchange

#include "heist/core/base/errors.hpp"
#include "heist/core/base/park_word.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

/// Entries in a pairing heap, the first that is due at its root: adding is a comparison, and taking one out takes a few.
class timer_heap {
 public:
  timed_call* first() const noexcept { return root_; }
  void add(timed_call& e) noexcept {
    e.child = e.sibling = nullptr;
    set_root(root_ == nullptr ? &e : meld(*root_, e));
  }
  void remove(timed_call& e) noexcept {
    timed_call* const rest = meld_children(e);
    if (root_ == &e) return set_root(rest);
    *e.link = e.sibling;
    if (e.sibling != nullptr) e.sibling->link = e.link;
    if (rest != nullptr) set_root(meld(*root_, *rest));
  }

 private:
  void set_root(timed_call* e) noexcept {
    root_ = e;
    if (e == nullptr) return;
    e->sibling = nullptr;
    e->link = nullptr;
  }
  /// Of two roots the later one becomes a child of the other, which is returned.
  static timed_call* meld(timed_call& a, timed_call& b) noexcept {
    timed_call& top = b.when < a.when ? b : a;
    timed_call& under = &top == &a ? b : a;
    under.sibling = top.child;
    if (top.child != nullptr) top.child->link = &under.sibling;
    under.link = &top.child;
    top.child = &under;
    return &top;
  }
  /// By pairs from the left, then all pairs from the right.
  static timed_call* meld_children(timed_call& e) noexcept {
    timed_call* pairs = nullptr;
    for (timed_call* at = std::exchange(e.child, nullptr); at != nullptr;) {
      timed_call* const a = at;
      timed_call* const b = a->sibling;
      at = b == nullptr ? nullptr : b->sibling;
      timed_call* const pair = b == nullptr ? a : meld(*a, *b);
      pair->sibling = std::exchange(pairs, pair);
    }
    timed_call* all = nullptr;
    while (pairs != nullptr) {
      timed_call* const next = pairs->sibling;
      all = all == nullptr ? pairs : meld(*all, *pairs);
      pairs = next;
    }
    return all;
  }

  timed_call* root_ = nullptr;
};

/// The thread, and the calls that it waits for.
struct timer_thread {
  spin_lock<> lock;  ///< guards what follows
  timer_heap heap;
  bool ends = false;              ///< tells the thread so
  timed_call* running = nullptr;  ///< the call that the thread makes
  int number = 0;                 ///< of the thread
  park_word changed;
  unsigned users = 0;  ///< executors that have set a timer; under timers_place::lock
  std::thread thread;

  void run() noexcept;
  void tell() noexcept {
    changed.fetch_add(1, std::memory_order_release);  // release: pairs with the load in run()
    changed.wake_one();
  }
};

struct timers_place {
  spin_lock<> lock;  ///< also while the thread is made: callers that set their first timer wait for it
  os_env::atomic<timer_thread*> now{nullptr};
  unsigned process = 0;  ///< of that thread: a child of fork() makes its own
};
HEIST_ONE_COPY inline constinit timers_place the_timers;

HEIST_COLD_BODY void timer_thread::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "heist-timers");
  lock.lock();
  number = os_env::thread_number();
  while (!ends) {
    std::uint32_t const seen = changed.load(std::memory_order_acquire);  // acquire: pairs with tell()
    timed_call* const e = heap.first();
    std::int64_t const left = e == nullptr ? 0 : e->when - os_env::nanoseconds();
    if (e == nullptr || left > 0) {
      lock.unlock();
      if (e == nullptr) {
        changed.wait(seen);
      } else {
        changed.wait_for(seen, left);
      }
      lock.lock();
      continue;
    }
    heap.remove(*e);
    e->is_set = false;
    running = e;
    lock.unlock();
    e->due(*e);
    lock.lock();
    running = nullptr;
  }
  lock.unlock();
}

HEIST_COLD_BODY bool called_by(timer_thread& t) noexcept {
  spin_guard guard{t.lock};
  return t.number == os_env::thread_number();
}

/// When an executor ends that has set a timer.
HEIST_COLD_BODY void leave_timers() noexcept {
  unique_ptr<timer_thread> last;
  {
    spin_guard guard{the_timers.lock};
    if (the_timers.process != os_env::process()) return;
    timer_thread& t = *the_timers.now.load(std::memory_order_relaxed);  // relaxed: under the lock
    if (--t.users != 0) return;
    last.reset(the_timers.now.exchange(nullptr, std::memory_order_relaxed));  // relaxed: as above
    spin_guard inner{t.lock};
    t.ends = true;
  }
  last->tell();
  if (!called_by(*last)) return last->thread.join();
  last->thread.detach();  // the function that it calls has destroyed the executor
  static_cast<void>(last.release());
}

/// The thread, for an executor that may not have used it before.
HEIST_COLD_BODY timer_thread& enter_timers(core& scheduler) {
  spin_guard guard{the_timers.lock};
  timer_thread* t = the_timers.now.load(std::memory_order_relaxed);  // relaxed: under the lock
  if (t == nullptr || the_timers.process != os_env::process()) {
    auto made = make_unique<timer_thread>();
    try {
      made->thread = std::thread{[&it = *made]() noexcept { it.run(); }};
    } catch (std::system_error const& e) {
      throw executor_error{std::string{"the system refuses the thread that time limits need ("} + e.what() +
                           "); fix it by a higher limit of threads, or by waiting without a time limit."};
    }
    t = made.release();
    the_timers.now.store(t, std::memory_order_release);  // release: pairs with unset_timer()
    the_timers.process = os_env::process();
  }
  for (auto& leave : scheduler.leaves_timers) {
    if (leave == &leave_timers) return *t;
    if (leave == nullptr) {
      leave = &leave_timers;
      break;
    }
  }
  ++t->users;  // of more copies than there is room for, the thread stays
  return *t;
}

HEIST_COLD_BODY void set_timer(core& scheduler, timed_call& e, std::int64_t when) {
  timer_thread& t = enter_timers(scheduler);
  bool is_first = false;
  {
    spin_guard guard{t.lock};
    e.when = when;
    e.is_set = true;
    t.heap.add(e);
    is_first = t.heap.first() == &e;
  }
  if (is_first) t.tell();
}

HEIST_COLD_BODY void unset_timer(timed_call& e) noexcept {
  timer_thread& t = *the_timers.now.load(std::memory_order_acquire);  // acquire: pairs with enter_timers()
  for (std::uint32_t tries = 0;; ++tries) {
    {
      spin_guard guard{t.lock};
      if (e.is_set) {
        t.heap.remove(e);
        e.is_set = false;
        return;
      }
      if (t.running != &e || t.number == os_env::thread_number()) return;
    }
    os_env::spin(tries);
  }
}

}  // namespace heist::detail
