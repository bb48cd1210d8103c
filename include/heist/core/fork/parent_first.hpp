// Parent-first forks on the direct task stack (Wool): the parent continues with the first child, the other children
// wait in its fiber's task stack, and a join that finds its child unstolen calls it in place.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>  // index_sequence

#include "heist/core/base/config.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/fork/join_stolen.hpp"
#include "heist/core/fork/outcome.hpp"
#include "heist/core/fork/remote.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

/// A child in its slot, for workers other than its parent's. Small results are left in the slot; for others, the slot
/// refers to a `distant` in the parent's frame.
template <class Context, class F>
struct slot_task {
  using result = task_result<Context, F>;
  using outcome_type = outcome<result>;
  static constexpr bool near = sizeof(outcome_type) <= fork_slot::room && alignof(outcome_type) <= alignof(void*);

  /// Has no value until the child is stolen.
  struct distant {
    F* function;
    outcome_type out;
  };
  struct nothing {};
  using frame = std::conditional_t<near, nothing, distant>;

  HEIST_ALWAYS_INLINE static void write(fork_slot& slot, F& f, frame& in) noexcept {
    void* what;
    if constexpr (near) {
      what = const_cast<void*>(static_cast<void const*>(std::addressof(f)));
    } else {
      in.function = std::addressof(f);
      what = &in;
    }
    slot.function = what;
    slot.mark(&run);
  }

  static outcome_type& outcome_of(fork_slot& slot) noexcept {
    return *std::launder(reinterpret_cast<outcome_type*>(slot.storage));
  }
  template <class Frame>
  static outcome_type& outcome_of(fork_slot&, Frame& in) noexcept {
    return in.out;
  }

  static void run(fork_slot& slot, fiber& self) noexcept {
    void* const what = slot.function;
    auto const call = [&](F& f) -> decltype(auto) {
      return call_task(f, context_access::make<Context>(self, self.top()));
    };
    if constexpr (near) {
      auto* const out = ::new (static_cast<void*>(slot.storage)) outcome_type;
      slot.failed = out->fill([&]() -> decltype(auto) { return call(*static_cast<F*>(what)); });
    } else {
      auto& in = *static_cast<distant*>(what);
      slot.failed = in.out.fill([&]() -> decltype(auto) { return call(*in.function); });
    }
  }

  using value = typename outcome_type::value;

  /// Never inlined, and without `run` as an argument: so a fork keeps no register for the address of `run`.
  HEIST_COLD static bool is_mine(fiber& self, fork_slot* at) noexcept { return join_is_mine(self, at, &run); }

  /// The join: calls the child, or waits for the thief and takes the outcome.
  HEIST_ALWAYS_INLINE static value join(fiber& self, fork_slot* at, F& f, frame& in) {
    at->clear_before_join();
    if (HEIST_LIKELY(self.tasks.join_is_plain(at) || is_mine(self, at))) {
      return call_here<Context>(f, self, at);
    }
    if constexpr (near) {
      return join_stolen(self, at);
    } else {
      return join_stolen(self, at, in);
    }
  }

  template <class... Frame>
  HEIST_COLD static value join_stolen(fiber& self, fork_slot* at, Frame&... in) {
    wait_for_stolen(self, at);
    outcome_type& out = outcome_of(*at, in...);
    bool const failed = at->failed;
    // The slot is used again only after the outcome has left it.
    struct freeing {
      fiber& self;
      fork_slot* at;
      ~freeing() { free_slot(self, at); }
    } const end{self, at};
    if (failed) out.rethrow();
    return out.take();
  }

  /// The join in a catch block: it calls the child or waits for its end, and drops its value or exception.
  template <class... Frame>
  HEIST_COLD static void join_while_handling(fiber& self, fork_slot* at, F& f, Frame&... in) noexcept {
    handler_pause const pause;
    at->clear_before_join();
    if (self.tasks.join_is_plain(at) || is_mine(self, at)) {
      call_and_drop(self, at, f);
    } else {
      wait_for_stolen(self, at);
      outcome_of(*at, in...).drop(at->failed);
      free_slot(self, at);
    }
  }
  static void call_and_drop(fiber& self, fork_slot* position, F& f) noexcept {
    outcome_type out;
    out.drop(out.fill([&]() -> decltype(auto) { return call_task(f, context_access::make<Context>(self, position)); }));
  }
};

/// The results of a fork_join.
template <class Context, class... F>
using fork_values = std::tuple<value_or_monostate<task_result<Context, F>>...>;

template <class Context, class... F>
HEIST_COLD fork_values<Context, F...> fork_fallback(Context c, bool divide, in_register<F>... f);

/// One fork_join.
template <class Context, class... F>
class parent_first_fork {
  static constexpr std::size_t count = sizeof...(F);
  static_assert(count <= fork_stack::scratch, "heist: fork_join takes at most 64 callables; fix it by heist::scope.");
  template <std::size_t I>
  using function = std::tuple_element_t<I, std::tuple<F...>>;
  template <std::size_t I>
  using task = slot_task<Context, function<I>>;

 public:
  using values = fork_values<Context, F...>;

  HEIST_ALWAYS_INLINE static values run(fiber& self, fork_slot* base, F&... f) {
    if constexpr (count == 1) {
      return values{call_here<Context>(f..., self, base)};
    } else if constexpr (count == 2) {
      return run_two(self, base, f...);
    } else {
      return fork_many(self, base, f...);
    }
  }

 private:
  template <class First, class Second>
  using result_of_two =
      pair_of_values<value_or_monostate<task_result<Context, First>>, typename slot_task<Context, Second>::value>;

  /// The slot at which to fork with the context of `base` on `of`, for code that runs elsewhere, or on top of its own
  /// forks there, or where the stack is full. Slots from end() on belong to no frame.
  struct place {
    place(fiber& of, fork_slot* base) noexcept
        : self{fiber_of_caller(of)}, at{&self == &of && base >= of.tasks.end() ? base : self.top()} {
      if (at >= self.tasks.end()) at->clear();
    }
    fiber& self;
    fork_slot* at;
  };
  /// Never inlined into forks: any further code in them changes their speed.
  template <class First, class Second>
  HEIST_COLD static result_of_two<First, Second> fork_two_remote(fiber& self, fork_slot* at, in_register<First> f,
                                                                 in_register<Second> g) {
    place const there{self, at};
    if constexpr (fork_traits<typename Context::order_type>::has_extension) {
      if (there.self.order != fork_order::parent_first) {
        auto both = run_in_its_order<First, Second>(there.self, f, g);
        return {std::get<0>(std::move(both)), std::get<1>(std::move(both))};
      }
    }
    return fork_two<First, Second>(there.self, there.at, f, g);
  }
  HEIST_COLD static values run_remote(fiber& self, fork_slot* base, F&... f) {
    place const there{self, base};
    if constexpr (fork_traits<typename Context::order_type>::has_extension) {
      if (there.self.order != fork_order::parent_first) return run_in_its_order<F...>(there.self, f...);
    }
    return run(there.self, there.at, f...);
  }
  /// On an executor of another order, to which an extension has given the body that forks.
  template <class... G>
  static values run_in_its_order(fiber& here, in_register<G>... g) {
    return fork_fallback<Context, G...>(context_access::make<Context>(here, position_here(here)), false, g...);
  }

  template <class First, class Second>
  HEIST_ALWAYS_INLINE static values run_two(fiber& self, fork_slot* at, First& f, Second& g) {
    if constexpr (sizeof(First) + sizeof(Second) > most_in_registers) {
      return fork_two_here<First, Second>(self, at, f, g).template as<values>();
    } else {
      return fork_two<First, Second>(self, at, f, g).template as<values>();
    }
  }

  /// Never inlined, so that a fork saves no registers for forked().
  HEIST_COLD static bool is_on_stack(fiber& self, fork_slot* at, std::size_t tasks = 1) noexcept {
    return forked(self, at, tasks);
  }

  /// Never inlined: the caller, whose recursion mostly ends without a fork, then has next to nothing to save and
  /// restore, and is small enough to be inlined here, twice.
  template <class First, class Second>
  HEIST_NOINLINE_ALIGNED static result_of_two<First, Second> fork_two(fiber& self, fork_slot* at, in_register<First> f,
                                                                      in_register<Second> g) {
    return fork_two_here<First, Second>(self, at, f, g);
  }
  /// Bytes of two callables from which on the fork is inlined: what they have captured then need not be written and read
  /// back. Clang reads it back by wider loads than it was written, which the processor cannot forward.
  static constexpr std::size_t most_in_registers = 64;
  template <class First, class Second>
  HEIST_ALWAYS_INLINE static result_of_two<First, Second> fork_two_here(fiber& self, fork_slot* at,
                                                                        in_register<First> f, in_register<Second> g) {
    using second = slot_task<Context, Second>;
    if (HEIST_UNLIKELY(is_remote(self) || at->marked())) {
      if constexpr (as_good_copied<First>) {
        First copy = f;  // so that `f` has no address
        return fork_two_remote<First, Second>(self, at, copy, g);
      } else {
        return fork_two_remote<First, Second>(self, at, f, g);
      }
    }
    typename second::frame in;
    second::write(*at, g, in);
    fork_slot* const next = HEIST_LIKELY(self.tasks.fork_is_plain(at)) || is_on_stack(self, at) ? at + 1 : at;
    auto const first = [&]() __attribute__((always_inline))->decltype(auto) {
      try {
        return call_here<Context>(f, self, next);
      } catch (...) {
        if constexpr (second::near) {
          second::join_while_handling(self, at, g);
        } else {
          second::join_while_handling(self, at, g, in);
        }
        throw;
      }
    };
    // Braces: from left to right.
    return {first(), second::join(self, at, g, in)};
  }

  using frames = std::tuple<typename slot_task<Context, F>::frame...>;
  using indices = std::index_sequence_for<F...>;

  /// Child I > 0 has slot base + count - 1 - I: thieves take the last first, and joins follow in order.
  template <std::size_t I>
  static fork_slot* slot(fork_slot* base) noexcept {
    return base + (count - 1 - I);
  }
  template <std::size_t I>
  HEIST_ALWAYS_INLINE static function<I>& the(F&... f) noexcept {
    return std::get<I>(std::tie(f...));
  }

  /// Never inlined, as fork_two: inlined, GCC computes where all callables are before it is known whether there is a
  /// fork, which made skynet's leaves four times as dear.
  HEIST_NOINLINE_ALIGNED static values fork_many(fiber& self, fork_slot* base, F&... f) {
    if (HEIST_UNLIKELY(is_remote(self) || base->marked())) return run_remote(self, base, f...);
    return run_all(self, base, indices{}, f...);
  }

  template <std::size_t... I>
  HEIST_ALWAYS_INLINE static values run_all(fiber& self, fork_slot* base, std::index_sequence<I...> all, F&... f) {
    frames in;
    ((I == 0 ? void() : task<I>::write(*slot<I>(base), the<I>(f...), std::get<I>(in))), ...);
    fork_slot* const next = base + (count - 1);
    if (HEIST_UNLIKELY(!self.tasks.fork_is_plain(next - 1)) && !is_on_stack(self, next - 1, count - 1))
      return run_in_place(self, base, all, f...);
    return values{call<I>(self, base, in, f...)...};
  }
  template <std::size_t I>
  HEIST_ALWAYS_INLINE static decltype(auto) call(fiber& self, fork_slot* base, frames& in, F&... f) {
    if constexpr (I + 1 == count) {
      return task<I>::join(self, slot<I>(base), the<I>(f...), std::get<I>(in));
    } else {
      try {
        if constexpr (I == 0) {
          return call_here<Context>(the<0>(f...), self, base + (count - 1));
        } else {
          return task<I>::join(self, slot<I>(base), the<I>(f...), std::get<I>(in));
        }
      } catch (...) {
        drop_rest(self, base, in, std::make_index_sequence<count - 1 - I>{}, f...);
        throw;
      }
    }
  }
  /// In the catch block of the child before the last J: joins those.
  template <std::size_t... J>
  HEIST_COLD static void drop_rest(fiber& self, fork_slot* base, frames& in, std::index_sequence<J...>,
                                   F&... f) noexcept {
    (drop<count - sizeof...(J) + J>(self, base, in, f...), ...);
  }
  template <std::size_t I>
  static void drop(fiber& self, fork_slot* base, frames& in, F&... f) noexcept {
    if constexpr (task<I>::near) {
      task<I>::join_while_handling(self, slot<I>(base), the<I>(f...));
    } else {
      task<I>::join_while_handling(self, slot<I>(base), the<I>(f...), std::get<I>(in));
    }
  }

  /// The task stack is full: all are called in place, and their children fork where they would have stood.
  template <std::size_t... I>
  HEIST_COLD static values run_in_place(fiber& self, fork_slot* base, std::index_sequence<I...>, F&... f) {
    for (fork_slot* at = base + (count - 1); at != base;) (--at)->clear();
    return values{call_in_place<I>(self, base, f...)...};
  }
  template <std::size_t I>
  static decltype(auto) call_in_place(fiber& self, fork_slot* base, F&... f) {
    try {
      return call_here<Context>(the<I>(f...), self, base);
    } catch (...) {
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        (drop_in_place<I + 1 + J>(self, base, f...), ...);
      }
      (std::make_index_sequence<count - 1 - I>{});
      throw;
    }
  }
  template <std::size_t I>
  static void drop_in_place(fiber& self, fork_slot* base, F&... f) noexcept {
    handler_pause const pause;
    task<I>::call_and_drop(self, base, the<I>(f...));
  }
};

}  // namespace heist::detail
