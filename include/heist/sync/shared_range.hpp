// Iterations that an owner and its helpers take from both ends. The owner can wait until no helper is at work.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/base/assert.hpp"
#include "heist/base/env.hpp"
#include "heist/sync/completion.hpp"

namespace heist::detail {

// Edges (README.md, "Shared range")
//   E1  leave: helpers_.fetch_sub(release) -> close: fetch_or(acquire), wait: load(acquire)  what helpers have done

/// The iterations [0, n), which one thread, the owner, and any number of helpers take.
///
/// Threads  close() and wait functions: the owner. enter() and leave(): helpers. All else: the owner, and a helper
///          between the two.
/// Promises each iteration is taken once, unless drop_from() comes before. No helper enters after close(); after close() and
///          the wait no helper is inside.
/// Cost     a compare-and-swap to take, to enter and to leave.
template <class Env = os_env>
class shared_range {
 public:
  explicit shared_range(std::size_t n) noexcept
      : n_{n}, unit_{(n >> 32) + 1}, left_{static_cast<std::uint64_t>((n + unit_ - 1) / unit_) << 32} {}
  shared_range(shared_range const&) = delete;
  shared_range& operator=(shared_range const&) = delete;

  struct range {
    std::size_t lo, hi;
    bool empty() const noexcept { return lo >= hi; }
  };

  struct share {
    std::size_t least, most;  ///< iterations
    std::size_t parts;        ///< at most a `parts`-th of what is left, but at least `least`
  };
  /// The first ones.
  range take_front(share const& how) noexcept {
    return take(how, [](std::uint64_t lo, std::uint64_t hi, std::uint64_t k) {
      return taken{lo, lo + k, word(lo + k, hi)};
    });
  }
  /// The last ones.
  range take_back(share const& how) noexcept {
    return take(how, [](std::uint64_t lo, std::uint64_t hi, std::uint64_t k) {
      return taken{hi - k, hi, word(lo, hi - k)};
    });
  }
  /// Is nothing left?
  bool empty() const noexcept {
    std::uint64_t const now = left_.load(std::memory_order_relaxed);  // relaxed: a hint
    return low(now) >= high(now);
  }
  /// Iterations from `i` on need not be taken any more; some may be all the same.
  void drop_from(std::size_t i) noexcept {
    std::uint64_t const end = (i + unit_ - 1) / unit_;
    std::uint64_t now = left_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // relaxed: as in take()
    while (end < high(now) && !left_.compare_exchange_weak(now, word(low(now), end), std::memory_order_relaxed,
                                                           std::memory_order_relaxed)) {
    }
  }

  /// A helper comes. False: it is too late, and what the range is of may be gone.
  bool enter() noexcept {
    std::uint32_t inside = helpers_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    do {
      if ((inside & closed) != 0) return false;
      // relaxed: the helper was given the range by its owner
    } while (!helpers_.compare_exchange_weak(inside, inside + 1, std::memory_order_relaxed, std::memory_order_relaxed));
    return true;
  }
  /// It goes; the owner may wait for it.
  void leave() noexcept {
    // release: E1; acquire: for the last of several, which completes for all
    if (helpers_.fetch_sub(1, std::memory_order_acq_rel) == (closed | 1)) all_left_.complete();
  }
  /// The owner has seen that nothing is left. True: no helper is inside; otherwise the owner waits, for all_have_left()
  /// or for all_left().
  bool close() noexcept {
    return helpers_.fetch_or(closed, std::memory_order_acquire) == 0;  // acquire: E1
  }
  bool all_have_left() const noexcept {
    return helpers_.load(std::memory_order_acquire) == closed;  // acquire: E1
  }
  basic_completion<Env>& all_left() noexcept { return all_left_; }

 private:
  template <class T>
  using atomic = typename Env::template atomic<T>;
  struct taken {
    std::uint64_t lo, hi;
    std::uint64_t left;
  };
  static constexpr std::uint32_t closed = std::uint32_t{1} << 31;
  static constexpr std::uint64_t low(std::uint64_t word) noexcept { return word & 0xffff'ffffu; }
  static constexpr std::uint64_t high(std::uint64_t word) noexcept { return word >> 32; }
  static constexpr std::uint64_t word(std::uint64_t lo, std::uint64_t hi) noexcept { return hi << 32 | lo; }

  template <class Cut>
  range take(share const& how, Cut cut) noexcept {
    std::uint64_t now = left_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    for (;;) {
      std::uint64_t const lo = low(now), hi = high(now);
      if (lo >= hi) return {n_, n_};
      std::uint64_t const part = (hi - lo) / how.parts, most = how.most / unit_, least = (how.least - 1) / unit_ + 1;
      std::uint64_t const wanted = part < most ? part : most, k = wanted < least ? least : wanted;
      taken const t = cut(lo, hi, k < hi - lo ? k : hi - lo);
      // relaxed: what iterations do is ordered by E1
      if (left_.compare_exchange_weak(now, t.left, std::memory_order_relaxed, std::memory_order_relaxed))
        return {t.lo * unit_, t.hi * unit_ < n_ ? t.hi * unit_ : n_};
    }
  }

  std::size_t const n_;
  std::uint64_t const unit_;  // iterations; the ends are counted in it, to fit into one word
  atomic<std::uint64_t> left_;
  atomic<std::uint32_t> helpers_{0};
  basic_completion<Env> all_left_;
};

}  // namespace heist::detail
