// Memory for many objects that live and die together.
#pragma once

#include <cstddef>  // byte, max_align_t, size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <utility>
#include <vector>

namespace heist::detail {

/// Hands out memory from growing chunks and frees all of it at once. Runs no destructors. Not thread-safe.
class arena {
 public:
  /// `alignment` is a power of two. Throws bad_alloc.
  void* allocate(std::size_t bytes, std::size_t alignment) {
    std::uintptr_t const at = (next_ + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
    if (at + bytes > end_) [[unlikely]]
      return from_new_chunk(bytes, alignment);
    next_ = at + bytes;
    return reinterpret_cast<void*>(at);
  }

  void clear() noexcept {
    chunks_.clear();
    next_ = end_ = 0;
    chunk_bytes_ = first_chunk;
  }

 private:
  static constexpr std::size_t first_chunk = 1024;
  static constexpr std::size_t largest_chunk = std::size_t{1} << 18;

  void* from_new_chunk(std::size_t bytes, std::size_t alignment) {
    std::size_t const wanted = bytes + alignment;
    std::size_t const size = wanted > chunk_bytes_ ? wanted : chunk_bytes_;
    chunks_.push_back(std::unique_ptr<std::byte[]>{new std::byte[size]});
    if (chunk_bytes_ < largest_chunk) chunk_bytes_ *= 2;
    next_ = reinterpret_cast<std::uintptr_t>(chunks_.back().get());
    end_ = next_ + size;
    return allocate(bytes, alignment);
  }

  std::uintptr_t next_ = 0, end_ = 0;
  std::size_t chunk_bytes_ = first_chunk;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace heist::detail
