// Hands out items to workers in an order that is known before: the sequence arrays of strict ordered work stealing
// ("Optimizing Data Locality for Fork/Join Programs Using Constrained Work Stealing", SC 2014, IV.C).
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

// Edge (README.md, "Turns"; both sides of every place exchange its word)
//   E1  arrive, pass, turn: word.exchange(release) -> the other of arrive or pass, and turn: word.exchange(acquire)
//                                                     the item, and `next` of the list

/// For each of some workers a list of places, to be taken up in their order. A place is taken up when both have come:
/// its item, and the worker's turn to resume. The caller that comes second gets the item and makes the worker run it;
/// no caller waits.
///
/// Threads  arrive() and pass(): one of them, once, for each place, by any thread. turn(): by the thread that has the
///          worker's turn. The turn begins with the construction. The call uses it up, and it comes back when a
///          returned item has run. begin_anyhow(): when no thread is in another member. The items that it gives to
///          run() may call any.
/// Cost     one exchange for each call and place; a cache line for a worker, a word for a place.
template <class Item, class Env = os_env>
class turn_lists {
  using word = typename Env::template atomic<std::uintptr_t>;

 public:
  /// `lengths`: of each worker's list. Throws bad_alloc.
  explicit turn_lists(std::vector<std::size_t> const& lengths) : lists_(lengths.size()) {
    for (std::size_t w = 0; w != lengths.size(); ++w) {
      lists_[w].length = lengths[w];
      if (lengths[w] != 0) lists_[w].places = detail::make_unique<word[]>(lengths[w]);
    }
  }

  /// `item` has come for a place of worker `w`. Returns it if it is to be run now, by `w`; otherwise null.
  Item* arrive(std::size_t w, std::size_t place, Item& item) noexcept {
    if (order_is_off()) return &item;
    // E1
    std::uintptr_t const seen =
        lists_[w].places[place].exchange(reinterpret_cast<std::uintptr_t>(&item), std::memory_order_acq_rel);
    if (seen != turn_mark) return nullptr;
    lists_[w].next = place + 1;
    return &item;
  }

  /// Nothing will come for that place. Returns the item that `w` is to run in its turn, if it had come to it.
  Item* pass(std::size_t w, std::size_t place) noexcept {
    if (order_is_off()) return nullptr;
    // E1
    if (lists_[w].places[place].exchange(passed_mark, std::memory_order_acq_rel) != turn_mark) return nullptr;
    lists_[w].next = place + 1;
    return turn(w);
  }

  /// Worker `w` can resume. Returns the item to run, or null: then the thread that brings the item makes the worker run
  /// it.
  Item* turn(std::size_t w) noexcept {
    if (order_is_off()) return nullptr;
    list& of = lists_[w];
    for (std::size_t i = of.next; i != of.length; ++i) {
      std::uintptr_t const seen = of.places[i].exchange(turn_mark, std::memory_order_acq_rel);  // E1
      if (seen == nothing) return nullptr;
      of.next = i + 1;
      if (seen != passed_mark) return reinterpret_cast<Item*>(seen);
    }
    return nullptr;
  }

  /// As after the construction, for another round. Called when no thread is in another member.
  void begin_again() noexcept {
    off_.store(false, std::memory_order_relaxed);  // relaxed: the caller tells the threads that come
    for (list& of : lists_) {
      of.next = 0;
      for (std::size_t i = 0; i != of.length; ++i) of.places[i].store(nothing, std::memory_order_relaxed);  // as above
    }
  }

  /// From now on each item is to be run when it comes. Calls run(w, item) for each item that has come and had no turn
  /// yet.
  template <class Run>
  void begin_anyhow(Run&& run) noexcept {
    off_.store(true, std::memory_order_relaxed);  // relaxed: the caller has told the threads that come next
    for (std::size_t w = 0; w != lists_.size(); ++w) {
      for (std::size_t i = lists_[w].next; i != lists_[w].length; ++i) {
        // relaxed: no other thread is here, and the caller knows of every one that was
        std::uintptr_t const seen = lists_[w].places[i].load(std::memory_order_relaxed);
        if (seen > passed_mark) run(w, *reinterpret_cast<Item*>(seen));
      }
    }
  }

  bool order_is_off() const noexcept { return off_.load(std::memory_order_relaxed); }  // relaxed: see begin_anyhow

 private:
  static constexpr std::uintptr_t nothing = 0, turn_mark = 1, passed_mark = 2;

  struct alignas(cache_line_size) list {
    typename Env::template plain<std::size_t> next{0};  ///< the first place not taken up; goes with the worker's turn
    std::size_t length = 0;
    detail::unique_ptr<word[]> places;
  };
  std::vector<list> lists_;
  typename Env::template atomic<bool> off_{false};
};

}  // namespace heist::detail
