// How one task is written down while it runs: the clock of its strands, its groups of children.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <type_traits>
#include <utility>  // forward, index_sequence

#include "heist/core/base/config.hpp"
#include "heist/core/fork/erased_child.hpp"
#include "heist/tools/measure/instrumented_context.hpp"
#include "heist/tools/measure/program_log.hpp"

namespace heist::detail {

/// A recorded task, or its work beside the children of a scope; lives in the frame of the task or the scope.
struct recorded_subrange {
  logged_task* task = nullptr;
  recorded_subrange* below = nullptr;
  std::uint64_t ticks = 0;  ///< since its last group
  std::uint64_t bytes = 0;
  std::uint32_t forked = 0, groups = 0;
};

template <class Clock>
struct running_strand;
template <class Clock>
struct stopped_strand;

/// A task's tracker; on its frame. Records nothing if there is no log.
template <class Clock>
class recording_tracker {
 public:
  recording_tracker(program_log* to, std::uint64_t strand_of_nothing, bool is_outermost) noexcept
      : log{to}, empty_strand{strand_of_nothing}, is_outermost_{is_outermost} {}
  recording_tracker(recording_tracker const&) = delete;
  recording_tracker& operator=(recording_tracker const&) = delete;

  HEIST_ALWAYS_INLINE void begin_strand() noexcept { since_ = Clock::ticks(); }
  HEIST_ALWAYS_INLINE void end_strand() noexcept {
    // A strand that waits for a future may end on another processor, whose clock may be some ticks behind.
    std::uint64_t const now = Clock::ticks(), start = since_ + empty_strand;
    if (now > start) top->ticks += now - start;
  }

  /// A stretch of the task begins, or the task itself.
  void push(recorded_subrange& s) noexcept {
    s.below = top;
    top = &s;
  }
  void pop() noexcept {
    recorded_subrange& s = *top;
    write(s);
    top = s.below;
    s = {};
  }
  /// Returns the number of the next group of the present stretch.
  std::uint32_t begin_group() noexcept {
    write(*top);
    return top->groups++;
  }

  /// True if a region that is entered now is a run of its own.
  bool may_enter_run() const noexcept { return is_outermost_ && top->below == nullptr && top->task != nullptr; }
  /// Begins another run with the outermost task's next work.
  void begin_run(std::size_t worker) noexcept {
    write(*top);
    void const* const function = top->task->function;
    *top = {};
    top->task = log->add(worker, nullptr, 0, 0, function);
    log->add_run(top->task, program_log::no_region);
  }

  // Functions that instrumented_context calls

  void footprint(std::uint64_t bytes) noexcept { top->bytes += bytes; }

  /// Stops the strand while `all(children...)` forks and joins; the children write themselves down.
  template <class Fork, class... F>
  auto fork(Fork all, F&... f) {
    stopped_strand<Clock> const stop{*this};
    recorded_subrange& from = *top;
    std::uint32_t const group = begin_group(), first = from.forked;
    from.forked += sizeof...(F);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return all(task<F>{&f, log, empty_strand, {from.task, first + static_cast<std::uint32_t>(I), group}}...);
    }
    (std::index_sequence_for<F...>{});
  }

  /// If the outermost task enters it while no scope of its own is at work, it is a run of the recording.
  template <class Context, class F>
  decltype(auto) enter(Context const& c, region& r, F& f) {
    stopped_strand<Clock> const stop{*this};
    if (!may_enter_run()) return c.invoke(r, region_body<F>{&f, this, nullptr});
    next_run<Context> const after{*this, c};
    return c.invoke(r, region_body<F>{&f, this, &r});
  }

  /// `f`, to be called with a context that records nothing.
  template <class F>
  auto unseen(F&& f) const {
    return submitted<std::decay_t<F>>{std::forward<F>(f)};
  }

  program_log* const log;
  std::uint64_t const empty_strand;
  recorded_subrange* top = nullptr;

  template <class F>
  struct task;
  class scope_part;

 private:
  template <class F>
  struct region_body;
  template <class F>
  struct submitted;
  template <class Context>
  struct next_run;

  void write(recorded_subrange& s) noexcept {
    if (s.task == nullptr) return;
    log->add_work(*s.task, s.ticks);
    s.task->bytes = s.bytes;
    s.ticks = 0;
  }

  std::uint64_t since_ = 0;
  bool const is_outermost_;
};

/// The clock of a meter runs.
template <class Clock>
struct running_strand {
  explicit running_strand(recording_tracker<Clock>& m) noexcept : tracker{m} { tracker.begin_strand(); }
  running_strand(running_strand const&) = delete;
  running_strand& operator=(running_strand const&) = delete;
  ~running_strand() { tracker.end_strand(); }
  recording_tracker<Clock>& tracker;
};

/// And stands still.
template <class Clock>
struct stopped_strand {
  explicit stopped_strand(recording_tracker<Clock>& m) noexcept : tracker{m} { tracker.end_strand(); }
  stopped_strand(stopped_strand const&) = delete;
  stopped_strand& operator=(stopped_strand const&) = delete;
  ~stopped_strand() { tracker.begin_strand(); }
  recording_tracker<Clock>& tracker;
};

/// The whole of a task.
template <class Clock>
struct running_task {
  running_task(recording_tracker<Clock>& m, logged_task* task) noexcept : tracker{m} {
    all.task = task;
    tracker.push(all);
    tracker.begin_strand();
  }
  running_task(running_task const&) = delete;
  running_task& operator=(running_task const&) = delete;
  ~running_task() {
    tracker.end_strand();
    while (tracker.top != nullptr) tracker.pop();
  }
  recording_tracker<Clock>& tracker;
  recorded_subrange all;
};

/// Where a task is in its program.
struct logged_place {
  logged_task const* parent = nullptr;  ///< null: nowhere, unless it is the outermost task
  std::uint32_t index = 0, group = 0;
  bool is_outermost = false;
};

/// In place of a callable: calls it with a context that records.
template <class Clock>
template <class F>
struct recording_tracker<Clock>::task {
  template <class Order, class... Values>
  requires(
      sizeof...(Values) == 0 ||
      can_be_instrumented<F, instrumented_context<basic_context<Order>, recording_tracker>, Values...>) decltype(auto)
  operator()(basic_context<Order> c, Values&&... values) const {
    recording_tracker tracker{log, empty_strand, place.is_outermost};
    running_task<Clock> const running{tracker, add(c.worker_id())};
    return call_instrumented(*function, c, tracker, std::forward<Values>(values)...);
  }

  logged_task* add(std::size_t worker) const noexcept {
    if (log == nullptr || (place.parent == nullptr && !place.is_outermost)) return nullptr;
    logged_task* const added =
        log->add(worker, place.parent, place.index, place.group, &function_identity<std::remove_cv_t<F>>);
    if (place.is_outermost) log->add_run(added, program_log::no_region);
    return added;
  }

  F* function;
  program_log* log;
  std::uint64_t empty_strand;
  logged_place place;
};

template <class Clock>
template <class F>
struct recording_tracker<Clock>::submitted {
  template <class Order, class... Values>
  requires(
      sizeof...(Values) == 0 ||
      can_be_instrumented<F, instrumented_context<basic_context<Order>, recording_tracker>, Values...>) decltype(auto)
  operator()(basic_context<Order> c, Values&&... values) {
    return task<F>{&function, nullptr, 0, {}}(c, std::forward<Values>(values)...);
  }
  F function;
};

/// Where a region is not divided its body may get another context than the one that enters it.
template <class Clock>
template <class F>
struct recording_tracker<Clock>::region_body {
  template <class Order>
  decltype(auto) operator()(basic_context<Order> c) const {
    if (entered == nullptr) {
      running_strand<Clock> const running{*outer};
      return call_instrumented(*function, c, *outer);
    }
    program_log& into = *outer->log;
    recording_tracker tracker{&into, outer->empty_strand, false};
    auto* const root = into.add(c.worker_id(), nullptr, 0, 0, &function_identity<std::remove_cv_t<F>>);
    into.add_run(root, into.number_of(*entered));
    running_task<Clock> const running{tracker, root};
    return call_instrumented(*function, c, tracker);
  }

  F* function;
  recording_tracker* outer;
  region const* entered;  ///< null: it is a part of the task
};

/// After the region's run the outermost task's next one begins.
template <class Clock>
template <class Context>
struct recording_tracker<Clock>::next_run {
  next_run(recording_tracker& m, Context const& c) noexcept : tracker{m}, context{c} {}
  next_run(next_run const&) = delete;
  next_run& operator=(next_run const&) = delete;
  ~next_run() { tracker.begin_run(context.worker_id()); }
  recording_tracker& tracker;
  Context const& context;
};

/// From a scope's first fork to its join the task is its own first child.
template <class Clock>
class recording_tracker<Clock>::scope_part {
 public:
  explicit scope_part(recording_tracker& m) noexcept : tracker_{m} {}
  scope_part(scope_part const&) = delete;
  scope_part& operator=(scope_part const&) = delete;
  ~scope_part() { tracker_.begin_strand(); }

  template <class Scope, class F>
  void fork(Scope& inner, std::size_t worker, F&& f) {
    stopped_strand<Clock> const stop{tracker_};
    if (rest_.below == nullptr) begin_group(worker);
    inner.fork(child<std::decay_t<F>>{
        std::forward<F>(f), tracker_.log, tracker_.empty_strand, {rest_.below->task, rest_.below->forked++, group_}});
  }

  template <class Scope>
  void join(Scope& inner) {
    stopped_strand<Clock> const stop{tracker_};
    end_group();
    inner.join();
  }

  void leave() noexcept {
    tracker_.end_strand();
    end_group();
  }

 private:
  template <class F>
  struct child {
    template <class Order>
    void operator()(basic_context<Order> c) {
      static_cast<void>(task<F>{&function, log, empty_strand, place}(c));
    }
    F function;
    program_log* log;
    std::uint64_t empty_strand;
    logged_place place;
  };

  void begin_group(std::size_t worker) noexcept {
    recorded_subrange& from = *tracker_.top;
    group_ = tracker_.begin_group();
    if (from.task != nullptr) rest_.task = tracker_.log->add(worker, from.task, from.forked, group_, nullptr);
    ++from.forked;
    tracker_.push(rest_);
  }
  /// Together with those of younger scopes.
  void end_group() noexcept {
    while (rest_.below != nullptr) tracker_.pop();
  }

  recording_tracker& tracker_;
  recorded_subrange rest_;  ///< the task up to the join; without `below` there is no child to join
  std::uint32_t group_ = 0;
};

}  // namespace heist::detail
