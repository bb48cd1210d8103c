// Who moves: one virtual thread at a time, changed only at schedule points. Notices deadlock and endless loops.
#pragma once

#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "arena.hpp"
#include "choices.hpp"
#include "fiber.hpp"
#include "touch.hpp"
#include "view.hpp"

namespace model {

/// How an execution ended.
enum class verdict {
  passed,
  redundant,  // given up: another execution of the search shows the same
  pruned,     // ran into the step limit: nothing is known about it
  violated    // reason() says how
};

class scheduler {
 public:
  struct rules {
    int preemptions = 3;    // switches away from a thread that could go on
    int steps = 2000;       // schedule points until an execution is pruned
    int spurious = 0;       // returns of wait() without a reason, per execution
    int odd_failures = 1;   // failures of a CAS for another reason than the newest value, per execution
    bool stepwise = false;  // a heavy fence reaches the other threads one after the other
    bool trace = false;
  };
  rules rule;
  bool random = false;  // no execution is redundant in a random search

  /// Runs `setup` as thread 0 up to its call of run_threads().
  verdict run(void (*setup)()) noexcept {
    threads_ = 1;
    preemptions_ = steps_ = spurious_ = retries_ = writes_ = 0;
    verdict_ = verdict::passed;
    setup_ = setup;
    fibers_[0].start([] { scheduler::instance().enter_setup(); });
    current_ = 0;
    heap.active = true;
    fibers_[0].resume();
    while (next_ > 0) {
      current_ = next_;
      fibers_[current_].resume();
    }
    current_ = 0;
    if (verdict_ == verdict::passed) fibers_[0].resume();
    heap.active = false;
    total_steps_ += static_cast<std::uint64_t>(steps_);
    return verdict_;
  }

  /// Adds a thread that calls `body(data)`; for thread 0, before run_threads().
  int add(void (*body)(void*), void* data) noexcept {
    if (threads_ == max_threads) fail("more threads than model::max_threads");
    int const id = threads_++;
    slots_[id] = {body, data};
    fibers_[id].start([] { scheduler::instance().enter_thread(); });
    return id;
  }

  /// For thread 0: returns when all threads have ended.
  void run_threads() noexcept {
    next_ = threads_ > 1 ? pick() : 0;
    fiber::pause();
  }

  int current() const noexcept { return current_; }
  int thread_count() const noexcept { return threads_; }
  std::uint64_t total_steps() const noexcept { return total_steps_; }
  char const* reason() const noexcept { return reason_; }

  /// Before every access that others can notice: here another thread may go first.
  ///
  /// A pre-emption shows something only if the others do what the pending access can notice. If they do not, the
  /// access may as well come before the pre-emption: that execution is in the search too, with no more pre-emptions,
  /// so this one is given up.
  meanwhile point(touch what, address object) noexcept {
    if (current_ == 0) return meanwhile::not_preempted;
    if (++steps_ > rule.steps) give_up(verdict::pruned);
    slot& me = slots_[current_];
    me.what = what;
    me.object = object;
    me.noticed = meanwhile::not_preempted;
    me.retries_before = retries_;
    int const next = pick();
    me.preempted = next != current_;
    go_to(next);
    if (me.preempted && me.noticed == meanwhile::not_preempted && !random) give_up(verdict::redundant);
    me.preempted = false;
    tell_others(what, object);
    return me.noticed;
  }

  /// Waits until another thread has moved, if another can.
  void yield() noexcept {
    if (current_ == 0) return;
    if (++steps_ > rule.steps) give_up(verdict::pruned);
    slots_[current_].last_retry = ++retries_;
    slots_[current_].now = state::yielded;
    go_to(pick());
  }

  /// At the end of a round of a loop that only reads: waits until somebody has written, if nobody has since the round
  /// began; another round would read the same. `stale`: this round has read something that the next one cannot.
  void read_again(bool stale) noexcept {
    if (current_ == 0) return;
    slot& me = slots_[current_];
    if (stale || me.round_began != writes_) {
      yield();
    } else {
      if (++steps_ > rule.steps) give_up(verdict::pruned);
      me.last_retry = ++retries_;
      me.now = state::stuck;
      go_to(pick());
    }
    me.round_began = writes_;
  }
  /// Something was written: threads in read_again() may go on.
  void wrote() noexcept { ++writes_; }

  /// Sleeps until wake(word); `timed` sleepers also wake when nothing else can happen.
  void park(address word, bool timed) noexcept {
    if (current_ == 0) fail("a wait in the set-up or the final check would never end");
    slot& me = slots_[current_];
    me.now = state::parked;
    me.word = word;
    me.timed = timed;
    go_to(pick());
  }

  /// True when this wait() is to return without a reason.
  bool spurious_return() noexcept {
    if (current_ == 0 || spurious_ >= rule.spurious || decisions.choose(2, about::schedule) == 0) return false;
    ++spurious_;
    return true;
  }

  /// Wakes up to `count` sleepers; which ones is a decision.
  void wake(address word, int count) noexcept {
    for (; count > 0; --count) {
      std::array<int, max_threads> asleep{};
      int n = 0;
      for (int i = 1; i < threads_; ++i) {
        if (slots_[i].now == state::parked && slots_[i].word == word) asleep[n++] = i;
      }
      if (n == 0) return;
      int const woken = asleep[decisions.choose(n, about::schedule)];
      trace("wakes T%d", woken);
      slots_[woken].now = state::ready;
    }
  }

  /// Ends the execution: the code under test, or the harness, is wrong.
  [[noreturn]] __attribute__((format(printf, 2, 3))) void fail(char const* format, ...) noexcept {
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(reason_, sizeof reason_, format, values);
    va_end(values);
    trace("FAILS: %s", reason_);
    give_up(verdict::violated);
  }

  /// One line per event, when an execution is replayed.
  __attribute__((format(printf, 2, 3))) void trace(char const* format, ...) const noexcept {
    if (!rule.trace) return;
    std::printf("  T%d  ", current_);
    std::va_list values;
    va_start(values, format);
    std::vprintf(format, values);
    va_end(values);
    std::putchar('\n');
  }

  static scheduler& instance() noexcept;

 private:
  enum class state : std::uint8_t { ready, yielded, stuck, parked, done };
  struct slot {
    void (*body)(void*) = nullptr;
    void* data = nullptr;
    state now = state::ready;
    address word = 0;  // slept on, when parked
    bool timed = false;
    // The access that waits at a schedule point.
    bool preempted = false;
    touch what{};
    address object = 0;
    meanwhile noticed{};
    int retries_before = 0;
    int last_retry = 0;
    int round_began = 0;  // writes_ then
  };

  void enter_setup() noexcept {
    next_ = 0;
    setup_();
    for (;;) fiber::pause();
  }

  void enter_thread() noexcept {
    slots_[current_].round_began = writes_;
    slots_[current_].body(slots_[current_].data);
    slots_[current_].now = state::done;
    trace("ends");
    for (;;) go_to(pick());
  }

  [[noreturn]] void give_up(verdict how) noexcept {
    verdict_ = how;
    next_ = 0;
    for (;;) fiber::pause();
  }

  void go_to(int next) noexcept {
    if (next == current_) return;
    next_ = next;
    fiber::pause();
  }

  void tell_others(touch done, address object) noexcept {
    for (int i = 1; i < threads_; ++i) {
      slot& other = slots_[i];
      if (i == current_ || !other.preempted || other.noticed == meanwhile::anything) continue;
      // After a retry a load may be unable to read the older store (memory::forget_stale).
      bool const retried = other.what == touch::store && slots_[current_].last_retry > other.retries_before;
      touch const as = done == touch::load && retried ? touch::store : done;
      if (notices(other.what, other.object, as, object)) {
        other.noticed = other.what == touch::load ? meanwhile::wrote : meanwhile::anything;
      }
    }
  }

  bool is(int id, state s) const noexcept { return id > 0 && slots_[id].now == s; }

  /// The next thread to move; 0 when all have ended. Fails on deadlock.
  int pick() noexcept {
    for (int i = 1; i < threads_; ++i) {
      if (is(i, state::stuck) && slots_[i].round_began != writes_) slots_[i].now = state::ready;
    }
    bool const goes_on = is(current_, state::ready);
    std::array<int, max_threads> able{};
    int n = 0;
    if (goes_on) able[n++] = current_;
    if (!goes_on || preemptions_ < rule.preemptions) n = collect(state::ready, goes_on ? current_ : 0, able, n);
    if (n == 0) n = collect(state::yielded, 0, able, n);
    if (n == 0) n = collect_timed(able);
    if (n == 0) n = collect(state::stuck, 0, able, n);
    if (n == 0) {
      for (int i = 1; i < threads_; ++i) {
        if (!is(i, state::done)) fail("deadlock: every thread that has not ended is asleep");
      }
      return 0;
    }
    int const next = able[decisions.choose(n, about::schedule)];
    if (goes_on && next != current_) ++preemptions_;
    slots_[next].now = state::ready;
    for (int i = 1; i < threads_; ++i) {
      if (i != next && is(i, state::yielded)) slots_[i].now = state::ready;
    }
    return next;
  }

  int collect(state wanted, int except, std::array<int, max_threads>& out, int n) const noexcept {
    for (int i = 1; i < threads_; ++i) {
      if (i != except && is(i, wanted)) out[n++] = i;
    }
    return n;
  }
  int collect_timed(std::array<int, max_threads>& out) const noexcept {
    int n = 0;
    for (int i = 1; i < threads_; ++i) {
      if (is(i, state::parked) && slots_[i].timed) out[n++] = i;
    }
    return n;
  }

  std::array<slot, max_threads> slots_{};
  std::array<fiber, max_threads> fibers_{};
  int threads_ = 1;
  int current_ = 0;
  int next_ = 0;
  int preemptions_ = 0;
  int steps_ = 0;
  int spurious_ = 0;
  int retries_ = 0;
  int writes_ = 0;
  verdict verdict_ = verdict::passed;
  void (*setup_)() = nullptr;
  std::uint64_t total_steps_ = 0;
  char reason_[200] = "";
};

inline scheduler sched;
inline scheduler& scheduler::instance() noexcept {
  return sched;
}

/// Fails the running execution unless `holds`.
inline void check(bool holds, char const* what) noexcept {
  if (!holds) sched.fail("%s", what);
}

/// Number of the running thread, from 1 in order of creation.
inline int self() noexcept {
  return sched.current();
}

}  // namespace model
