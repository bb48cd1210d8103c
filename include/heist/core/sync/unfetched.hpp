// Exceptions of tasks that no caller has asked for: the first is kept for wait_idle(), and said when the executor ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>  // exception_ptr

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/sync/spin_lock.hpp"

namespace heist::detail {

/// Outlives the executor as long as a handle refers to it, for handles that are dropped later.
///
/// Threads  every member may be called by any thread.
class unfetched_exceptions {
 public:
  /// What the executor's end does.
  struct closing {
    void operator()(unfetched_exceptions* all) const noexcept;
  };

  void retain() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller owns it already
  void release() noexcept;

  /// One more; the first stays. After close() it is said at once.
  void keep(std::exception_ptr e) noexcept;
  /// The first, if any, for a caller that rethrows it; the others are forgotten.
  std::exception_ptr take() noexcept;
  /// The executor ends: what has not been taken is said on stderr.
  void close() noexcept;

 private:
  ~unfetched_exceptions() = default;

  static void say(std::exception_ptr const& e, std::uint64_t others) noexcept;

  os_env::atomic<std::uint32_t> owners_{1};
  spin_lock<> lock_;  // guards the rest
  std::exception_ptr first_;
  std::uint64_t others_ = 0;
  bool closed_ = false;
};

/// A reference to them, held by what may fail.
class unfetched_reference {
 public:
  unfetched_reference() noexcept = default;
  unfetched_reference(unfetched_reference const&) = delete;
  unfetched_reference& operator=(unfetched_reference const&) = delete;
  ~unfetched_reference();
  /// Called once something has failed, by one thread.
  void refer(unfetched_exceptions& to) noexcept;
  bool refers() const noexcept { return to_ != nullptr; }
  /// An exception that no caller will ask for any more; does nothing if it is null, or refers() is false.
  void keep(std::exception_ptr e) const noexcept;

 private:
  unfetched_exceptions* to_ = nullptr;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/sync/unfetched.ipp"
#endif
