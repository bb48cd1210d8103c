// A part of a task that observers see as a task inside it.
#pragma once

#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/fiber.hpp"

namespace heist::detail {

/// Tells observers that the part begins, and, when it is destroyed, that it ends, on any worker.
///
/// Cost  without an observer a look at a pointer, twice.
class told_part {
 public:
  told_part(fiber& self, void const* id, char const* name) noexcept : self_{self}, view_{task_kind::other, id, name} {
    self_.scheduler.tell_begin(*self_.worker, view_);
  }
  told_part(told_part const&) = delete;
  told_part& operator=(told_part const&) = delete;
  ~told_part() { self_.scheduler.tell_end(*self_.worker, view_); }

 private:
  fiber& self_;
  task_view const view_;
};

}  // namespace heist::detail
