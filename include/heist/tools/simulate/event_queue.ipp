// Bodies of event_queue.hpp.
#pragma once

#include "heist/tools/simulate/event_queue.hpp"

namespace heist::sim {

HEIST_BODY event_queue::event event_queue::take() {
  std::pop_heap(events_.begin(), events_.end(), later);
  event const e = events_.back();
  events_.pop_back();
  return e;
}

}  // namespace heist::sim
