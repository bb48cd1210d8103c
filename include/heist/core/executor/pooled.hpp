// Objects in blocks of workers' pools.
#pragma once

#include <cstddef>  // size_t
#include <memory>   // destroy_at
#include <new>
#include <utility>  // forward

#include "heist/core/fiber/current.hpp"
#include "heist/core/memory/block_pool.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

class core;

/// Can objects of this type come from pools?
template <class T>
inline constexpr bool pooled = block_pool::fits(sizeof(T), alignof(T));

// Users' constructors and destructors may wait, and their fiber then resumes on another worker. So each function below
// names the pool in a statement in which no code of a user runs.

/// A new T for code that runs on `self`. Throws bad_alloc, and the exceptions of its constructor.
template <class T, class... Args>
T* make_pooled(fiber& self, Args&&... args) {
  if constexpr (!pooled<T>) {
    return new T(std::forward<Args>(args)...);
  } else {
    void* const block = self.worker->blocks.allocate(sizeof(T));
    try {
      return ::new (block) T(std::forward<Args>(args)...);
    } catch (...) {
      self.worker->blocks.give(block, sizeof(T));
      throw;
    }
  }
}

/// Destroys an object that make_pooled<T>() made, or that was made in a block of a pool.
template <class T>
void destroy_pooled(fiber& self, T* object) noexcept {
  if constexpr (!pooled<T>) {
    delete object;
  } else {
    std::destroy_at(object);
    self.worker->blocks.give(object, sizeof(T));
  }
}

/// As destroy_pooled(), where no pool is at hand.
template <class T>
void discard_pooled(T* object) noexcept {
  if constexpr (!pooled<T>) {
    delete object;
  } else {
    std::destroy_at(object);
    ::operator delete(object);
  }
}

/// A block for objects that any thread makes and any thread destroys, where its size is known at run time only. Throws
/// bad_alloc.
void* allocate_shared_block(core& scheduler, std::size_t bytes);
/// Gives it back: to the pool of the worker that the caller is, or to the system.
void free_shared_block(void* block, std::size_t bytes) noexcept;
/// The same for a thread that is no worker, or a block that is too large for pools.
HEIST_RARE void free_block_outside(void* block, std::size_t bytes) noexcept;
/// As free_shared_block(), for callers whose compiler knows `bytes`: little code is left there.
HEIST_ALWAYS_INLINE void free_block_inline(void* block, std::size_t bytes) noexcept {
  worker* const w = block_pool::fits(bytes, 1) ? this_worker() : nullptr;  // kept: asked for its pool, at once
  if (w != nullptr) {
    w->blocks.give(block, bytes);
  } else {
    free_block_outside(block, bytes);
  }
}

/// A callable whose lifetime ends when its owner says so: before the frame or the scope that waits for it may resume,
/// which its destructor must not see gone.
template <class F>
class callable_slot {
 public:
  template <class G>
  explicit callable_slot(G&& g) : function_(std::forward<G>(g)) {}
  callable_slot(callable_slot const&) = delete;
  callable_slot& operator=(callable_slot const&) = delete;
  /// After end().
  ~callable_slot() {}

  F& get() noexcept { return function_; }
  void end() noexcept { std::destroy_at(std::addressof(function_)); }

 private:
  union {
    F function_;
  };
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/executor/pooled.ipp"
#endif
