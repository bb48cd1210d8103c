// Memory for many objects that live and die together.
#pragma once

#include <cstddef>  // byte, max_align_t, size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/large_memory.hpp"
#include "heist/core/base/vector.hpp"

namespace heist::detail {

/// Hands out memory from growing chunks; clear() takes back all of it at once, for the next use. A piece that is given
/// back before serves again for the same size and alignment. Runs no destructors; is not thread-safe.
class arena {
 public:
  /// `alignment` is a power of two. Throws bad_alloc.
  void* allocate(std::size_t bytes, std::size_t alignment) {
    if (!given_back_.empty()) [[unlikely]] {
      if (void* const again = take_again(bytes, alignment); again != nullptr) return again;
    }
    std::uintptr_t const at = (next_ + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
    if (at + bytes > end_) [[unlikely]]
      return from_new_chunk(bytes, alignment);
    next_ = at + bytes;
    return reinterpret_cast<void*>(at);
  }

  /// `part`: returned by allocate() for `bytes` and `alignment`. The piece stays unused if there is no memory to note
  /// it.
  void give_back(void* part, std::size_t bytes, std::size_t alignment) noexcept;
  void clear() noexcept;

 private:
  static constexpr std::size_t first_chunk = 1024;
  static constexpr std::size_t usual_chunk = std::size_t{1} << 18;
  static constexpr std::size_t large_chunk = 2 * large_memory::huge_page;

  struct free_block {
    free_block* next;
  };
  struct free_list {
    std::size_t bytes, alignment;
    free_block* first;
  };

  free_list* find(std::size_t bytes, std::size_t alignment) noexcept {
    for (free_list& list : given_back_) {  // a program has few sizes of nodes
      if (list.bytes == bytes && list.alignment == alignment) return &list;
    }
    return nullptr;
  }
  void* take_again(std::size_t bytes, std::size_t alignment) noexcept;
  void* from_new_chunk(std::size_t bytes, std::size_t alignment);

  std::uintptr_t next_ = 0, end_ = 0;
  std::size_t chunk_bytes_ = first_chunk;
  using chunk = vector<std::byte>;  // empty, with room
  vector<chunk> chunks_;
  std::size_t bytes_ = 0;        ///< of all chunks
  std::size_t used_chunks_ = 0;  ///< chunks that something has been handed out from since clear()
  vector<free_list> given_back_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/memory/arena.ipp"
#endif
