// The requirements on a callable that becomes a task, checked at every door through which tasks come. A wrong one is
// one error with one sentence; nothing deeper is compiled.
#pragma once

#include <type_traits>

#include "heist/core/executor/context.hpp"

namespace heist::detail {

/// A door returns this in place of a result when it has refused the callable. It fits any use of the result, so that
/// compilers report nothing further. No program that compiles has one.
struct rejected {
  template <class T>
  operator T() const noexcept;
};

template <class A, class B>
concept either_rejected = std::is_same_v<A, rejected> || std::is_same_v<B, rejected>;
template <class A, class B>
rejected operator+(A const&, B const&) requires either_rejected<A, B>;
template <class A, class B>
rejected operator-(A const&, B const&) requires either_rejected<A, B>;
template <class A, class B>
rejected operator*(A const&, B const&) requires either_rejected<A, B>;
template <class A, class B>
rejected operator/(A const&, B const&) requires either_rejected<A, B>;
template <class A, class B>
rejected operator==(A const&, B const&) requires either_rejected<A, B>;
template <class A, class B>
rejected operator<(A const&, B const&) requires either_rejected<A, B>;
template <class A, class B>
rejected operator>(A const&, B const&) requires either_rejected<A, B>;

/// The result of a fork of F, if F is refused. F may be a number, given in place of a callable that returns one.
template <class F>
using rejected_result = std::conditional_t<std::is_arithmetic_v<std::decay_t<F>>, std::decay_t<F>, rejected>;

/// As `rejected`, in place of a future or a task's handle.
template <template <class> class Handle>
struct rejected_handle : Handle<rejected> {
  rejected_handle() noexcept;
  template <class T>
  operator Handle<T>() const noexcept;
};

enum class callable_fault {
  none,
  no_callable,
  work_itself,
  by_name,
  immovable,
  constant,
  other_context,
  parameters,
  rvalue_reference,
  immovable_result,
  of_another  ///< a fault of a task that it takes values from, which has been reported
};

struct with_call_operator {
  void operator()() const;
};
template <class F>
struct also_with_call_operator : F, with_call_operator {};
/// The call operator of also_with_call_operator is unambiguous only if F has none. Of a final class nothing is known.
template <class F>
concept has_no_call_operator =
    !std::is_class_v<F> || (!std::is_final_v<F> && requires { &also_with_call_operator<F>::operator(); });
template <class F>
inline constexpr bool is_no_callable =
    has_no_call_operator<F> && !std::is_function_v<std::remove_pointer_t<F>> && !std::is_member_pointer_v<F>;

/// The second way is looked at only if the first does not do: a generic callable may not compile with a context.
template <class F, class Context, class... Values>
inline constexpr bool callable_as_task = [] {
  if constexpr (callable_plain<F, Values...>) {
    return true;
  } else {
    return callable_with_context<F, Context, Values...>;
  }
}();

template <class F, class... Values>
inline constexpr bool accepts_another_context =
    callable_with_context<F, basic_context<order::parent_first>, Values...> ||
    callable_with_context<F, basic_context<order::child_first>, Values...> ||
    callable_with_context<F, basic_context<order::by_tier>, Values...> ||
    callable_with_context<F, basic_context<order::recorded>, Values...>;

/// Of a call with a context of type Context, if that is possible, and the values.
template <class Context, class F, class... Values>
constexpr callable_fault fault_of_call() noexcept {
  if constexpr (callable_as_task<F, Context, Values...>) {
    return callable_fault::none;
  } else if constexpr (is_no_callable<std::remove_const_t<F>>) {
    return callable_fault::no_callable;
  } else if constexpr (callable_as_task<std::remove_const_t<F>, Context, Values...>) {
    return callable_fault::constant;
  } else if constexpr (accepts_another_context<F, Values...>) {
    return callable_fault::other_context;
  } else {
    return callable_fault::parameters;
  }
}

/// Of a task that keeps a callable which was passed as F&&.
template <class Context, class F, class... Values>
constexpr callable_fault fault_of_kept() noexcept {
  using kept = std::decay_t<F>;
  if constexpr (is_unbegun_work<kept>) {
    return callable_fault::work_itself;
  } else if constexpr (is_no_callable<kept>) {
    return callable_fault::no_callable;
  } else if constexpr (!std::is_constructible_v<kept, F>) {
    return std::is_move_constructible_v<kept> ? callable_fault::by_name : callable_fault::immovable;
  } else {
    return fault_of_call<Context, kept, Values...>();
  }
}

/// As fault_of_kept, and of the result, which is kept, too.
template <class Context, class F, class... Values>
constexpr callable_fault fault_of_kept_with_result() noexcept {
  if constexpr (fault_of_kept<Context, F, Values...>() != callable_fault::none) {
    return fault_of_kept<Context, F, Values...>();
  } else if constexpr (std::is_rvalue_reference_v<task_result<Context, std::decay_t<F>, Values...>>) {
    return callable_fault::rvalue_reference;
  } else {
    return callable_fault::none;
  }
}

/// Of a forked callable of type F, const if it is; it is called where it is.
template <class Context, class F>
constexpr callable_fault fault_of_forked() noexcept {
  if constexpr (fault_of_call<Context, F>() != callable_fault::none) {
    return fault_of_call<Context, F>();
  } else {
    using result = task_result<Context, F>;
    if constexpr (std::is_rvalue_reference_v<result>) return callable_fault::rvalue_reference;
    constexpr bool moves =
        std::is_void_v<result> || std::is_reference_v<result> || std::is_move_constructible_v<result>;
    return moves ? callable_fault::none : callable_fault::immovable_result;
  }
}

/// The requirements of doors on a callable that was passed as F&&. Of a task that keeps it:
template <class Context, class F, class... Values>
struct as_task {
  static constexpr callable_fault fault = fault_of_kept_with_result<Context, F, Values...>();
};
/// and drops its result,
template <class Context, class F>
struct as_child {
  static constexpr callable_fault fault = fault_of_kept<Context, F>();
};
/// of one that is forked, const if F is,
template <class Context, class F>
struct as_forked {
  static constexpr callable_fault fault = fault_of_forked<Context, F>();
};
/// of one that is called.
template <class Context, class F>
struct as_called {
  static constexpr callable_fault fault = fault_of_call<Context, std::remove_reference_t<F>>();
};

/// Is there no fault? A fault ends the compilation with a sentence that names it.
template <class As>
constexpr bool accepted() noexcept {
  constexpr callable_fault fault = As::fault;
  static_assert(fault != callable_fault::no_callable,
                "heist: the given task cannot be called: it is a value, perhaps the result of a call; fix it "
                "by passing a callable, as in [&] { return f(x); }.");
  static_assert(fault != callable_fault::work_itself,
                "heist: the given task is a coroutine or a sender, and no callable; fix it by a callable that "
                "waits for it, as in [&] { return heist::sync_wait(f(x)); }.");
  static_assert(fault != callable_fault::by_name,
                "heist: a callable that cannot be copied was passed by its name, and a task keeps a callable of its "
                "own; fix it by std::move(f), or by writing the lambda in its place.");
  static_assert(fault != callable_fault::immovable,
                "heist: a task keeps a callable of its own, and this one can be neither copied nor moved; fix it by "
                "std::ref(f), where f lives until the task has ended.");
  static_assert(fault != callable_fault::constant,
                "heist: a callable that is const cannot be called, because its call would change it (is it a mutable "
                "lambda?); fix it by passing one that is not const.");
  static_assert(fault != callable_fault::other_context,
                "heist: a callable takes the context of another kind of executor than the one that runs it (tasks of "
                "graphs run on any); fix it by taking heist::context, or auto.");
  static_assert(fault != callable_fault::parameters,
                "heist: a task must be callable as f() or f(heist::context), with the values of the tasks it takes, "
                "each as T const&, as further arguments; fix its parameters, or capture what it needs.");
  static_assert(fault != callable_fault::rvalue_reference,
                "heist: a task cannot return an rvalue reference, which would dangle; fix it by returning a value.");
  static_assert(fault != callable_fault::immovable_result,
                "heist: the results of fork_join are moved into its tuple, and one of them cannot be moved; fix it by "
                "returning a std::unique_ptr to it.");
  return fault == callable_fault::none;
}

}  // namespace heist::detail
