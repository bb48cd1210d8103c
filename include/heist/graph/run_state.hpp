// One run of a graph, and the handle that users hold of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>  // exception_ptr
#include <optional>
#include <stop_token>
#include <utility>  // exchange

#include "heist/base/env.hpp"
#include "heist/base/errors.hpp"
#include "heist/base/unique_function.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/wait.hpp"
#include "heist/sync/completion.hpp"

namespace heist {
namespace detail {

struct graph_data;
struct record;

/// Shared by the run, its handle, and the graph that keeps it for its next run.
struct run_state {
  static constexpr std::uint32_t failed_bit = 1, stopped_bit = 2;

  /// What a stop_token calls.
  struct interrupt_on_stop {
    run_state* self;
    void operator()() const noexcept { self->interrupt_with(stopped_bit); }
  };

  /// True if this call is the first to set `bit`.
  bool interrupt_with(std::uint32_t bit) noexcept {
    // acq_rel: whoever sets the failed bit first owns `exception`
    return (interrupt.why.fetch_or(bit, std::memory_order_acq_rel) & bit) == 0;
  }
  void fail(std::exception_ptr e) noexcept {
    if (interrupt_with(failed_bit)) exception = std::move(e);
  }
  bool interrupted() const noexcept { return interrupt.any(); }

  /// May a new run use it? One that has ended and has no handle: whoever has not released it yet will touch nothing but
  /// `owners`.
  bool reusable() const noexcept {
    return finished.done() && !has_handle.load(std::memory_order_acquire);  // acquire: pairs with ~graph_run
  }
  void retain() noexcept { owners.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller owns it already
  void release() noexcept {
    // acq_rel: the last owner sees what the others did
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  os_env::atomic<std::uint32_t> owners{1};
  os_env::atomic<bool> has_handle{false};
  interrupt_state interrupt;  ///< are tasks skipped?
  completion finished;
  std::exception_ptr exception;
  unsigned generation = 0;   ///< of the process that it runs in
  bool was_stopped = false;  ///< set before it is finished

  core* home = nullptr;
  run_state* next_in_line = nullptr;  ///< the next run of the same graph
  record* outer = nullptr;            ///< the task of another graph that this run is the work of
  run_state* parent = nullptr;        ///< that graph's run
  std::size_t passes = 0;             ///< still to come, where `again` is empty
  unique_function<bool()> again;      ///< asked after each pass: another one?
  unique_function<void()> callback;   ///< called when the run has ended
  std::optional<std::stop_callback<interrupt_on_stop>> stop;
};

}  // namespace detail

/// A run of a graph that was started; cheap to move, may be dropped.
///
/// Threads  every member may be called by any thread. wait() and get() inside a task park it.
class graph_run {
 public:
  /// Refers to nothing.
  graph_run() noexcept = default;
  graph_run(graph_run&& other) noexcept : state_{std::exchange(other.state_, nullptr)} {}
  graph_run& operator=(graph_run&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~graph_run() {
    if (state_ == nullptr) return;
    state_->has_handle.store(false, std::memory_order_release);  // release: pairs with the acquire in reusable()
    state_->release();
  }

  bool valid() const noexcept { return state_ != nullptr; }
  bool done() const { return checked().finished.done(); }
  /// Returns when the run has ended, for whatever reason.
  void wait() const {
    detail::run_state& s = checked();
    detail::wait_for(s.finished, s.generation);
  }
  /// Waits, then rethrows the first exception that a task of the run threw.
  void get() const {
    wait();
    if (state_->exception) std::rethrow_exception(state_->exception);
  }
  /// Tasks that have not started yet are skipped; the run ends soon.
  void request_stop() const { checked().interrupt_with(detail::run_state::stopped_bit); }
  /// True if a stop was requested, by request_stop() or the run's stop_token, before the run ended.
  bool stopped() const {
    detail::run_state const& s = checked();
    if (s.finished.done()) return s.was_stopped;
    return (s.interrupt.why.load(std::memory_order_relaxed) & detail::run_state::stopped_bit) != 0;  // relaxed: a flag
  }

 private:
  friend struct detail::graph_data;
  explicit graph_run(detail::run_state& state) noexcept : state_{&state} {
    state.has_handle.store(true,
                           std::memory_order_relaxed);  // relaxed: the graph's lock is held, or the run not started
  }

  detail::run_state& checked() const {
    if (state_ == nullptr) {
      throw executor_error{
          "this graph_run refers to no run: it was default made or moved from; mend it by keeping the "
          "handle that executor::run returned."};
    }
    return *state_;
  }

  detail::run_state* state_ = nullptr;
};

}  // namespace heist
