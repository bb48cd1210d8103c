// An object for each worker: scratch memory, counters, random numbers.
#pragma once

#include <cstddef>  // size_t
#include <deque>
#include <utility>

#include "heist/core/base/config.hpp"
#include "heist/parallel/async/executor_ref.hpp"

namespace heist {
namespace detail {
/// The number of workers that may run tasks of `scheduler`.
std::size_t all_workers_of(core const& scheduler) noexcept;
/// The number of the calling worker among them. Throws executor_error if the calling thread is not one of them.
std::size_t worker_number_in(core const& scheduler);
}  // namespace detail

/// One T for each worker of an executor. The constructor makes all of them, each in its own cache lines.
///
/// Threads  local(): tasks of the executor. A task may use the result until it forks, joins or waits: then it may
///          resume on another worker, and another task on this one. The other members: while no task uses it.
///
/// Under policy::automatic these objects come first. Behind them is one for each worker of the executors that it may
/// try.
template <class T>
class per_worker {
  struct alignas(cache_line_size) slot {
    template <class... Args>
    explicit slot(Args const&... args) : value(args...) {}
    T value;
  };

 public:
  /// Each T is made of `args`.
  template <class... Args>
  explicit per_worker(executor_ref ex, Args const&... args) : of_{ex} {
    for (std::size_t i = 0; i != detail::all_workers_of(detail::executor_access::core_of(ex)); ++i)
      slots_.emplace_back(args...);
  }
  per_worker(per_worker const&) = delete;
  per_worker& operator=(per_worker const&) = delete;

  /// The object of the worker that runs the calling task. Throws executor_error outside of the executor's tasks.
  T& local() { return slots_[detail::worker_number_in(detail::executor_access::core_of(of_))].value; }
  std::size_t size() const noexcept { return slots_.size(); }
  /// By the worker's number, below size().
  T& operator[](std::size_t worker) { return slots_[worker].value; }
  T const& operator[](std::size_t worker) const { return slots_[worker].value; }
  /// Calls f(T&) for each, in the order of the workers.
  template <class F>
  void for_each(F&& f) {
    for (slot& s : slots_) f(s.value);
  }

 private:
  executor_ref of_;
  std::deque<slot> slots_;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/async/per_worker.ipp"
#endif
