// The place of a frame in the computation, for runs that note thieves' steals, or follow such notes.
#pragma once

#include <cstdint>

#include "heist/core/scheduler/fork_slot.hpp"

namespace heist::detail {

/// Where a frame is in the computation. The record lies in the calling frame, or with the child on its way to its
/// stack. It exists as long as the frame runs. `parent` and `index` stand still meanwhile, so that thieves may read
/// them.
struct frame_record {
  frame_record* parent;  ///< null: a run's body, or a frame that belongs to no run
  std::uint32_t index;   ///< among the children of its parent
  std::uint32_t forks;   ///< children so far, with marks; the frame's own

  // Marks in `forks`, so that one test tells a fork that has nothing to do with a steal tree.
  static constexpr std::uint32_t special = 1u << 31;  ///< in a followed_record, and with any of the other marks
  static constexpr std::uint32_t serial = 1u << 30;   ///< of many frames at once, whose forks are calls: never changes
  static constexpr std::uint32_t is_assigned =
      1u << 29;                                     ///< the rest of the frame goes to the worker that room_bits names
  static constexpr std::uint32_t plain = 1u << 28;  ///< with `is_assigned`: it is no followed_record
  static constexpr std::uint32_t count = plain - 1;

  bool is_special() const noexcept { return (forks & special) != 0; }
};

/// A calling frame whose thieves note their steals. All frames are such where the order is `recorded`.
struct recorded_frame : caller_frame {
  frame_record place;  ///< the place of the called child
};

/// The bits of fiber::extension_word, in which the extension keeps its data on a fiber.
struct room_bits {
  explicit room_bits(std::uint64_t& word) noexcept : word_{word} {}

  static constexpr std::uint32_t no_turn = ~std::uint32_t{0};

  /// The worker whose turn the fiber has, in a run that follows a tree in its order. The worker named begins none of
  /// its next items in the tree meanwhile. It may differ from the fiber's worker: thieves may take a frame that forks
  /// in another run, or in none. no_turn: the fiber has no worker's turn.
  void set_turn_of(std::uint32_t worker) const noexcept { word_ = (word_ & ~low) | (worker + 1); }
  /// Sets the turn; returns the previous one.
  std::uint32_t exchange_turn_of(std::uint32_t worker) const noexcept {
    auto const was = static_cast<std::uint32_t>(word_ & low) - 1;
    set_turn_of(worker);
    return was;
  }
  /// By the frame that forks next, if its record says so.
  std::uint32_t assigned_worker() const noexcept { return static_cast<std::uint32_t>(word_ >> 32); }
  void assign_continuation(std::uint32_t worker) const noexcept {
    word_ = (word_ & low) | (std::uint64_t{worker} << 32);
  }

 private:
  static constexpr std::uint64_t low = ~std::uint32_t{0};

  std::uint64_t& word_;
};

}  // namespace heist::detail
