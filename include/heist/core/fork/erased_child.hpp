// A child of a fork for code that need not know the type of its callable: extensions.
#pragma once

#include <memory>  // addressof

#include "heist/core/base/config.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/fork/outcome.hpp"

namespace heist::detail {

/// Equal for equal callables' types.
template <class F>
inline constexpr char function_identity = 0;

/// In the frame that forks.
struct erased_child {
  /// Calls the callable on `self`, with a context of that position, and keeps its value or exception.
  using call_function = void (*)(erased_child& task, fiber& self, fork_slot* position) noexcept;

  erased_child(call_function function, void const* type) noexcept : calls{function}, identity{type} {}
  erased_child(erased_child const&) = delete;
  erased_child& operator=(erased_child const&) = delete;
  void call(fiber& self, fork_slot* position) noexcept { calls(*this, self, position); }

  call_function const calls;
  void const* const identity;  ///< function_identity of its callable
  bool failed = false;         ///< it has thrown
};

template <class Context, class F>
struct child_of final : erased_child {
  using result = task_result<Context, F>;

  explicit child_of(F& f) noexcept
      : erased_child{&call_function_of, &function_identity<F>}, function{std::addressof(f)} {}

  F* function;
  outcome<result> out;

 private:
  static void call_function_of(erased_child& task, fiber& self, fork_slot* position) noexcept {
    auto& child = static_cast<child_of&>(task);
    child.failed = child.out.fill(
        [&]() -> decltype(auto) { return call_task(*child.function, context_access::make<Context>(self, position)); });
  }
};

}  // namespace heist::detail
