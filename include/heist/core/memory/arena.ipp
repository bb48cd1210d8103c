// Bodies of arena.hpp.
#pragma once

#include "heist/core/memory/arena.hpp"

#include <new>
#include <utility>  // exchange

#if HEIST_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace heist::detail {

HEIST_COLD_BODY void arena::give_back(void* part, std::size_t bytes, std::size_t alignment) noexcept {
#if HEIST_ASAN
  __asan_poison_memory_region(part, bytes);  // never handed out again: ASan reports late accesses
  return;
#endif
  if (bytes < sizeof(free_block)) return;
  free_list* list = find(bytes, alignment);
  if (list == nullptr) {
    try {
      list = &given_back_.emplace_back(free_list{bytes, alignment, nullptr});
    } catch (...) {
      return;
    }
  }
  list->first = ::new (part) free_block{list->first};
}

HEIST_COLD_BODY void arena::clear() noexcept {
  given_back_.clear();
  next_ = end_ = 0;
  used_chunks_ = 0;
}

HEIST_COLD_BODY void* arena::take_again(std::size_t bytes, std::size_t alignment) noexcept {
  free_list* const list = find(bytes, alignment);
  if (list == nullptr || list->first == nullptr) return nullptr;
  return std::exchange(list->first, list->first->next);
}

HEIST_COLD_BODY void* arena::from_new_chunk(std::size_t bytes, std::size_t alignment) {
  std::size_t const wanted = bytes + alignment;
  while (used_chunks_ != chunks_.size() && chunks_[used_chunks_].capacity() < wanted) ++used_chunks_;
  if (used_chunks_ == chunks_.size()) {
    std::size_t const size = wanted > chunk_bytes_ ? wanted : chunk_bytes_;
    chunk made;
    made.reserve(size);
    chunks_.push_back(static_cast<chunk&&>(made));
    bytes_ += size;
    if (chunk_bytes_ < usual_chunk) {
      chunk_bytes_ *= 2;
    } else if (bytes_ >= 2 * large_chunk) {
      chunk_bytes_ = large_chunk;  // of huge pages; their ends are a small part of all
    }
  }
  chunk const& next = chunks_[used_chunks_++];
#if HEIST_ASAN
  __asan_unpoison_memory_region(next.data(), next.capacity());
#endif
  next_ = reinterpret_cast<std::uintptr_t>(next.data());
  end_ = next_ + next.capacity();
  return allocate(bytes, alignment);
}

}  // namespace heist::detail
