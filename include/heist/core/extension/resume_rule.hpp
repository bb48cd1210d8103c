// The place at which code is resumed that has waited.
#pragma once

namespace heist::detail {

class fiber;
struct worker;

/// A call to make once a fiber has been left and another worker may have resumed it; empty: none.
struct deferred_call {
  void (*after)(void* of) noexcept = nullptr;
  void* of = nullptr;
};

/// The place at which a fiber is resumed that has waited: of a task and everything that it forks
/// (interrupt_state::resumes), or of one wait (fiber::resumes).
///
/// Threads  make_ready() by any; the rest by the fiber's worker.
class resume_rule {
 public:
  /// `f`, which has been left completely, may be resumed: puts it where a worker finds it.
  virtual void make_ready(fiber& f) noexcept = 0;
  /// `f` has just been left, and no worker can resume it before this returns.
  virtual deferred_call left(fiber&) noexcept { return {}; }
  /// `w` is about to resume `f`.
  virtual void returned(fiber&, worker&) noexcept {}
  /// Of one wait: `f` is about to be left, or, if not `is_left`, to wait on top of other work of its worker.
  virtual void leaves(fiber&, bool /*is_left*/) noexcept {}

  /// The code that runs under it waits for something that it has not forked. Returns the argument of
  /// wait_outside_ends().
  virtual void* wait_outside_begins() noexcept { return nullptr; }
  virtual void wait_outside_ends(void*) noexcept {}

 protected:
  ~resume_rule() = default;
};

}  // namespace heist::detail
