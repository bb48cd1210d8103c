// The events of the workers in the order of simulated time.
#pragma once

#include <algorithm>  // pop_heap, push_heap
#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/duration.hpp"

namespace heist::sim {

/// Events in the order of time; of those at the same time, in the order in which they were added.
///
/// Cost  O(log n) for n events: one for each worker that is not asleep.
class event_queue {
 public:
  struct event {
    ticks time;
    std::uint64_t order;
    std::uint32_t id;
  };

  void add(ticks time, std::uint32_t id) {
    events_.push_back({time, next_++, id});
    std::push_heap(events_.begin(), events_.end(), later);
  }
  bool empty() const noexcept { return events_.empty(); }
  /// Would an event at `time`, added now, be the next one?
  bool would_be_next(ticks time) const noexcept { return events_.empty() || time < events_.front().time; }
  /// Needs one.
  event take();

 private:
  static bool later(event const& a, event const& b) noexcept {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
  std::vector<event> events_;
  std::uint64_t next_ = 0;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/event_queue.ipp"
#endif
