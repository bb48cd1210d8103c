// Small objects made and destroyed by workers: blocks of a few sizes, kept by the worker that frees them.
#pragma once

#include <array>
#include <cstddef>  // size_t, max_align_t
#include <new>
#include <utility>  // exchange, forward

#include "heist/base/config.hpp"
#include "heist/sync/master_queue.hpp"

namespace heist::detail {

/// A free block, while nobody uses it.
struct free_block {
  free_block* next;
};

inline constexpr std::size_t smallest_block = 64;
inline constexpr std::size_t block_classes = 3;  // 64, 128 and 256 bytes

/// Free blocks that pools have too many of, for pools that have none. Any thread may use it.
class block_depot {
 public:
  block_depot() = default;
  block_depot(block_depot const&) = delete;
  block_depot& operator=(block_depot const&) = delete;
  ~block_depot() {
    for (auto& c : classes_) {
      for (free_block* b = c.take_all(); b != nullptr;) ::operator delete(std::exchange(b, b->next));
    }
  }

  void give(std::size_t c, free_block& first, free_block& last) noexcept { classes_[c].push_list(first, last); }
  free_block* take_all(std::size_t c) noexcept { return classes_[c].take_all(); }

 private:
  std::array<master_queue<free_block>, block_classes> classes_;
};

/// One per worker, used by it alone (or under a lock). A block may come from one pool and be given to another, or to
/// operator delete.
class block_pool {
 public:
  explicit block_pool(block_depot& depot) noexcept : depot_{depot} {}
  block_pool(block_pool const&) = delete;
  block_pool& operator=(block_pool const&) = delete;
  ~block_pool() {
    for (auto& c : classes_) {
      while (c.first != nullptr) ::operator delete(std::exchange(c.first, c.first->next));
    }
  }

  /// Can objects of this type come from pools? Not under AddressSanitizer, which then sees the end of each.
  template <class T>
  static constexpr bool pooled =
      !under_asan && sizeof(T) <= (smallest_block << (block_classes - 1)) && alignof(T) <= alignof(std::max_align_t);

  /// A new T. Throws bad_alloc, and what its constructor throws.
  template <class T, class... Args>
  T* make(Args&&... args) {
    if constexpr (!pooled<T>) {
      return new T(std::forward<Args>(args)...);
    } else {
      return construct<T>(allocate(sizeof(T)), std::forward<Args>(args)...);
    }
  }

  /// A new T in a block of a pool, which is freed if the constructor throws.
  template <class T, class... Args>
  static T* construct(void* block, Args&&... args) {
    try {
      return ::new (block) T(std::forward<Args>(args)...);
    } catch (...) {
      ::operator delete(block);
      throw;
    }
  }

  /// Destroys what some make<T>() or construct<T>() made.
  template <class T>
  void destroy(T* object) noexcept {
    if constexpr (!pooled<T>) {
      delete object;
    } else {
      object->~T();
      give(object, class_of(sizeof(T)));
    }
  }

  /// A block of at least `bytes`, at most what pooled<> allows. Throws bad_alloc.
  void* allocate(std::size_t bytes) {
    std::size_t const c = class_of(bytes);
    size_class& from = classes_[c];
    if (from.first == nullptr) [[unlikely]] {
      from.first = depot_.take_all(c);
      if (from.first == nullptr) return ::operator new(smallest_block << c);
    }
    if (from.count != 0) --from.count;
    return std::exchange(from.first, from.first->next);
  }

 private:
  static constexpr std::size_t most_kept = 256;  // blocks of a class; as many more go to the depot at once

  struct size_class {
    free_block* first = nullptr;
    std::size_t count = 0;  ///< at most as many as there are: a list from the depot is not counted
  };

  static constexpr std::size_t class_of(std::size_t bytes) noexcept {
    std::size_t c = 0;
    while (bytes > (smallest_block << c)) ++c;
    return c;
  }

  void give(void* block, std::size_t c) noexcept {
    size_class& to = classes_[c];
    to.first = ::new (block) free_block{to.first};
    if (++to.count < 2 * most_kept) return;
    // The older half: walking there costs a load for each block given.
    free_block* last_kept = to.first;
    for (std::size_t i = 1; i < most_kept; ++i) last_kept = last_kept->next;
    free_block* const first = last_kept->next;
    free_block* last = first;
    while (last->next != nullptr) last = last->next;
    last_kept->next = nullptr;
    to.count = most_kept;
    depot_.give(c, *first, *last);
  }

  block_depot& depot_;
  std::array<size_class, block_classes> classes_{};
};

}  // namespace heist::detail
