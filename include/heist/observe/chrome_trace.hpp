// Writes a recording as Chrome trace events (JSON), which https://ui.perfetto.dev and chrome://tracing show.
#pragma once

#include <fmt/format.h>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // int64_t
#include <cstring>  // strerror
#include <fstream>  // ofstream
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>  // move
#include <vector>

#include "heist/base/errors.hpp"
#include "heist/base/json.hpp"
#include "heist/observe/observer.hpp"
#include "heist/observe/recorder.hpp"

namespace heist {

/// Writes a JSON array with a row for every worker: a slice for each stretch of time that a task spends on a worker
/// (one that parks ends its slice and starts another where it goes on), slices for sleep, and marks for steals.
///
/// Times are microseconds since the recording started. Tasks without a name bear their kind. What is still open ends
/// with the recording. Cost: O(events), and memory for the parked tasks.
///
/// `Recording`: recorder, or what has the same members for readers (worker_count to event_at), as sim::recording.
template <class Recording>
void write_chrome_trace(std::ostream& out, Recording const& recording);

/// The same to a file; throws heist::error, which names it, if it cannot be written.
template <class Recording>
void write_chrome_trace(std::string const& path, Recording const& recording);

namespace detail {

/// Replays a recording in the order of time and writes slices as they end.
template <class Recording>
class trace_writer {
 public:
  trace_writer(std::ostream& out, Recording const& recording)
      : out_(out), recording_(recording), workers_(recording.worker_count()) {}

  void write() {
    out_ << "[";
    put(R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"heist"}})");
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      workers_[w].end = recording_.event_count(w);
      put(fmt::format(R"({{"ph":"M","name":"thread_name","pid":1,"tid":{0},"args":{{"name":"worker {0}"}}}})", w));
      put(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":1,"tid":{0},"args":{{"sort_index":{0}}}}})", w));
    }
    last_ns_ = recording_.start_ns();
    for (auto w = earliest(); w != nobody; w = earliest()) replay(w, recording_.event_at(w, workers_[w].next++));
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      end_slices(w, last_ns_, false);
      if (workers_[w].asleep_since >= 0) sleep_slice(w, last_ns_);
      if (auto const n = recording_.dropped(w); n > 0)
        put(fmt::format(
            R"({{"ph":"i","s":"t","name":"events dropped","pid":1,"tid":{},"ts":{},"args":{{"count":{}}}}})", w,
            microseconds(last_ns_), n));
    }
    out_ << "\n]\n";
  }

 private:
  static constexpr std::size_t nobody = ~std::size_t{0};

  /// A task that has begun and not ended.
  struct open_task {
    void const* id;
    char const* name;
    task_kind kind;
    std::int64_t since;  ///< beginning of its slice on this worker
  };
  using task_stack = std::vector<open_task>;  ///< outermost first

  struct row {
    std::size_t next = 0;  ///< event to replay
    std::size_t end = 0;
    task_stack tasks;
    std::int64_t asleep_since = -1;
  };

  /// The worker with the earliest event. At equal times resume comes last, so that it finds what was parked.
  std::size_t earliest() const {
    std::size_t best = nobody;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (workers_[w].next == workers_[w].end) continue;
      auto const& e = recording_.event_at(w, workers_[w].next);
      if (best == nobody) {
        best = w;
        continue;
      }
      auto const& b = recording_.event_at(best, workers_[best].next);
      if (e.ns < b.ns || (e.ns == b.ns && b.what == event_kind::resume && e.what != event_kind::resume)) best = w;
    }
    return best;
  }

  void replay(std::size_t w, event const& e) {
    auto& worker = workers_[w];
    last_ns_ = e.ns > last_ns_ ? e.ns : last_ns_;
    switch (e.what) {
      case event_kind::task_begin:
        worker.tasks.push_back({e.id, e.name, e.kind, e.ns});
        break;
      case event_kind::task_end:
        end_task(w, e);
        break;
      case event_kind::steal:
        put(fmt::format(
            R"({{"ph":"i","s":"t","name":"steal","cat":"steal","pid":1,"tid":{},"ts":{},"args":{{"victim":{}}}}})", w,
            microseconds(e.ns), e.victim));
        break;
      case event_kind::sleep:
        worker.asleep_since = e.ns;
        break;
      case event_kind::wake:
        if (worker.asleep_since >= 0) sleep_slice(w, e.ns);
        break;
      case event_kind::park:
        end_slices(w, e.ns, true);
        parked_[e.id] = std::move(worker.tasks);
        worker.tasks.clear();
        break;
      case event_kind::resume:
        resume(w, e);
        break;
    }
  }

  /// Events may be missing: an end without a beginning is nothing, and what was begun inside ends too.
  void end_task(std::size_t w, event const& e) {
    auto& tasks = workers_[w].tasks;
    std::size_t depth = tasks.size();
    while (depth > 0 && tasks[depth - 1].id != e.id) --depth;
    if (depth == 0) return;
    for (; tasks.size() >= depth; tasks.pop_back()) slice(w, tasks.back(), e.ns, false);
  }

  void resume(std::size_t w, event const& e) {
    end_slices(w, e.ns, false);
    workers_[w].tasks.clear();
    auto const found = parked_.find(e.id);
    if (found == parked_.end()) return;
    workers_[w].tasks = std::move(found->second);
    parked_.erase(found);
    for (auto& task : workers_[w].tasks) task.since = e.ns;
  }

  void end_slices(std::size_t w, std::int64_t now, bool parks) {
    auto const& tasks = workers_[w].tasks;
    for (std::size_t i = tasks.size(); i > 0; --i) slice(w, tasks[i - 1], now, parks);
  }

  void slice(std::size_t w, open_task const& task, std::int64_t now, bool parks) {
    put(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{"id":"{}"{}}}}})",
                    json::quote(task.name != nullptr ? task.name : to_string(task.kind)), to_string(task.kind), w,
                    microseconds(task.since), duration(task.since, now), fmt::ptr(task.id),
                    parks ? R"(,"parks":true)" : ""));
  }

  void sleep_slice(std::size_t w, std::int64_t now) {
    auto& since = workers_[w].asleep_since;
    put(fmt::format(R"({{"ph":"X","name":"sleep","cat":"sleep","pid":1,"tid":{},"ts":{},"dur":{}}})", w,
                    microseconds(since), duration(since, now)));
    since = -1;
  }

  void put(std::string const& line) {
    out_ << (first_ ? "\n" : ",\n") << line;
    first_ = false;
  }

  /// With the nanoseconds as decimals, exactly: doubles would make slices overlap.
  static std::string decimal(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }
  static std::string duration(std::int64_t from, std::int64_t to) { return decimal(to > from ? to - from : 0); }
  std::string microseconds(std::int64_t ns) const { return duration(recording_.start_ns(), ns); }

  std::ostream& out_;
  Recording const& recording_;
  std::vector<row> workers_;
  std::unordered_map<void const*, task_stack> parked_;
  std::int64_t last_ns_ = 0;
  bool first_ = true;
};

}  // namespace detail

template <class Recording>
void write_chrome_trace(std::ostream& out, Recording const& recording) {
  detail::trace_writer(out, recording).write();
}

template <class Recording>
void write_chrome_trace(std::string const& path, Recording const& recording) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (file) {
    write_chrome_trace(file, recording);
    file.close();
  }
  if (!file)
    throw error(fmt::format("cannot write the trace {}: {}; name a file in a directory that exists and has room", path,
                            errno != 0 ? std::strerror(errno) : "output error"));
}

}  // namespace heist
