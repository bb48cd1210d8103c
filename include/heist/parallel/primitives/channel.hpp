// A bounded channel: values from some tasks, threads and coroutines to others.
#pragma once

#include <chrono>
#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/config.hpp"
#include "heist/core/sync/bounded_ring.hpp"
#include "heist/core/sync/two_lines.hpp"
#include "heist/parallel/primitives/awaiting.hpp"
#include "heist/parallel/primitives/waiting.hpp"

#if HEIST_COROUTINES
#include "heist/parallel/coroutine/coroutine.hpp"
#endif

namespace heist {

namespace detail {

/// The part of a channel that does not depend on its values: the waiters.
class channel_base {
 protected:
  using side = two_lines<>::side;

  explicit channel_base(std::size_t capacity);
  ~channel_base();

  /// After a change: wakes a waiter at the other end. If the last value of a closed channel is taken, the waiters that
  /// must be told wait at this end.
  void tell(side s) noexcept {
    two_lines<>::changed();
    if (HEIST_UNLIKELY(lines_.may_any_wait())) tell_waiters(s);
  }
  HEIST_RARE void tell_waiters(side s) noexcept;
  bool has_turn_first(side s) const noexcept {
    return strict_[s].load(std::memory_order_relaxed) == 0;  // relaxed: a hint, for a call that begins now
  }

  /// Calls `attempt()` again and again until it is true, and waits while `may_go()` is not. False: it was late.
  template <class Attempt, class MayGo>
  bool wait(side s, std::int64_t end, Attempt attempt, MayGo may_go) {
    waiter w;
    turn<MayGo> mine{*this, s, may_go};
    return wait_in_line(
        in_line(s), w, end, [&] { return go_on(mine, w, attempt); },
        [&] {
          mine.was_notified = true;
          return go_on(mine, w, attempt);
        });
  }
  /// One that has waited lets the next one go, if there is something for it.
  void end_of_wait(side s, bool more) noexcept {
    if (more && lines_.may_wait(s)) lines_.tell(s);
  }

  static constexpr unsigned bypass = 16;
  two_lines<> lines_;
  os_env::atomic<unsigned> strict_[2]{};  ///< how many have been overtaken too often: others come behind them

 private:
  using waiter = parked_in_line<>;

  /// From when it tries to when it has had its turn, or leaves.
  template <class MayGo>
  struct turn {
    channel_base& of;
    side const at;
    MayGo& may_go;
    bool was_notified = false;
    unsigned in_vain = 0;  ///< how often it has tried

    ~turn() {
      if (in_vain >= bypass) {
        of.strict_[at].fetch_sub(1, std::memory_order_relaxed);  // relaxed: the fence
        two_lines<>::changed();                                  // newcomers stand in line because of it
      }
      of.end_of_wait(at, may_go());
    }
  };
  /// Tries, or enters the line: in front if it has stood there before.
  template <class MayGo, class Attempt>
  wait_end go_on(turn<MayGo>& mine, waiter& w, Attempt& attempt) {
    for (;;) {
      if (mine.was_notified || has_turn_first(mine.at)) {
        if (attempt()) return wait_end::completed;
        if (++mine.in_vain == bypass) strict_[mine.at].fetch_add(1, std::memory_order_relaxed);  // relaxed: a hint
      }
      wait_end const now = lines_.enter(mine.at, w, mine.was_notified, [&] {
        return (mine.was_notified || has_turn_first(mine.at)) && mine.may_go();
      });
      if (now != wait_end::completed) return now;
      mine.was_notified = true;
    }
  }
  line in_line(side s) noexcept {
    return s == two_lines<>::pushers ? line{this, &leave<two_lines<>::pushers>, {"a channel that is full"}}
                                     : line{this, &leave<two_lines<>::consumers>, {"a channel that is empty"}};
  }
  template <side S>
  static void leave(void* me, queued_waiter<>& w, wait_end why) noexcept {
    static_cast<channel_base*>(me)->lines_.leave(S, w, why);
  }

#if HEIST_COROUTINES
 protected:
  /// co_await: until it may try again.
  template <class MayGo>
  class awaiter : line_awaiter<> {
   public:
    awaiter(channel_base& c, side s, MayGo may_go) noexcept : of_{c}, side_{s}, may_go_{may_go} {}
    bool await_ready() const noexcept { return may_go_(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
      channel_base& c = of_;
      try {
        return suspend_in_line(h, c.in_line(side_), [&] { return c.lines_.enter(side_, waiter_, false, may_go_); });
      } catch (...) {  // it may have been woken already
        c.end_of_wait(side_, may_go_());
        throw;
      }
    }
    void await_resume() {
      if (is_completed()) return;
      of_.end_of_wait(side_, may_go_());
      throw_stopped({"a channel"});
    }

   private:
    channel_base& of_;
    side const side_;
    MayGo const may_go_;
  };
#endif
};

}  // namespace detail

/// A queue of at most capacity() values, first in, first out. Any number of tasks, threads and coroutines push and
/// pop. A task that must wait parks, a thread blocks, a coroutine suspends.
///
/// Order   waiters are served in turn, but for a bounded bypass: newcomers overtake one up to 16 times. try_push() and
///         try_pop() take what there is. A coroutine that finds no value or place after its wake-up stands at the end
///         again.
/// Stops   a stop of the waiting task ends push() and pop() with stopped_error; the value that was to be pushed is
///         gone.
/// Cost    push and pop: two exchanges each if there are no waiters.
/// Promises it outlives all calls: push() may still be in it when its value has been popped.
/// T       moved and destroyed without exceptions; copies are not needed.
template <class T>
class channel : detail::channel_base {
  static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                "heist: a channel carries values; fix it by a pointer or a std::reference_wrapper.");

 public:
  using value_type = T;

  /// Throws executor_error for a capacity of 0, or above 2^31.
  explicit channel(std::size_t capacity) : channel_base{capacity}, ring_{capacity} {}

  std::size_t capacity() const noexcept { return ring_.capacity(); }
  /// A snapshot.
  std::size_t size() const noexcept { return ring_.size(); }
  bool closed() const noexcept { return ring_.closed(); }

  /// Waits while the channel is full. False: it is closed, and the value is gone.
  bool push(T value) { return push_until(std::move(value), detail::never) == detail::ring_answer::done; }
  /// Waits while it is empty. Nothing: it is closed, and all its values have been popped.
  std::optional<T> pop() { return pop_until(detail::never); }
  /// False: it is full or closed, and the value is where it was.
  [[nodiscard]] bool try_push(T&& value) { return put(std::move(value)) == detail::ring_answer::done; }
  [[nodiscard]] bool try_push(T const& value) { return try_push(T(value)); }
  [[nodiscard]] std::optional<T> try_pop() {
    std::optional<T> value = ring_.take();
    if (value) tell(detail::two_lines<>::pushers);
    return value;
  }
  /// As push() and pop(), for at most `time`; false and nothing also when that is over.
  template <class Rep, class Period>
  bool push_for(T value, std::chrono::duration<Rep, Period> const& time) {
    return push_until(std::move(value), detail::until(time)) == detail::ring_answer::done;
  }
  template <class Rep, class Period>
  std::optional<T> pop_for(std::chrono::duration<Rep, Period> const& time) {
    return pop_until(detail::until(time));
  }
  /// Ends pushing; values in the channel can still be popped. Wakes all waiters. May be called again.
  void close() noexcept {
    ring_.close();
    detail::two_lines<>::changed();
    lines_.tell_all();
  }
#if HEIST_COROUTINES
  /// co_await: as push() and pop().
  coroutine<bool> push_async(T value) {
    auto const may_go = [this] { return ring_.may_put(); };
    for (bool has_waited = false;; has_waited = true) {
      detail::ring_answer const now = put(std::move(value));
      if (now != detail::ring_answer::not_now) {
        if (has_waited) end_of_wait(detail::two_lines<>::pushers, may_go());
        co_return now == detail::ring_answer::done;
      }
      co_await awaiter<decltype(may_go)>{*this, detail::two_lines<>::pushers, may_go};
    }
  }
  coroutine<std::optional<T>> pop_async() {
    auto const may_go = [this] { return ring_.may_take(); };
    for (bool has_waited = false;; has_waited = true) {
      std::optional<T> value = try_pop();
      if (value || ring_.is_over()) {
        if (has_waited) end_of_wait(detail::two_lines<>::consumers, may_go());
        co_return value;
      }
      co_await awaiter<decltype(may_go)>{*this, detail::two_lines<>::consumers, may_go};
    }
  }
#endif

 private:
  template <class U>
  detail::ring_answer put(U&& value) {
    detail::ring_answer const now = ring_.put(std::forward<U>(value));
    if (now == detail::ring_answer::done) tell(detail::two_lines<>::consumers);
    return now;
  }
  detail::ring_answer push_until(T&& value, std::int64_t end) {
    detail::ring_answer now = detail::ring_answer::not_now;
    auto const attempt = [&] { return (now = put(std::move(value))) != detail::ring_answer::not_now; };
    if (has_turn_first(detail::two_lines<>::pushers) && attempt()) return now;
    wait(detail::two_lines<>::pushers, end, attempt, [this] { return ring_.may_put(); });
    return now;
  }
  std::optional<T> pop_until(std::int64_t end) {
    std::optional<T> value;
    auto const attempt = [&] {
      value = try_pop();
      return value.has_value() || ring_.is_over();
    };
    if (has_turn_first(detail::two_lines<>::consumers) && attempt()) return value;
    wait(detail::two_lines<>::consumers, end, attempt, [this] { return ring_.may_take(); });
    return value;
  }

  detail::bounded_ring<T> ring_;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/channel.ipp"
#endif
