// The context that writes down every task of a fork/join program, and its scope. What that means:
// program_recording.hpp.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>  // forward, index_sequence, move

#include "heist/base/env.hpp"
#include "heist/fork/fork_join.hpp"
#include "heist/fork/program_log.hpp"
#include "heist/fork/recording_meter.hpp"
#include "heist/fork/region_entry.hpp"
#include "heist/fork/scope.hpp"
#include "heist/fork/tier_fork.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/region.hpp"

namespace heist {

/// A context that does what `Context` does and writes it down; a task gets it from record_program(), its children from
/// it. A kernel that takes its context as a template parameter, or as `auto`, need not know. Passed by value.
///
/// Threads  as Context. What is recorded, and at what cost: see program_recording.hpp.
template <class Context, class Clock = os_env>
class recording_context {
 public:
  using inner_context = Context;
  using scope = heist::scope<recording_context>;

  recording_context(Context const& c, detail::recording_meter<Clock>& meter) noexcept : context_{c}, meter_{&meter} {}
  /// The same task, where another context is made from its own.
  template <class Other>
  requires(!std::same_as<Other, Context> && std::convertible_to<Other const&, Context>)
      recording_context(recording_context<Other, Clock> const& other)
  noexcept : context_{other.context_}, meter_{other.meter_} {}

  std::size_t worker_id() const noexcept { return context_.worker_id(); }
  std::size_t squad_id() const { return context_.squad_id(); }
  bool stop_requested() const noexcept { return context_.stop_requested(); }
  bool may_be_stolen() const noexcept { return context_.may_be_stolen(); }
  void designate(std::size_t worker) const { context_.designate(worker); }

  /// Counts for the task, and is passed on.
  void footprint(std::uint64_t bytes) const noexcept {
    meter_->top->bytes += bytes;
    context_.footprint(bytes);
  }

  template <class... F>
  auto fork_join(F&&... f) const {
    static_assert(sizeof...(F) > 0, "heist: fork_join needs at least one callable.");
    detail::stopped_strand<Clock> const stop{*meter_};
    return fork_with([this](auto... call) { return context_.fork_join(call...); }, std::index_sequence_for<F...>{},
                     f...);
  }
  template <class... F>
  auto inter_fork(F&&... f) const {
    static_assert(sizeof...(F) > 0, "heist: inter_fork needs at least one callable.");
    detail::stopped_strand<Clock> const stop{*meter_};
    return fork_with([this](auto... call) { return context_.inter_fork(call...); }, std::index_sequence_for<F...>{},
                     f...);
  }

  /// As Context's. If the outermost task enters it while no scope of its own is at work, it is a run of the recording.
  template <class F>
  decltype(auto) sync_wait(region& r, F&& f) const {
    using body = region_body<std::remove_reference_t<F>>;
    detail::stopped_strand<Clock> const stop{*meter_};
    if (!meter_->may_enter_run()) return context_.sync_wait(r, body{&f, meter_, nullptr});
    next_run const after{*this};
    return context_.sync_wait(r, body{&f, meter_, &r});
  }

  /// As Context's; the task gets a context of this type, but is not recorded.
  template <class F>
  auto submit(F&& f) const {
    return context_.submit(submitted<std::decay_t<F>>{std::forward<F>(f)});
  }
  template <class F>
  auto submit(std::stop_token token, F&& f) const {
    return context_.submit(std::move(token), submitted<std::decay_t<F>>{std::forward<F>(f)});
  }
  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) const {
    return context_.run(graph, std::forward<Options>(options)...);
  }

  /// The context that this one wraps. What is done with it is one strand.
  Context const& unrecorded() const noexcept { return context_; }

 private:
  template <class, class>
  friend class recording_context;
  template <class>
  friend class heist::scope;

  template <class F>
  using call = detail::recorded_call<recording_context, Clock, F>;

  template <class Fork, std::size_t... I, class... F>
  auto fork_with(Fork fork, std::index_sequence<I...>, F&... f) const {
    detail::recorded_stretch& from = *meter_->top;
    std::uint32_t const group = meter_->begin_group(), first = from.forked;
    from.forked += sizeof...(F);
    return fork(
        call<F>{&f, meter_->log, meter_->empty_strand, {from.task, first + static_cast<std::uint32_t>(I), group}}...);
  }

  /// Where a region is not divided its body may get another context than the one that enters it.
  template <class F>
  struct region_body {
    // clang-format off
    template <class C>
      requires(std::is_invocable_v<F&> || std::is_invocable_v<F&, recording_context<C, Clock>>)
    decltype(auto) operator()(C c) const {
      // clang-format on
      if (entered == nullptr) {
        detail::running_strand<Clock> const running{*outer};
        return with(c, *outer);
      }
      detail::program_log& log = *outer->log;
      detail::recording_meter<Clock> meter{&log, outer->empty_strand, false};
      auto* const task = log.add(c.worker_id(), nullptr, 0, 0, &detail::function_identity<std::remove_cv_t<F>>);
      log.add_run(task, log.number_of(*entered));
      detail::running_task<Clock> const running{meter, task};
      return with(c, meter);
    }
    template <class C>
    decltype(auto) with(C c, detail::recording_meter<Clock>& meter) const {
      if constexpr (std::is_invocable_v<F&>) {
        return (*function)();
      } else {
        return (*function)(recording_context<C, Clock>{c, meter});
      }
    }

    F* function;
    detail::recording_meter<Clock>* outer;
    region const* entered;  ///< null: it is a part of the task
  };

  struct next_run {
    explicit next_run(recording_context const& c) noexcept : of{c} {}
    next_run(next_run const&) = delete;
    next_run& operator=(next_run const&) = delete;
    ~next_run() { of.meter_->begin_run(of.worker_id()); }
    recording_context const& of;
  };

  template <class F>
  struct submitted {
    decltype(auto) operator()(Context c) { return call<F>{&function, nullptr, 0, {}}(c); }
    F function;
  };

  Context context_;
  detail::recording_meter<Clock>* meter_;
};

/// The scope of a context that records; its children fork into scopes of their own.
template <class Context, class Clock>
class scope<recording_context<Context, Clock>> {
  using recording = recording_context<Context, Clock>;

 public:
  explicit scope(recording const& c) noexcept : context_{c.context_}, strands_{*c.meter_}, inner_{c.context_} {}
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  ~scope() noexcept(false) {  // then inner_ waits, then strands_ goes on
    strands_.meter.end_strand();
    end_group();
  }

  template <class F>
  void fork(F&& f) {
    detail::stopped_strand<Clock> const stop{strands_.meter};
    if (rest_.below == nullptr) begin_group();
    auto& meter = strands_.meter;
    inner_.fork(child<std::decay_t<F>>{
        std::forward<F>(f), meter.log, meter.empty_strand, {rest_.below->task, rest_.below->forked++, group_}});
  }

  void join() {
    detail::stopped_strand<Clock> const stop{strands_.meter};
    end_group();
    inner_.join();
  }

  void request_stop() noexcept { inner_.request_stop(); }

 private:
  struct going_on {
    explicit going_on(detail::recording_meter<Clock>& m) noexcept : meter{m} {}
    going_on(going_on const&) = delete;
    going_on& operator=(going_on const&) = delete;
    ~going_on() { meter.begin_strand(); }
    detail::recording_meter<Clock>& meter;
  };

  template <class F>
  struct child {
    void operator()(Context c) {
      static_cast<void>(detail::recorded_call<recording, Clock, F>{&function, log, empty_strand, place}(c));
    }
    F function;
    detail::program_log* log;
    std::uint64_t empty_strand;
    detail::logged_place place;
  };

  /// From here on the task is its own first child.
  void begin_group() noexcept {
    auto& meter = strands_.meter;
    detail::recorded_stretch& from = *meter.top;
    group_ = meter.begin_group();
    if (from.task != nullptr)
      rest_.task = meter.log->add(context_.worker_id(), from.task, from.forked, group_, nullptr);
    ++from.forked;
    meter.push(rest_);
  }
  /// Together with those of younger scopes.
  void end_group() noexcept {
    auto& meter = strands_.meter;
    while (rest_.below != nullptr) meter.pop();
  }

  Context context_;
  detail::recorded_stretch rest_;  ///< what the task does until the join; without `below` there is nothing to join
  std::uint32_t group_ = 0;
  going_on strands_;
  scope<Context> inner_;
};

template <class Context, class Clock>
scope(recording_context<Context, Clock>) -> scope<recording_context<Context, Clock>>;

}  // namespace heist
