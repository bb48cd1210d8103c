// A graph's memory of its last runs, which users can read, keep and draw.
#pragma once

#include <chrono>
#include <cstddef>  // size_t
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>  // pair
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/graph/access.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/locality/history/known_task.hpp"
#include "heist/locality/policy/replay_mode.hpp"

namespace heist {

/// For each task of a graph: its worker, its times and the bytes that it touches, in the last run in which the task ran
/// under a policy with memory. A copy: it stays as it is when the graph runs again.
///
/// Threads  as a value.
class graph_memory {
 public:
  static constexpr std::uint32_t no_place = detail::task_past::no_place;

  /// Of no graph.
  graph_memory() = default;

  /// How many tasks it knows; 0 if the graph had not run under a policy with memory.
  std::size_t tasks() const noexcept { return all_.size(); }
  /// The workers of the executor of the last run. More if a task that did not run then is known to belong to a worker
  /// with a higher number.
  std::size_t workers() const noexcept { return workers_; }

  // Of a task of the graph that it is of, or of one that was built in the same way. Throw graph_error for other tasks.

  /// The worker that began the task, and the task's place among the tasks that this worker began, from 0; nowhere: the
  /// task has not run.
  template <class Task>
  std::uint32_t worker(Task const& t) const {
    return of(t).worker;
  }
  template <class Task>
  std::uint32_t place(Task const& t) const {
    return of(t).place;
  }
  /// The squad that had it under policy::cab or policy::cats; nowhere: it has had none.
  template <class Task>
  std::uint32_t squad(Task const& t) const {
    return of(t).squad;
  }
  /// From its beginning to its end, waits included, and when it began, since the graph's pass did.
  template <class Task>
  std::chrono::nanoseconds time(Task const& t) const {
    return std::chrono::nanoseconds{of(t).end - of(t).begin};
  }
  template <class Task>
  std::chrono::nanoseconds add_work(Task const& t) const {
    return std::chrono::nanoseconds{of(t).begin};
  }
  /// Bytes that the task touches, as declared by task::footprint(). Otherwise the cache misses of its first run under
  /// policy::cats count them, or the values that it took and left (value_bytes). 0: unknown.
  template <class Task>
  std::uint64_t footprint(Task const& t) const {
    return of(t).bytes;
  }

  /// The same run as if one worker had done it: each task where it ended. Followed strictly in order it is one order of
  /// all tasks, for a debugger; two workers' lists say nothing of what ran beside what.
  graph_memory on_one_worker() const;

  /// A text to be kept, one line for each task.
  std::string to_json() const;
  /// Reads the text of to_json(). Throws graph_error for a text that is cut, of another version, or contradicts itself.
  static graph_memory from_json(std::string_view text);

  /// A picture: a row for each worker, tasks by name. Tasks that another worker had made ready (steals) have a bar on
  /// the left. Tasks that waited while their worker ran other tasks are below these. Cost: linear, some 150 bytes a
  /// task.
  void write_svg(std::ostream& out) const;

  friend bool operator==(graph_memory const&, graph_memory const&) = default;

 private:
  friend struct detail::graph_memory_access;
  static graph_memory of(detail::graph_data const& g);
  /// `only_on`: the serial number of the executor that follows it; 0: all.
  void be_followed(detail::graph_data& g, replay_mode mode, std::uint64_t only_on = 0) const;

  template <class Task>
  detail::task_past const& of(Task const& t) const {
    return at(t.valid() ? detail::task_access::graph_of(t) : nullptr, detail::task_access::index_of(t));
  }
  detail::task_past const& at(detail::graph_data const* g, std::uint32_t index) const;

  std::vector<detail::task_past> all_;  ///< in the order of creation
  std::uint64_t shape_ = 0;             ///< detail::shape_of the graph
  std::uint32_t workers_ = 0;
  std::vector<std::pair<std::uint32_t, std::string>> names_;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/locality/history/graph_memory.ipp"
#include "heist/locality/history/memory_svg.ipp"
#endif
