// How a join waits for which there is no stack to go on with (README.md, "Parking"). Bodies of fiber.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>

#include "heist/sched/core.hpp"

namespace heist::detail {

/// No memory for a stack, at a join that cannot be refused: runs what is there on top of the waiting frame until the
/// wait is over, as long as much of the stack is left, and naps when there is nothing. True if it has parked after all.
HEIST_COLD_BODY bool fiber::wait_on_top(completion& c) {
  interrupted_by const none{*this, nullptr};
  beside_its_task const unknown{*this};
  for (std::uint32_t in_vain = 0; !c.done();) {
    runnable* t = take_on_top();
    if (t == nullptr) {
      home.settle(*on);
      os_env::nap(in_vain++);
      continue;
    }
    in_vain = 0;
    if (t->run == &resume) {  // there is a fiber to go on with, after all
      park(c, *static_cast<resumption&>(*t).self);
      return true;
    }
    while (t != nullptr && t->run != &resume) t = t->run(*t, *this);
    if (t != nullptr) home.make_runnable(static_cast<resumption&>(*t));
  }
  return false;
}

/// Something for wait_on_top(): anything, but only fibers when little of the stack is left.
HEIST_COLD_BODY runnable* fiber::take_on_top() {
  if (flow_.memory().left_below(__builtin_frame_address(0)) < flow_.memory().usable() / 2) {
    if (runnable* const own = home.take_own(*on); own != nullptr) return own;
    for (auto const& robbed : home.workers) {
      for (std::size_t n = robbed->deque.size_snapshot(); n != 0; --n) {
        runnable* const t = robbed->deque.steal().item;
        if (t == nullptr) break;
        if (t->run == &resume) return t;
        home.push(*on, *t);  // where others find it
      }
    }
    return nullptr;
  }
  if (runnable* const t = on->deque.pop(); t != nullptr) return t;
  if (runnable* const t = home.take_submitted(*on); t != nullptr) return t;
  for (auto const& robbed : home.workers) {
    if (runnable* const t = robbed->deque.steal().item; t != nullptr) return t;
  }
  return nullptr;
}

}  // namespace heist::detail
