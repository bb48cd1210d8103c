// Workers: their numbers, and the program's functions at their start and end.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>  // exception_ptr
#include <memory>     // make_shared
#include <thread>
#include <utility>  // forward

#include <pthread.h>

namespace tf {

class Executor;

namespace detail {

/// The thread of a worker, which heist owns.
class worker_thread {
 public:
  std::thread::native_handle_type native_handle() const noexcept { return handle_; }
  std::thread::id get_id() const noexcept { return id_; }
  void be_this() noexcept {
    handle_ = pthread_self();
    id_ = std::this_thread::get_id();
  }

 private:
  std::thread::native_handle_type handle_{};
  std::thread::id id_;
};

}  // namespace detail

class Worker {
 public:
  explicit Worker(std::size_t id) noexcept : id_{id} {}
  std::size_t id() const noexcept { return id_; }
  /// Always 0: heist does not publish how many tasks a worker has.
  std::size_t queue_size() const noexcept { return 0; }
  std::size_t queue_capacity() const noexcept { return 0; }
  /// Has native_handle() and get_id().
  detail::worker_thread& thread() noexcept { return thread_; }

 private:
  std::size_t id_;
  detail::worker_thread thread_;
};

/// A worker as an observer sees it.
class WorkerView {
 public:
  explicit WorkerView(Worker const& of) noexcept : worker_{&of} {}
  std::size_t id() const noexcept { return worker_->id(); }
  std::size_t queue_size() const noexcept { return worker_->queue_size(); }
  std::size_t queue_capacity() const noexcept { return worker_->queue_capacity(); }

 private:
  Worker const* worker_;
};

/// Called by each worker's thread before its first task and after its last. Must not throw.
class WorkerInterface {
 public:
  virtual ~WorkerInterface() = default;
  virtual void scheduler_prologue(Worker& worker) = 0;
  virtual void scheduler_epilogue(Worker& worker, std::exception_ptr why) = 0;
};

template <class T, class... Args>
requires std::derived_from<T, WorkerInterface> std::shared_ptr<T> make_worker_interface(Args&&... args) {
  return std::make_shared<T>(std::forward<Args>(args)...);
}

namespace detail {

/// The worker that the calling thread is, and whose.
struct this_thread_is {
  Executor const* executor = nullptr;
  Worker* worker = nullptr;
};
// Not inlined: compilers keep addresses of thread_locals, and a task that has waited may be on another thread.
[[gnu::noinline]] inline this_thread_is& this_thread() noexcept {
  static thread_local this_thread_is self;
  return self;
}

}  // namespace detail
}  // namespace tf
