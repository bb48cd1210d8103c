// Tasks that are ready, of which the most urgent is taken first.
#pragma once

#include <atomic>
#include <compare>  // compare_three_way, is_lt
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr, uninitialized_copy_n
#include <new>     // bad_alloc

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

/// A heap under a lock. A taker has been promised a task of it (README.md, "Ready list"), so it never finds the list
/// empty.
///
/// Threads  any.
/// Cost     a lock held for the logarithm of the size; memory is only taken to grow, outside of the lock.
template <class Item, class Env = os_env>
class ready_list {
 public:
  /// How urgent something is: the smaller the sooner. The upper bits are its class; only they are compared with another
  /// list.
  using urgency = std::uint64_t;
  static constexpr unsigned class_bits = 8;
  static constexpr std::uint32_t class_of(urgency u) noexcept {
    return static_cast<std::uint32_t>(u >> (64 - class_bits));
  }
  static constexpr std::uint32_t nothing = 1u << class_bits;  ///< less urgent than every class

  ready_list() noexcept = default;
  ready_list(ready_list const&) = delete;
  ready_list& operator=(ready_list const&) = delete;

  /// False if there is no memory to grow.
  [[nodiscard]] bool push(urgency how, Item& item) noexcept {
    for (;;) {
      std::size_t room = 0;
      {
        spin_guard guard{lock_};
        if (size_ != room_) {
          insert({how, &item});
          return true;
        }
        room = room_ == 0 ? first_room : 2 * room_;
      }
      if (!grow(room)) return false;
    }
  }

  /// The most urgent one. The taker must have been promised one of this list.
  Item& take() noexcept {
    spin_guard guard{lock_};
    return *remove().item;
  }

  /// The same as take(), but looks at `other`, too: takes an item of a more urgent class from there, and moves its own
  /// most urgent item there instead. So each list still has as many as it has promised.
  Item& take_or_exchange(ready_list& other) noexcept {
    // relaxed: hints, which are asked again under the locks
    if (&other == this ||
        other.first_class_.load(std::memory_order_relaxed) >= first_class_.load(std::memory_order_relaxed))
      return take();
    bool const mine_first = std::is_lt(std::compare_three_way{}(this, &other));  // all lock them in the same order
    spin_guard outer{mine_first ? lock_ : other.lock_};
    spin_guard inner{mine_first ? other.lock_ : lock_};
    entry const mine = remove();
    if (other.size_ == 0 || class_of(other.entries_[0].how) >= class_of(mine.how)) return *mine.item;
    Item& urgent = *other.remove().item;
    other.insert(mine);
    return urgent;
  }

 private:
  static constexpr std::size_t first_room = 64;

  struct entry {
    urgency how;
    Item* item;
  };

  // Under the lock. A binary heap, written out: <algorithm> is a sixth of what a file of tasks includes.
  void insert(entry e) noexcept {
    std::size_t at = size_++;
    for (; at != 0 && e.how < entries_[(at - 1) / 2].how; at = (at - 1) / 2) entries_[at] = entries_[(at - 1) / 2];
    entries_[at] = e;
    note_first();
  }
  HEIST_NOINLINE entry remove() noexcept {
    entry const first = entries_[0];
    entry const last = entries_[--size_];
    std::size_t at = 0;
    for (std::size_t below = 1; below < size_; below = 2 * at + 1) {
      if (below + 1 < size_ && entries_[below + 1].how < entries_[below].how) ++below;
      if (last.how <= entries_[below].how) break;
      entries_[at] = entries_[below];
      at = below;
    }
    entries_[at] = last;
    note_first();
    return first;
  }
  void note_first() noexcept {
    // relaxed: a hint
    first_class_.store(size_ == 0 ? nothing : class_of(entries_[0].how), std::memory_order_relaxed);
  }

  bool grow(std::size_t room) noexcept {
    detail::unique_ptr<entry[]> larger;
    try {
      larger = detail::make_unique_for_overwrite<entry[]>(room);
    } catch (std::bad_alloc const&) {
      return false;
    }
    spin_guard guard{lock_};
    if (room_ < room) {  // no other thread has been here
      std::uninitialized_copy_n(entries_.get(), size_, larger.get());
      entries_.swap(larger);
      room_ = room;
    }
    return true;
  }

  spin_lock<Env> lock_;
  std::size_t size_ = 0, room_ = 0;
  detail::unique_ptr<entry[]> entries_;
  typename Env::template atomic<std::uint32_t> first_class_{nothing};
};

}  // namespace heist::detail
