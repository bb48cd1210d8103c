// Iterations that an owner and its helpers take from both ends. The owner can wait until no helper is at work, and open
// the range again for other iterations.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/assert.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

// Edges (README.md, "Shared range")
//   E1  leave: state_.fetch_sub(release) -> close, will_wait: fetch_or(acquire), all_have_left: load(acquire)
//                                                                                    what helpers have done
//   E2  open: state_.store(release)      -> enter: CAS(acquire)                     the loop that is shared

/// The iterations [0, n), which one thread, the owner, and helpers take. It is closed at first.
///
/// Threads  open(), close() and wait functions: the owner. may_enter(), enter(): any thread, as long as the object exists.
///          leave(): helpers. All else: the owner, and a helper between the two.
/// Promises each iteration is taken once, unless drop_from() comes before. No helper enters after close(); after close() and
///          the wait no helper is inside, and none that was touches the range.
/// Cost     a compare-and-swap to take, to enter and to leave.
template <class Env = os_env>
class shared_range {
 public:
  shared_range() = default;
  shared_range(shared_range const&) = delete;
  shared_range& operator=(shared_range const&) = delete;

  /// Opens it, when it is closed and no helper is inside, for at most so many helpers, some of which may come twice.
  void open(std::size_t n, std::size_t helpers) noexcept {
    n_ = n;
    constexpr std::size_t most = 0xffff'ffffu;
    unit_ = n / most + 1;
    std::size_t const units = n / unit_ + (n % unit_ != 0 ? 1 : 0);
    left_.store(static_cast<std::uint64_t>(units) << 32, std::memory_order_relaxed);  // relaxed: E2
    all_left_.reset();
    state_.store(helpers * permit, std::memory_order_release);  // E2
  }

  struct range {
    std::size_t lo, hi;
    bool empty() const noexcept { return lo >= hi; }
  };

  struct share {
    std::size_t least, most;  ///< iterations
    std::size_t parts;        ///< at most a `parts`-th of the rest, but at least `least`
    std::size_t tail = 0;     ///< and at least so many, up to two `parts`-ths of the rest
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
    std::uint64_t const end = i / unit_ + (i % unit_ != 0 ? 1 : 0);
    std::uint64_t now = left_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // relaxed: as in take()
    while (end < high(now) && !left_.compare_exchange_weak(now, word(low(now), end), std::memory_order_relaxed,
                                                           std::memory_order_relaxed)) {
    }
  }

  /// Would a helper find something now? A hint.
  bool may_enter() const noexcept {
    return is_open_to_more(state_.load(std::memory_order_relaxed)) && !empty();  // relaxed: enter() decides
  }
  /// A helper comes. False: it is closed, or as many as are allowed have come.
  bool enter() noexcept {
    std::uint64_t now = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    do {
      if (!is_open_to_more(now)) return false;
      // acquire: E2
    } while (
        !state_.compare_exchange_weak(now, now - permit + 1, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
  }
  /// A helper leaves; the owner may wait for this. `gives_place`: one more helper may enter, for the rest of the range.
  void leave(bool gives_place = false) noexcept {
    std::uint64_t const less = gives_place ? 1 - permit : 1;
    // release: E1; acquire: for the last of several, which completes for all
    std::uint64_t const before = state_.fetch_sub(less, std::memory_order_acq_rel);
    if ((before & ~permits) == (closed | waits | 1)) all_left_.complete();
  }
  /// The owner has seen that nothing is left. True: no helper is inside.
  bool close() noexcept {
    return (state_.fetch_or(closed, std::memory_order_acquire) & inside) == 0;  // acquire: E1
  }
  /// After close(). If not the owner asks again, or calls will_wait().
  bool all_have_left() const noexcept {
    return (state_.load(std::memory_order_acquire) & inside) == 0;  // acquire: E1
  }
  /// After close(). True: the owner must wait for all_left(). False: no helper is inside.
  bool will_wait() noexcept {
    return (state_.fetch_or(waits, std::memory_order_acquire) & inside) != 0;  // acquire: E1
  }
  basic_completion<Env>& all_left() noexcept { return all_left_; }

 private:
  template <class T>
  using atomic = typename Env::template atomic<T>;
  struct taken {
    std::uint64_t lo, hi;
    std::uint64_t left;
  };
  // The state: two bits, helpers that may still come, helpers inside.
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63;
  static constexpr std::uint64_t waits = std::uint64_t{1} << 62;
  static constexpr std::uint64_t permit = std::uint64_t{1} << 31;
  static constexpr std::uint64_t inside = permit - 1;
  static constexpr std::uint64_t permits = (waits - 1) & ~inside;
  static bool is_open_to_more(std::uint64_t state) noexcept { return (state & closed) == 0 && (state & permits) != 0; }
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
      std::uint64_t const tail = how.tail / unit_ < 2 * part ? how.tail / unit_ : 2 * part;
      std::uint64_t const wanted = part < tail ? tail : part < most ? part : most, k = wanted < least ? least : wanted;
      taken const t = cut(lo, hi, k < hi - lo ? k : hi - lo);
      // relaxed: E1 orders the effects of iterations
      if (left_.compare_exchange_weak(now, t.left, std::memory_order_relaxed, std::memory_order_relaxed))
        return {t.lo * unit_, end_of(t.hi)};
    }
  }

  /// Units may reach beyond the end, and beyond what a number can hold.
  std::size_t end_of(std::uint64_t units) const noexcept {
    std::size_t end = 0;
    return __builtin_mul_overflow(units, unit_, &end) || end > n_ ? n_ : end;
  }

  std::size_t n_ = 0;
  std::uint64_t unit_ = 1;  // iterations; the ends are counted in it, to fit into one word
  atomic<std::uint64_t> left_{0};
  atomic<std::uint64_t> state_{closed};
  basic_completion<Env> all_left_;
};

}  // namespace heist::detail
