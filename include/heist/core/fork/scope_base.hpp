// The part that scopes of all contexts share.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/fork/counted_join.hpp"
#include "heist/core/fork/fork_extension.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/fork_slot.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/sync/interrupt.hpp"

namespace heist::detail {

/// Marks the children of scopes in deques.
inline constexpr described scope_what{&fork_operations};

/// As many children of scopes wait in a worker's deque when the next one is called in place; or in one scope when they
/// are dealt out.
inline constexpr std::size_t enough_waiting = 4096;

/// The operations on a child of a scope, for code that does not know its callable's type.
struct scope_child_operations {
  /// Calls the callable with a context of that position; the scope keeps its exception.
  void (*call)(scope_child& task, fiber& self, fork_slot* position) noexcept;
  /// Destroys the callable.
  void (*end)(scope_child& self) noexcept;
  /// After end(): gives the child's memory back.
  void (*free)(scope_child& task, fiber& self) noexcept;
  void const* identity;  ///< function_identity
};

/// A child of a scope, and the frame that it is called from where it gets a stack of its own. Its `run` is for a worker
/// that takes it from a deque.
struct scope_child : runnable, caller_frame {
  scope_child(run_function function, scope_base& of, scope_child_operations const& all) noexcept
      : runnable{function, &scope_what}, in{&of}, operations{&all} {}

  scope_base* in;
  scope_child_operations const* operations;
  scope_child* next = nullptr;  ///< the extension's own, as the next
  std::uint32_t number = 0;

  void call(fiber& self, fork_slot* position) noexcept { operations->call(*this, self, position); }
  void end() noexcept { operations->end(*this); }
  void free(fiber& self) noexcept { operations->free(*this, self); }
  /// It will not be called, or has been.
  void discard(fiber& self) noexcept {
    end();
    free(self);
  }
};

/// Threads  as heist::scope; extensions as the task that made it.
class scope_base {
 public:
  scope_base(fiber& self, fork_slot* position, fork_way way, bool remote) noexcept;
  scope_base(scope_base const&) = delete;
  scope_base& operator=(scope_base const&) = delete;

  void request_stop() noexcept { stop.set_again(1); }
  bool stopped() const noexcept {
    return stop.why.load(std::memory_order_relaxed) != 0;  // relaxed: advice
  }
  /// Waits for all children; rethrows the first exception.
  void join() {
    wait();
    rethrow();
  }
  void wait();
  /// Waits for the frame's own children; the extension waits for its own.
  void wait_for_forked();

  /// A child throws.
  void keep_exception() noexcept;
  bool failed() const noexcept {
    return failed_.load(std::memory_order_relaxed);  // relaxed: the children have finished
  }
  void rethrow();

  /// Calls a child of this scope, on a worker that has it from a deque or in its parent's place.
  template <class Call>
  void call_child(fiber& here, Call&& call) noexcept {
    fork_slot* const top = here.top();
    interrupted_above const part_of{here, top, &stop};
    call(here, way == fork_way::child_first ? context_access::marked(top, position_mark::child_first) : top);
  }
  /// Starts `child` at once, on a stack of its own. Throws stack_error or bad_alloc; the child is gone then, too.
  void start(scope_child& child);
  /// Starts it so, or calls it where there is no stack.
  void start_or_call(scope_child& child) noexcept;

  /// The extension's part of it. Throws bad_alloc.
  extension_scope& of_extension();

  /// Lives while no task but the children and their descendants may touch the scope.
  class waiting {
   public:
    explicit waiting(scope_base& s) noexcept : of_{s} { of_.waits = true; }
    waiting(waiting const&) = delete;
    waiting& operator=(waiting const&) = delete;
    ~waiting() { of_.waits = false; }

   private:
    scope_base& of_;
  };

  fiber* const on;
  fork_slot* const position;  ///< the position of the context that it was made from
  interrupt_state stop;       ///< the children's stop; the frame's is its outer one
  fork_way const way;
  bool const remote;        ///< it was made by code that runs on another fiber than the context's
  bool waits = false;       ///< code that runs on its fiber now does so on top of the frame
  std::int64_t forked = 0;  ///< children that run elsewhere, since the last wait
  counted_join joined;

 private:
  /// Runs children that are still in this worker's deque on top of the waiting frame, while there is stack for them:
  /// they are its own.
  void run_own();

  os_env::atomic<bool> failed_{false};
  std::exception_ptr exception_;
  unique_ptr<extension_scope> extension_scope_;
};

/// Does the next child-first child on `w` find a stack? Otherwise there is no memory.
bool may_start_child(worker& w) noexcept;
/// Does the next wait on `w` find a fiber to continue with?
bool may_suspend(worker& w) noexcept;

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/fork/scope_base.ipp"
#endif
