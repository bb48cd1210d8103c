// A list that some threads walk without a lock while other threads add and remove entries, whose memory stays.
#pragma once

#include <atomic>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::detail {

// Edges (README.md, "Open list")
//   E1  obtain, add, give_back: next_open, first_.store(release) -> find: load(acquire)   the entry is complete
//   E2  give_back: kept_.CAS(release) -> obtain: kept_.exchange(acquire)                  what its last user did

/// The links of an entry.
template <class Env, class Entry>
struct open_link {
  typename Env::template atomic<Entry*> next_open{nullptr};  ///< of one that was removed: as it was
  Entry* previous_open = nullptr;                            ///< under the lock
  Entry* next_unused = nullptr;                              ///< under the lock
};

/// Entries are used, given back, and used again. One that is given back may stay in the list, so a program that uses one at
/// a time changes the list once. Others are removed. So the list has the entries in use, and one more at most.
///
/// Threads  any.
/// Promises find() meets each entry that is in the list from the beginning of the call to its end.
/// Cost     obtain and give_back: an exchange each; a lock if other entries are in use.
template <class Entry, class Env = os_env>
class open_list {
 public:
  open_list() = default;
  open_list(open_list const&) = delete;
  open_list& operator=(open_list const&) = delete;

  /// An unused entry, for the caller. Null: there is none.
  Entry* acquire() noexcept {
    if (kept_.load(std::memory_order_relaxed) != nullptr) {  // relaxed: a hint
      if (Entry* const kept = kept_.exchange(nullptr, std::memory_order_acquire); kept != nullptr) return kept;  // E2
    }
    spin_guard guard{lock_};
    if (unused_ == nullptr) return nullptr;
    Entry& e = *std::exchange(unused_, unused_->next_unused);
    link(e);
    return &e;
  }
  /// A new one, which the caller uses.
  void add(Entry& e) noexcept {
    spin_guard guard{lock_};
    link(e);
  }
  void give_back(Entry& e) noexcept {
    Entry* none = nullptr;
    // release: E2
    if (kept_.compare_exchange_strong(none, &e, std::memory_order_release, std::memory_order_relaxed)) return;
    spin_guard guard{lock_};
    Entry* const next = e.next_open.load(std::memory_order_relaxed);  // relaxed: under the lock
    if (e.previous_open != nullptr) {
      // relaxed: `next` is older than the previous entry, so a thread that has seen the one has seen the other
      e.previous_open->next_open.store(next, std::memory_order_relaxed);
    } else {
      first_.store(next, std::memory_order_release);  // release: as above
    }
    if (next != nullptr) next->previous_open = e.previous_open;
    e.next_unused = std::exchange(unused_, &e);
  }

  /// An entry of the list for which `fits(entry)`; null: there is none. Almost always the list is empty.
  template <class Fits>
  Entry* find(Fits fits) const noexcept {
    Entry* e = first_.load(std::memory_order_acquire);                                   // acquire: E1
    while (e != nullptr && !fits(*e)) e = e->next_open.load(std::memory_order_acquire);  // acquire: E1
    return e;
  }
  bool is_empty() const noexcept { return first_.load(std::memory_order_relaxed) == nullptr; }  // relaxed: a hint

  /// Calls `end(entry)` for all. No thread uses one.
  template <class End>
  void clear(End end) noexcept {
    if (Entry* const kept = kept_.load(std::memory_order_relaxed); kept != nullptr) end(*kept);  // relaxed: nobody else
    while (unused_ != nullptr) end(*std::exchange(unused_, unused_->next_unused));
  }

 private:
  void link(Entry& e) noexcept {
    Entry* const first = first_.load(std::memory_order_relaxed);  // relaxed: under the lock
    e.previous_open = nullptr;
    e.next_open.store(first, std::memory_order_release);  // release: E1, for a thread that stands on it
    if (first != nullptr) first->previous_open = &e;
    first_.store(&e, std::memory_order_release);  // release: E1
  }

  typename Env::template atomic<Entry*> first_{nullptr};
  typename Env::template atomic<Entry*> kept_{nullptr};  // in the list, unused
  spin_lock<Env> lock_;
  Entry* unused_ = nullptr;  // under the lock
};

}  // namespace heist::detail
