// Calls that block the thread: another thread carries the worker meanwhile (README.md, "OS threads").
#pragma once

#include <exception>  // exception_ptr
#include <optional>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/config.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/result.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/fiber.hpp"

namespace heist::detail {

/// Between a successful begin() and end() the calling task's thread is not a worker, and may block. The task's frame
/// is not measured, also after a begin() that failed.
class blocking_call {
 public:
  blocking_call() noexcept;

  /// False if the worker stays with this thread: outside of tasks, at options::max_threads, without memory, and where
  /// the task must not resume on another thread (no_migrate, joins that do not park, policies with tiers, strict
  /// replay, run_here).
  bool begin() noexcept;
  /// After a successful begin(): the task resumes on some worker.
  void end() noexcept;

 private:
  static void after_leaving(void* left) noexcept;

  fiber* self_ = nullptr;
  fiber_context* thread_ = nullptr;  ///< the stack that the thread was born with
  measurement_pause waits_;
};

/// Calls f(); inside a task another thread takes the worker's place meanwhile. Returns the result of f, or throws its
/// exception.
template <class F>
auto call_blocking(F&& f) -> decltype(f()) {
  using result = decltype(f());
  static_assert(result_of_task<result>::is_result);
  blocking_call call;
  if (!call.begin()) return f();
  if constexpr (std::is_nothrow_invocable_v<F&> && std::is_void_v<result>) {
    f();
    call.end();
  } else {
    result_slot<result> value;
    std::exception_ptr thrown;
    try {
      value.fill(f);
    } catch (...) {
      thrown = exception_of_task();
    }
    call.end();  // behind the handler, since the task resumes elsewhere
    if (thrown) std::rethrow_exception(std::move(thrown));
    return value.take();
  }
}

}  // namespace heist::detail

namespace heist {

template <class Order>
template <class F>
decltype(auto) basic_context<Order>::blocking(F&& f) const {
  static_assert(std::is_invocable_v<F&>,
                "heist: the callable of ctx.blocking() takes no arguments, and no context, which it must not use; fix "
                "it by capturing what it needs.");
  return detail::call_blocking(f);
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/core/executor/blocking.ipp"
#endif
