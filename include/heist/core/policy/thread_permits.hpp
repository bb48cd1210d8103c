// The permits that workers need where executors share a limit of threads. heist/thread_limit.hpp derives the limit itself, so a
// program without one has no code of it.
#pragma once

#include <concepts>  // same_as
#include <cstddef>   // nullptr_t

namespace heist {
class thread_limit;
}

namespace heist::detail {

class core;
struct worker;

/// A worker has a permit while it is awake.
///
/// Threads  those with a worker by the thread that carries it.
class thread_permits {
 public:
  thread_permits() = default;
  thread_permits(thread_permits const&) = delete;
  thread_permits& operator=(thread_permits const&) = delete;

  /// The executor has its workers, and is about to start them. Returns what leave() takes. Throws bad_alloc.
  virtual void* join(core& executor) = 0;
  /// Its threads have ended.
  virtual void leave(void* joined) noexcept = 0;
  /// The executor that has joined stops: none of its workers waits any more.
  virtual void stop(void* joined) noexcept = 0;

  /// Returns when `w` has a permit, or its executor stops.
  virtual void begin(worker& w) noexcept = 0;
  /// False if `w` would have to wait.
  virtual bool try_begin(worker& w) noexcept = 0;
  virtual void end(worker& w) noexcept = 0;
  /// Do others wait, and has `w` had its permit for long?
  virtual bool is_over(worker const& w) const noexcept = 0;
  /// `w` has found no work yet: passes its permit on if others wait.
  virtual void search(worker& w) noexcept = 0;
  /// `w` gives its permit to another worker of its executor, or of one that has fewer permits, and waits for one again.
  /// Nothing happens if no such worker waits. Thieves may take the tasks in the deque of `w` meanwhile.
  virtual void pass(worker& w) noexcept = 0;

 protected:
  ~thread_permits() = default;
};

/// The permits of a thread_limit, given by its address; or none.
class permits_of {
 public:
  permits_of(std::nullptr_t = nullptr) noexcept {}
  template <std::same_as<thread_limit> Limit>
  permits_of(Limit* limit) noexcept : permits_{limit} {}

  thread_permits* get() const noexcept { return permits_; }

 private:
  thread_permits* permits_ = nullptr;
};

}  // namespace heist::detail
