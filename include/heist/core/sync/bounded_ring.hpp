// A bounded queue for many threads at each end: each place says whose turn it is.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // construct_at, destroy_at, unique_ptr
#include <new>
#include <optional>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

// Edges (README.md, "Bounded ring")
//   E1  put: turn.store(release) -> take: turn.load(acquire)   the value
//   E2  take: turn.store(release) -> put: turn.load(acquire)   the place is empty

enum class ring_answer : unsigned char { done, not_now, closed };

/// The place for position p is p modulo the capacity. Its turn is 2 n when the n-th value may be put there, and 2 n + 1 when
/// that may be taken. So one place is enough for a ring.
///
/// Threads  any. A thread that stops in the middle of a put, or of a take, holds up the threads behind it.
/// Cost     each call one exchange at the ends, and a store.
template <class T, class Env = os_env>
class bounded_ring {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "heist: values of a channel are moved by constructors that throw nothing; fix it by noexcept, or by a "
                "channel of std::unique_ptr.");

 public:
  explicit bounded_ring(std::size_t capacity)
      : places_{new place[capacity]}, capacity_{capacity}, shift_{shift_of(capacity)} {}
  bounded_ring(bounded_ring const&) = delete;
  bounded_ring& operator=(bounded_ring const&) = delete;
  ~bounded_ring() {
    while (take()) {
    }
  }

  std::size_t capacity() const noexcept { return capacity_; }
  /// A snapshot.
  std::size_t size() const noexcept {
    std::uint64_t const end = tail_.load(std::memory_order_relaxed) & ~closed_bit;  // relaxed: a snapshot
    std::uint64_t const begin = head_.load(std::memory_order_relaxed);              // relaxed: as above
    return end > begin ? static_cast<std::size_t>(end - begin) : 0;
  }

  /// Moves from `value` only if it is done.
  template <class U>
  ring_answer put(U&& value) noexcept {
    static_assert(std::is_nothrow_constructible_v<T, U>);      // otherwise its place would stay empty
    std::uint64_t at = tail_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    for (;;) {
      if ((at & closed_bit) != 0) return ring_answer::closed;
      place& p = place_of(at);
      std::uint64_t const turn = p.turn.load(std::memory_order_acquire);  // E2
      if (turn == 2 * lap_of(at)) {
        // relaxed: the turn orders
        if (!tail_.compare_exchange_strong(at, at + 1, std::memory_order_relaxed, std::memory_order_relaxed)) continue;
        std::construct_at(p.value(), std::forward<U>(value));
        p.turn.store(turn + 1, std::memory_order_release);  // E1
        return ring_answer::done;
      }
      std::uint64_t const seen = std::exchange(at, tail_.load(std::memory_order_relaxed));  // relaxed: as above
      if (seen == at) return ring_answer::not_now;
    }
  }
  std::optional<T> take() noexcept {
    std::uint64_t at = head_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    for (;;) {
      place& p = place_of(at);
      std::uint64_t const turn = p.turn.load(std::memory_order_acquire);  // E1
      if (turn == 2 * lap_of(at) + 1) {
        // relaxed: the turn orders
        if (!head_.compare_exchange_strong(at, at + 1, std::memory_order_relaxed, std::memory_order_relaxed)) continue;
        std::optional<T> taken{std::move(*p.value())};
        std::destroy_at(p.value());
        p.turn.store(turn + 1, std::memory_order_release);  // E2
        return taken;
      }
      std::uint64_t const seen = std::exchange(at, head_.load(std::memory_order_relaxed));  // relaxed: as above
      if (seen == at) return std::nullopt;
    }
  }

  /// No put is done after this, but for those that have begun.
  void close() noexcept { tail_.fetch_or(closed_bit, std::memory_order_relaxed); }  // relaxed: one word
  bool closed() const noexcept {
    return (tail_.load(std::memory_order_relaxed) & closed_bit) != 0;  // relaxed: as above
  }
  /// Would a put be answered at once, by done or closed?
  bool may_put() const noexcept {
    std::uint64_t at = tail_.load(std::memory_order_relaxed);  // relaxed: the caller's fence
    for (;;) {
      if ((at & closed_bit) != 0 || place_of(at).turn.load(std::memory_order_acquire) == 2 * lap_of(at))
        return true;                                                                        // E2
      std::uint64_t const seen = std::exchange(at, tail_.load(std::memory_order_relaxed));  // relaxed: as above
      if (seen == at) return false;  // otherwise others have put meanwhile
    }
  }
  /// Is there a value to take, or will there never be one?
  bool may_take() const noexcept {
    std::uint64_t at = head_.load(std::memory_order_relaxed);  // relaxed: as above
    for (;;) {
      if (place_of(at).turn.load(std::memory_order_acquire) == 2 * lap_of(at) + 1 || is_over()) return true;  // E1
      std::uint64_t const seen = std::exchange(at, head_.load(std::memory_order_relaxed));  // relaxed: as above
      if (seen == at) return false;
    }
  }
  /// Is it closed, with all values taken?
  bool is_over() const noexcept {
    // relaxed: nothing is put any more, so the first that are equal stay so
    std::uint64_t const end = tail_.load(std::memory_order_relaxed);
    return (end & closed_bit) != 0 &&
           (end & ~closed_bit) == head_.load(std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63;
  struct place {
    typename Env::template atomic<std::uint64_t> turn{0};
    alignas(T) std::byte bytes[sizeof(T)];
    T* value() noexcept { return std::launder(reinterpret_cast<T*>(bytes)); }
  };
  /// Of a power of two; otherwise 64, and positions are divided.
  static unsigned shift_of(std::size_t capacity) noexcept {
    unsigned shift = 0;
    while (shift != 63 && (std::size_t{1} << shift) < capacity) ++shift;
    return (std::size_t{1} << shift) == capacity ? shift : 64;
  }
  std::uint64_t lap_of(std::uint64_t at) const noexcept { return shift_ != 64 ? at >> shift_ : at / capacity_; }
  place& place_of(std::uint64_t at) const noexcept {
    return places_[static_cast<std::size_t>(shift_ != 64 ? at & (capacity_ - 1) : at % capacity_)];
  }

  unique_ptr<place[]> const places_;
  std::size_t const capacity_;
  unsigned const shift_;
  alignas(cache_line_size) typename Env::template atomic<std::uint64_t> tail_{0};
  alignas(cache_line_size) typename Env::template atomic<std::uint64_t> head_{0};
};

}  // namespace heist::detail
