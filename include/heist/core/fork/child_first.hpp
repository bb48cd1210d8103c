// Child-first forks on continuations (Cilk; the constrained work stealing paper): the child starts at once on a stack
// of its own. The rest of the parent can be stolen meanwhile.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>  // index_sequence, move

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/fork/outcome.hpp"
#include "heist/core/fork/remote.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

inline constexpr int child_returned = 1, child_threw = 2;

/// Continuations of the worker of `child` are asked for: makes them public, and those that are there with them.
HEIST_RARE void publish_continuations(fiber& child, continuation_slot* last) noexcept;
HEIST_RARE bool continuation_is_mine(worker& w, continuation_slot* at) noexcept;

/// Right after the start of a child, whose caller has been left completely: only now may other workers see the
/// continuation.
HEIST_ALWAYS_INLINE continuation_slot* begin_child(fiber& child) noexcept {
  worker& w = *child.worker;
  continuation_slot* const at = w.continuation_top - 1;
  if (HEIST_UNLIKELY(!w.continuations.fork_is_plain(at))) publish_continuations(child, at);
  return at;
}

/// At the end of a child: true if its caller waits where it was, and is to be returned to.
HEIST_ALWAYS_INLINE bool end_child(fiber& child, caller_frame const& frame, continuation_slot* at) noexcept {
  if (HEIST_UNLIKELY(frame.continuation_stolen)) return false;
  worker& w = *child.worker;  // as at the start: otherwise the continuation would have been stolen
  if (HEIST_LIKELY(w.continuations.join_is_plain(at) || continuation_is_mine(w, at))) {
    w.continuation_top = at;
    return true;
  }
  core::forget_continuations(w);
  return false;
}

/// Calls `function(&frame, child fiber)` on a fiber of its own. Returns what that returns, or call_continuation_stolen.
/// Throws stack_error or bad_alloc before it calls.
HEIST_ALWAYS_INLINE int call_child(fiber& self, caller_frame& frame, flow_function function) {
  HEIST_ASSERT(
      !handles_exception(),
      "a child-first fork inside a catch block, or a destructor that an exception calls: the rest of the block "
      "may resume on another thread, which knows nothing of the exception; fix it by forking after the block, "
      "or by a parent-first policy");
  worker& w = *self.worker;
  fiber* child = w.unused;
  if (HEIST_LIKELY(child != nullptr)) {
    w.unused = child->next_cached;
  } else {
    child = &w.scheduler.acquire_unused(w);
  }
  continuation_slot* const at = w.continuation_top;
  at->frame.store(&frame, std::memory_order_relaxed);  // relaxed: begin_child lets other workers see it
  w.continuation_top = at + 1;
  child->worker = &w;
  child->interrupt = self.interrupt;
  child->called_by = &frame;
  w.current.store(child, std::memory_order_release);  // release: see worker::current
  int const status = fiber_context::call(self.own_fiber_context(), child->own_fiber_context(), function, &frame, child);
  if (HEIST_LIKELY(status != call_continuation_stolen)) {
    // Nothing has moved: it is still the same worker.
    w.current.store(&self, std::memory_order_relaxed);  // relaxed: thieves have seen it constructed
    child->next_cached = w.unused;
    w.unused = child;
  }
  return status;
}

/// Where steals are not recorded: frames have no places. Rooms have others.
struct no_places {
  struct record {};
  struct frame : caller_frame {
    [[no_unique_address]] record place;
  };
  HEIST_ALWAYS_INLINE static std::uint32_t reserve(fork_slot*, std::uint32_t) noexcept { return 0; }
  HEIST_ALWAYS_INLINE static fork_slot* enter(record&, fork_slot* parent, std::uint32_t) noexcept { return parent; }
  HEIST_ALWAYS_INLINE static fork_slot* enter_next(record&, fork_slot* parent) noexcept { return parent; }
  HEIST_ALWAYS_INLINE static fork_slot* enter_after(record&, record const&, fork_slot* parent) noexcept {
    return parent;
  }
  template <class Context>
  HEIST_ALWAYS_INLINE static Context child_context(fiber& child, record&) noexcept {
    fork_slot* const first = child.tasks.first();
    if constexpr (fork_traits<typename Context::order_type>::has_marks) {
      return context_access::make<Context>(child, context_access::marked(first, position_mark::child_first));
    } else {
      return context_access::make<Context>(child, first);
    }
  }
  static void ended(frame const&) noexcept {}
  static std::uint32_t index_of(record const&) noexcept { return 0; }
  struct joining {
    joining(fiber&, fork_slot*, std::uint32_t) noexcept {}
    void about_to_wait() noexcept {}
  };
  static constexpr bool may_be_special = false;
  /// How code forks on a fiber where it has no context.
  struct without_context {
    explicit without_context(fiber& here) noexcept
        : position_{context_access::marked(here.top(), position_mark::child_first)} {}
    fork_slot* position() const noexcept { return position_; }
    fork_slot* position_;
  };
};

/// One child of a child-first fork_join, in its parent's frame.
template <class Places, class Context, class F>
struct child_call : Places::frame {
  using value = typename outcome<task_result<Context, F>>::value;

  HEIST_ALWAYS_INLINE void prepare(fiber& self, F& f) noexcept {
    this->parent = &self;
    this->continuation_stolen = false;
    function = std::addressof(f);
  }

  static int run(void* self, void* fiber_of_child) noexcept {
    auto& frame = *static_cast<child_call*>(static_cast<caller_frame*>(self));
    fiber& child = *static_cast<fiber*>(fiber_of_child);
    continuation_slot* const at = begin_child(child);
    F& f = *frame.function;
    bool const failed = frame.out.fill(
        [&]() -> decltype(auto) { return call_task(f, Places::template child_context<Context>(child, frame.place)); });
    if (HEIST_LIKELY(end_child(child, frame, at))) return failed ? child_threw : child_returned;
    frame.failed = failed;
    Places::ended(frame);
    frame.finished.complete();
    core::finish_child(child);
    return child_returned;
  }

  F* function;
  outcome<task_result<Context, F>> out;
};

template <class Places, class Context, class... F>
class child_first_fork_in {
  static constexpr std::size_t count = sizeof...(F);
  template <std::size_t I>
  using function = std::tuple_element_t<I, std::tuple<F...>>;

 public:
  using values = std::tuple<value_or_monostate<task_result<Context, F>>...>;

  HEIST_ALWAYS_INLINE static values run(fiber& self, fork_slot* position, F&... f) {
    if constexpr (count == 1) {
      return values{call_here<Context>(f..., self, position)};
    } else if constexpr (count == 2) {
      if (HEIST_LIKELY(self.no_migrate == 0)) return run_two(self, position, f...);
      return run_many(self, position, f...);
    } else {
      return run_many(self, position, f...);
    }
  }

 private:
  template <class First, class Second>
  using result_of_two =
      pair_of_values<value_or_monostate<task_result<Context, First>>, value_or_monostate<task_result<Context, Second>>>;

  /// The context is of another fiber than that of the calling code.
  HEIST_COLD static values run_remote(fiber& self, F&... f) {
    fiber& here = fiber_of_caller(self);
    typename Places::without_context place{here};
    return run(here, place.position(), f...);
  }
  template <class First, class Second>
  HEIST_COLD static result_of_two<First, Second> fork_two_remote(fiber& self, fork_slot*, First& f,
                                                                 in_register<Second> g) {
    return pair_of(run_remote(self, f, g));
  }
  static auto pair_of(values&& both) {
    return result_of_two<std::tuple_element_t<0, std::tuple<F...>>, std::tuple_element_t<1, std::tuple<F...>>>{
        std::get<0>(std::move(both)), std::get<1>(std::move(both))};
  }

  template <class First, class Second>
  HEIST_ALWAYS_INLINE static values run_two(fiber& self, fork_slot* position, First& f, Second& g) {
    return fork_two<First, Second>(self, position, f, g).template as<values>();
  }

  /// Never inlined, as parent_first_fork::fork_two.
  template <class First, class Second>
  HEIST_NOINLINE static result_of_two<First, Second> fork_two(fiber& self, fork_slot* position, First& f,
                                                              in_register<Second> g) {
    if (HEIST_UNLIKELY(!self.runs_here())) return fork_two_remote<First, Second>(self, position, f, g);
    if constexpr (Places::may_be_special) {
      if (HEIST_UNLIKELY(Places::is_special(position))) return special_two<First, Second>(self, position, f, g);
    }
    child_call<Places, Context, First> first;
    first.prepare(self, f);
    Places::enter(first.place, position, Places::reserve(position, 2));
    int const status = call_child(self, first, &child_call<Places, Context, First>::run);
    if (HEIST_LIKELY(status == child_returned)) {
      // Braces: from left to right. A result whose move may throw stays where it is until both have run.
      if constexpr (outcome<task_result<Context, First>>::accepts_quietly)
        return {first.out.take(), call_here<Context>(g, self, Places::enter_next(first.place, position))};
    }
    return finish_two<First, Second>(self, position, first, status, g);
  }

  template <class First, class Second>
  HEIST_COLD static result_of_two<First, Second> special_two(fiber& self, fork_slot* position, First& f,
                                                             in_register<Second> g) {
    return pair_of(Places::template special_fork<Context, First, Second>(self, position, f, g));
  }

  /// The continuation has been stolen, or the child has thrown, or its result may throw when it is moved.
  template <class First, class Second, class G>
  HEIST_COLD static result_of_two<First, Second> finish_two(fiber& self, fork_slot* position,
                                                            child_call<Places, Context, First>& first, int status,
                                                            G& g) {
    outcome<task_result<Context, Second>> last;
    typename Places::record place;
    fork_slot* const there = Places::enter_after(place, first.place, position);
    bool const last_failed =
        last.fill([&]() -> decltype(auto) { return call_task(g, context_access::make<Context>(self, there)); });
    bool failed = status == child_threw;
    if (status == call_continuation_stolen) {
      typename Places::joining join{self, position, Places::index_of(place)};
      if (!first.finished.is_ready()) join.about_to_wait();
      self.wait_for(first.finished);
      failed = first.failed;
    }
    if (failed) {
      last.drop(last_failed);
      first.out.rethrow();
    }
    if (last_failed) {
      first.out.drop(false);
      last.rethrow();
    }
    consumer first_value{first.out};
    consumer last_value{last};
    return {first_value.take(), last_value.take()};
  }

  /// Any number of children; children that cannot have a stack of their own, because the frame must not migrate, are
  /// called in place.
  HEIST_NOINLINE static values run_many(fiber& self, fork_slot* position, F&... f) {
    if (HEIST_UNLIKELY(!self.runs_here())) return run_remote(self, f...);
    if constexpr (Places::may_be_special) {
      if (HEIST_UNLIKELY(Places::is_special(position)))
        return Places::template special_fork<Context, F...>(self, position, f...);
    }
    return run_each(std::index_sequence_for<F...>{}, self, position, f...);
  }

  template <std::size_t... I>
  static values run_each(std::index_sequence<I...>, fiber& self, fork_slot* position, F&... f) {
    std::tuple<child_call<Places, Context, F>...> calls;
    std::array<child_state, count> states{};
    std::uint32_t const branch = Places::reserve(position, count);
    ((states[I] = run_one<I>(std::get<I>(calls), self, position, branch + static_cast<std::uint32_t>(I), f)), ...);
    {
      typename Places::joining join{self, position, branch + std::uint32_t{count} - 1};
      ((states[I] == child_state::running ? wait_one(std::get<I>(calls), self, join, states[I]) : void()), ...);
    }
    return take_all<values>({(states[I] == child_state::threw)...}, std::get<I>(calls).out...);
  }

  enum class child_state { running, returned, threw };

  template <std::size_t I>
  static child_state run_one(child_call<Places, Context, function<I>>& call, fiber& self, fork_slot* position,
                             std::uint32_t branch, function<I>& f) {
    fork_slot* const there = Places::enter(call.place, position, branch);
    if (I + 1 != count && self.no_migrate == 0) {
      call.prepare(self, f);
      try {
        int const status = call_child(self, call, &child_call<Places, Context, function<I>>::run);
        return status == call_continuation_stolen ? child_state::running
               : status == child_threw            ? child_state::threw
                                                  : child_state::returned;
      } catch (...) {
        if (I == 0) throw;
        // The earlier ones may run, and refer to this frame: called in place it costs a deeper stack.
      }
    }
    bool const failed =
        call.out.fill([&]() -> decltype(auto) { return call_task(f, context_access::make<Context>(self, there)); });
    return failed ? child_state::threw : child_state::returned;
  }

  template <class Call>
  static void wait_one(Call& call, fiber& self, typename Places::joining& join, child_state& state) {
    if (!call.finished.is_ready()) join.about_to_wait();
    self.wait_for(call.finished);
    state = call.failed ? child_state::threw : child_state::returned;
  }
};

template <class Context, class... F>
using child_first_fork = child_first_fork_in<no_places, Context, F...>;

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/fork/child_first.ipp"
#endif
