// A recording, replayed in the order of time: what its readers (traces, reports) have in common.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <unordered_map>
#include <utility>  // move
#include <vector>

#include "heist/core/observe/observer.hpp"
#include "heist/tools/observe/recorder.hpp"

namespace heist::detail {

/// A task that has begun and not ended.
struct open_task {
  void const* id;
  char const* name;
  task_kind kind;
  std::size_t number;  ///< of all tasks that have begun, in the order of time
  std::int64_t since;  ///< beginning of its slice on this worker

  char const* label() const noexcept { return name != nullptr ? name : to_string(kind); }
};

/// A sink for timeline that cares for nothing; hide what you need.
struct timeline_sink {
  void begins(std::size_t /*worker*/, open_task const& /*task*/) {}
  void ends(std::size_t /*worker*/, open_task const& /*task*/, std::int64_t /*ns*/) {}
  /// The inner run of a module has ended.
  void module_ends(recorded_event const& /*event*/) {}
  /// A stretch of time that a task has spent on a worker, from task.since on. `waits_for`: the task parks then; the
  /// text names its reason ("": not known). Null: it ends. `depth`: how many tasks enclose it.
  void slice(std::size_t /*worker*/, open_task const& /*task*/, std::int64_t /*until*/, char const* /*waits_for*/,
             std::size_t /*depth*/) {}
  void nap(std::size_t /*worker*/, std::int64_t /*since*/, std::int64_t /*until*/) {}
  void steal(std::size_t /*thief*/, std::size_t /*victim*/, std::int64_t /*ns*/) {}
  /// A task that parked on `from` resumes; it has waited for `waits_for` ("": not known).
  void resumes(std::size_t /*from*/, std::int64_t /*parked*/, std::size_t /*on*/, std::int64_t /*ns*/,
               char const* /*waits_for*/) {}
};

/// Tells `Sink` what a recording holds. Tasks that are still open end with the recording. Cost: O(events x
/// log(workers)), and memory for the parked tasks.
template <class Recording, class Sink>
class timeline {
 public:
  timeline(Recording const& recording, Sink& sink)
      : recording_(recording), sink_(sink), workers_(recording.worker_count()) {}

  /// Returns the time of the last event, or when the recording started.
  std::int64_t replay() {
    last_ns_ = recording_.start_ns();
    for (std::size_t w = 0; w < workers_.size(); ++w) workers_[w].end = recording_.event_count(w);
    for (auto w = earliest(); w != none; w = earliest()) replay(w, recording_.event_at(w, workers_[w].next++));
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      end_slices(w, last_ns_);
      if (workers_[w].asleep_since >= 0) sink_.nap(w, workers_[w].asleep_since, last_ns_);
    }
    return last_ns_;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  using task_stack = std::vector<open_task>;  ///< outermost first

  struct row {
    std::size_t next = 0;  ///< event to replay
    std::size_t end = 0;
    task_stack tasks;
    std::int64_t asleep_since = -1;
  };
  struct parked_tasks {
    task_stack tasks;
    std::size_t worker;
    std::int64_t ns;
    char const* waits_for;
  };
  static char const* reason_of(recorded_event const& e) noexcept { return e.name == nullptr ? "" : e.name; }

  /// The worker with the earliest event. At equal times resume comes last, so that it finds the parked task.
  std::size_t earliest() const {
    std::size_t best = none;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (workers_[w].next == workers_[w].end) continue;
      auto const& e = recording_.event_at(w, workers_[w].next);
      if (best == none) {
        best = w;
        continue;
      }
      auto const& b = recording_.event_at(best, workers_[best].next);
      if (e.ns < b.ns || (e.ns == b.ns && b.what == event_kind::resume && e.what != event_kind::resume)) best = w;
    }
    return best;
  }

  void replay(std::size_t w, recorded_event const& e) {
    auto& worker = workers_[w];
    last_ns_ = e.ns > last_ns_ ? e.ns : last_ns_;
    switch (e.what) {
      case event_kind::task_begin:
        worker.tasks.push_back({e.id, e.name, e.kind, next_number_++, e.ns});
        sink_.begins(w, worker.tasks.back());
        break;
      case event_kind::task_end:
        end_task(w, e);
        break;
      case event_kind::module_end:
        sink_.module_ends(e);
        break;
      case event_kind::steal:
        sink_.steal(w, e.victim, e.ns);
        break;
      case event_kind::sleep:
        worker.asleep_since = e.ns;
        break;
      case event_kind::wake:
        if (worker.asleep_since >= 0) sink_.nap(w, worker.asleep_since, e.ns);
        worker.asleep_since = -1;
        break;
      case event_kind::park:
        end_slices(w, e.ns, reason_of(e));
        parked_[e.id] = {std::move(worker.tasks), w, e.ns, reason_of(e)};
        worker.tasks.clear();
        break;
      case event_kind::resume:
        resume(w, e);
        break;
    }
  }

  /// Events may be missing: an end without a beginning is ignored, and tasks begun inside end too.
  void end_task(std::size_t w, recorded_event const& e) {
    auto& tasks = workers_[w].tasks;
    std::size_t depth = tasks.size();
    while (depth > 0 && tasks[depth - 1].id != e.id) --depth;
    if (depth == 0) return;
    for (; tasks.size() >= depth; tasks.pop_back()) {
      sink_.slice(w, tasks.back(), e.ns, nullptr, tasks.size() - 1);
      sink_.ends(w, tasks.back(), e.ns);
    }
  }

  void resume(std::size_t w, recorded_event const& e) {
    end_slices(w, e.ns);
    workers_[w].tasks.clear();
    auto const found = parked_.find(e.id);
    if (found == parked_.end()) return;
    parked_tasks& parked = found->second;
    if (!parked.tasks.empty()) sink_.resumes(parked.worker, parked.ns, w, e.ns, parked.waits_for);
    workers_[w].tasks = std::move(parked.tasks);
    parked_.erase(found);
    for (auto& task : workers_[w].tasks) task.since = e.ns;
  }

  void end_slices(std::size_t w, std::int64_t now, char const* waits_for = nullptr) {
    auto const& tasks = workers_[w].tasks;
    for (std::size_t i = tasks.size(); i > 0; --i) sink_.slice(w, tasks[i - 1], now, waits_for, i - 1);
  }

  Recording const& recording_;
  Sink& sink_;
  std::vector<row> workers_;
  std::unordered_map<void const*, parked_tasks> parked_;
  std::size_t next_number_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace heist::detail
