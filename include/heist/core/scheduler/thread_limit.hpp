// A number of threads that several executors share.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"
#include "heist/core/policy/thread_permits.hpp"
#include "heist/core/sync/permit_line.hpp"

namespace heist {

/// At most so many workers of all executors that share it (options::limit) work at a time. A worker that sleeps, or whose
/// task is in context::blocking(), does not count. If workers wait for others' permits, the executors share the permits
/// fairly: about each millisecond, when the task that runs has ended or forks, a permit goes to a worker of the same
/// executor, or of one that has fewer. Threads of the program that run a part of a loop of their own do not count.
///
/// Threads  any. It must outlive its executors.
/// Cost     a worker that falls asleep or wakes takes a lock for some instructions
class thread_limit final : detail::thread_permits {
 public:
  /// At least 1.
  explicit thread_limit(std::size_t most) noexcept : line_{most == 0 ? 1 : most} {}

  std::size_t max() const noexcept { return line_.max(); }
  /// A smaller number takes effect within about a millisecond, when the tasks that run have ended or fork.
  void set_max(std::size_t most) noexcept { line_.set_max(most == 0 ? 1 : most); }

 private:
  friend class detail::permits_of;
  struct member;

  HEIST_BODY static member& of(detail::worker& w) noexcept;
  HEIST_BODY void wait(detail::worker& w, bool gives) noexcept;
  HEIST_BODY void* join(detail::core& executor) override;
  HEIST_BODY void leave(void* joined) noexcept override;
  HEIST_BODY void stop(void* joined) noexcept override;
  HEIST_BODY void begin(detail::worker& w) noexcept override;
  HEIST_BODY bool try_begin(detail::worker& w) noexcept override;
  HEIST_BODY void end(detail::worker& w) noexcept override;
  HEIST_BODY bool is_over(detail::worker const& w) const noexcept override;
  HEIST_BODY void search(detail::worker& w) noexcept override;
  HEIST_BODY void pass(detail::worker& w) noexcept override;

  detail::permit_line<> line_;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/core/scheduler/thread_limit.ipp"
#endif
