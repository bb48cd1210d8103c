// An observer that only counts, per worker: tasks, steals, sleeps, wakes, parks, resumes.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <memory>   // unique_ptr
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/observe/observer.hpp"

namespace heist {

/// The number of events of each kind.
struct event_counts {
  std::uint64_t tasks = 0;  ///< begun
  std::uint64_t steals = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t wakes = 0;
  std::uint64_t parks = 0;
  std::uint64_t resumes = 0;

  event_counts& operator+=(event_counts const& other) noexcept;
  friend bool operator==(event_counts const&, event_counts const&) = default;
};

/// Counts the events of an executor's workers.
///
/// Threads   each worker writes its own cache line. Reading is allowed at any time, but not while start() runs; numbers
///           of one moment need an idle executor.
/// Cost      an addition per event.
class counters {
 public:
  static constexpr bool observes = true;

  /// Starts again from zero.
  void start(std::size_t workers);
  void task_begin(std::size_t worker, task_view const& /*task*/) noexcept { add(lines_[worker].tasks); }
  void task_end(std::size_t /*worker*/, task_view const& /*task*/) noexcept {}
  void steal(std::size_t thief, std::size_t /*victim*/) noexcept { add(lines_[thief].robberies); }
  void sleep(std::size_t worker) noexcept { add(lines_[worker].naps); }
  void wake(std::size_t worker) noexcept { add(lines_[worker].alarms); }
  void park(std::size_t worker, void const* /*fiber*/) noexcept { add(lines_[worker].parkings); }
  void resume(std::size_t worker, void const* /*fiber*/) noexcept { add(lines_[worker].resumptions); }

  std::size_t worker_count() const noexcept { return workers_; }
  event_counts of(std::size_t worker) const noexcept;
  event_counts total() const noexcept;

  /// A table with a line per worker and one for their sum.
  std::string table() const;

 private:
  using counter = os_env::atomic<std::uint64_t>;

  /// Written by one worker, read by all threads.
  struct alignas(cache_line_size) line {
    counter tasks{0}, robberies{0}, naps{0}, alarms{0}, parkings{0}, resumptions{0};
  };

  static void add(counter& c) noexcept;
  static std::uint64_t read(counter const& c) noexcept;

  std::unique_ptr<line[]> lines_;
  std::size_t workers_ = 0;
};

static_assert(observer<counters>);

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/tools/observe/counters.ipp"
#endif
