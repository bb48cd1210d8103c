// The choice of the next thread: one virtual thread at a time, changed only at schedule points. Detects deadlock and
// endless loops.
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
#include "visited.hpp"

namespace model {

/// How an execution ended.
enum class decision {
  passed,
  redundant,  // given up: another execution of the search shows the same
  pruned,     // ran into the step limit: nothing is known about it
  failed      // reason() says how
};

class scheduler {
 public:
  struct config {
    int preemptions = 3;    // switches away from a thread that could resume
    int steps = 2000;       // schedule points until an execution is pruned
    int spurious = 0;       // returns of wait() without a reason, per execution
    int odd_failures = 1;   // failures of a CAS for another reason than the newest value, per execution
    int stale = -1;         // loads of another store than the newest, per execution; -1: any number
    bool reduce = true;     // redundant executions are given up
    bool merge = false;     // of moments that are alike, one resumes: visited.hpp names the conditions
    bool stepwise = false;  // a heavy fence reaches the other threads one after the other
    bool trace = false;
  };
  config rule;
  bool random = false;  // no execution is redundant in a random search

  /// Runs `setup` as thread 0 up to its call of run_threads().
  decision run(void (*setup)()) noexcept {
    threads_ = 1;
    preemptions_ = steps_ = spurious_ = retries_ = writes_ = 0;
    decision_ = decision::passed;
    setup_ = setup;
    fibers_[0].start([] { scheduler::instance().enter_setup(); });
    current_ = 0;
    heap.active = true;
    steps_before_ = 0;
    fibers_[0].resume();
    return go_on();
  }
  /// Runs the threads from where they are.
  decision go_on() noexcept {
    heap.active = true;
    while (next_ > 0) {
      if (rule.merge && decisions.explores()) {
        if (been_here()) break;
        snapshot_();
      }
      current_ = next_;
      fibers_[current_].resume();
    }
    current_ = 0;
    if (decision_ == decision::passed) fibers_[0].resume();
    heap.active = false;
    total_steps_ += static_cast<std::uint64_t>(steps_ - steps_before_);
    return decision_;
  }

  /// Adds a thread that calls `body(data)`; for thread 0, before run_threads().
  int add(void (*body)(void*), void* data) noexcept {
    if (threads_ == max_threads) fail("more threads than model::max_threads");
    int const id = threads_++;
    slots_[id] = {};
    slots_[id].body = body;
    slots_[id].data = data;
    fibers_[id].start([] { scheduler::instance().enter_thread(); });
    return id;
  }

  /// The last `count` threads that were added do the same up to their names: they start in this order.
  void alike(int count) noexcept {
    for (int id = threads_ - count + 1; id < threads_; ++id) slots_[id].after = id - 1;
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

  /// Before every access that other threads can notice: here another thread may go first.
  ///
  /// A pre-emption shows something only if the other threads do something that the pending access can notice. If they
  /// do not, the access may as well come before the pre-emption. That execution is in the search too, with no more
  /// pre-emptions, so this one is given up.
  [[gnu::noinline]] meanwhile point(touch what, address object, int id = 0, int newest = 0) noexcept {
    if (current_ == 0) return meanwhile::not_preempted;
    if (++steps_ > rule.steps) give_up(decision::pruned);
    slot& me = slots_[current_];
    me.what = what;
    me.object = object;
    me.id = id;
    me.newest = newest;
    me.noticed = meanwhile::not_preempted;
    me.retries_before = retries_;
    int const next = pick();
    me.preempted = next != current_;
    go_to(next);
    if (me.preempted && me.noticed == meanwhile::not_preempted && gives_up()) give_up(decision::redundant);
    me.preempted = false;
    tell_others(what, object);
    return gives_up() ? me.noticed : meanwhile::not_preempted;
  }

  /// After each call of the code under test.
  void forget_frames() const noexcept {
    if (rule.merge && !random && current_ != 0) fiber::clear_below();
  }

  /// For a load that was pre-empted: the newest store before that.
  int newest_before() const noexcept { return slots_[current_].newest; }

  /// Waits until another thread has moved, if another can.
  [[gnu::noinline]] void yield() noexcept {
    if (current_ == 0) return;
    if (++steps_ > rule.steps) give_up(decision::pruned);
    slots_[current_].last_retry = ++retries_;
    slots_[current_].now = state::yielded;
    go_to(pick());
  }

  /// At the end of a round of a loop that only reads. If no thread has written since the round began, waits until
  /// another thread has: another round would read the same. `stale`: this round has read something that the next one
  /// cannot.
  [[gnu::noinline]] void read_again(bool stale) noexcept {
    if (current_ == 0) return;
    reads_again_ = true;
    slot& me = slots_[current_];
    if (stale || me.round_start_time != writes_) {
      yield();
    } else {
      if (++steps_ > rule.steps) give_up(decision::pruned);
      me.last_retry = ++retries_;
      me.now = state::stuck;
      go_to(pick());
    }
    me.round_start_time = writes_;
  }
  /// Something was written: threads in read_again() may resume.
  void wrote() noexcept { ++writes_; }

  /// The search of another harness begins. `image` gives a number for the memory, `snapshot` is called when a thread
  /// resumes.
  void start_search(std::uint64_t (*image)(), void (*snapshot)()) noexcept {
    reads_again_ = false;
    image_ = image;
    snapshot_ = snapshot;
    visited.clear();
  }

  /// When no thread runs.
  void save(tape& to) const noexcept {
    to.put(progress_of(*this));
    for (int i = 0; i < threads_; ++i) {
      to.put(slots_[i]);
      fibers_[i].save(to);
    }
  }
  void restore(tape& from) noexcept {
    progress then;
    from.get(then);
    threads_ = then.threads;
    current_ = then.current;
    next_ = then.next;
    preemptions_ = then.preemptions;
    steps_ = steps_before_ = then.steps;
    spurious_ = then.spurious;
    retries_ = then.retries;
    writes_ = then.writes;
    decision_ = decision::passed;
    for (int i = 0; i < threads_; ++i) {
      from.get(slots_[i]);
      fibers_[i].restore(from);
    }
  }

  /// The state of a thread that the normal form of the memory depends on.
  bool is_live(int thread) const noexcept { return !is(thread, state::done); }
  /// A load that waits until another thread writes.
  struct pending_load {
    int id = -1;  // number of the atomic; -1: there is none
    int newest = 0;
  };
  pending_load waiting_load(int thread) const noexcept {
    slot const& s = slots_[thread];
    bool const waits = s.preempted && s.what == touch::load && is_live(thread);
    return waits ? pending_load{s.id, s.newest} : pending_load{};
  }

  /// Sleeps until wake(word); `timed` sleepers also wake when nothing else can happen.
  [[gnu::noinline]] void park(address word, bool timed) noexcept {
    if (current_ == 0) fail("a wait in the set-up or the final check would never end");
    slot& me = slots_[current_];
    me.now = state::parked;
    me.word = word;
    me.timed = timed;
    go_to(pick());
  }

  /// True when this wait() is to return without a reason.
  [[gnu::noinline]] bool spurious_return() noexcept {
    if (current_ == 0 || spurious_ >= rule.spurious || decisions.choose(2, about::schedule) == 0) return false;
    ++spurious_;
    return true;
  }

  /// Wakes up to `count` sleepers; which ones is a decision.
  [[gnu::noinline]] void wake(address word, int count) noexcept {
    for (; count > 0; --count) {
      std::array<int, max_threads> asleep{};
      int n = 0;
      for (int i = 1; i < threads_; ++i) {
        if (slots_[i].now == state::parked && slots_[i].word == word) asleep[n++] = i;
      }
      if (n == 0) return;
      int const notified = asleep[decisions.choose(n, about::schedule)];
      trace("wakes T%d", notified);
      slots_[notified].now = state::ready;
    }
  }

  /// Ends the execution: the code under test, or the harness, is wrong.
  [[noreturn]] __attribute__((format(printf, 2, 3))) void fail(char const* format, ...) noexcept {
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(reason_, sizeof reason_, format, values);
    va_end(values);
    trace("FAILS: %s", reason_);
    give_up(decision::failed);
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
  bool gives_up() const noexcept { return rule.reduce && !random; }

  enum class state : std::uint8_t { ready, yielded, stuck, parked, done };
  struct slot {
    void (*body)(void*) = nullptr;
    void* data = nullptr;
    int after = 0;  // the thread that starts before this one, if that matters
    bool started = false;
    state now = state::ready;
    address word = 0;  // slept on, when parked
    bool timed = false;
    // The access that waits at a schedule point.
    bool preempted = false;
    touch what{};
    address object = 0;
    int id = 0;  // number of the atomic, and of its newest store, for a load
    int newest = 0;
    meanwhile noticed{};
    int retries_before = 0;
    int last_retry = 0;
    int round_start_time = 0;  // writes_ then
  };

  struct progress {
    int threads, current, next, preemptions, steps, spurious, retries, writes;
  };
  static progress progress_of(scheduler const& s) noexcept {
    return {s.threads_, s.current_, s.next_, s.preemptions_, s.steps_, s.spurious_, s.retries_, s.writes_};
  }

  void enter_setup() noexcept {
    next_ = 0;
    setup_();
    for (;;) fiber::pause();
  }

  void enter_thread() noexcept {
    slots_[current_].started = true;
    slots_[current_].round_start_time = writes_;
    slots_[current_].body(slots_[current_].data);
    slots_[current_].now = state::done;
    trace("ends");
    for (;;) go_to(pick());
  }

  [[noreturn]] void give_up(decision how) noexcept {
    decision_ = how;
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
      bool const retried =
          other.what == touch::store && (rule.stale >= 0 || slots_[current_].last_retry > other.retries_before);
      touch const as = done == touch::load && retried ? touch::store : done;
      if (notices(other.what, other.object, as, object)) {
        other.noticed = other.what == touch::load ? meanwhile::wrote : meanwhile::anything;
      }
    }
  }

  bool is(int id, state s) const noexcept { return id > 0 && slots_[id].now == s; }

  /// A number for the whole state that decides about the rest of the execution, except for the pre-emptions that are
  /// left.
  std::uint64_t moment() noexcept {
    std::uint64_t all = mix(mix(image_(), heap.image()), static_cast<std::uint64_t>(next_ << 8 | spurious_));
    for (int i = 1; i < threads_; ++i) {
      slot const& s = slots_[i];
      auto bits = static_cast<std::uint64_t>(s.now);
      if (s.now == state::done) {
        all = mix(all, bits);
        continue;
      }
      if (reads_again_ && s.round_start_time != writes_) bits |= 8;
      if (s.timed) bits |= 16;
      address about = s.now == state::parked ? s.word : 0;
      if (s.preempted) {
        about = s.object;
        bits |= 32 | static_cast<std::uint64_t>(s.noticed) << 6 | static_cast<std::uint64_t>(s.what) << 8;
        for (int j = 1; j < threads_ && s.noticed != meanwhile::anything && s.what == touch::store; ++j) {
          if (slots_[j].last_retry > s.retries_before) bits |= std::uint64_t{1} << (48 + j);
        }
      }
      all = mix(mix(all, bits), mix(about, fibers_[i].image()));
    }
    return all;
  }
  bool been_here() noexcept {
    switch (visited.enter(moment(), preemptions_, decisions.taken())) {
      case visited_moments::before::never:
        return false;
      case visited_moments::before::remote:
        decision_ = decision::redundant;
        return true;
      case visited_moments::before::in_this_execution:
        decision_ = decision::pruned;
        return true;
    }
    return false;
  }

  /// The next thread to move; 0 when all have ended. Fails on deadlock.
  [[gnu::noinline]] int pick() noexcept {
    for (int i = 1; i < threads_; ++i) {
      if (is(i, state::stuck) && slots_[i].round_start_time != writes_) slots_[i].now = state::ready;
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
      if (i != except && is(i, wanted) && may_start(i)) out[n++] = i;
    }
    return n;
  }
  bool may_start(int id) const noexcept {
    slot const& s = slots_[id];
    return s.started || s.after == 0 || !gives_up() || slots_[s.after].started;
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
  bool reads_again_ = false;  // some execution of this harness has: only then does it matter
  int steps_before_ = 0;      // steps of the running execution that earlier executions took
  std::uint64_t (*image_)() = nullptr;
  void (*snapshot_)() = nullptr;
  decision decision_ = decision::passed;
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
