// Tasks after tasks: heist::after (README.md, "Tasks after tasks").
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/errors.hpp"
#include "heist/core/executor/future.hpp"
#include "heist/core/executor/with.hpp"
#include "heist/parallel/async/after_what.hpp"

namespace heist {

namespace detail {

/// Counts the task as a unit of work and lets it wait for its links; it may have run when this returns. The caller owns
/// a share in it.
void start_after(core& scheduler, async_base& task, dependency* links) noexcept;
/// The task fails with the exception of the first of its links that has failed.
HEIST_RARE void fail_as_links(async_base& task, dependency const* links) noexcept;
/// Has one of them?
inline bool any_failed(async_base const& task, dependency const* links) noexcept {
  for (std::uint32_t i = 0; i != task.links; ++i) {
    if (links[i].on != nullptr && links[i].on->exception) [[unlikely]]
      return true;
  }
  return false;
}
inline void release_links(async_base const& task, dependency const* links) noexcept {
  for (std::uint32_t i = 0; i != task.links; ++i) {
    if (links[i].on != nullptr) links[i].on->release();
  }
}

/// A task that comes after other tasks; links to them lie behind it in its block.
template <class Context, class F, class Extra, bool VoidResults, class... What>
struct after_task_types {
  template <class Tuple>
  struct result_of;
  template <class... Args>
  struct result_of<std::tuple<Args...>> {
    using type = task_result<Context, F, Args...>;
  };
  using arguments = decltype(std::tuple_cat(
      What::template arguments<VoidResults>(std::declval<dependency const*>(), std::size_t{})...));
  using result = typename result_of<arguments>::type;
};

template <class Context, class F, class Extra, bool VoidResults, class... What>
struct after_task final : async_state<typename after_task_types<Context, F, Extra, VoidResults, What...>::result> {
  using result_type = typename after_task_types<Context, F, Extra, VoidResults, What...>::result;
  static constexpr std::size_t counts = (std::size_t{What::counted} + ... + 0);

  template <class G, class... Args>
  after_task(async_place const& at, G&& g, Args&&... args)
      : async_state<result_type>{&run, &what_it_is, at},
        function(std::forward<G>(g)),
        extra(std::forward<Args>(args)...) {
    if constexpr (Extra::has_route) this->routed = extra.is_routed();
  }

  static constexpr std::size_t bytes_of_links(std::size_t n) noexcept { return n * sizeof(dependency); }
  dependency* first_link() noexcept { return reinterpret_cast<dependency*>(this + 1); }

  /// Takes over its shares in its predecessors. `all`: also gets a share in predecessors that give only their order.
  /// Throws what iterators throw, and executor_error for a future that refers to nothing; then it has those of `links`.
  void link(std::tuple<What...>& from, std::size_t room, bool all) {
    std::size_t nth = 0;
    std::apply(
        [&](What&... each) {
          (
              [&] {
                std::uint32_t const before = this->links;
                auto const add = [&](async_base* on, bool needs_value) {
                  if (this->links != room) {
                    if (all && !needs_value) on->retain();
                    ::new (static_cast<void*>(first_link() + this->links++)) dependency{*this, on, all || needs_value};
                  } else if (needs_value) {
                    on->release();  // of a range that has grown since it was counted
                  }
                };
                if constexpr (requires { each.fill(add, *this->scheduler); }) {
                  each.fill(add, *this->scheduler);
                } else {
                  each.fill(add);
                }
                if constexpr (What::counted) lengths[nth++] = this->links - before;
              }(),
              ...);
        },
        from);
  }

  static runnable* run(runnable& r, fiber& self) {
    auto& task = static_cast<after_task&>(r);
    interrupt_state const* const interrupt = interrupt_of(task, self);
    return run_async(
        task, self, interrupt,
        [&task] {
          if constexpr (sizeof...(What) != 0 && (comes_always<What> && ...)) return false;
          bool const failed = any_failed(task, task.first_link());
          if (failed) [[unlikely]]
            fail_as_links(task, task.first_link());
          return failed;
        },
        [&] {
          std::apply(
              [&]<class... Args>(Args&&... args) {
                task.result.fill([&]() -> decltype(auto) {
                  return call_with_context<Context>(task.function.get(), self, interrupt, std::forward<Args>(args)...);
                });
              },
              task.arguments());
        },
        [&task] { task.forget(); });
  }

  /// Destroys its captures, and its predecessors in which no other task has a share.
  void forget() noexcept {
    function.end();
    inherited_stop::unlink(*this);
    release_links(*this, first_link());
    if constexpr (requires { extra.finished(); }) extra.finished();
  }
  /// The same of a task that has not been started.
  void forget_pending() noexcept {
    for (std::uint32_t i = 0; i != this->links; ++i) {
      if (!first_link()[i].needs_value()) first_link()[i].on = nullptr;
    }
    forget();
  }

  auto arguments() {
    std::size_t nth = 0;
    dependency const* at = first_link();
    auto const take = [&]<class Each>(std::type_identity<Each>) {
      std::size_t n = 1;
      if constexpr (Each::counted) n = lengths[nth++];
      dependency const* const here = at;
      at += n;
      return Each::template arguments<VoidResults>(here, n);
    };
    // Braces: in the order of the arguments.
    std::tuple<decltype(take(std::type_identity<What>{}))...> each{take(std::type_identity<What>{})...};
    return std::apply([](auto&... one) { return std::tuple_cat(std::move(one)...); }, each);
  }

  callable_slot<F> function;
  [[no_unique_address]] Extra extra;
  [[no_unique_address]] std::array<std::uint32_t, counts> lengths{};

 private:
  static constexpr async_operations operations_of_it = async_operations_of<after_task, Extra>();
  static constexpr described what_it_is{&operations_of_it};
};

/// Makes a task that start_after() starts. `origin`: the stop that it inherits, or null. `extra`: what the Extra is
/// made of.
template <class Context, class Extra, bool VoidResults, class F, class... What, class... Args>
auto* make_after(core& scheduler, interrupt_state const* origin, std::tuple<What...> what, F&& f, Args&&... extra) {
  using task_type = after_task<Context, std::decay_t<F>, Extra, VoidResults, What...>;
  static_assert(alignof(task_type) >= alignof(dependency) && sizeof(task_type) % alignof(dependency) == 0);
  std::size_t const room = std::apply([](What&... each) { return (each.size() + ... + std::size_t{0}); }, what);
  std::size_t const more = task_type::bytes_of_links(room) + (origin != nullptr ? sizeof(inherited_stop) : 0);
  auto* const task = make_async<task_type>(scheduler, more, std::forward<F>(f), std::forward<Args>(extra)...);
  try {
    task->link(what, room, origin != nullptr);
    scheduler.check_open();
    if constexpr (std::is_convertible_v<decltype(task->extra.interrupt()), interrupt_state*>) {
      if (origin != nullptr)
        inherited_stop::add(*task, origin, task->extra.interrupt(), task->links != 0 ? task->first_link() : nullptr);
    }
  } catch (...) {
    task->forget_pending();
    task->operations().destroy(*task);
    throw;
  }
  return task;
}

/// Makes the task, and starts it.
template <class Context, class Extra, bool VoidResults, class F, class... What, class... Args>
auto submit_after(core& scheduler, std::tuple<What...> what, F&& f, Args&&... extra) {
  auto* const task = make_after<Context, Extra, VoidResults>(scheduler, interrupt_of_caller(), std::move(what),
                                                             std::forward<F>(f), std::forward<Args>(extra)...);
  start_after(scheduler, *task, task->first_link());
  return future_access::make<typename std::remove_reference_t<decltype(*task)>::result_type>(*task);
}

}  // namespace detail

/// The result of heist::after. Pass it to submit() at once: it refers to the caller's handles and ranges.
template <class... What>
struct [[nodiscard]] after_list {
  using submit_option_tag = void;
  std::tuple<What...> what;
};

/// An option of submit(). The task starts when all these tasks have finished. It is called with their results, in this
/// order: f(values...) or f(context, values...). The arguments of heist::after are
/// - shared_futures: f gets references to the values;
/// - futures, passed by std::move: f may move their values;
/// - ranges of either: f gets a heist::values;
/// - runs of graphs (graph_run), which give no argument. A run that was stopped counts as failed, with stopped_error.
/// A task without a value, and a range of such tasks, gives no argument. If a task has failed, f is not called, and the
/// new task has the first exception in this order. Cost: one block of memory for the task and its links to
/// predecessors. No worker waits.
template <class... T>
auto after(T&&... from) {
  using list = after_list<decltype(detail::after_what(std::forward<T>(from)))...>;
  return list{{detail::after_what(std::forward<T>(from))...}};
}

/// As after, but the task starts also if tasks of the list have failed or were stopped. It gets their handles:
/// f(futures...) or f(context, futures...), where all futures are ready. The arguments of heist::after_always are those
/// of heist::after. A future or shared_future gives a shared_future, a range of them a std::vector of shared_futures,
/// and a run of a graph a shared_future<void>. An exception that f does not ask for by get(), and no other handle,
/// reaches executor::wait_idle(). If the new task itself is stopped before it starts (heist::with{.stop}), it is
/// skipped.
template <class... T>
auto after_always(T&&... from) {
  using list = after_list<decltype(detail::after_what_always(std::forward<T>(from)))...>;
  return list{{detail::after_what_always(std::forward<T>(from))...}};
}

namespace detail {

template <class Context, class... What>
struct submission<Context, after_list<What...>> {
  template <class F>
  static auto start(core& scheduler, after_list<What...> before, F&& f) {
    return submit_after<Context, no_stop, false>(scheduler, std::move(before.what), std::forward<F>(f));
  }
};
template <class Context, class... What>
struct submission<Context, after_list<What...>, with> {
  template <class F>
  static auto start(core& scheduler, after_list<What...> before, with how, F&& f) {
    return submit_after<Context, with_state, false>(scheduler, std::move(before.what), std::forward<F>(f), scheduler,
                                                    std::move(how));
  }
};
template <class Context, class... What>
struct submission<Context, with, after_list<What...>> {
  template <class F>
  static auto start(core& scheduler, with how, after_list<What...> before, F&& f) {
    return submission<Context, after_list<What...>, with>::start(scheduler, std::move(before), std::move(how),
                                                                 std::forward<F>(f));
  }
};

/// Throws executor_error if the executor of a run is gone.
core& scheduler_of_run(core* scheduler);

template <class F>
struct continuation {
  template <class Run>
  static auto after(Run const& run, core* scheduler, F&& f) {
    return submit_with<context>(scheduler_of_run(scheduler), heist::after(run), std::forward<F>(f));
  }
};
core& scheduler_of(async_base& task);
}  // namespace detail

template <class T>
template <class F>
auto future<T>::then(F&& f) && {
  detail::core& scheduler = detail::scheduler_of(this->checked());
  return detail::submit_with<context>(scheduler, after(std::move(*this)), std::forward<F>(f));
}

template <class T>
template <class F>
auto shared_future<T>::then(F&& f) const {
  return detail::submit_with<context>(detail::scheduler_of(this->checked()), after(*this), std::forward<F>(f));
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/async/after.ipp"
#endif
