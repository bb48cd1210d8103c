// Writes a recording as Chrome trace events (JSON), which https://ui.perfetto.dev and chrome://tracing show.
#pragma once

#include <fmt/core.h>

#include <algorithm>  // sort
#include <cerrno>     // errno
#include <cstddef>    // size_t
#include <cstdint>    // int64_t
#include <cstring>    // strerror
#include <fstream>    // ofstream
#include <ostream>
#include <string>
#include <utility>  // pair
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/core/base/json.hpp"
#include "heist/core/observe/observer.hpp"
#include "heist/tools/observe/recorder.hpp"
#include "heist/tools/observe/task_edges.hpp"
#include "heist/tools/observe/timeline.hpp"

namespace heist {

/// Writes a JSON array with a row for every worker. A row has a slice for each stretch of time that a task spends on
/// the worker, slices for sleep, and marks for steals. A task that parks ends its slice, which says the reason of the
/// wait. It starts another slice where it resumes. A counter shows how many workers are awake. Arrows lead from the
/// victim to its thief's next work, and from the point where a task has parked to the point where it resumes. Arrows
/// also lead from each task of a graph to its successors, by `edges`, or else by the edges that the recording knows.
/// Above the workers there is a box for each run of a composed graph.
///
/// Times are microseconds since the recording started. A task without a name has its kind as the name. Slices that
/// are still open end with the recording. Cost: O(events), and memory for the parked tasks.
///
/// `Recording`: recorder, or a type with the same members for readers (worker_count to event_at), such as
/// sim::recording.
template <class Recording>
void write_chrome_trace(std::ostream& out, Recording const& recording, task_edges const* edges = nullptr);

/// The same to a file. Throws heist::error with the file's name if it cannot be written.
template <class Recording>
void write_chrome_trace(std::string const& path, Recording const& recording, task_edges const* edges = nullptr);

namespace detail {

/// Replays a recording in the order of time and writes slices as they end.
template <class Recording>
class trace_writer : public timeline_sink {
 public:
  trace_writer(std::ostream& out, Recording const& recording, task_edges const* edges)
      : out_(out), recording_(recording), edges_(edges), awake_(recording.worker_count()) {}

  void write() {
    out_ << "[";
    put(R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"heist"}})");
    for (std::size_t w = 0; w < recording_.worker_count(); ++w) {
      put(fmt::format(R"({{"ph":"M","name":"thread_name","pid":1,"tid":{0},"args":{{"name":"worker {0}"}}}})", w));
      put(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":1,"tid":{0},"args":{{"sort_index":{0}}}}})", w));
    }
    std::int64_t const last_ns = timeline<Recording, trace_writer>{recording_, *this}.replay();
    count_awake();
    for (std::size_t w = 0; w < recording_.worker_count(); ++w) {
      if (auto const n = recording_.released(w); n > 0)
        put(fmt::format(
            R"({{"ph":"i","s":"t","name":"events dropped","pid":1,"tid":{},"ts":{},"args":{{"count":{}}}}})", w,
            microseconds(last_ns), n));
    }
    if (edges_.released() != 0)
      put(fmt::format(
          R"({{"ph":"i","s":"g","name":"tasks and edges of graphs dropped","pid":1,"tid":0,"ts":{},"args":{{"count":{}}}}})",
          microseconds(last_ns), edges_.released()));
    out_ << "\n]\n";
  }

  // Reports of the timeline.
  void begins(std::size_t w, open_task const& task) {
    edges_.begins(task.id, {task.number, w, task.since}, *this);
    if (task.kind == task_kind::module) module_box('b', task.id, task.label(), task.since);
  }
  void module_ends(recorded_event const& e) {
    module_box('e', e.id, e.name != nullptr ? e.name : to_string(task_kind::module), e.ns);
  }
  void ends(std::size_t w, open_task const& task, std::int64_t ns) {
    edges_.ends(task.id, {task.number, w, ns > task.since ? ns - 1 : ns}, *this);
  }
  void edge(edge_end const& before, edge_end const& after) {
    arrow("edge", before.worker, before.ns, after.worker, after.ns);
  }
  void slice(std::size_t w, open_task const& task, std::int64_t until, char const* waits_for, std::size_t /*depth*/) {
    std::string const wait = waits_for == nullptr ? std::string{}
                             : *waits_for == 0    ? std::string{R"(,"parks":true)"}
                                                  : R"(,"parks":true,"waits_for":)" + json::quote(waits_for);
    put(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{"id":"{}"{}}}}})",
                    json::quote(task.label()), to_string(task.kind), w, microseconds(task.since),
                    duration(task.since, until), task.id, wait));
  }
  void nap(std::size_t w, std::int64_t since, std::int64_t until) {
    put(fmt::format(R"({{"ph":"X","name":"sleep","cat":"sleep","pid":1,"tid":{},"ts":{},"dur":{}}})", w,
                    microseconds(since), duration(since, until)));
    sleep_changes_.emplace_back(since, -1);
    sleep_changes_.emplace_back(until, 1);
  }
  void steal(std::size_t thief, std::size_t victim, std::int64_t ns) {
    put(fmt::format(
        R"({{"ph":"i","s":"t","name":"steal","cat":"steal","pid":1,"tid":{},"ts":{},"args":{{"victim":{}}}}})", thief,
        microseconds(ns), victim));
    arrow("steal", victim, ns, thief, ns);
  }
  void resumes(std::size_t from, std::int64_t parked, std::size_t on, std::int64_t ns, char const* /*waits_for*/) {
    arrow("resume", from, parked - 1, on, ns);
  }

 private:
  /// Begin or end of what stands for a composed graph: from its task's begin to the end of its run.
  void module_box(char phase, void const* id, char const* name, std::int64_t ns) {
    put(fmt::format(R"({{"ph":"{}","name":{},"cat":"module","id":"{}","pid":1,"tid":0,"ts":{}}})", phase,
                    json::quote(name), id, microseconds(ns)));
  }

  /// From the slice on `from` at that time to the one on `to` that begins next.
  void arrow(char const* kind, std::size_t from, std::int64_t left, std::size_t to, std::int64_t arrives) {
    ++arrows_;
    put(fmt::format(R"({{"ph":"s","name":"{0}","cat":"{0}","id":{1},"pid":1,"tid":{2},"ts":{3}}})", kind, arrows_, from,
                    microseconds(left)));
    put(fmt::format(R"({{"ph":"f","name":"{0}","cat":"{0}","id":{1},"pid":1,"tid":{2},"ts":{3}}})", kind, arrows_, to,
                    microseconds(arrives)));
  }

  void count_awake() {
    std::sort(sleep_changes_.begin(), sleep_changes_.end());
    std::size_t awake = awake_;
    count_awake(recording_.start_ns(), awake);
    for (auto const& [ns, change] : sleep_changes_) {
      awake = change < 0 ? awake - 1 : awake + 1;
      count_awake(ns, awake);
    }
  }
  void count_awake(std::int64_t ns, std::size_t awake) {
    put(fmt::format(R"({{"ph":"C","name":"workers awake","pid":1,"tid":0,"ts":{},"args":{{"awake":{}}}}})",
                    microseconds(ns), awake));
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
  followed_edges edges_;
  std::size_t awake_;  ///< at first
  std::vector<std::pair<std::int64_t, int>> sleep_changes_;
  std::size_t arrows_ = 0;
  bool first_ = true;
};

}  // namespace detail

template <class Recording>
void write_chrome_trace(std::ostream& out, Recording const& recording, task_edges const* edges) {
  detail::trace_writer<Recording>(out, recording, detail::edges_of(recording, edges)).write();
}

template <class Recording>
void write_chrome_trace(std::string const& path, Recording const& recording, task_edges const* edges) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (file) {
    write_chrome_trace(file, recording, edges);
    file.close();
  }
  if (!file)
    throw error(fmt::format("cannot write the trace {}: {}; name a file in a directory that exists and has room", path,
                            errno != 0 ? std::strerror(errno) : "output error"));
}

}  // namespace heist
