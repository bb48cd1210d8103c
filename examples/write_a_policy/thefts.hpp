// Counts what the thieves of an executor do.
#pragma once

#include <heist/observe.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Each worker counts on its own cache line. sum() is exact while no task runs and no worker searches. Otherwise it may
/// miss the latest attempts.
class thefts : public heist::null_observer {
 public:
  static constexpr bool observes = true;
  struct counts {
    std::uint64_t attempts = 0, steals = 0;
  };

  void start(std::size_t workers) { lines_ = std::vector<line>(workers); }
  void attempt(std::size_t worker) noexcept { add(lines_[worker].attempts); }
  void steal(std::size_t thief, std::size_t) noexcept { add(lines_[thief].steals); }
  void search_begin(std::size_t, std::uint32_t) noexcept {}
  void success(std::size_t) noexcept {}
  void work_begin(std::size_t, std::uint32_t) noexcept {}

  counts sum() const noexcept {
    counts all;
    for (line const& l : lines_) {
      all.attempts += l.attempts.load(std::memory_order_relaxed);  // relaxed: statistics
      all.steals += l.steals.load(std::memory_order_relaxed);      // relaxed: as above
    }
    return all;
  }

 private:
  using count = std::atomic<std::uint64_t>;
  struct alignas(64) line {
    count attempts{0}, steals{0};
  };
  static void add(count& n) noexcept {
    n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: one writer
  }

  std::vector<line> lines_;
};
