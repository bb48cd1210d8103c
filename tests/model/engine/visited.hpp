// The states that the search has visited. When a thread goes on, the state that decides about the future is known. It
// consists of the threads' stacks, their allocations, the memory (image.hpp) and the scheduler's data. If an earlier
// execution had this state with no more pre-emptions used, then the rest was tried, and the execution is given up. If
// the same execution had this state before, that execution may go on for ever.
//
// So all state that the code under test changes must be in that picture: allocated while an execution runs, or named to
// the suite (merge_with). Statics of a harness are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "malloc_allocator.hpp"

namespace model {

/// A set of moments, as numbers, each with the least number of pre-emptions with which it was entered. It may forget
/// some: then the search does more than it must.
class visited_moments {
 public:
  enum class before { never, remote, in_this_execution };

  void clear() noexcept {
    path_.clear();
    slots_ = table(first_size);
    entered_ = used_ = 0;
  }

  /// Was the moment entered before, with at most that many pre-emptions? If not, it is from now on.
  before enter(std::uint64_t moment, int preemptions, std::size_t decisions) noexcept {
    if (used_ * 2 > slots_.size() && slots_.size() < last_size) grow();
    slot& s = find(moment);
    if (s.known && s.moment == moment && s.preemptions <= preemptions) {
      if (s.preemptions == preemptions) {
        for (step const& p : path_) {
          if (p.moment == moment) return before::in_this_execution;
        }
      }
      return before::remote;
    }
    if (!s.known) ++used_;
    ++entered_;
    s = {moment, preemptions, true};
    path_.push_back({moment, decisions});
    return before::never;
  }

  /// The search goes back to where `decisions` were taken, the last of them another one now.
  void leave(std::size_t decisions) noexcept {
    while (!path_.empty() && path_.back().decisions >= decisions) path_.pop_back();
  }

  /// How often it was not entered before.
  std::uint64_t entered() const noexcept { return entered_; }

 private:
  struct slot {
    std::uint64_t moment = 0;
    int preemptions = 0;
    bool known = false;
  };
  struct step {
    std::uint64_t moment;
    std::size_t decisions;
  };
  using table = std::vector<slot, malloc_allocator<slot>>;

  static constexpr std::size_t first_size = std::size_t{1} << 12;
  static constexpr std::size_t last_size = std::size_t{1} << 23;
  static constexpr std::size_t reach = 8;

  /// Where the moment is, or is to be: in the last resort where another one was.
  slot& find(std::uint64_t moment) noexcept {
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t i = 0; i < reach; ++i) {
      slot& s = slots_[(moment + i) & mask];
      if (!s.known || s.moment == moment) return s;
    }
    return slots_[(moment + (moment >> 61)) & mask];
  }

  void grow() noexcept {
    table const old = std::exchange(slots_, table(slots_.size() * 4));
    used_ = 0;
    for (slot const& s : old) {
      if (!s.known) continue;
      slot& to = find(s.moment);
      if (!to.known) ++used_;
      to = s;
    }
  }

  table slots_;
  std::vector<step, malloc_allocator<step>> path_;  // the steps of the running execution
  std::size_t used_ = 0;
  std::uint64_t entered_ = 0;
};

inline visited_moments visited;

}  // namespace model
