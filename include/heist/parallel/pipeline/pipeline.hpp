// Pipelines: tokens go through stages, in order at serial stages, in parallel at parallel stages.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <exception>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, index_sequence, move
#include <vector>

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/executor/executor.hpp"
#include "heist/core/executor/start_access.hpp"
#include "heist/core/scheduler/told_part.hpp"
#include "heist/parallel/pipeline/deferred_tokens.hpp"
#include "heist/parallel/pipeline/pipeline_run.hpp"

namespace heist {
namespace detail {

template <class F, bool Serial>
struct pipeline_stage {
  static constexpr bool serial = Serial;
  F function;
  char const* name;
};
template <class T>
inline constexpr bool is_pipeline_stage = false;
template <class F, bool Serial>
inline constexpr bool is_pipeline_stage<pipeline_stage<F, Serial>> = true;

/// The arguments of a stage: the value that came out of the stage before.
template <class Value>
struct stage_arguments {
  using type = std::tuple<Value&&>;
};
template <>
struct stage_arguments<void> {
  using type = std::tuple<>;
};

/// The result of calling F so; a sentence if that cannot be.
template <class F, class Arguments>
struct stage_result;
template <class F, class... A>
struct stage_result<F, std::tuple<A...>> {
  static_assert(callable_as_task<F, context, A...>,
                "heist: a stage of a pipeline is called with what the stage before it returns, the first one with a "
                "heist::token&, which cannot be copied; fix its parameters.");
  static auto called() {
    if constexpr (callable_as_task<F, context, A...>) {
      return std::type_identity<task_result<context, F, A...>>{};
    } else {
      return std::type_identity<rejected>{};
    }
  }
  using type = typename decltype(called())::type;
};

}  // namespace detail

/// A stage that processes one token at a time, in the order of the first stage. `name` appears in traces and reports.
/// It must outlive the executor, as a literal does.
template <class F>
auto serial_stage(F&& f, char const* name = nullptr) {
  return detail::pipeline_stage<std::decay_t<F>, true>{std::forward<F>(f), name};
}
/// A stage that processes any number of tokens in parallel. `name`: as above.
template <class F>
auto parallel_stage(F&& f, char const* name = nullptr) {
  return detail::pipeline_stage<std::decay_t<F>, false>{std::forward<F>(f), name};
}

namespace detail {

/// The arguments and the result of stage I.
template <class Stages, std::size_t I>
struct stage_at {
  using arguments = typename stage_arguments<typename stage_at<Stages, I - 1>::result>::type;
  using result = typename stage_result<decltype(std::tuple_element_t<I, Stages>::function), arguments>::type;
};
template <class Stages>
struct stage_at<Stages, 0> {
  using arguments = std::tuple<token&>;
  using result = typename stage_result<decltype(std::tuple_element_t<0, Stages>::function), arguments>::type;
};

}  // namespace detail

/// A sequence of stages. The first is serial. The pipeline calls it with a token& until it calls token::stop(). It may
/// put a token aside until another token has come (token::defer). Use scalable_pipeline for stages that are known at
/// run time. Each later stage is called with the result of the stage before it, or without an argument. A stage may
/// take a context as its first argument. ex.run(p) and ctx.run(p) run it and return a future<void>. In
/// ex.run(p, heist::with{.stop = token}) no token begins after the stop or the deadline, and get() throws stopped_error.
///
/// Threads  any thread may start a run. Starting a second run at the same time throws executor_error.
/// Promises a serial stage processes tokens in order, one after the other. After an exception no token begins, tokens
///          in progress call no further stage, and get() rethrows the first exception. The destructor waits for the
///          run. A stage may wait for a later token by a future or a join. A stage that blocks its thread for a later
///          token may block for ever, with any number of workers.
/// Cost     a token allocates nothing. A serial stage costs at most two locked operations. Tokens move to other
///          workers if the stages until their next turn take some 200 ns or more. Shorter stages are no faster on two
///          workers than on one.
template <class... Stages>
class pipeline {
  static_assert((detail::is_pipeline_stage<Stages> && ...),
                "heist: a pipeline is made of the number of tokens at a time, and of stages; fix it by "
                "heist::serial_stage(f) and heist::parallel_stage(f).");
  static_assert(sizeof...(Stages) != 0,
                "heist: a pipeline without a stage does nothing; fix it by a first, serial one.");
  static constexpr std::size_t count = sizeof...(Stages);
  using stages = std::tuple<Stages...>;
  template <std::size_t I>
  using stage = std::tuple_element_t<I, stages>;
  static_assert(stage<0>::serial,
                "heist: the first stage of a pipeline says when there are no more tokens, so it is serial; fix it by "
                "heist::serial_stage.");

  template <std::size_t I>
  using at = detail::stage_at<stages, I>;
  template <std::size_t I>
  using result = typename at<I>::result;

  template <class>
  struct slots_of;
  template <std::size_t... I>
  struct slots_of<std::index_sequence<I...>> {
    using type = std::tuple<detail::result_slot<result<I>>...>;
  };

  struct alignas(cache_line_size) line : detail::pipeline_line {
    typename slots_of<std::make_index_sequence<count>>::type values;
    pipeline* in = nullptr;
    bool alive = false;  ///< its token is to go through further stages
  };

 public:
  /// Throws executor_error for 0 tokens at a time, or for too many.
  explicit pipeline(std::size_t tokens_at_a_time, Stages... each)
      : core_{tokens_at_a_time, count},
        lines_{detail::make_unique<line[]>(tokens_at_a_time)},
        stages_{std::move(each)...} {
    for (std::size_t i = 0; i != tokens_at_a_time; ++i) {
      lines_[i].of = &core_;
      lines_[i].in = this;
      lines_[i].index = i;
    }
  }

  /// Waits for a run in progress.
  ~pipeline() { core_.wait(); }
  pipeline(pipeline const&) = delete;
  pipeline& operator=(pipeline const&) = delete;

 private:
  friend struct detail::start_access;
  template <class... Options>
  future<void> start_run(detail::core& scheduler, std::size_t passes, Options&&... options) {
    with how = detail::options_of_pipeline(std::forward<Options>(options)...);
    core_.claim(scheduler, passes, how);
    core_.arm_turns(count);
    for (std::size_t i = 0; i != core_.lines; ++i) lines_[i].run = &run_stage<0>;
    return core_.start(scheduler, lines_[0], std::move(how));
  }

  /// The name of stage I for observers.
  template <std::size_t I>
  char const* name_of() const noexcept {
    return detail::name_of_stage(std::get<I>(stages_).name, I);
  }

  /// Runs stage I, and those after it for as long as it may, with the token of a line.
  template <std::size_t I>
  static detail::runnable* run_stage(detail::runnable& task, detail::fiber& self) {
    line& l = static_cast<line&>(static_cast<detail::pipeline_line&>(static_cast<detail::queued_runnable&>(task)));
    self.worker->report_pending_count();
    detail::kept_line kept{self};
    return l.in->template go_on<I>(l, self, kept);
  }

  template <std::size_t I>
  detail::runnable* go_on(line& l, detail::fiber& self, detail::kept_line& kept) {
    std::uint64_t const start_time =
        detail::stage_times::times(I == 0 ? core_.next_number : l.number) ? os_env::ticks() : 0;
    if constexpr (I == 0) {
      if (!begin_token(l, self)) {
        line& following = lines_[core_.after(l.index)];
        return core_.pass_end(
            following, [&] { following.run = &run_stage<0>; }, self);
      }
    } else {
      call<I>(l, self);
    }
    if (start_time != 0) core_.times.ran(I, os_env::ticks() - start_time);
    if constexpr (stage<I>::serial) {
      if (core_.lines != 1) {
        line& following = lines_[core_.after(l.index)];
        core_.pass_turn(
            I, end_of_row<I>(), following, [&] { following.run = &run_stage<I>; }, self, kept);
      } else if (I != 0) {
        static_cast<void>(core_.turn(I, 0).arrive());  // for the next token of this line
      }
    }
    if constexpr (I + 1 == count) {
      l.run = &run_stage<0>;
      return core_.free_line(l, self, kept);
    } else {
      if constexpr (stage<I + 1>::serial) {
        if (!core_.turn(I + 1, l.index).arrive()) return kept.take();
      }
      return go_on<I + 1>(l, self, kept);
    }
  }

  /// Behind the stages that a token goes through until it has to have a turn and has left that stage again.
  template <std::size_t I>
  static constexpr std::size_t end_of_row() {
    constexpr bool serial[] = {Stages::serial...};
    std::size_t end = I + 1;
    while (end != count && !serial[end]) ++end;
    return end == count ? count : end + 1;
  }

  /// The first stage. False if there is no token any more.
  bool begin_token(line& l, detail::fiber& self) {
    while (core_.ended == 0 && !core_.over() && core_.next_token(l)) {
      detail::told_part const told{self, &std::get<0>(stages_), name_of<0>()};
      token t = core_.first_token(l);
      auto outcome = detail::pipeline_core::outcome::leaves;
      l.alive = true;
      try {
        fill<0>(l, self, t);
        outcome = core_.finish_first_stage(t);
      } catch (...) {
        core_.fail();
        l.alive = false;
      }
      forget<0>(l);
      if (outcome == detail::pipeline_core::outcome::leaves) return true;
      std::get<0>(l.values).reset();
      if (outcome == detail::pipeline_core::outcome::ends_input) return false;
    }
    return false;
  }

  template <std::size_t I>
  void call(line& l, detail::fiber& self) {
    if (l.alive && !core_.failed.load(std::memory_order_relaxed)) {  // relaxed: advice
      detail::told_part const told{self, &std::get<I>(stages_), name_of<I>()};
      try {
        if constexpr (std::is_void_v<result<I - 1>>) {
          fill<I>(l, self);
        } else {
          fill<I>(l, self, std::get<I - 1>(l.values).take());
        }
      } catch (...) {
        core_.fail();
        l.alive = false;
      }
    } else {
      l.alive = false;
    }
    std::get<I - 1>(l.values).reset();
    forget<I>(l);
  }

  template <std::size_t I, class... A>
  void fill(line& l, detail::fiber& self, A&&... a) {
    if constexpr (!std::is_same_v<result<I>, detail::rejected>) {
      detail::interrupted_by const stop{self, core_.interrupt};
      std::get<I>(l.values).fill([&]() -> decltype(auto) {
        return detail::call_with_context<context>(std::get<I>(stages_).function, self, core_.interrupt,
                                                  std::forward<A>(a)...);
      });
    }
  }
  /// Destroys the result of the last stage: no stage takes it.
  template <std::size_t I>
  void forget(line& l) noexcept {
    if constexpr (I + 1 == count) std::get<I>(l.values).reset();
  }

  detail::pipeline_core core_;
  detail::unique_ptr<line[]> lines_;
  stages stages_;
};

template <class... Stages>
pipeline(std::size_t, Stages...) -> pipeline<Stages...>;
template <class... Stages>
pipeline(int, Stages...) -> pipeline<Stages...>;

}  // namespace heist
