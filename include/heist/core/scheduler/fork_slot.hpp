// The entries of task stacks: forked tasks (parent-first), and frames that can be continued (child-first).
#pragma once

#include <atomic>
#include <cstddef>  // byte, size_t
#include <cstdint>
#include <new>  // launder

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

class fiber;
struct interrupt_state;

inline bool text_of_fork(runnable const& self, task_view& view) noexcept {
  view = {task_kind::other, &self, nullptr};
  return true;
}
inline constexpr described_operations fork_operations{&text_of_fork};
/// The description, for observers, of forked tasks that a thief runs.
inline constexpr described fork_what{&fork_operations};

/// A task that waits in the stack of the fiber that forked it. Its owner writes `function` and then `run`; the rest has no value until the slot is made public, by the owner or by a thief.
struct alignas(cache_line_size) fork_slot {
  /// Calls the task on behalf of a thief, on fiber `self`, and leaves the outcome where its parent expects it.
  using run_function = void (*)(fork_slot& task, fiber& self) noexcept;

  /// Bytes in the slot for a small task or its outcome.
  static constexpr std::size_t room = 16;

  void make_public() noexcept { make_public(run); }
  /// By a thief that opens the stack; false if nothing is forked here. The owner may clear `run` meanwhile.
  bool open() noexcept {
    run_function const how = shared_run();
    if (how != nullptr) make_public(how);
    return how != nullptr;
  }
  /// By any thread.
  bool pending() const noexcept { return shared_run() != nullptr; }
  /// By the owner.
  HEIST_ALWAYS_INLINE bool marked() const noexcept { return run != nullptr; }

  /// The owner has written the task.
  HEIST_ALWAYS_INLINE void mark(run_function how) noexcept {
    os_env::store_shared(run, how, std::memory_order_release);  // release: pairs with shared_run()
  }
  /// The owner comes to the join, and looks then whether it is plain.
  HEIST_ALWAYS_INLINE void clear_before_join() noexcept {
    clear();
    os_env::free_fence();  // as marked_slot says
  }
  /// Nothing is forked here. By the owner.
  HEIST_ALWAYS_INLINE void clear() noexcept {
    os_env::store_shared(run, run_function{nullptr},
                         std::memory_order_relaxed);  // relaxed: clear_before_join(), or its own
  }

  /// By the thief that has taken it.
  void run_stolen(fiber& self) noexcept {
    run_function const how = *std::launder(reinterpret_cast<run_function*>(storage));
    how(*this, self);
  }

  /// Null: no task lies in the slot. The owner alone writes it. It does not lie beside `function`: a compiler would
  /// merge the two stores in a vector register, which costs more than both.
  run_function run;
  completion finished;
  void* function;
  os_env::atomic<fiber*> thief;            ///< on which fiber the thief runs it, once it does
  interrupt_state const* interrupt;        ///< interrupts the task; written before the slot is made public
  bool failed;                             ///< the outcome is an exception
  alignas(void*) std::byte storage[room];  ///< `run` for the thief, and then the outcome

 private:
  run_function shared_run() const noexcept {
    return os_env::load_shared(const_cast<run_function&>(run),
                               std::memory_order_acquire);  // acquire: pairs with mark()
  }
  void make_public(run_function how) noexcept {
    finished.reset();
    thief.store(nullptr, std::memory_order_relaxed);  // relaxed: published with the slot
    ::new (static_cast<void*>(storage)) run_function{how};
  }
};
static_assert(sizeof(fork_slot) == cache_line_size);

/// A frame that has called its child on another stack. Nothing has a value until it is needed: `parent` and
/// `continuation_stolen` before the call, `finished` when a thief may continue with the frame, `failed` with the
/// completion.
struct caller_frame {
  caller_frame() noexcept {}
  ~caller_frame() {}

  fiber* parent;  ///< the fiber of the frame
  /// The child has moved, or its worker has continued the frame; for the child's own fiber to read.
  bool continuation_stolen;
  bool failed;  ///< the child's outcome is an exception
  union {
    completion finished;  ///< the child's end
  };
};

/// A frame in its worker's stack of continuations.
struct continuation_slot {
  /// Null: empty. A thief empties it when it has read it; before that the owner does not use the slot again.
  os_env::atomic<caller_frame*> frame;

  inline void make_public() noexcept;  // in fiber.hpp
};

}  // namespace heist::detail
