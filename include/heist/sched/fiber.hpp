// A fiber of an executor: a stack on which a worker's loop, and so every task, runs.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <new>
#include <utility>  // exchange, move

#include "heist/base/env.hpp"
#include "heist/fiber/flow.hpp"
#include "heist/policy/order.hpp"
#include "heist/sched/fork_slot.hpp"
#include "heist/sched/interrupt.hpp"
#include "heist/sched/runnable.hpp"
#include "heist/sync/completion.hpp"
#include "heist/sync/task_stack.hpp"

namespace heist::detail {

class core;
struct replay_seat;
struct worker;

/// Children that have been forked and put nowhere yet, of a frame on a fiber.
struct unstarted_children {
  void (*start)(unstarted_children& self) noexcept;
  unstarted_children* older = nullptr;
};

using fork_stack = task_stack<fork_slot>;

/// Lives as long as its executor, so that a late look at it is harmless. Either some worker runs on it, or it is parked
/// (its frames wait), or it has called a child that runs on another fiber, or it is spare (its loop can go on with
/// anything) or fresh (there is nothing on it).
class fiber {
 public:
  /// Forked tasks that one fiber can hold; a deeper recursion runs its children in place.
  static constexpr std::size_t slots = 4096;
  static constexpr std::size_t slot_bytes = (slots + fork_stack::scratch) * sizeof(fork_slot);

  /// What makes a parked fiber go on, in a deque or the master queue.
  struct resumption : pooled_runnable {
    explicit resumption(fiber* f) noexcept
        : pooled_runnable{{{&resume, nullptr}, nullptr}, nullptr, nullptr}, self{f} {}
    fiber* self;
  };

  fiber(core& home, stack&& memory, unsigned colour, bool alone, fork_order order)
      : tasks{reinterpret_cast<fork_slot*>(memory.top()), slots, alone},
        home{home},
        order{order},
        resume_item{this},
        rest_item_{{&run_rest, nullptr}, this},
        booty_{{&run_booty, nullptr}, nullptr},
        waiter_{{&wake}, this},
        flow_{std::move(memory), colour} {}

  /// Forked by the frames on this fiber, youngest last; thieves reach it through the worker that runs on it.
  fork_stack tasks;

  core& home;
  worker* on = nullptr;                        ///< whose worker runs on this fiber; set before each switch to it
  interrupt_state const* interrupt = nullptr;  ///< of the task that runs on it
  calling_frame* called_by = nullptr;          ///< the frame whose child runs on it
  fiber* next_spare = nullptr;
  fiber* next_chain = nullptr;              ///< in core's store of fibers: the head of another list
  fork_order const order;                   ///< what a context that leaves the order to the executor does
  unstarted_children* unstarted = nullptr;  ///< of the scopes of its frames, youngest first
  std::uint32_t no_migrate = 0;             ///< guards on its frames: it goes on on the worker that it parked on
  std::uint32_t waiting_joins = 0;          ///< joins of its frames that wait without parking, one on top of the other
  std::uint32_t designated_worker = 0;      ///< by the frame that forks next, if its record says so
  replay_seat const* seat = nullptr;        ///< where it goes on after a join, if a steal tree says so
  bool turnless = false;                    ///< its worker may already begin what a steal tree gives it next
  std::uint32_t locks = 0;                  ///< heist::mutexes held by its frames (debug builds)
  std::unique_ptr<fiber> next_of_all;
  resumption resume_item;
  /// How far its first slot is from the root of the computation, in forks, modulo 2^32: what it runs may stand further
  /// up in its task stack. Kept for policies that sample. Its worker writes it, thieves read it.
  os_env::atomic<std::uint32_t> depth{0};

  /// The inter-squad task whose subtree runs on it, if any.
  squad_task* bound() const noexcept { return interrupt != nullptr ? interrupt->bound : nullptr; }

  /// Waits until `c` is complete: parks this fiber, which the caller runs on, and lets its worker go on with another.
  /// Without memory for another, the worker runs other tasks on top of the waiting frame instead.
  void wait_for(completion& c);
  /// As above, and goes on where `where` says; it parks even if `c` is complete. False if it has not, for want of
  /// memory: then `c` is complete, and the fiber is where it was.
  bool wait_for(completion& c, replay_seat const& where);

  /// A parked fiber of this run goes on on the worker on which it parked.
  bool stays() const noexcept { return interrupt != nullptr && interrupt->stays; }

  flow& own_flow() noexcept { return flow_; }

  /// Goes on in `to` on this fiber's worker; this fiber becomes spare.
  void switch_and_become_spare(fiber& to);

  /// Where the next task on this fiber may fork: above all that is pending. `hint`: a slot that is not far.
  fork_slot* top() noexcept {
    fork_slot* s = top_hint_ < tasks.split() ? tasks.split() : top_hint_;
    while (s != tasks.end() && s->pending()) ++s;
    while (s != tasks.first() && !s[-1].pending()) --s;
    return top_hint_ = s;
  }

  /// To be called before forked tasks up to `top` may become public: a thief runs them as part of what this fiber runs
  /// now.
  void label(fork_slot* top) noexcept {
    for (fork_slot* s = tasks.split(); s < top && s < tasks.end(); ++s) s->interrupt = interrupt;
  }

  /// A stolen task, as something to run on this fiber, at once.
  runnable* booty(fork_slot& slot) noexcept;

  /// Runs a stolen task on this fiber, now; its frames are pending below.
  void run_stolen(fork_slot& slot) noexcept;

  /// Starts the worker loop on this fiber, which is fresh, with the next switch to it.
  void start_loop() noexcept;
  /// The worker loop, on the fiber `self`; returns never.
  static int run_loop(void* self, void*) noexcept;

  /// A child that has ended goes on in `loop`; this fiber is fresh.
  void leave_to(fiber& loop) noexcept;

 private:
  struct parked_waiter : completion_waiter {
    fiber* self;
  };
  /// Tasks that a parked fiber has forked and not joined, in a deque: whoever runs it steals one of them.
  struct rest : runnable {
    fiber* self;
    os_env::atomic<bool> queued{false};
    rest(runnable r, fiber* f) noexcept : runnable{r}, self{f} {}
  };
  struct stolen_task : runnable {
    fork_slot* slot;
  };

  static runnable* resume(runnable& self, fiber& on);
  static runnable* run_rest(runnable& self, fiber& on);
  static runnable* run_booty(runnable& self, fiber& on);
  static void wake(completion_waiter& w) noexcept;
  static void after_park(void* self) noexcept;
  template <bool Fresh>
  static void after_leaving(void* self) noexcept;

  void come_back(squad_task& task, worker& w) noexcept;
  fiber* make_way();
  void park(completion& c, fiber& next);
  void expose_rest();
  void queue_rest();
  bool wait_on_top(completion& c);

  fork_slot* top_hint_ = tasks.first();
  completion* awaited_ = nullptr;
  rest rest_item_;
  stolen_task booty_;
  parked_waiter waiter_;
  flow flow_;
};

/// Sets what the tasks on a fiber are interrupted by, for as long as it lives.
class interrupted_by {
 public:
  interrupted_by(fiber& on, interrupt_state const* interrupt) noexcept
      : on_{on}, outer_{std::exchange(on.interrupt, interrupt)} {}
  interrupted_by(interrupted_by const&) = delete;
  interrupted_by& operator=(interrupted_by const&) = delete;
  ~interrupted_by() { on_.interrupt = outer_; }

 private:
  fiber& on_;
  interrupt_state const* outer_;
};

inline void continuation_slot::make_public() noexcept {
  calling_frame& f = *frame.load(std::memory_order_relaxed);  // relaxed: owner
  ::new (static_cast<void*>(&f.finished)) completion;
  f.parent->own_flow().keep_control();
}

}  // namespace heist::detail
