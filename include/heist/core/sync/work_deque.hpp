// Work-stealing deque: one owner pushes and pops at the bottom, any number of thieves steal at the top.
// Chase and Lev (SPAA 2005), with the memory orders of Le, Pop, Cohen and Zappa Nardelli (PPoPP 2013).
#pragma once

#include <atomic>
#include <cstddef>      // size_t
#include <new>          // bad_alloc, nothrow
#include <type_traits>  // is_pointer_v

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

/// The outcome for a thief: contention (`lost`) is not emptiness.
enum class steal_status { stolen, empty, lost };

/// The result of an attempt to steal.
template <class T>
struct steal_result {
  steal_status status;
  T item;  ///< null unless stolen
};

// Edges (why they suffice: README.md, "Work-stealing deque")
//   E1  owner: bottom_.store(release)  -> thief: bottom_.load(acquire)   the item and the object behind it
//   E2  pop: fence(seq_cst)           <-> steal: fence(seq_cst)          one of the two sees the other's index
//   E3  thief: top_.CAS(acq_rel)       -> owner: top_.load(acquire)      the slot may be used again
//   E4  grow: ring_.store(release)     -> thief: ring_.load(acquire)     the copied slots
//   E5  shrink: ring_.store, then push (E1) -> thief: bottom_.load(acquire), then ring_.load   the ring of that item

/// A deque of pointers that grows.
///
/// Threads  push(), pop() and shrink() by the owner only; steal() and maybe_empty() by any thread.
/// Cost     push: two plain stores. pop: one full fence, a compare-and-swap for the last item only; none when the
///          owner knows that it is empty, or is the only thread. steal: one full fence and one compare-and-swap.
/// Promises every item pushed comes out exactly once. Rings that are not in use are kept for later, and because a late
///          thief may still read them. Together they are smaller than the largest one. shrink() gives their memory
///          back, not their addresses.
template <class T, class Env = os_env>
class work_deque {
  static_assert(std::is_pointer_v<T>,
                "heist: a slot is read before the thief knows that it has won, so a deque holds small trivial handles. "
                "Fix it by pushing pointers.");
  template <class U>
  using atomic = typename Env::template atomic<U>;
  using index = typename Env::index;

 public:
  static constexpr std::size_t usual_capacity = 1024;

  /// `capacity`: how many items fit before it grows for the first time; a power of two. `has_thieves`: false if the owner
  /// alone calls steal().
  explicit work_deque(std::size_t capacity = usual_capacity, bool has_thieves = true)
      : has_thieves_{has_thieves}, first_{detail::make_unique<ring>(capacity)} {
    adopt(*first_);
    ring_.store(first_.get(), std::memory_order_relaxed);  // relaxed: starting the thieves publishes it
  }
  work_deque(work_deque const&) = delete;
  work_deque& operator=(work_deque const&) = delete;

  /// Owner: adds an item. False when the ring is full and there is no memory for a larger one.
  [[nodiscard]] bool push(T item) noexcept {
    index const b = bottom_.load(std::memory_order_relaxed);  // relaxed: the owner is the sole writer
    if (distance(known_top_, b) >= capacity_) [[unlikely]] {
      if (!make_room(b)) return false;
    }
    slots_[slot(b)].store(item, std::memory_order_relaxed);  // relaxed: published by E1
    bottom_.store(next(b), std::memory_order_release);       // E1
    return true;
  }

  /// Owner: takes the youngest item, or null.
  T pop() noexcept {
    index b = bottom_.load(std::memory_order_relaxed);  // relaxed: the owner is the sole writer
    if (b == known_top_) return nullptr;                // top never falls: it was empty and is
    b = previous(b);
    if (!has_thieves_) return pop_alone(b);
    bottom_.store(b, std::memory_order_release);     // E1: a thief may read this store instead of the push's
    Env::fence(std::memory_order_seq_cst);           // E2
    index t = top_.load(std::memory_order_acquire);  // E3: nothing below t is read again
    known_top_ = t;
    index const left = distance(t, b);
    if (left < 0) {
      bottom_.store(next(b), std::memory_order_release);  // E1: restores the index of an empty deque
      return nullptr;
    }
    T item = slots_[slot(b)].load(std::memory_order_relaxed);  // relaxed: the owner's own store
    if (left > 0) return item;
    // The last item: the one that moves top from t owns it.
    if (!top_.compare_exchange_strong(t, next(t), std::memory_order_acq_rel,  // E3; acquire: as the load above
                                      std::memory_order_acquire)) {           // E3: known_top_ passes the thief below
      item = nullptr;
    }
    known_top_ = next(b);
    bottom_.store(next(b), std::memory_order_release);  // E1
    return item;
  }

  /// Owner: takes `item` back if it is the youngest one. False: it is not, or a thief has it.
  bool take_back(T item) noexcept {
    index const b = bottom_.load(std::memory_order_relaxed);  // relaxed: the owner is the sole writer
    if (b == known_top_) return false;                        // top never falls: it was empty and is
    // relaxed: the owner's own store. If a thief has it, the deque is empty.
    return slots_[slot(previous(b))].load(std::memory_order_relaxed) == item && pop() != nullptr;
  }

  /// Thief: takes the oldest item.
  steal_result<T> steal() noexcept {
    index t = top_.load(std::memory_order_acquire);           // E3: the slots that an earlier thief left
    Env::fence(std::memory_order_seq_cst);                    // E2
    index const b = bottom_.load(std::memory_order_acquire);  // E1
    if (distance(t, b) <= 0) return {steal_status::empty, nullptr};
    ring const* const r = ring_.load(std::memory_order_acquire);              // E4
    T const item = r->slots[r->slot(t)].load(std::memory_order_relaxed);      // relaxed: published by E1
    if (!top_.compare_exchange_strong(t, next(t), std::memory_order_acq_rel,  // E3
                                      std::memory_order_relaxed)) {           // relaxed: nothing is used
      return {steal_status::lost, nullptr};
    }
    return {steal_status::stolen, item};
  }

  /// Any thread: a look without a fence. May be stale in both directions; exact once the caller and the last pusher are
  /// separated by a pair of fences (README.md, "Sleep").
  bool maybe_empty() const noexcept {
    index const b = bottom_.load(std::memory_order_relaxed);  // relaxed: a hint
    index const t = top_.load(std::memory_order_relaxed);     // relaxed: a hint
    return distance(t, b) <= 0;
  }

  /// Any thread: how many items it holds, roughly.
  std::size_t size_snapshot() const noexcept {
    index const b = bottom_.load(std::memory_order_relaxed);  // relaxed: a hint
    index const t = top_.load(std::memory_order_relaxed);     // relaxed: a hint
    index const n = distance(t, b);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }

  /// Owner: true if it has become larger since the last shrink() that came to its end.
  bool has_grown() const noexcept { return has_grown_; }

  /// Owner, once the deque is empty: it is as small as at first again. The larger rings go to `give_back(slots, n)`, a
  /// piece at a time, as long as `still()`; it may set them to null.
  template <class Still, class GiveBack>
  void shrink(Still still, GiveBack give_back) noexcept {
    index const b = bottom_.load(std::memory_order_relaxed);            // relaxed: the owner is the sole writer
    if (distance(top_.load(std::memory_order_acquire), b) > 0) return;  // E3: no item is in any ring
    adopt(*first_);
    ring_.store(first_.get(), std::memory_order_release);  // E5
    for (ring* r = first_->larger.get(); r != nullptr; r = r->larger.get()) {
      for (std::size_t i = 0; i <= r->mask; i += part) {
        if (!still()) return;
        give_back(&r->slots[i], r->mask + 1 - i < part ? r->mask + 1 - i : part);
      }
    }
    has_grown_ = false;
  }

  /// Owner: how many items fit now.
  std::size_t capacity() const noexcept { return static_cast<std::size_t>(capacity_); }

 private:
  struct ring {
    explicit ring(std::size_t n) : slots{detail::make_unique<atomic<T>[]>(n)}, mask{n - 1} {}
    HEIST_RARE ~ring() = default;
    std::size_t slot(index i) const noexcept { return static_cast<std::size_t>(i) & mask; }

    detail::unique_ptr<atomic<T>[]> slots;
    std::size_t mask;
    detail::unique_ptr<ring> larger;  ///< null if none was needed so far
  };
  static constexpr std::size_t part = 1 << 17;  ///< slots that shrink() gives back between two looks

  // Indices wrap: only differences mean anything.
  static index distance(index from, index to) noexcept { return static_cast<index>(to - from); }
  static index next(index i) noexcept { return static_cast<index>(i + 1); }
  static index previous(index i) noexcept { return static_cast<index>(i - 1); }
  std::size_t slot(index i) const noexcept { return static_cast<std::size_t>(i) & mask_; }

  void adopt(ring& r) noexcept {
    in_use_ = &r;
    slots_ = r.slots.get();
    mask_ = r.mask;
    capacity_ = static_cast<index>(r.mask + 1);
  }

  /// `b`: the index of the youngest item, if there is one.
  T pop_alone(index b) noexcept {
    known_top_ = top_.load(std::memory_order_relaxed);  // relaxed: the owner is the sole writer
    if (distance(known_top_, b) < 0) return nullptr;
    bottom_.store(b, std::memory_order_relaxed);             // relaxed: there is no thief
    return slots_[slot(b)].load(std::memory_order_relaxed);  // relaxed: the owner's own store
  }

  HEIST_NOINLINE bool make_room(index b) noexcept {
    known_top_ = top_.load(std::memory_order_acquire);  // E3
    if (distance(known_top_, b) < capacity_) return true;
    if (in_use_->larger == nullptr) {
      try {
        in_use_->larger = detail::make_unique<ring>(2 * (mask_ + 1));
      } catch (std::bad_alloc const&) {
        return false;
      }
    }
    ring& larger = *in_use_->larger;
    for (index i = known_top_; i != b; i = next(i)) {
      larger.slots[larger.slot(i)].store(slots_[slot(i)].load(std::memory_order_relaxed),  // relaxed: own stores
                                         std::memory_order_relaxed);                       // relaxed: published by E4
    }
    adopt(larger);
    has_grown_ = true;
    ring_.store(&larger, std::memory_order_release);  // E4
    return true;
  }

  // Owner writes, thieves read.
  alignas(cache_line_size) atomic<index> bottom_{0};
  // Owner only.
  index known_top_{0};  ///< top_ is here or further
  index capacity_{0};
  std::size_t mask_{0};
  atomic<T>* slots_{nullptr};
  bool has_grown_{false};
  bool const has_thieves_;
  ring* in_use_{nullptr};
  detail::unique_ptr<ring> first_;
  // Thieves and, for the last item, the owner write.
  alignas(cache_line_size) atomic<index> top_{0};
  atomic<ring*> ring_{nullptr};
};

}  // namespace heist::detail
