// Notes on the steals of a run: the frames' places in the computation, and a log that each thief writes for itself.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/locality/policy/followed_tree.hpp"
#include "heist/locality/policy/steal_tree.hpp"
#include "heist/locality/replay/frame_record.hpp"

namespace heist::detail {

/// The steals of one run, and how long its workers were at work for it.
///
/// Threads  note() by any worker for itself; tree() when the run has ended. The end comes after all notes: a thief goes
///          on with the frame after noting it, and the run ends after the frame.
/// Cost     of a steal: the frames from the run's body to the stolen one, and a look at the clock.
class steal_log {
 public:
  /// Empty, for a run on so many workers. It keeps the memory that it has. Throws bad_alloc.
  void begin(std::size_t workers);
  std::size_t worker_count() const noexcept { return of_worker_.size(); }

  /// `now` continues with the frame of `parent`, which `before` has left after calling its child number `branch`:
  /// stolen; or, `after_join`, because all forked tasks of the frame have ended.
  static void note(frame_record const* parent, std::uint32_t branch, std::uint32_t now, std::uint32_t before,
                   bool after_join = false) noexcept;

  /// A worker begins to work for the run, and ends. The sum over all is the time at work.
  void begins(std::int64_t now = os_env::nanoseconds()) noexcept { add(-now); }
  void ends(std::int64_t now = os_env::nanoseconds()) noexcept { add(now); }
  std::int64_t nanoseconds_at_work() const noexcept;

  /// No memory for a part of it.
  bool incomplete() const noexcept;

  /// Of a run whose body `body` began. Throws bad_alloc; steal_tree_error if it is none.
  steal_tree tree(std::uint32_t body) const;
  /// Would its tree be the same?
  bool says_same(steal_log const& other) const noexcept;

 private:
  struct alignas(cache_line_size) own_log {
    /// Oldest first, of each: the victim; the length of its place, times two, plus one if it is after a join; the
    /// place.
    std::vector<std::uint32_t> words;
    bool incomplete = false;
  };
  void add(std::int64_t nanoseconds) noexcept;

  std::vector<own_log> of_worker_;
  os_env::atomic<std::int64_t> at_work_{0};
};

class replay_run;

/// The record of a frame that follows a steal tree, or may designate.
struct followed_record : frame_record {
  followed_record(frame_record* above, std::uint32_t position, replay_run* of, tree_part what) noexcept
      : frame_record{above, position, special}, run{of}, part{what} {}
  followed_record() noexcept : followed_record{nullptr, 0, nullptr, {}} {}

  replay_run* run;
  tree_part part;
};

/// The place of a run's body, by which its frames find the log.
struct recorded_run : followed_record {
  explicit recorded_run(steal_log& into) noexcept;

  /// The run that a frame belongs to; null if no run records.
  static recorded_run const* of(frame_record const* r) noexcept;

  static constexpr std::uint32_t mark = ~std::uint32_t{0};  ///< other frames without a parent have index 0
  steal_log* log;
};

HEIST_RARE void begin_of_work(frame_record const* parent) noexcept;
/// A worker's work for the run of `parent`'s child is over. Called before any other thread is notified.
HEIST_RARE void end_of_work(frame_record const* parent) noexcept;

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/replay/steal_log.ipp"
#endif
