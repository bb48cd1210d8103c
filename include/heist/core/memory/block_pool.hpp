// Memory of small objects that workers make and destroy: blocks of a few sizes, kept by the worker that frees them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>  // size_t, max_align_t
#include <new>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::detail {

/// A block while it is free.
struct free_block {
  free_block* next;
  free_block* older = nullptr;  ///< in the first block of a batch in the free list: the batch below
};

inline constexpr std::size_t smallest_block = 64;
inline constexpr std::size_t block_classes = 4;  // 64, 128, 192 and 256 bytes
inline constexpr std::size_t block_batch = 256;  ///< blocks that go to the free list, or come from there, at a time

// Edge
//   E1  give: top.CAS(release) -> take: top.load(acquire)   the batch's links

/// Free blocks that pools have too many of, for pools that have none, in batches. Any thread may use it.
class block_freelist {
 public:
  block_freelist() = default;
  block_freelist(block_freelist const&) = delete;
  block_freelist& operator=(block_freelist const&) = delete;
  HEIST_RARE ~block_freelist();

  /// `first`: block_batch blocks, linked.
  void give(std::size_t c, free_block& first) noexcept;

  /// A batch, or null if there is none or another thread takes one right now. No thread waits for another here: that
  /// one may be of lower priority on the same core.
  free_block* take(std::size_t c) noexcept;

  /// Is there more than the next peak of some workers needs?
  bool has_too_much() const noexcept;
  /// Frees the blocks that are too many while `go_on()` returns true, which is called before each batch.
  template <class GoOn>
  HEIST_COLD void trim(GoOn&& go_on) noexcept {
    for (std::size_t c = 0; c != block_classes; ++c) {
      while (too_many(classes_[c]) && go_on()) {
        free_block* const first = take(c);
        if (first == nullptr) break;
        free(first);
      }
    }
  }

 private:
  static constexpr std::size_t batches_kept = 8;  ///< of each class; half a MiB of the largest

  struct size_class {
    os_env::atomic<free_block*> top{nullptr};
    os_env::atomic<std::size_t> batches{0};
    spin_lock<> taken;
  };

  static bool too_many(size_class const& c) noexcept;
  static void free(free_block* b) noexcept;

  std::array<size_class, block_classes> classes_;
};

/// One per worker, used by it alone (or under a lock). A block may come from one pool and be given to another, or to
/// operator delete. It deals in bytes: a constructor or destructor may wait, and the pool then be another worker's
/// (core/executor/pooled.hpp).
class block_pool {
 public:
  explicit block_pool(block_freelist& freelist) noexcept : freelist_{freelist} {}
  block_pool(block_pool const&) = delete;
  block_pool& operator=(block_pool const&) = delete;
  ~block_pool();

  /// Can objects of so many bytes come from pools? AddressSanitizer needs to see the end of each: under it the answer
  /// is no.
  static constexpr bool fits(std::size_t bytes, std::size_t alignment) noexcept {
    return !under_asan && bytes <= smallest_block * block_classes && alignment <= alignof(std::max_align_t);
  }

  /// A block of at least `bytes`, if fits() allows so many. Throws bad_alloc.
  void* allocate(std::size_t bytes) {
    void* const kept = take(bytes);
    return kept != nullptr ? kept : new_block(bytes);
  }
  /// Allocates nothing, otherwise the same: null if neither the pool nor the free list has a block.
  void* take(std::size_t bytes) noexcept {
    void* const kept = take_kept(bytes);
    return kept != nullptr ? kept : take_from_batch(class_of(bytes));
  }
  /// The same from the pool alone, without the free list.
  void* take_kept(std::size_t bytes) noexcept {
    size_class& from = classes_[class_of(bytes)];
    if (from.first == nullptr) [[unlikely]]
      return nullptr;
    --from.count;
    return std::exchange(from.first, from.first->next);
  }
  /// Brings the whole block that the next take(bytes) will give into the cache. Blocks that came back in another order
  /// than they lie in memory are cold, and only their list knows where the next one is.
  void prefetch_next(std::size_t bytes) const noexcept {
    std::size_t const c = class_of(bytes);
    auto const* const next = reinterpret_cast<char const*>(classes_[c].first);
    if (next == nullptr) return;
    for (std::size_t line = 0; line <= c; ++line) __builtin_prefetch(next + line * smallest_block, 1);
  }
  /// Blocks of one class are of one size. `bytes`: at least 1.
  static constexpr std::size_t class_of(std::size_t bytes) noexcept { return (bytes - 1) / smallest_block; }
  /// How large a block for so many bytes is.
  static constexpr std::size_t rounded(std::size_t bytes) noexcept { return smallest_block * (class_of(bytes) + 1); }
  /// As allocate(), from the system.
  static void* new_block(std::size_t bytes) { return ::operator new(rounded(bytes)); }

  /// Takes back a block from some pool's allocate(bytes).
  void give(void* block, std::size_t bytes) noexcept {
    std::size_t const c = class_of(bytes);
    size_class& to = classes_[c];
    to.first = ::new (block) free_block{to.first};
    if (++to.count == 2 * block_batch) [[unlikely]]
      give_older_half(c);
  }

 private:
  struct size_class {
    free_block* first = nullptr;
    std::size_t count = 0;  ///< the length of the list at `first`; less than two batches
  };

  HEIST_RARE void* take_from_batch(std::size_t c) noexcept;
  HEIST_RARE void give_older_half(std::size_t c) noexcept;

  block_freelist& freelist_;
  std::array<size_class, block_classes> classes_{};
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/memory/block_pool.ipp"
#endif
