// How tasks run: each is a posted task of heist, which goes on with a successor while there is one.
#pragma once

#include "heist/compat/taskflow/taskflow/core/executor_class.hpp"
#include "heist/compat/taskflow/taskflow/core/semaphore.hpp"

namespace tf {

inline std::vector<std::unique_ptr<Worker>> Executor::made_workers(std::size_t n) {
  if (n == 0) detail::reject("heist: a tf::Executor needs a worker; fix it by a number above 0.");
  std::vector<std::unique_ptr<Worker>> made;
  for (std::size_t i = 0; i != n; ++i) made.push_back(std::make_unique<Worker>(i));
  return made;
}

inline heist::options Executor::options_for(std::size_t n) {
  heist::options wanted{.workers = n};
  wanted.on_worker_start = [this](std::size_t id) {
    Worker& w = *workers_[id];
    w.thread().be_this();
    detail::this_thread() = {this, &w};
    if (watch_) watch_->scheduler_prologue(w);
  };
  wanted.on_worker_stop = [this](std::size_t id) {
    if (watch_) watch_->scheduler_epilogue(*workers_[id], nullptr);
    detail::this_thread() = {};
  };
  return wanted;
}

inline void Executor::schedule(node& n) {
#if defined(TF_ENABLE_TASK_PRIORITY)
  urgent_.put(n);
  pool_.post([this](heist::context c) { execute(c, urgent_.take()); });
#else
  pool_.post([this, task = &n](heist::context c) { execute(c, task); });
#endif
}

/// Starts a graph's tasks as children of `of`, whose `open` has its own 1.
inline void Executor::launch(Graph& graph, parent& of, Topology* run) {
  SmallVector<node*, 8> sources;
  of.may_repeat = false;
  for (node* n : graph) {
    if (n->type != TaskType::STATIC && n->type != TaskType::PLACEHOLDER) of.may_repeat = true;
    n->above = &of;
    n->run = run;
    n->flags.store(0, std::memory_order_relaxed);  // relaxed, as the next: none of them has begun
    n->exception = nullptr;
    n->strong = n->predecessors.size() - n->weak_count();
    n->missing.store(n->strong, std::memory_order_relaxed);  // relaxed: as above
    if (n->predecessors.empty()) sources.push_back(n);
  }
  of.open.fetch_add(sources.size(), std::memory_order_relaxed);  // relaxed: the posts publish it
  for (node* n : sources) schedule(*n);
}

inline void Executor::wait_for_children(parent& p) {
  // acquire, acq_rel: what the children have done
  if (p.open.load(std::memory_order_acquire) == 1) return;
  heist::manual_reset_event all;
  p.waits = &all;
  // relaxed, as below: exceptions that come meanwhile are kept here
  unsigned const before = p.flags.fetch_or(parent::anchor, std::memory_order_relaxed);
  if (p.open.fetch_sub(1, std::memory_order_acq_rel) != 1) all.wait();  // acq_rel: as above
  // relaxed: all have ended
  if ((before & parent::anchor) == 0) p.flags.fetch_and(~parent::anchor, std::memory_order_relaxed);
  p.waits = nullptr;
  p.open.store(1, std::memory_order_relaxed);  // relaxed: all have ended
}

inline bool Executor::child_ends(parent& p) {
  if (p.open.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;  // acq_rel: as in wait_for_children()
  if (p.waits == nullptr) return true;
  p.waits->set();
  return false;
}

inline void Executor::let_others_run() {
  pool_.submit(heist::with{.priority = heist::priority::low}, [] { std::this_thread::yield(); }).get();
}

inline void Executor::execute(heist::context const& context, node* n) {
  SmallVector<int> chosen;
  while (n != nullptr) {
    chosen.clear();
    n = step(context, *n, chosen);
  }
}

inline Executor::node* Executor::step(heist::context const& context, node& n, SmallVector<int>& chosen) {
  if (n.parent_stopped()) return finish(n, nullptr);
  if (n.more && !n.more->acquires.empty() && !acquire_all(n)) return nullptr;
  if (call(context, n, chosen)) {
    // acq_rel: what the children have done
    if (n.open.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;  // the last child goes on
  }
  return finish(n, &chosen);
}

/// True if it may have children.
inline bool Executor::call(heist::context const& context, node& n, SmallVector<int>& chosen) {
  if (!n.does) return false;
  detail::invocation now{*this, context, n, chosen};
  bool const seen = !observers_.empty() && n.type != TaskType::MODULE;
  if (seen) observe(n, true);
  try {
    n.does.call(now);
  } catch (...) {
    keep(n, std::current_exception());
  }
  if (seen) observe(n, false);
  return now.has_children;
}

/// The task has ended with its children, or is skipped (no `chosen`). Returns a task that may begin now.
inline Executor::node* Executor::finish(node& first, SmallVector<int> const* chosen) {
  node* next = nullptr;
  for (node* n = &first;;) {
    bool const ran = n != &first || chosen != nullptr;
    if (n->type == TaskType::SUBFLOW && ran && !n->retained) n->does.graph()->clear();
    // relaxed, twice: its children have ended
    if ((n->flags.load(std::memory_order_relaxed) & parent::runtime) != 0)
      n->flags.fetch_and(~parent::runtime, std::memory_order_relaxed);
    parent* const above = n->above;
    if (n->type == TaskType::ASYNC) {
      detail::end_async(*n, [&](node& follower) { offer(next, follower); });
    } else if (ran) {
      if (n->more && !n->more->releases.empty()) release_all(*n);
      // relaxed: for the next time, in a loop
      if (above->may_repeat) n->missing.fetch_add(n->strong, std::memory_order_relaxed);
      bool is_followed = false;
      if (n->is_condition()) {
        for (int const which : chosen == nullptr ? SmallVector<int>{} : *chosen) {
          if (which < 0 || static_cast<std::size_t>(which) >= n->successors.size()) continue;
          node& to = *n->successors[static_cast<std::size_t>(which)];
          to.missing.store(0, std::memory_order_relaxed);  // relaxed: the condition decides
          follow(is_followed, *above, next, to);
        }
      } else {
        for (node* to : n->successors) {
          // acq_rel: what the other predecessors have done
          if (to->missing.fetch_sub(1, std::memory_order_acq_rel) == 1) follow(is_followed, *above, next, *to);
        }
      }
      if (is_followed) return next;
    }
    if (above == nullptr) {
      pending_.remove();
      return next;
    }
    if (!child_ends(*above)) return next;
    if (above->what == detail::role::run) {
      end_pass(static_cast<Topology&>(*above));
      return next;
    }
    n = static_cast<node*>(above);
  }
}

/// A successor may begin. The first one takes the ended task's place among the open ones of `above`: a chain counts
/// nothing. It stays in `next` until another one is counted. Sets `is_followed` if the place is taken.
inline void Executor::follow([[maybe_unused]] bool& is_followed, parent& above, node*& next, node& to) {
#if defined(TF_ENABLE_TASK_PRIORITY)
  above.open.fetch_add(1, std::memory_order_relaxed);  // relaxed: the task that has ended is open, too
#else
  if (is_followed) above.open.fetch_add(1, std::memory_order_relaxed);  // relaxed: `next` is open, and has not begun
  is_followed = true;
#endif
  offer(next, to);
}

/// One ready task follows on this worker, the others are posted.
inline void Executor::offer([[maybe_unused]] node*& next, node& n) {
#if defined(TF_ENABLE_TASK_PRIORITY)
  schedule(n);  // the most urgent of all goes first
#else
  if (next != nullptr) schedule(*next);
  next = &n;
#endif
}

inline bool Executor::acquire_all(node& n) {
  auto& wanted = n.more->acquires;
  for (std::size_t i = 0; i != wanted.size(); ++i) {
    if (wanted[i]->acquire_or_wait(n)) continue;
    // `n` may run already: this code reads only its list of semaphores, which stays.
    for (; i != 0; --i) {
      if (node* const notified = wanted[i - 1]->release()) schedule(*notified);
    }
    return false;
  }
  return true;
}

inline void Executor::release_all(node& n) {
  try {
    for (Semaphore* s : n.more->releases) {
      if (node* const notified = s->release()) schedule(*notified);
    }
  } catch (...) {
    keep(n, std::current_exception());
  }
}

/// An exception goes to the first above that waits for some; else to the first runtime or group.
inline void Executor::keep(node& n, std::exception_ptr e) noexcept {
  parent* at = &n;
  parent* runtime = nullptr;
  for (; at != nullptr; at = at->above) {
    unsigned const flags = at->flags.load(std::memory_order_relaxed);  // relaxed: set by those that wait for this task
    if ((flags & parent::anchor) != 0) break;
    at->flags.fetch_or(parent::failed, std::memory_order_relaxed);  // relaxed: advice
    if (runtime == nullptr && (flags & parent::runtime) != 0) runtime = at;
  }
  parent* const holder = at != nullptr ? at : runtime;
  if (holder == nullptr || !keep_in(*holder, e)) n.exception = std::move(e);
}

inline bool Executor::keep_in(parent& holder, std::exception_ptr& e) noexcept {
  // relaxed: the exception is read when all children have ended
  if ((holder.flags.fetch_or(parent::failed | parent::kept, std::memory_order_relaxed) & parent::kept) != 0)
    return false;
  holder.exception = std::move(e);
  return true;
}

inline void Executor::observe(node const& n, bool begins) {
  WorkerView const worker{*this_worker()};
  for (auto const& o : observers_) begins ? o->on_entry(worker, TaskView{n}) : o->on_exit(worker, TaskView{n});
}

// --- runs ---

inline Future<void> Executor::start(Taskflow& flow, std::unique_ptr<Taskflow> owned, std::function<bool()> done,
                                    std::function<void()> callback) {
  if (flow.empty() || done()) {
    callback();
    std::promise<void> ended;
    ended.set_value();
    return Future<void>{ended.get_future()};
  }
  auto run = std::make_shared<Topology>(flow, std::move(done), std::move(callback));
  run->owned = std::move(owned);
  Future<void> future{run->promise.get_future(), run};
  pending_.add();
  Topology& now = *run;
  if (flow.enter(std::move(run))) begin(now);
  return future;
}

/// The tasks are posted by a task: then they are in a worker's own queue.
inline void Executor::begin(Topology& run) {
  pool_.post([this, &run] {
    run.open.store(1, std::memory_order_relaxed);  // relaxed: no task of it runs
    launch(run.of->graph(), run, &run);
    if (run.open.fetch_sub(1, std::memory_order_acq_rel) == 1) end_pass(run);  // acq_rel: what the tasks have done
  });
}

inline void Executor::end_pass(Topology& run) {
  try {
    if (!run.stopped() && !run.is_done()) return begin(run);
    run.finish();
  } catch (...) {
    run.exception = std::current_exception();
  }
  std::unique_ptr<Taskflow> owned = std::move(run.owned);
  auto [ended, following] = run.of->leave();
  std::exception_ptr const e = std::exchange(ended->exception, nullptr);
  e ? ended->promise.set_exception(e) : ended->promise.set_value();
  if (following != nullptr) begin(*following);
  ended.reset();  // with what the program has captured, before wait_for_all() returns
  owned.reset();
  pending_.remove();
}

}  // namespace tf
