// An extension's part in the forks, scopes and regions of its frames.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <span>

#include "heist/core/base/config.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/extension/executor_extension.hpp"
#include "heist/core/fork/erased_child.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist {

class region;

namespace detail {

class scope_base;
struct scope_child;

/// How a frame forks.
enum class fork_way { parent_first, child_first, by_extension };

struct place_to_fork {
  fork_way how;
  fiber* on;
  fork_slot* position;
};

/// The children of a scope that belongs to an extension.
///
/// Threads  of the task that made the scope.
class extension_scope {
 public:
  virtual ~extension_scope() = default;
  /// Is the next child to be called at once, and not kept?
  virtual bool calls_at_once() noexcept = 0;
  virtual void call_at_once(erased_child& child) noexcept = 0;
  /// Starts `child`, now or later, and owns it from now on. If it throws, the child has not been called.
  virtual void fork(scope_child& child) = 0;
  /// Returns when all have ended.
  virtual void wait() = 0;
};

/// How a region's body is run.
enum class region_way {
  sequential,   ///< a call, as if there were no region
  here,         ///< a call, with a position of the extension's
  by_extension  ///< where the extension says, while the caller waits
};

/// One run of a region.
///
/// Threads  of the task that enters it.
class region_visit {
 public:
  virtual ~region_visit() = default;
  virtual region_way how() const noexcept = 0;
  /// Here; `identity`: function_identity of the body.
  virtual fork_slot* position(void const* /*identity*/) noexcept { return nullptr; }
  virtual void run(erased_child&) {}  ///< by_extension
  /// The body has ended, if not `failed` without an exception.
  virtual void finish(bool failed) noexcept = 0;
};

class fork_extension {
 public:
  /// Of a frame with such a position on `of`. `divide`: it is to be divided, if anything is (context::inter_fork).
  virtual place_to_fork way_of_fork(fiber& of, fork_slot* position, bool divide) noexcept = 0;
  /// by_extension: runs all, and returns when they have ended. If it throws, no child has begun.
  virtual void fork(fiber& self, fork_slot* position, std::span<erased_child* const> children) = 0;

  virtual fork_way way_of_scope(fiber& self, fork_slot* position) noexcept = 0;
  /// by_extension. `remote`: by code that runs on another fiber than the frame.
  virtual unique_ptr<extension_scope> make_scope(scope_base& of, bool remote) = 0;
  /// May code on `here`, which is no part of the frame, fork into a scope of that way by its worker's deque?
  virtual bool may_queue(fiber const& here, fork_way way) const noexcept = 0;

  /// Null: entering `r` there is a call. Throws region_error if it is in use.
  virtual unique_ptr<region_visit> enter(region& r, fiber& self, fork_slot* position) = 0;

  /// Does it remember what a frame of that position forks, so that loops are to be divided alike in each run?
  virtual bool has_history(fork_slot* position) const noexcept = 0;
  /// How many workers may take pieces of such a part, at most; 0: all.
  virtual std::size_t workers_of_part() const noexcept { return 0; }

  virtual void footprint(fork_slot* /*position*/, std::uint64_t /*bytes*/) noexcept {}
  virtual void assign_continuation(fiber&, fork_slot* /*position*/, std::size_t /*worker*/) {}
  virtual bool may_be_stolen(fork_slot* /*position*/) const noexcept { return true; }

 protected:
  ~fork_extension() = default;
};

/// Throws region_error for a worker that does not exist.
HEIST_RARE void check_assigned(fiber const& self, std::size_t worker);

/// Where the order is one of an extension's.
inline fork_extension& extension_of_forks(fiber const& self) noexcept {
  return *self.scheduler.extension->forks;
}

}  // namespace detail
}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/core/fork/fork_extension.ipp"
#endif
