// Exceptions of tasks that no caller has asked for: the first is kept for wait_idle(), and said when the executor ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>  // exception_ptr

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::detail {

/// Outlives the executor as long as a handle refers to it, for handles that are dropped later.
///
/// Threads  every member may be called by any thread.
class unobserved_exceptions {
 public:
  /// Closes the list when the executor ends.
  struct closing {
    void operator()(unobserved_exceptions* all) const noexcept;
  };

  void retain() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller owns it already
  void release() noexcept;

  /// One more; the first stays. After close() it is said at once.
  void keep(std::exception_ptr e) noexcept;
  /// The first, if any, for a caller that rethrows it; forgets the other exceptions.
  std::exception_ptr take() noexcept;
  /// The executor ends: reports the exceptions that no caller has taken on stderr.
  void close() noexcept;

 private:
  ~unobserved_exceptions() = default;

  static void say(std::exception_ptr const& e, std::uint64_t others) noexcept;

  os_env::atomic<std::uint32_t> owners_{1};
  spin_lock<> lock_;  // guards the rest
  std::exception_ptr first_;
  std::uint64_t others_ = 0;
  bool closed_ = false;
};

/// A reference to them, held by a task or run that may fail.
class unobserved_reference {
 public:
  unobserved_reference() noexcept = default;
  unobserved_reference(unobserved_reference const&) = delete;
  unobserved_reference& operator=(unobserved_reference const&) = delete;
  ~unobserved_reference();
  /// Called once something has failed, by one thread.
  void refer(unobserved_exceptions& to) noexcept;
  bool refers() const noexcept { return to_ != nullptr; }
  /// An exception that no caller will ask for any more; does nothing if it is null, or refers() is false.
  void keep(std::exception_ptr e) const noexcept;

 private:
  unobserved_exceptions* to_ = nullptr;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/sync/unobserved.ipp"
#endif
