// The executor: a heist::executor that runs taskflows and asyncs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>  // make_shared, shared_ptr
#include <mutex>
#include <thread>   // hardware_concurrency
#include <utility>  // forward, move
#include <vector>

#include "heist/async.hpp"
#include "heist/compat/taskflow/taskflow/core/async.hpp"
#include "heist/compat/taskflow/taskflow/core/error.hpp"
#include "heist/compat/taskflow/taskflow/core/taskflow.hpp"
#include "heist/compat/taskflow/taskflow/core/urgency.hpp"
#include "heist/compat/taskflow/taskflow/core/worker.hpp"
#include "heist/compat/taskflow/taskflow/observer/interface.hpp"
#include "heist/executor.hpp"
#include "heist/sync.hpp"

#if !defined(HEIST_COMPAT_POLICY)
#define HEIST_COMPAT_POLICY heist::policy::random
#endif

namespace tf {

class TaskGroup;

namespace detail {

/// Counts what an executor has accepted and not finished.
class pending_count {
 public:
  void add() noexcept { now_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller waits for its own
  void remove() {
    if (now_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // acq_rel: a waiter sees what all tasks have done
    std::lock_guard const guard{lock_};
    none_.notify_all();
  }
  void wait_for_none() {
    std::unique_lock guard{lock_};
    none_.wait(guard,
               [this] { return now_.load(std::memory_order_acquire) == 0; });  // acquire: what the tasks have done
  }
  std::size_t now() const noexcept { return now_.load(std::memory_order_relaxed); }  // relaxed: a snapshot

 private:
  std::atomic<std::size_t> now_{0};
  std::mutex lock_;
  std::condition_variable none_;
};

}  // namespace detail

/// Threads: any. The destructor waits for all started tasks.
class Executor : public detail::async_functions<Executor> {
 public:
  /// The policy of the workers. A program defines HEIST_COMPAT_POLICY for another one.
  using policy = HEIST_COMPAT_POLICY;

  explicit Executor(std::size_t workers = std::thread::hardware_concurrency(),
                    std::shared_ptr<WorkerInterface> watch = nullptr)
      : workers_{made_workers(workers)}, watch_{std::move(watch)}, pool_{options_for(workers)} {}
  ~Executor() { wait_for_all(); }

  /// Runs a taskflow once. `callback()` is called at the end of the last run, before the future is ready.
  Future<void> run(Taskflow& flow) { return run_n(flow, 1); }
  Future<void> run(Taskflow&& flow) { return run_n(std::move(flow), 1); }
  template <class C>
  Future<void> run(Taskflow& flow, C&& callback) {
    return run_n(flow, 1, std::forward<C>(callback));
  }
  template <class C>
  Future<void> run(Taskflow&& flow, C&& callback) {
    return run_n(std::move(flow), 1, std::forward<C>(callback));
  }
  Future<void> run_n(Taskflow& flow, std::size_t n) {
    return run_n(flow, n, [] {});
  }
  Future<void> run_n(Taskflow&& flow, std::size_t n) {
    return run_n(std::move(flow), n, [] {});
  }
  template <class C>
  Future<void> run_n(Taskflow& flow, std::size_t n, C&& callback) {
    return run_until(flow, left{n}, std::forward<C>(callback));
  }
  template <class C>
  Future<void> run_n(Taskflow&& flow, std::size_t n, C&& callback) {
    return run_until(std::move(flow), left{n}, std::forward<C>(callback));
  }
  /// Runs it again and again. `done()` is asked before each run.
  template <class P>
  Future<void> run_until(Taskflow& flow, P&& done) {
    return run_until(flow, std::forward<P>(done), [] {});
  }
  template <class P>
  Future<void> run_until(Taskflow&& flow, P&& done) {
    return run_until(std::move(flow), std::forward<P>(done), [] {});
  }
  template <class P, class C>
  Future<void> run_until(Taskflow& flow, P&& done, C&& callback) {
    return start(flow, nullptr, std::forward<P>(done), std::forward<C>(callback));
  }
  template <class P, class C>
  Future<void> run_until(Taskflow&& flow, P&& done, C&& callback) {
    auto owned = std::make_unique<Taskflow>(std::move(flow));
    Taskflow& here = *owned;
    return start(here, std::move(owned), std::forward<P>(done), std::forward<C>(callback));
  }

  /// Runs all tasks of an object's graph. The calling task parks until they have ended.
  template <class T>
  void corun(T& target) {
    reject_outside("heist: tf::Executor::corun is for tasks of that executor; fix it by run(flow).wait().");
    detail::parent here{detail::role::group, detail::parent::anchor};
    here.open.store(1, std::memory_order_relaxed);  // relaxed: no other thread knows it yet
    launch(retrieve_graph(target), here, nullptr);
    wait_for_children(here);
    here.rethrow();
  }
  /// The calling task lets others run until the predicate is true.
  template <class P>
  void corun_until(P&& predicate) {
    reject_outside(
        "heist: tf::Executor::corun_until is for tasks of that executor; fix it by a loop of the thread's own.");
    while (!predicate()) let_others_run();
  }
  TaskGroup task_group();

  /// A task of this executor must not call it.
  void wait_for_all() { pending_.wait_for_none(); }

  std::size_t num_workers() const noexcept { return workers_.size(); }
  std::size_t num_waiters() const noexcept { return pool_.sleeping_workers(); }
  std::size_t num_queues() const noexcept { return workers_.size() + 1; }
  std::size_t num_topologies() const noexcept { return pending_.now(); }
  /// Null on other threads. A task that has waited may be on another worker.
  Worker* this_worker() noexcept {
    auto const& self = detail::this_thread();
    return self.executor == this ? self.worker : nullptr;
  }
  int this_worker_id() const noexcept {
    auto const& self = detail::this_thread();
    return self.executor == this ? static_cast<int>(self.worker->id()) : -1;
  }

  /// Must not be called while tasks run.
  template <class Observer, class... Args>
  std::shared_ptr<Observer> make_observer(Args&&... args) {
    auto made = std::make_shared<Observer>(std::forward<Args>(args)...);
    made->set_up(num_workers());
    observers_.push_back(made);
    return made;
  }
  template <class Observer>
  void remove_observer(std::shared_ptr<Observer> observer) {
    std::erase(observers_, observer);
  }
  std::size_t num_observers() const noexcept { return observers_.size(); }

  /// The executor of heist that does the work.
  heist::executor<policy>& heist_executor() noexcept { return pool_; }

  // For the code of the layer (scheduling.hpp).
  using node = detail::node;
  using parent = detail::parent;
  detail::async_scheduler scheduler() noexcept { return {this, nullptr, nullptr}; }
  detail::pending_count& pending() noexcept { return pending_; }
  void schedule(node& n);
  void launch(Graph& graph, parent& of, Topology* run);
  static void wait_for_children(parent& p);
  /// A child has ended. False if it was not the last, or if code that waits goes on.
  static bool child_ends(parent& p);
  void let_others_run();
  static void keep(node& n, std::exception_ptr e) noexcept;
  /// False if it has one already.
  static bool keep_in(parent& holder, std::exception_ptr& e) noexcept;
  void reject_outside(char const* what) {
    if (this_worker() == nullptr) detail::reject(what);
  }

 private:
  struct left {
    std::size_t n;
    bool operator()() noexcept { return n-- == 0; }
  };

  static std::vector<std::unique_ptr<Worker>> made_workers(std::size_t n);
  heist::options options_for(std::size_t n);
  Future<void> start(Taskflow& flow, std::unique_ptr<Taskflow> owned, std::function<bool()> done,
                     std::function<void()> callback);
  void begin(Topology& run);
  void end_pass(Topology& run);
  void execute(heist::context const& context, node* n);
  node* step(heist::context const& context, node& n, SmallVector<int>& chosen);
  node* finish(node& n, SmallVector<int> const* chosen);
  bool call(heist::context const& context, node& n, SmallVector<int>& chosen);
  bool acquire_all(node& n);
  void release_all(node& n);
  void follow(bool& is_followed, parent& above, node*& next, node& to);
  void offer(node*& next, node& n);
  void observe(node const& n, bool begins);

  std::vector<std::unique_ptr<Worker>> workers_;
  std::shared_ptr<WorkerInterface> watch_;
  std::vector<std::shared_ptr<ObserverInterface>> observers_;
  detail::pending_count pending_;
#if defined(TF_ENABLE_TASK_PRIORITY)
  detail::urgency_lists urgent_;
#endif
  heist::executor<policy> pool_;  // last: its threads use the others
};

}  // namespace tf
