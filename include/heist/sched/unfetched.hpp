// Exceptions of tasks that nobody has asked for: the first is kept for wait_idle(), and said when the executor ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>     // fprintf
#include <exception>  // exception_ptr
#include <utility>    // exchange, move

#include "heist/base/env.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist::detail {

/// Outlives the executor as long as a handle refers to it, for handles that are dropped later.
///
/// Threads  every member may be called by any thread.
class unfetched_exceptions {
 public:
  /// What the executor's end does.
  struct closing {
    void operator()(unfetched_exceptions* all) const noexcept {
      all->close();
      all->release();
    }
  };

  void retain() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller owns it already
  void release() noexcept {
    // acq_rel: the last owner sees what the others did
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// One more; the first stays. After close() it is said at once.
  void keep(std::exception_ptr e) noexcept {
    bool closed = false;
    {
      spin_guard guard{lock_};
      closed = closed_;
      if (!closed && !first_) {
        first_ = std::move(e);
        return;
      }
      if (!closed) ++others_;
    }
    if (closed) say(e, 0);
  }
  /// The first, if any, for somebody who rethrows it; the others are forgotten.
  std::exception_ptr take() noexcept {
    spin_guard guard{lock_};
    others_ = 0;
    return std::exchange(first_, nullptr);
  }
  /// The executor ends: what nobody has taken is said on stderr.
  void close() noexcept {
    std::exception_ptr e;
    std::uint64_t others = 0;
    {
      spin_guard guard{lock_};
      closed_ = true;
      e = std::exchange(first_, nullptr);
      others = others_;
    }
    if (e) say(e, others);
  }

 private:
  ~unfetched_exceptions() = default;

  static void say(std::exception_ptr const& e, std::uint64_t others) noexcept {
    char const* const mend =
        "mend it by get() on the task's future or the graph's run, or by wait_idle() before the executor is destroyed";
    try {
      std::rethrow_exception(e);
    } catch (std::exception const& known) {
      std::fprintf(stderr, "heist: a task has thrown an exception that nobody asked for: %s (%s", known.what(), mend);
    } catch (...) {
      std::fprintf(stderr, "heist: a task has thrown an exception that nobody asked for, of a type of its own (%s",
                   mend);
    }
    if (others != 0) {
      std::fprintf(stderr, "; %llu more were thrown after it)\n", static_cast<unsigned long long>(others));
    } else {
      std::fprintf(stderr, ")\n");
    }
  }

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
  ~unfetched_reference() {
    if (to_ != nullptr) to_->release();
  }
  /// Called once something has failed, by one thread.
  void refer(unfetched_exceptions& to) noexcept {
    if (to_ == &to) return;
    if (to_ != nullptr) to_->release();
    to.retain();
    to_ = &to;
  }
  /// An exception that nobody asks for any more; nothing if it is null, or nobody was referred to.
  void keep(std::exception_ptr e) const noexcept {
    if (e && to_ != nullptr) to_->keep(std::move(e));
  }

 private:
  unfetched_exceptions* to_ = nullptr;
};

}  // namespace heist::detail
