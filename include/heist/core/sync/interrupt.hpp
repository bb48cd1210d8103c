// The run, scope or task that a task is part of: it may skip the task, and says where the task must stay.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"

namespace heist::detail {

class resume_rule;
class stop_relay;

/// Why the tasks of a run are skipped: bits of one word, 0 as long as they are not. Also the run that it is part of.
///
/// Cost  any() is a load, or three in a run that is a task of another, at any depth. The outermost run counts
///       interruptions; the other states look through the runs around them only when that count has changed.
struct interrupt_state {
  /// Set where something that it is part of was seen to be interrupted.
  static constexpr std::uint32_t outside_bit = std::uint32_t{1} << 31;

  interrupt_state() noexcept = default;
  interrupt_state(interrupt_state const&) = delete;
  interrupt_state& operator=(interrupt_state const&) = delete;
  ~interrupt_state() { forget_relay(); }

  bool any() const noexcept {
    // relaxed: advice; the end of a run is ordered otherwise
    if (why.load(std::memory_order_relaxed) != 0) return true;
    return outer != nullptr && (outermost == nullptr ? outer->any() : outside());
  }
  /// Sets `bit`; true if this call is the first to do so.
  bool set(std::uint32_t bit) noexcept {
    // acq_rel: the first caller may own data that belongs to the bit
    if ((why.fetch_or(bit, std::memory_order_acq_rel) & bit) != 0) return false;
    // release: pairs with outside(), which sees the bit if it sees the count
    (outermost != nullptr ? outermost : this)->changes.fetch_add(1, std::memory_order_release);
    tell_relay();
    return true;
  }
  /// As set(), for a state that clear() may reset at the same time. Sets `bit` again if it was reset before a token was told,
  /// so that tokens and bits agree.
  void set_again(std::uint32_t bit) noexcept {
    // relaxed: set() has looked for it
    while (set(bit) && relay.load(std::memory_order_relaxed) != nullptr) {
    }
  }
  /// Ends the interruption. No part of it runs. Tokens that were made before stay stopped.
  void clear() noexcept { why.store(0, std::memory_order_relaxed); }  // relaxed: advice
  /// Before the run starts: makes it a part of `run`, which outlives it.
  void join_part_of(interrupt_state& run) noexcept {
    outer = &run;
    outermost = run.outermost != nullptr ? run.outermost : &run;
    // acquire: as in outside()
    std::uint32_t const now = outermost->changes.load(std::memory_order_acquire);
    // relaxed: the start of the run publishes it. An answer of later than `now` counts for it, too.
    seen.store(run.any() ? now - 1 : now, std::memory_order_relaxed);
  }
  void reset() noexcept {
    forget_relay();
    number_.store(0, std::memory_order_relaxed);  // relaxed: the start of the run publishes it
    why.store(0, std::memory_order_relaxed);      // relaxed: the start of the run publishes it
    outer = outermost = nullptr;
  }

  /// A token whose stop is requested when any() becomes true by set(), here or in what this is part of. Made at the first
  /// call. Throws bad_alloc.
  std::stop_token token() const;

  /// Never 0, and drawn at the first call: other states lie at this address before and after it.
  std::uint32_t number() const noexcept {
    std::uint32_t const known = number_.load(std::memory_order_relaxed);  // relaxed: a number
    return known != 0 ? known : draw_number();
  }
  /// The number; 0 if none was drawn.
  std::uint32_t known_number() const noexcept { return number_.load(std::memory_order_relaxed); }  // relaxed: a number

  mutable os_env::atomic<std::uint32_t> why{0};

 private:
  mutable os_env::atomic<std::uint32_t> number_{0};

 public:
  interrupt_state const* outer = nullptr;
  interrupt_state* outermost = nullptr;                ///< of runs of graphs; null: itself, or what `outer` knows
  os_env::atomic<std::uint32_t> changes{0};            ///< how often it, or a part of it, was interrupted
  mutable os_env::atomic<std::uint32_t> seen{0};       ///< when outermost->changes was so, nothing outside was
  mutable os_env::atomic<stop_relay*> relay{nullptr};  ///< the source of token(); null: not made
  resume_rule* resumes = nullptr;  ///< where fibers that run a part of it are resumed; null: anywhere

 private:
  /// After a bit was set.
  HEIST_RARE void tell_relay() noexcept;
  /// Call it when no thread sets bits any more, and before the memory is used again.
  void forget_relay() noexcept {
    if (relay.load(std::memory_order_relaxed) != nullptr) [[unlikely]]  // relaxed: no other thread uses the state
      delete_relay();
  }
  HEIST_RARE void delete_relay() noexcept;
  HEIST_RARE std::uint32_t draw_number() const noexcept;

  /// Is anything interrupted that it is part of? Notes the result in every state on the way.
  bool outside() const noexcept {
    // acquire: the bits that are counted
    std::uint32_t const now = outermost->changes.load(std::memory_order_acquire);
    if (seen.load(std::memory_order_relaxed) == now) return false;  // relaxed: advice
    interrupt_state const* at = outer;
    bool found = false;
    for (;; at = at->outer) {
      found = at->why.load(std::memory_order_relaxed) != 0;  // relaxed: above
      // relaxed: advice
      if (found || at->outer == nullptr || at->seen.load(std::memory_order_relaxed) == now) break;
    }
    for (interrupt_state const* s = this; s != at; s = s->outer) {
      if (found) {
        s->why.fetch_or(outside_bit, std::memory_order_relaxed);  // relaxed: advice
      } else {
        s->seen.store(now, std::memory_order_relaxed);  // relaxed: an older count only means another look
      }
    }
    return found;
  }
};

/// The interrupt_state of the task that has submitted another one, which may outlive it.
struct stop_origin {
  stop_origin() noexcept = default;
  explicit stop_origin(interrupt_state const* submitter) noexcept
      : state{submitter}, number{submitter == nullptr ? 0 : submitter->number()} {}
  /// Is it that of a task that exists?
  bool is(interrupt_state const* other) const noexcept {
    return state != nullptr && state == other && other->known_number() == number;
  }
  friend bool operator==(stop_origin const&, stop_origin const&) = default;

  interrupt_state const* state = nullptr;  ///< null: none
  std::uint32_t number = 0;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/sync/interrupt.ipp"
#endif
