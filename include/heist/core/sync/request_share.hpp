// How a worker divides its time between its own work and requests from outside, as long as there are both.
#pragma once

#include <cstdint>

namespace heist::detail {

/// Requests have a row of some, or of as many as fit into the time that the worker's own work has had before; then that
/// has its turn, as long as the row took, within bounds, or for some tasks; and so on.
///
/// Threads  of its worker. Times are in ticks, some nanosecond or less each (Env::ticks()).
class request_share {
 public:
  /// While tasks are short, most of them end without a look at the clock, which may cost as much as they do.
  bool passes() noexcept {
    if (passes_ == 0) return false;
    --passes_;
    ++own_tasks_;
    return true;
  }
  /// After a task that did not pass.
  void update(std::uint64_t now) noexcept {
    passes_ = now - last_update_ < most_in_row * short_one ? most_in_row - 1 : 0;
    last_update_ = now;
  }
  /// The attention is down: if it is raised, that is to be seen after the next task, however short those before were.
  void nothing_waits(std::uint64_t now) noexcept {
    passes_ = 0;
    urgent_ = false;
    own_turn(now);
  }
  /// May the next request come before the worker's own work?
  bool is_due(std::uint64_t now) const noexcept {
    if (urgent_ && now - urgent_since_ < longest_urgent) return false;
    if (in_row_ == 0) return now - own_since_ >= own_ || own_tasks_ >= enough_tasks;
    return now - row_start_time_ < (in_row_ < most_in_row ? max_ticks : more_);
  }
  /// Is it time to tell that the tasks before have ended? At least once in a row.
  bool is_long(std::uint64_t now) const noexcept {
    return in_row_ % most_in_row == 0 || now - row_start_time_ >= max_ticks;
  }
  /// So many may be taken at once: more than one while they are as short as taking them. Fewer than enough_tasks, so
  /// that they have run before the next are due.
  std::uint32_t at_once(std::uint64_t now) const noexcept {
    return now - taken_at_ < taken_ * short_one ? most_in_row : 1;
  }
  /// Up to `n` have been taken.
  void taken(std::uint64_t now, std::uint32_t n) noexcept {
    if (in_row_ == 0) {
      std::uint64_t const own_time = now - own_since_;
      more_ = own_time < min_ticks ? 0 : own_time < max_ticks ? own_time - min_ticks : max_ticks;
      row_start_time_ = now;
    }
    in_row_ += n;
    taken_at_ = now;
    taken_ = n;
  }
  /// An urgent run begins here. Until it has ended, or for some time, its tasks come before requests that are not urgent.
  void urgent_begins(std::uint64_t now) noexcept {
    if (!urgent_) urgent_since_ = now;
    urgent_ = true;
  }
  /// It has ended, or another request was taken.
  void urgent_ends() noexcept { urgent_ = false; }
  /// The last that came did not come alone, or did.
  void burst(bool is) noexcept { burst_ = is; }
  bool is_burst() const noexcept { return burst_; }
  bool has_just_taken(std::uint64_t now) const noexcept { return now - taken_at_ < 4 * short_one; }
  std::uint32_t just_taken(std::uint64_t now) const noexcept { return now - taken_at_ < max_ticks ? taken_ : 0; }
  /// A task of the worker's own has ended, while requests wait.
  void own_task() noexcept { ++own_tasks_; }
  /// The row is over, by its length or because the requests have run out: the worker's own work has its turn.
  void own_turn(std::uint64_t now) noexcept {
    if (in_row_ == 0) return;
    std::uint64_t const length = now - row_start_time_;
    own_ = length < min_ticks ? min_ticks : length < max_ticks ? length : max_ticks;
    own_since_ = now;
    own_tasks_ = 0;
    in_row_ = 0;
  }

 private:
  static constexpr std::uint32_t most_in_row = 16;
  static constexpr std::uint32_t enough_tasks = 64;
  static constexpr std::uint64_t min_ticks = std::uint64_t{1} << 17;       // some 50 us
  static constexpr std::uint64_t max_ticks = std::uint64_t{1} << 21;       // some 800 us
  static constexpr std::uint64_t longest_urgent = std::uint64_t{1} << 26;  // some 25 ms
  static constexpr std::uint64_t short_one = std::uint64_t{1} << 11;       // some 800 ns

  std::uint32_t in_row_ = 0;
  std::uint32_t own_tasks_ = 0;
  std::uint64_t row_start_time_ = 0;
  std::uint64_t taken_at_ = 0;
  std::uint64_t last_update_ = 0;
  std::uint32_t taken_ = 0;
  bool burst_ = false;
  bool urgent_ = false;
  std::uint64_t urgent_since_ = 0;
  std::uint32_t passes_ = 0;
  std::uint64_t more_ = 0;  ///< how long a row may last that has had most_in_row
  std::uint64_t own_since_ = 0;
  std::uint64_t own_ = 0;  ///< how long the worker's own work has its turn, from own_since_ on
};

}  // namespace heist::detail
