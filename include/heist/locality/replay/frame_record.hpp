// Where a frame is in the computation, for those who note what thieves take of it, or follow such notes.
#pragma once

#include <cstdint>

#include "heist/core/scheduler/fork_slot.hpp"

namespace heist::detail {

/// Where a frame is in the computation. It lies in the frame that called it, or with the child on its way to its stack,
/// and is there as long as the frame runs. `parent` and `index` stand still meanwhile, so that thieves may read them.
struct frame_record {
  frame_record* parent;  ///< null: a run's body, or a frame that belongs to no run
  std::uint32_t index;   ///< among the children of its parent
  std::uint32_t forks;   ///< children so far, with marks; the frame's own

  // Marks in `forks`, so that one test tells a fork that has nothing to do with a steal tree.
  static constexpr std::uint32_t special = 1u << 31;  ///< in a followed_record, and with any of the others
  static constexpr std::uint32_t serial = 1u << 30;   ///< of many frames at once, whose forks are calls: never changes
  static constexpr std::uint32_t is_assigned =
      1u << 29;                                     ///< the rest of the frame goes to the worker that room_notes names
  static constexpr std::uint32_t plain = 1u << 28;  ///< with `is_assigned`: it is no followed_record
  static constexpr std::uint32_t count = plain - 1;

  bool is_special() const noexcept { return (forks & special) != 0; }
};

/// A calling frame whose thieves note what they take: of all frames where the order is `recorded`.
struct recorded_frame : caller_frame {
  frame_record place;  ///< of the child that is called
};

/// What the room keeps of a fiber, in fiber::room_word.
struct room_notes {
  explicit room_notes(std::uint64_t& word) noexcept : word_{word} {}

  static constexpr std::uint32_t no_turn = ~std::uint32_t{0};

  /// Whose turn it has, in a run that follows a tree in its order: while it has, that worker begins nothing that the
  /// tree gives it next. Not always its own worker's: thieves may take a frame that forks in another run, or in none.
  /// no_turn: nobody's.
  void set_turn_of(std::uint32_t worker) const noexcept { word_ = (word_ & ~low) | (worker + 1); }
  /// Sets it; returns what it was.
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
