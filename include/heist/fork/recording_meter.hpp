// How one task is written down while it runs: the clock of its strands, its groups of children.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <type_traits>

#include "heist/base/config.hpp"
#include "heist/fork/program_log.hpp"
#include "heist/fork/tier_fork.hpp"

namespace heist::detail {

/// A task, or what it does beside the children of a scope, while it is recorded; in the frame of what it belongs to.
struct recorded_stretch {
  logged_task* task = nullptr;
  recorded_stretch* below = nullptr;
  std::uint64_t ticks = 0;  ///< since its last group
  std::uint64_t bytes = 0;
  std::uint32_t forked = 0, groups = 0;
};

/// Of a task; on its frame. Without a log nothing is recorded.
template <class Clock>
class recording_meter {
 public:
  recording_meter(program_log* log, std::uint64_t empty_strand, bool is_outermost) noexcept
      : log{log}, empty_strand{empty_strand}, is_outermost_{is_outermost} {}
  recording_meter(recording_meter const&) = delete;
  recording_meter& operator=(recording_meter const&) = delete;

  HEIST_ALWAYS_INLINE void begin_strand() noexcept { since_ = Clock::ticks(); }
  HEIST_ALWAYS_INLINE void end_strand() noexcept {
    // A strand that waits for a future may end on another processor, whose clock may be some ticks behind.
    std::uint64_t const now = Clock::ticks(), begun = since_ + empty_strand;
    if (now > begun) top->ticks += now - begun;
  }

  /// A stretch of the task begins, or the task itself.
  void push(recorded_stretch& s) noexcept {
    s.below = top;
    top = &s;
  }
  void pop() noexcept {
    recorded_stretch& s = *top;
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
  /// What the outermost task does from now on is another run.
  void begin_run(std::size_t worker) noexcept {
    write(*top);
    void const* const function = top->task->function;
    *top = {};
    top->task = log->add(worker, nullptr, 0, 0, function);
    log->add_run(top->task, program_log::no_region);
  }

  program_log* const log;
  std::uint64_t const empty_strand;
  recorded_stretch* top = nullptr;

 private:
  void write(recorded_stretch& s) noexcept {
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
  explicit running_strand(recording_meter<Clock>& m) noexcept : meter{m} { meter.begin_strand(); }
  running_strand(running_strand const&) = delete;
  running_strand& operator=(running_strand const&) = delete;
  ~running_strand() { meter.end_strand(); }
  recording_meter<Clock>& meter;
};

/// And stands still.
template <class Clock>
struct stopped_strand {
  explicit stopped_strand(recording_meter<Clock>& m) noexcept : meter{m} { meter.end_strand(); }
  stopped_strand(stopped_strand const&) = delete;
  stopped_strand& operator=(stopped_strand const&) = delete;
  ~stopped_strand() { meter.begin_strand(); }
  recording_meter<Clock>& meter;
};

/// The whole of a task.
template <class Clock>
struct running_task {
  running_task(recording_meter<Clock>& m, logged_task* task) noexcept : meter{m} {
    all.task = task;
    meter.push(all);
    meter.begin_strand();
  }
  running_task(running_task const&) = delete;
  running_task& operator=(running_task const&) = delete;
  ~running_task() {
    meter.end_strand();
    while (meter.top != nullptr) meter.pop();
  }
  recording_meter<Clock>& meter;
  recorded_stretch all;
};

/// Where a task is in its program.
struct logged_place {
  logged_task const* parent = nullptr;  ///< null: nowhere, unless it is the outermost task
  std::uint32_t index = 0, group = 0;
  bool is_outermost = false;
};

/// In place of a callable: calls it with a context that records.
template <class Recording, class Clock, class F>
struct recorded_call {
  using inner_context = typename Recording::inner_context;

  decltype(auto) operator()(inner_context c) const {
    recording_meter<Clock> meter{log, empty_strand, place.is_outermost};
    running_task<Clock> const running{meter, add_task(c.worker_id())};
    if constexpr (std::is_invocable_v<F&>) {
      return (*function)();
    } else {
      static_assert(std::is_invocable_v<F&, Recording>,
                    "heist: a task that is recorded must be callable as f() or f(context) with a context of type "
                    "heist::recording_context; mend it by taking the context as auto or as a template parameter.");
      return (*function)(Recording{c, meter});
    }
  }

  logged_task* add_task(std::size_t worker) const noexcept {
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

}  // namespace heist::detail
