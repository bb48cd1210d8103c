// What stands in task stacks: forked tasks (parent-first), and frames that can be gone on with (child-first).
#pragma once

#include <atomic>
#include <cstddef>  // byte, size_t
#include <cstdint>

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/sched/runnable.hpp"
#include "heist/sync/completion.hpp"

namespace heist::detail {

class fiber;
struct interrupt_state;

inline bool describe_fork(runnable const& self, task_view& view) noexcept {
  view = {task_kind::other, &self, nullptr};
  return true;
}
inline constexpr described_operations fork_operations{&describe_fork};
/// What observers are told of forked tasks that somebody else runs.
inline constexpr described fork_what{&fork_operations};

/// A task that waits in the stack of the fiber that forked it. Its owner writes `run` and what that needs, nothing
/// else; the rest has no value until the slot is made public.
struct alignas(cache_line_size) fork_slot {
  /// Calls the task on behalf of a thief, on fiber `on`, and leaves the outcome where its parent expects it.
  using run_function = void (*)(fork_slot& self, fiber& on) noexcept;

  /// Bytes in the slot for a small task or its outcome.
  static constexpr std::size_t room = 16;

  void make_public() noexcept {
    finished.reset();
    thief.store(nullptr, std::memory_order_relaxed);  // relaxed: published with the slot
  }
  bool pending() const noexcept { return run != nullptr; }

  /// Null: nothing is forked here. Not beside `function`: a compiler would merge the two stores by way of a vector
  /// register, which costs more than both.
  run_function run;
  completion finished;
  void* function;
  os_env::atomic<fiber*> thief;      ///< on which fiber the thief runs it, once it does
  interrupt_state const* interrupt;  ///< what the task is part of; written before the slot is made public
  bool failed;                       ///< the outcome is an exception
  alignas(void*) std::byte storage[room];
};
static_assert(sizeof(fork_slot) == cache_line_size);

/// A frame that has called its child on another stack. Nothing has a value until it is needed: parent and `overtaken`
/// before the call, `finished` when somebody may go on with the frame, `failed` with the completion.
struct calling_frame {
  calling_frame() noexcept {}
  ~calling_frame() {}

  fiber* parent;   ///< the fiber of the frame
  bool overtaken;  ///< the child has moved, or its worker has gone on with the frame; for the child's own fiber to read
  bool failed;     ///< the child's outcome is an exception
  union {
    completion finished;  ///< the child's end
  };
};

/// Where a frame is in the computation. It lies in the frame that called it, or with the child on its way to its stack,
/// and is there as long as the frame runs. `parent` and `index` stand still meanwhile, so that thieves may read them.
struct frame_record {
  frame_record* parent;  ///< null: a run's body, or a frame that belongs to no run
  std::uint32_t index;   ///< among the children of its parent
  std::uint32_t forks;   ///< children so far, with marks; the frame's own

  // Marks in `forks`, so that one test tells a fork that has nothing to do with a steal tree.
  static constexpr std::uint32_t special = 1u << 31;  ///< in a followed_record, and with any of the others
  static constexpr std::uint32_t serial = 1u << 30;   ///< of many frames at once, whose forks are calls: never changes
  static constexpr std::uint32_t designated = 1u << 29;  ///< the rest of the frame goes to fiber::designated_worker
  static constexpr std::uint32_t plain = 1u << 28;       ///< with `designated`: it is no followed_record
  static constexpr std::uint32_t count = plain - 1;

  bool is_special() const noexcept { return (forks & special) != 0; }
};

/// A calling frame whose thieves note what they take: of all frames where the order is `recorded`.
struct recorded_frame : calling_frame {
  frame_record place;  ///< of the child that is called
};

/// A frame in its worker's stack of continuations.
struct continuation_slot {
  /// Null: empty. A thief empties it when it has read it; before that the owner does not use the slot again.
  os_env::atomic<calling_frame*> frame;

  inline void make_public() noexcept;  // in fiber.hpp
};

}  // namespace heist::detail
