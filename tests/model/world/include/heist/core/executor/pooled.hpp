// Stands for core/executor/pooled.hpp: blocks come from the model's heap, which sees leaks and double frees.
#pragma once

#include <cstddef>  // size_t
#include <memory>   // destroy_at
#include <new>
#include <utility>  // forward

#include "heist/core/memory/block_pool.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

template <class T>
inline constexpr bool pooled = false;
template <class T>
void destroy_pooled(fiber&, T* object) noexcept {
  delete object;
}
inline void* allocate_shared_block(core&, std::size_t bytes) {
  return ::operator new(bytes);
}
inline void free_shared_block(void* block, std::size_t) noexcept {
  ::operator delete(block);
}

template <class F>
class callable_slot {
 public:
  template <class G>
  explicit callable_slot(G&& g) : function_(std::forward<G>(g)) {}
  callable_slot(callable_slot const&) = delete;
  callable_slot& operator=(callable_slot const&) = delete;
  ~callable_slot() {}

  F& get() noexcept { return function_; }
  void end() noexcept { std::destroy_at(std::addressof(function_)); }

 private:
  union {
    F function_;
  };
};

}  // namespace heist::detail
