// model::atomic: std::atomic as the code under test sees it, with every order to be named.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "memory.hpp"

namespace model {

template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(memory::word));

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  atomic() noexcept : atomic{T{}} {}
  atomic(T value) noexcept : id_{mem.create(where(), encode(value))} {}
  ~atomic() { mem.destroy(id_, where()); }
  atomic(atomic const&) = delete;
  atomic& operator=(atomic const&) = delete;

  T load(order o) const noexcept {
    memory::word const value = mem.load(id_, where(), o);
    sched.forget_frames();
    return decode(value);
  }
  void store(T value, order o) noexcept {
    mem.store(id_, where(), encode(value), o);
    sched.forget_frames();
  }
  T exchange(T value, order o) noexcept {
    return modify(o, [&](T) { return value; });
  }

  bool compare_exchange_strong(T& expected, T desired, order success, order failure) noexcept {
    return compare_exchange(expected, desired, success, failure, false);
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure) noexcept {
    return compare_exchange(expected, desired, success, failure, true);
  }
  bool compare_exchange_strong(T& expected, T desired, order o) noexcept {
    return compare_exchange(expected, desired, o, failure_of(o), false);
  }
  bool compare_exchange_weak(T& expected, T desired, order o) noexcept {
    return compare_exchange(expected, desired, o, failure_of(o), true);
  }

  /// The comparison that the kernel makes when a thread is about to sleep on it.
  bool newest_is(T expected) const noexcept { return mem.newest_is(id_, where(), encode(expected)); }

  template <class D>
  T fetch_add(D by, order o) noexcept {
    return modify(o, [&](T old) { return static_cast<T>(old + by); });
  }
  template <class D>
  T fetch_sub(D by, order o) noexcept {
    return modify(o, [&](T old) { return static_cast<T>(old - by); });
  }
  T fetch_or(T bits, order o) noexcept {
    return modify(o, [&](T old) { return static_cast<T>(old | bits); });
  }
  T fetch_and(T bits, order o) noexcept {
    return modify(o, [&](T old) { return static_cast<T>(old & bits); });
  }
  T fetch_xor(T bits, order o) noexcept {
    return modify(o, [&](T old) { return static_cast<T>(old ^ bits); });
  }

 private:
  memory::address where() const noexcept { return reinterpret_cast<memory::address>(this); }
  static memory::word encode(T value) noexcept {
    memory::word w = 0;
    std::memcpy(&w, &value, sizeof value);
    return w;
  }
  static T decode(memory::word w) noexcept {
    T value;
    std::memcpy(&value, &w, sizeof value);
    return value;
  }
  static order failure_of(order success) noexcept {
    if (success == order::acq_rel) return order::acquire;
    return success == order::release ? order::relaxed : success;
  }

  template <class Change>
  T modify(order o, Change change) noexcept {
    memory::word const old = mem.modify(id_, where(), o, [&](memory::word w) { return encode(change(decode(w))); });
    sched.forget_frames();
    return decode(old);
  }
  bool compare_exchange(T& expected, T desired, order success, order failure, bool weak) noexcept {
    memory::word old = encode(expected);
    bool const done = mem.compare_exchange(id_, where(), old, encode(desired), success, failure, weak);
    sched.forget_frames();
    if (done) return true;
    expected = decode(old);
    return false;
  }

  int id_;
};

/// A futex word, as heist::park_word. Neither wait nor wake orders memory: the kernel does not promise it.
class park_word {
 public:
  std::uint32_t load(order o) const noexcept { return value_.load(o); }
  void store(std::uint32_t v, order o) noexcept { value_.store(v, o); }
  std::uint32_t exchange(std::uint32_t v, order o) noexcept { return value_.exchange(v, o); }
  std::uint32_t fetch_add(std::uint32_t by, order o) noexcept { return value_.fetch_add(by, o); }
  bool compare_exchange(std::uint32_t& expected, std::uint32_t v, order o) noexcept {
    return value_.compare_exchange_strong(expected, v, o, std::memory_order_relaxed);
  }

  void wait(std::uint32_t expected) noexcept { sleep(expected, false); }
  /// Says that the time is over, whatever has ended the wait: with a very short time it may be.
  bool wait_for(std::uint32_t expected, std::int64_t) noexcept {
    sleep(expected, true);
    return true;
  }
  // By address alone: the word may be gone when its waker gets here.
  void wake_one() noexcept { wake(1); }
  void wake_all() noexcept { wake(max_threads); }

 private:
  [[gnu::noinline]] void sleep(std::uint32_t expected, bool timed) noexcept {
    sched.point(touch::sleep, where());
    if (sched.spurious_return()) return sched.trace("wait returns without a reason");
    if (!value_.newest_is(expected)) return sched.trace("wait returns: the word has changed");
    sched.trace("sleeps");
    sched.park(where(), timed);
    sched.trace("is awake");
  }
  [[gnu::noinline]] void wake(int count) noexcept {
    sched.point(touch::wake, where());
    sched.trace("wake");
    sched.wake(where(), count);
  }

  memory::address where() const noexcept { return reinterpret_cast<memory::address>(&value_); }

  atomic<std::uint32_t> value_{0};
};

}  // namespace model
