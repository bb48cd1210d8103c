// A fiber of an executor: a stack on which a worker's loop, and so every task, runs.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <new>
#include <utility>  // exchange, move

#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/extension/frame_tracker.hpp"
#include "heist/core/extension/resume_rule.hpp"
#include "heist/core/fiber/fiber_context.hpp"
#include "heist/core/observe/parked_note.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/scheduler/fork_slot.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/core/sync/task_stack.hpp"
#include "heist/core/sync/wait_cycle.hpp"

namespace heist::detail {

class core;
struct helper;
struct transfer_loop;
struct worker;

/// Children that have been forked and put nowhere yet, of a frame on a fiber.
struct pending_children {
  void (*start)(pending_children& self) noexcept;
  pending_children* older = nullptr;
};

using fork_stack = task_stack<fork_slot>;

/// Called about a wait when the fiber is in line already; lies on the frame that waits.
struct wait_check {
  /// Is the wait useless? Then `self`, which has been left, is no more in line (fiber::step_back), and resumes.
  bool (*in_vain)(wait_check& check, fiber& self) noexcept;
};

/// Lives as long as its executor, so that a late look at it is harmless. A worker runs on it,
/// or it is parked (its frames wait), or it has called a child that runs on another fiber. Otherwise it is spare (its
/// loop can continue with anything) or fresh (there is nothing on it).
class fiber {
 public:
  /// Forked tasks that one fiber can hold; a deeper recursion runs its children in place.
  static constexpr std::size_t slots = 4096;
  static constexpr std::size_t slot_bytes = (slots + fork_stack::scratch) * sizeof(fork_slot);

  /// The runnable that resumes a parked fiber, in a deque or the injection queue.
  struct resumption : pooled_runnable {
    explicit resumption(fiber* f) noexcept
        : pooled_runnable{{{&resume, nullptr}, nullptr}, nullptr, nullptr}, self{f} {}
    fiber* self;
  };

  fiber(core& owner, stack&& memory, unsigned color, bool alone, fork_order how)
      : tasks{reinterpret_cast<fork_slot*>(memory.top()), slots, alone},
        scheduler{owner},
        stack_bottom{reinterpret_cast<std::uintptr_t>(memory.bottom())},
        stack_bytes{memory.usable()},
        order{how},
        resume_item{this},
        rest_item_{{&run_rest, nullptr}, this},
        stolen_task_{{&run_stolen_task, nullptr}, nullptr},
        waiter_{{&wake}, this},
        fiber_context_{std::move(memory), color} {}

  /// Forked by the frames on this fiber, youngest last; thieves reach it through the worker that runs on it.
  fork_stack tasks;

  core& scheduler;
  os_env::atomic<std::uintptr_t> stack_bottom;  ///< for runs_here()
  os_env::atomic<std::size_t> stack_bytes;      ///< as above
  detail::worker* worker = nullptr;             ///< the worker that runs on this fiber; set before each switch to it
  interrupt_state const* interrupt = nullptr;   ///< the state of the task that runs on it
  caller_frame* called_by = nullptr;            ///< the frame whose child runs on it
  fiber* next_cached = nullptr;
  fiber* next_chain = nullptr;  ///< in core's store of fibers: the head of another list
  /// The runnable that its worker's loop has begun on it last; tells to which runnable a task belongs. It lives while
  /// its own code runs; other threads may not follow the pointer.
  os_env::atomic<runnable const*> running{nullptr};
  fork_order const order;                   ///< the order of contexts that leave it to the executor
  pending_children* not_started = nullptr;  ///< one for each scope of its frames, youngest first
  std::uint32_t no_migrate = 0;             ///< guards on its frames: it resumes on the worker that it parked on
  std::uint32_t waiting_joins = 0;          ///< joins of its frames that wait without parking, one on top of the other
  resume_rule* resumes = nullptr;           ///< the rule of the wait that it is in; null: that of its task
  std::uint32_t tasks_on_top = 0;           ///< wait_on_top()
  fork_slot const* stolen = nullptr;        ///< the stolen task that it runs
  outside_note const* limits = nullptr;     ///< the limits of the youngest task on it that has some; for people
  frame_tracker* tracker = nullptr;         ///< the youngest measured frame's
  transfer_loop* innermost_loop = nullptr;  ///< on this fiber (parallel/coroutine/resumption.hpp)
  std::uint64_t extension_word = 0;         ///< the extension's own
  std::uint32_t keeps_waiting = 0;          ///< frames whose waits for a lock no stop ends
  unique_ptr<fiber> next_of_all;
  parked_note note;
  resumption resume_item;
  /// The distance of its first slot from the root of the computation, in forks, modulo 2^32: the task that it runs may
  /// be further up in its task stack. Kept for policies that sample. Its worker writes it, thieves read it.
  os_env::atomic<std::uint32_t> depth{0};

  /// The rule of the task that runs on it, which says where it is resumed; null: anywhere.
  resume_rule* rule_of_task() const noexcept { return interrupt != nullptr ? interrupt->resumes : nullptr; }

  /// Waits until `c` is complete: parks this fiber, which the caller runs on, and lets its worker continue with
  /// another. If there is no memory for another, the worker runs other tasks on top of the waiting frame instead.
  void wait_for(completion& c, wait_reason const& why = {});
  /// The same; throws stack_error or bad_alloc if there is no memory.
  void wait_or_throw(completion& c, wait_reason const& why);
  /// The same; false if `check` has found the wait to be useless.
  bool wait_or_throw(completion& c, wait_reason const& why, wait_check& check);
  /// The fiber that is parked and waits by `w`; null: `w` is no fiber's, or has stepped back.
  static fiber const* of_waiter(completion_waiter const& w) noexcept;
  /// For a check, before it takes the lock of the searches: false without memory.
  bool may_step_back() noexcept;
  /// For a check, under that lock, after may_step_back(): waits no more. False if the wait has ended.
  bool step_back() noexcept;
  /// Waits for `c`, and is resumed where `where` says; it parks even if `c` is complete. False if it has not, for want
  /// of memory: then `c` is complete, and the fiber is where it was.
  bool wait_for(completion& c, resume_rule& where);

  /// At a fork: lets requests from outside in if all workers are busy and it is the requests' turn. The code that runs
  /// here resumes after them, perhaps on another worker.
  void handle_notification() noexcept;
  /// Would handle_notification() suspend this fiber now?
  bool must_suspend() noexcept;

  /// Does the calling code run on this fiber? Any thread.
  HEIST_ALWAYS_INLINE bool runs_here() const noexcept {
    // relaxed: code other than its own gets the same answer from any value that the field had
    return stack_address() - stack_bottom.load(std::memory_order_relaxed) <
           stack_bytes.load(std::memory_order_relaxed);  // relaxed: as above
  }
  /// Is it an address of the memory of its own stack?
  bool has_in_memory(std::uintptr_t address) const noexcept { return address - memory_bottom() < memory_bytes(); }
  std::uintptr_t memory_bottom() const noexcept {
    return reinterpret_cast<std::uintptr_t>(fiber_context_.memory().bottom());
  }
  std::size_t memory_bytes() const noexcept { return fiber_context_.memory().usable(); }
  /// Is less than a quarter of its stack left, for the code that calls it? Then nothing more should run on top of it.
  bool short_of_stack() const noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < memory_bottom() + memory_bytes() / 4;
  }
  /// Code that runs on it has a stack of its own, as coroutines of other libraries do: runs_here() is always true from
  /// now on.
  void has_other_stacks() noexcept {
    stack_bytes.store(~std::size_t{0}, std::memory_order_relaxed);  // relaxed: as in runs_here()
    stack_bottom.store(0, std::memory_order_relaxed);               // relaxed: as above
  }

  fiber_context& own_fiber_context() noexcept { return fiber_context_; }

  /// Returns the fiber that the worker continues with while this one waits; null without memory.
  fiber* try_suspend() noexcept;
  /// May another thread carry the worker while this fiber's frames stay on theirs?
  bool may_leave_worker() const noexcept;
  /// Notes the reason of its wait, for state_text().
  void note_wait(wait_reason const& why, completion const* awaited = nullptr) noexcept;
  /// The completion that cannot end before its frames have returned; null: not known. By its own code, or while it is
  /// parked and cannot resume.
  completion const* end_of_frames() const noexcept;

  /// Gives the unused memory of its stack and its task stack back to the system. It is fresh or spare.
  void give_memory_back() noexcept { fiber_context_.memory().give_back(fiber_context_.unused_below()); }

  /// Continues in `to` on this fiber's worker; this fiber becomes spare.
  void switch_and_become_cached(fiber& to);

  /// The slot at which the next task on this fiber may fork: above all pending ones. `hint`: a slot that is not far.
  fork_slot* top() noexcept {
    fork_slot* s = top_hint_;
    while (s != tasks.end() && s->pending()) ++s;
    while (s != tasks.first() && !s[-1].pending()) --s;
    return top_hint_ = s;
  }

  /// To be called before forked tasks up to `top` may become public: a thief runs them as part of the task that this
  /// fiber runs now, or ran when they were forked. By its own code in an owner_part, or by the thief that opens its
  /// task stack.
  void label(fork_slot* top) noexcept {
    fork_slot* const split = tasks.split();
    for (fork_slot* s = split < labelled_ ? labelled_ : split; s < top && s < tasks.end(); ++s)
      s->interrupt = interrupt;
  }

  /// A stolen task, as something to run on this fiber, at once.
  runnable* as_runnable(fork_slot& slot) noexcept;

  /// Runs a stolen task on this fiber, now; its frames are pending below.
  void run_stolen(fork_slot& slot) noexcept;

  /// Starts the worker loop on this fiber, which is fresh, with the next switch to it.
  void start_loop() noexcept;
  /// The worker loop, on the fiber `self`; returns never.
  static int run_loop(void* self, void*) noexcept;

  /// Starts a helper's task on this fiber, which is fresh, with the next switch to it.
  void start_helper(helper& g) noexcept;

  /// A child that has ended resumes in `loop`; this fiber is fresh.
  void leave_to(fiber& loop) noexcept;

 private:
  friend class interrupted_above;
  struct parked_waiter : completion_waiter {
    fiber* self;
  };
  /// Of a wait with a check; not in the fiber, since it may stay in line for longer than that lives.
  struct checked_waiter : careful_waiter {
    explicit checked_waiter(fiber* f) noexcept : careful_waiter{&wake_checked}, self{f} {}
    fiber* self;
  };
  /// Tasks that a parked fiber has forked and not joined, in a deque: the worker that runs it steals one of them.
  struct rest : runnable {
    fiber* self;
    os_env::atomic<bool> queued{false};
    rest(runnable r, fiber* f) noexcept : runnable{r}, self{f} {}
  };
  struct stolen_task : runnable {
    fork_slot* slot;
  };

  static runnable* resume(runnable& task, fiber& self);
  static runnable* run_rest(runnable& task, fiber& self);
  static runnable* run_stolen_task(runnable& task, fiber& self);
  static void wake(completion_waiter& w) noexcept;
  static void after_park(void* self) noexcept;
  static void wake_checked(completion_waiter& w) noexcept;
  static void after_checked_park(void* self) noexcept;
  template <bool Unused>
  static void after_leaving(void* self) noexcept;

  fiber& suspend();
  bool may_suspend() const noexcept;
  static void after_suspending(void* self) noexcept;
  void park(completion& c, fiber& next, wait_reason const& why = {}, void (*after)(void*) noexcept = &after_park);
  void expose_rest();
  void queue_rest();
  class on_top;
  bool wait_on_top(completion& c, wait_reason const& why = {});
  void notify_returned(detail::worker& w) noexcept {
    if (resume_rule* const rule = rule_of_task(); rule != nullptr) rule->returned(*this, w);
  }
  runnable* take_on_top();

  fork_slot* top_hint_ = tasks.first();
  fork_slot* labelled_ = tasks.first();  ///< private tasks below it belong to frames that run something else
  completion* awaited_ = nullptr;
  rest rest_item_;
  stolen_task stolen_task_;
  parked_waiter waiter_;
  unique_ptr<checked_waiter> checked_waiter_;  ///< null: it has not waited so
  unique_ptr<checked_waiter> next_waiter_;     ///< in its place, if it stays in line
  wait_check* check_ = nullptr;
  fiber_context fiber_context_;
};

/// The fiber that the calling code runs on, if that is a task of the same executor; otherwise `of`.
HEIST_RARE fiber const& fiber_of_code(fiber const& of) noexcept;

/// Sets the interrupt_state of the tasks on a fiber, for as long as it lives.
class interrupted_by {
 public:
  interrupted_by(fiber& self, interrupt_state const* interrupt) noexcept
      : on_{self}, outer_{std::exchange(self.interrupt, interrupt)} {}
  interrupted_by(interrupted_by const&) = delete;
  interrupted_by& operator=(interrupted_by const&) = delete;
  ~interrupted_by() { on_.interrupt = outer_; }

 private:
  fiber& on_;
  interrupt_state const* outer_;
};

/// The same as interrupted_by, on top of frames that run something else: their forks stay part of that.
class interrupted_above {
 public:
  interrupted_above(fiber& self, interrupt_state const* interrupt) noexcept
      : interrupted_above{self, self.top(), interrupt} {}
  /// `top`: the value of self.top().
  interrupted_above(fiber& self, fork_slot* top, interrupt_state const* interrupt) noexcept
      : on_{self}, outer_{self.interrupt}, labelled_{self.labelled_} {
    fork_stack::owner_part const here{self.tasks};
    self.label(top);
    self.labelled_ = top;
    self.interrupt = interrupt;
  }
  interrupted_above(interrupted_above const&) = delete;
  interrupted_above& operator=(interrupted_above const&) = delete;
  ~interrupted_above() {
    fork_stack::owner_part const here{on_.tasks};
    on_.interrupt = outer_;
    on_.labelled_ = labelled_;
  }

 private:
  fiber& on_;
  interrupt_state const* outer_;
  fork_slot* labelled_;
};

/// While the code on a fiber waits, or something else runs there, its frames are not measured.
class measurement_pause {
 public:
  /// The frames of the code on `self`, which may be null.
  explicit measurement_pause(fiber* self) noexcept : measurement_pause{self != nullptr ? self->tracker : nullptr} {}
  explicit measurement_pause(frame_tracker* tracker) noexcept
      : tracker_{tracker != nullptr && tracker->stop() ? tracker : nullptr} {}
  measurement_pause(measurement_pause const&) = delete;
  measurement_pause& operator=(measurement_pause const&) = delete;
  ~measurement_pause() {
    if (tracker_ != nullptr) tracker_->restart();
  }

 private:
  frame_tracker* tracker_;
};

/// While this lives, code on the fiber is not, or not only, part of the task that its loop has begun last.
class outside_its_task {
 public:
  explicit outside_its_task(fiber& self) noexcept
      : on_{self},
        before_{self.running.load(std::memory_order_relaxed)},  // relaxed: its own
        not_its_work_{&self} {
    self.running.store(nullptr, std::memory_order_relaxed);  // relaxed: as above
  }
  outside_its_task(outside_its_task const&) = delete;
  outside_its_task& operator=(outside_its_task const&) = delete;
  ~outside_its_task() { on_.running.store(before_, std::memory_order_relaxed); }  // relaxed: as above

 private:
  fiber& on_;
  runnable const* before_;
  measurement_pause not_its_work_;
};

/// While this lives, code on top of a coroutine's resumption is no part of it.
class outside_its_loop {
 public:
  explicit outside_its_loop(fiber& self) noexcept : on_{self}, before_{std::exchange(self.innermost_loop, nullptr)} {}
  outside_its_loop(outside_its_loop const&) = delete;
  outside_its_loop& operator=(outside_its_loop const&) = delete;
  ~outside_its_loop() { on_.innermost_loop = before_; }

 private:
  fiber& on_;
  transfer_loop* before_;
};

inline void continuation_slot::make_public() noexcept {
  caller_frame& f = *frame.load(std::memory_order_relaxed);  // relaxed: owner
  ::new (static_cast<void*>(&f.finished)) completion;
  f.parent->own_fiber_context().keep_control();
}

}  // namespace heist::detail
