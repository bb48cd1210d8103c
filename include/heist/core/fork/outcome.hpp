// The outcome of a child that did not run in its parent's place: a value or an exception.
#pragma once

#include <array>
#include <cstddef>  // byte, size_t
#include <exception>
#include <memory>  // destroy_at
#include <new>     // launder
#include <type_traits>
#include <utility>  // exchange, forward, move

#include "heist/core/base/config.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/result.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/fiber/exception_state.hpp"

namespace heist::detail {

/// Room for the outcome of a task with result R. It has no value until fill(), and none after take(); whether it then
/// is an exception is kept by its owner.
template <class R>
class outcome {
  static_assert(!std::is_rvalue_reference_v<R>,
                "heist: a task cannot return an rvalue reference, which would dangle; fix it by returning a value.");
  using stored = std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*,
                                    std::remove_const_t<value_or_monostate<R>>>;

 public:
  using value = value_or_monostate<R>;

  /// Keeps the value or exception of `call()`; true if it has thrown.
  template <class Call>
  HEIST_ALWAYS_INLINE bool fill(Call&& call) noexcept {
    try {
      if constexpr (std::is_void_v<R>) {
        call();
      } else if constexpr (std::is_reference_v<R>) {
        ::new (static_cast<void*>(room_)) stored(std::addressof(call()));
      } else {
        ::new (static_cast<void*>(room_)) stored(call());
      }
      return false;
    } catch (...) {
      ::new (static_cast<void*>(room_)) std::exception_ptr(exception_of_task());
      return true;
    }
  }

  /// Does take() throw nothing?
  static constexpr bool accepts_quietly =
      std::is_void_v<R> || std::is_reference_v<R> || std::is_nothrow_constructible_v<value, stored&&>;

  HEIST_ALWAYS_INLINE value take() {
    if constexpr (std::is_void_v<R>) {
      return {};
    } else if constexpr (std::is_reference_v<R>) {
      return **at<stored>();
    } else {
      destroyer<stored> const end{at<stored>()};
      return std::move(*end.object);
    }
  }
  [[noreturn]] HEIST_COLD void rethrow() { std::rethrow_exception(take_exception()); }
  HEIST_COLD std::exception_ptr take_exception() {
    destroyer<std::exception_ptr> const end{at<std::exception_ptr>()};
    return std::move(*end.object);
  }
  void drop(bool failed) noexcept {
    if (failed) {
      std::destroy_at(at<std::exception_ptr>());
    } else {
      std::destroy_at(at<stored>());
    }
  }

 private:
  template <class T>
  struct destroyer {
    T* object;
    ~destroyer() { std::destroy_at(object); }
  };
  template <class T>
  T* at() noexcept {
    return std::launder(reinterpret_cast<T*>(room_));
  }

  static constexpr std::size_t size = sizeof(stored) > sizeof(std::exception_ptr) ? sizeof(stored)
                                                                                  : sizeof(std::exception_ptr);
  static constexpr std::size_t alignment = alignof(stored) > alignof(std::exception_ptr) ? alignof(stored)
                                                                                         : alignof(std::exception_ptr);
  alignas(alignment) std::byte room_[size];
};

/// Takes a value once, or drops it.
template <class R>
class consumer {
 public:
  explicit consumer(outcome<R>& out) noexcept : out_{&out} {}
  consumer(consumer const&) = delete;
  consumer& operator=(consumer const&) = delete;
  ~consumer() {
    if (out_ != nullptr) out_->drop(false);
  }
  typename outcome<R>::value take() { return std::exchange(out_, nullptr)->take(); }

 private:
  outcome<R>* out_;
};

/// The values of all outcomes; if some are exceptions drops everything, and rethrows the first of them.
template <class Values, class... R>
Values take_all(std::array<bool, sizeof...(R)> const& failed, outcome<R>&... out) {
  std::size_t first_failed = 0;
  while (first_failed != failed.size() && !failed[first_failed]) ++first_failed;
  if (first_failed != failed.size()) [[unlikely]] {
    std::exception_ptr first;
    std::size_t i = 0;
    ((i == first_failed ? void(first = out.take_exception()) : out.drop(failed[i]), ++i), ...);
    std::rethrow_exception(std::move(first));
  }
  // One of them may throw while it is moved: then the other values are destroyed all the same.
  return [](consumer<R>... values) { return Values{values.take()...}; }(consumer<R>{out}...);
}

template <class F, class... Args>
std::true_type const_call_operator(auto(F::*)(Args...) const);
template <class F>
concept called_const = requires {
  { const_call_operator(&F::operator()) } -> std::same_as<std::true_type>;
};

/// Is a callable as good as a copy, since its call cannot change it (not `mutable`, no overloads)? One that the caller has
/// a name for is called itself, since it may have mutable members or look at its address.
template <class F>
inline constexpr bool as_good_copied =
    std::is_trivially_copy_constructible_v<F>&& std::is_trivially_destructible_v<F> && !std::is_const_v<F> &&
    called_const<F>;
/// A small one travels in a register.
template <class F>
using in_register = std::conditional_t<as_good_copied<F> && sizeof(F) <= sizeof(void*), F, F&>;

/// How a callable that has been passed as F&& is forked. const keeps in_register from copying, and changes nothing for
/// a call operator that is const.
template <class F>
using forked_callable = std::conditional_t<std::is_lvalue_reference_v<F> && called_const<std::remove_reference_t<F>>,
                                           std::remove_reference_t<F> const, std::remove_reference_t<F>>;

/// Two results, in registers if they allow it, which std::tuple does not.
template <class First, class Second>
struct pair_of_values {
  template <class Tuple>
  HEIST_ALWAYS_INLINE Tuple as() {
    return Tuple{std::forward<First>(first), std::forward<Second>(second)};
  }
  First first;
  Second second;
};

/// Keeps an exception that is being handled out of the way of code that runs meanwhile, perhaps on another thread
/// afterwards. To be used in a catch block around a fork or a join.
class handler_pause {
 public:
  handler_pause() noexcept : state_{exchange_exception_state({})} {}
  handler_pause(handler_pause const&) = delete;
  handler_pause& operator=(handler_pause const&) = delete;
  ~handler_pause() { exchange_exception_state(state_); }

 private:
  exception_state state_;
};

/// Calls a child in its parent's place; void becomes std::monostate.
template <class Context, class F>
HEIST_ALWAYS_INLINE auto call_here(F& f, fiber& self, fork_slot* position)
    -> value_or_monostate<task_result<Context, F>> {
  if constexpr (std::is_void_v<task_result<Context, F>>) {
    call_task(f, context_access::make<Context>(self, position));
    return {};
  } else {
    return call_task(f, context_access::make<Context>(self, position));
  }
}

}  // namespace heist::detail
