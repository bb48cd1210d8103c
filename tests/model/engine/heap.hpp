// operator new and delete of a model test: the code under test allocates from the arena, and its double frees and
// leaks are seen. Included once per program (a test program is one source file).
#pragma once

#include <cstdlib>
#include <new>

#include "arena.hpp"
#include "scheduler.hpp"

namespace model {

// noinline: compilers reason about pairs of new and delete, and these pairs are under test here.
[[gnu::noinline]] inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (heap.active) {
    if (void* const block = heap.allocate(size, alignment)) return block;
    sched.fail("an execution allocates more than the arena holds");
  }
  void* const block = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (block == nullptr) std::abort();
  return block;
}

[[gnu::noinline]] inline void deallocate(void* block) noexcept {
  if (block == nullptr) return;
  if (!heap.owns(block)) return std::free(block);
  // Outside an execution the block is left over from one that was given up.
  if (heap.active && !heap.free(block)) sched.fail("double free, or free of something that was never allocated");
}

}  // namespace model

void* operator new(std::size_t size) {
  return model::allocate(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size) {
  return model::allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t a) {
  return model::allocate(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return model::allocate(size, static_cast<std::size_t>(a));
}
void operator delete(void* block) noexcept {
  model::deallocate(block);
}
void operator delete[](void* block) noexcept {
  model::deallocate(block);
}
void operator delete(void* block, std::size_t) noexcept {
  model::deallocate(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  model::deallocate(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  model::deallocate(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
  model::deallocate(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  model::deallocate(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  model::deallocate(block);
}
