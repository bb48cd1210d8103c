// One run of a graph, and the handle that users hold of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>  // exception_ptr
#include <optional>
#include <stop_token>
#include <string>
#include <utility>  // exchange, forward
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/priority.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/base/unique_function.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/executor/timed_wait.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/time_limit.hpp"
#include "heist/core/sync/unobserved.hpp"

namespace heist {
namespace detail {

struct graph_data;
struct record;
/// What graph_run::then() does, in parallel/async/after.hpp.
template <class F>
struct continuation;
struct run_access;
struct run_state;

/// Owns a graph, together with other owners.
class graph_owner {
 public:
  graph_owner() noexcept = default;
  /// Takes over one count of the graph's owners.
  explicit graph_owner(graph_data* g) noexcept : graph_{g} {}
  graph_owner(graph_owner const& other) noexcept;
  graph_owner(graph_owner&& other) noexcept : graph_{std::exchange(other.graph_, nullptr)} {}
  graph_owner& operator=(graph_owner other) noexcept;
  /// The last one destroys the graph, and with it what the user's callables own.
  ~graph_owner();

  graph_data* get() const noexcept { return graph_; }
  graph_data* operator->() const noexcept { return graph_; }
  graph_data& operator*() const noexcept { return *graph_; }
  explicit operator bool() const noexcept { return graph_ != nullptr; }
  graph_data* give_up() noexcept { return std::exchange(graph_, nullptr); }

 private:
  graph_data* graph_ = nullptr;
};

/// Throws if the calling code is part of `r`, or of a run that is in line before it: it would wait for ever.
void reject_own_run(run_state& r);

/// An exception of a task of a run, in a list: the youngest first.
struct task_failure {
  std::exception_ptr exception;
  std::string task;
  task_failure* next = nullptr;
};

/// Starts the passes of a run that runs a part of its graph (subgraph.hpp).
struct run_part {
  virtual ~run_part() = default;
  /// Begins a pass: makes the first tasks ready, and returns one of them to run next, or null.
  virtual runnable* begin(graph_data& g, fiber& self) noexcept = 0;
};

/// An option of graph_data::start().
struct part_option {
  unique_ptr<run_part> part;
};

/// Shared by the run, its handle, and the graph that keeps it for its next run.
struct run_state {
  static constexpr std::uint32_t failed_bit = 1, stopped_bit = 2;

  /// The callback of a stop_token.
  struct interrupt_on_stop {
    run_state* self;
    void operator()() const noexcept { self->interrupt_with(stopped_bit); }
  };

  /// True if this call is the first to set `bit`.
  bool interrupt_with(std::uint32_t bit) noexcept {
    bool const first = interrupt.set(bit);
    // relaxed: read again under the lock
    if (first && waiting.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      end_waits(bit);
    return first;
  }
  void request_stop() noexcept { interrupt_with(stopped_bit); }
  /// The run is interrupted: its tasks wait no longer for events and limiters.
  void end_waits(std::uint32_t why) noexcept;
  /// Notes the graph if tasks of the run may wait for events or limiters; published by the start of the run.
  void may_wait_for(graph_data& g) noexcept;
  /// The run is about to end, and its graph may soon be gone; or a callback is about to change the graph.
  void forget_waits() noexcept;
  /// The first to fail owns `exception`. `of`: the task; null: none, or `e` is the exception of a nested run, whose tasks
  /// have been noted.
  void fail(std::exception_ptr e, record const* of = nullptr) noexcept;
  /// For graph_run::exceptions(), if the run has a handle; nothing without memory.
  void note_failure(std::exception_ptr const& e, record const& of) noexcept;
  /// Nobody asks for them any more. Their destructors, of the user's, may wait.
  static void forget_failures(task_failure* first) noexcept;
  bool interrupted() const noexcept { return interrupt.any(); }

  /// May a new run use it? Yes if it has ended and has no handle: a thread that has not released it yet will touch only
  /// `owners`.
  bool reusable() const noexcept;
  /// For another run, which owns it from here on; under the graph's lock. The last one's exception is gone with its handle.
  void prepare(core& on) noexcept;
  void copy_title(std::string const& of) noexcept { title[of.copy(title, sizeof title - 1)] = 0; }

  /// The run is about to end, and has failed, or tasks of it have thrown.
  void keep_if_released() noexcept;
  /// One more handle. By an owner of a handle.
  void hold() noexcept {
    handle.fetch_add(held, std::memory_order_relaxed);  // relaxed: the caller's handle keeps the state alive
    retain();
  }
  /// A handle is dropped.
  void let_go() noexcept;

  void retain() noexcept { owners.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller owns it already
  /// The last one destroys the exception, an object of the user's, whose destructor may wait.
  void release() noexcept;

  ~run_state() { forget_failures(failures.load(std::memory_order_relaxed)); }  // relaxed: by the last owner

  os_env::atomic<std::uint32_t> owners{1};
  // The run's failure, and a count of handles. The later one of two events keeps an exception that no get() has
  // fetched: the run's end, or the end of the last handle.
  static constexpr std::uint32_t failed = 1, held = 2;
  os_env::atomic<std::uint32_t> handle{0};
  os_env::atomic<bool> fetched{false};
  os_env::atomic<std::uint8_t> wait_marks{0};  ///< awaited_end::marks
  unobserved_reference unobserved;             ///< keeps that exception
  char title[32]{};                            ///< of the graph, as much of it as there is room for
  interrupt_state interrupt;                   ///< are tasks skipped?
  completion finished;
  std::exception_ptr exception;
  os_env::atomic<task_failure*> failures{nullptr};
  unsigned generation = 0;                     ///< of the process that it runs in
  bool was_stopped = false;                    ///< set before it is finished
  bool chosen = false;                         ///< its executor was chosen (policy::automatic)
  unsigned wave = 0;                           ///< of the unit of work that it is
  priority start_priority = priority::normal;  ///< of its start

  stop_origin origin;  ///< the stoppable task that started the run, or none

  core* scheduler = nullptr;
  run_state* next_in_line = nullptr;             ///< the next run of the same graph
  record* outer = nullptr;                       ///< the task of another graph that this run is the work of
  run_state* parent = nullptr;                   ///< that graph's run
  std::size_t passes = 0;                        ///< still to come, where `again` is empty
  unique_function<bool()> again;                 ///< asked after each pass: another one?
  unique_function<void()> callback;              ///< called when the run has ended
  unique_ptr<run_part> part;                     ///< null: the run runs the whole graph
  graph_owner keeps;                             ///< its graph, if a callback has destroyed that
  os_env::atomic<graph_data*> waiting{nullptr};  ///< its graph, if its tasks may wait for events or limiters
  spin_lock<> waiting_lock;                      ///< guards it against the end of the run
  std::optional<std::stop_callback<interrupt_on_stop>> stop;
  running_limit limit;
};
struct stop_target;
/// Stops the run.
stop_target stop_target_of(run_state& run) noexcept;

}  // namespace detail

/// An exception that a task of a run threw (graph_run::exceptions()).
struct task_exception {
  std::string task;  ///< its name, or its number as in the graph's other texts
  std::exception_ptr exception;
};

/// A run of a graph that was started; cheap to move, may be dropped: an exception that no get() has asked for
/// then reaches executor::wait_idle(), or stderr when the executor is destroyed.
///
/// Threads  every member may be called by any thread. wait() and get() inside a task park it.
class [[nodiscard]] graph_run {
 public:
  /// Refers to nothing.
  graph_run() noexcept = default;
  graph_run(graph_run&& other) noexcept : state_{std::exchange(other.state_, nullptr)} {}
  graph_run& operator=(graph_run&& other) noexcept;
  ~graph_run();

  bool valid() const noexcept { return state_ != nullptr; }
  bool is_ready() const { return checked().finished.is_ready(); }
  /// Returns when the run has ended, for whatever reason. Throws graph_error if that would be never: in a task or a
  /// callback of the run itself, of one that its graph does before it, or of a run that is a task of such a one. The
  /// run is stopped then, unless it is the one in progress.
  void wait() const;
  /// As wait(), but for at most `time`; true if the run has ended. Inside a task it is a blocking call
  /// (context::blocking): another thread takes the worker's place meanwhile.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> const& time) const {
    return wait_until(detail::later_by(time));
  }
  /// As above, until a point in time.
  template <class Clock, class Duration>
  bool wait_until(std::chrono::time_point<Clock, Duration> const& when) const {
    return is_ready() || detail::wait_until_done(awaited(), when);
  }
  /// Waits, then rethrows the first exception that a task of the run threw. Throws stopped_error if none did and the run
  /// was stopped (stopped()).
  void get() const;
  /// Waits, then returns all exceptions that tasks of the run and of the graphs in it threw, each with the name of its task.
  /// The first is the one that get() throws. The others come from tasks that ran at the same time, the youngest exception
  /// first. Empty if none threw. The exceptions then count as asked for, as by get(). Exceptions that `again` or a
  /// callback threw have no name. One that there was no memory to note is missing, but for the first.
  template <class Vector = std::vector<task_exception>>
  Vector exceptions() const;
  /// Tasks that have not started yet are skipped, and the run ends soon. Waits of its tasks for events and limiters end.
  /// The stop is handed on to what its tasks have started and wait for: runs, context::submit, executor::invoke,
  /// pipelines, flows.
  void request_stop() const { checked().interrupt_with(detail::run_state::stopped_bit); }
  /// True if a stop was requested, by request_stop() or the run's stop_token, before the run ended.
  bool stopped() const;
  /// Another handle of the same run.
  graph_run share() const;
  /// Starts f(), or f(context), on the run's executor when the run has ended, and returns the future of its result. If a
  /// task of the run throws, or the run is stopped, f is not called, and the future has that exception. Throws
  /// executor_error if the executor is gone. Needs heist/async.hpp.
  template <class F>
  auto then(F&& f) const {
    static_assert(
        requires { sizeof(detail::continuation<F>); },
        "heist: then() of a run needs what lets tasks come after others; fix it by #include <heist/async.hpp>.");
    return detail::continuation<F>::after(*this, checked().scheduler, std::forward<F>(f));
  }

 private:
  friend struct detail::graph_data;
  friend struct detail::run_access;
  explicit graph_run(detail::run_state& state) noexcept;
  detail::run_state& checked() const;
  /// Throws graph_error as wait().
  detail::awaited_end awaited() const;

  detail::run_state* state_ = nullptr;
};

// A template: programs that do not call it do not pay for it.
template <class Vector>
Vector graph_run::exceptions() const {
  wait();
  detail::run_state& s = *state_;
  s.fetched.store(true, std::memory_order_relaxed);  // relaxed: read by the thread that drops the handle
  Vector all;
  if (!s.exception) return all;
  all.push_back({{}, s.exception});
  // acquire: pairs with note_failure()
  for (auto const* f = s.failures.load(std::memory_order_acquire); f != nullptr; f = f->next) {
    if (f->exception == s.exception && all.front().task.empty()) {
      all.front().task = f->task;
    } else {
      all.push_back({f->task, f->exception});
    }
  }
  return all;
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/graph/run_state.ipp"
#endif
