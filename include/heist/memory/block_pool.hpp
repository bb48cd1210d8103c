// Small objects made and destroyed by workers: blocks of a few sizes, kept by the worker that frees them.
#pragma once

#include <array>
#include <cstddef>  // size_t, max_align_t
#include <new>
#include <utility>  // forward

namespace heist::detail {

/// One per worker, used by it alone; a block may be made by one worker's pool and destroyed by another's.
class block_pool {
 public:
  block_pool() = default;
  block_pool(block_pool const&) = delete;
  block_pool& operator=(block_pool const&) = delete;
  ~block_pool() {
    for (auto& c : classes_) {
      while (c.first != nullptr) ::operator delete(std::exchange(c.first, c.first->next));
    }
  }

  /// A new T. Throws bad_alloc, and what its constructor throws.
  template <class T, class... Args>
  T* make(Args&&... args) {
    if constexpr (!pooled<T>) {
      return new T(std::forward<Args>(args)...);
    } else {
      void* const at = take(class_of(sizeof(T)));
      try {
        return ::new (at) T(std::forward<Args>(args)...);
      } catch (...) {
        give(at, class_of(sizeof(T)));
        throw;
      }
    }
  }

  /// Destroys what some make<T>() made.
  template <class T>
  void destroy(T* object) noexcept {
    if constexpr (!pooled<T>) {
      delete object;
    } else {
      object->~T();
      give(object, class_of(sizeof(T)));
    }
  }

 private:
  static constexpr std::size_t smallest = 64;
  static constexpr std::size_t class_count = 3;   // 64, 128, 256 bytes
  static constexpr std::size_t most_kept = 4096;  // blocks of a class: what one scope has waiting

  struct free_block {
    free_block* next;
  };
  struct size_class {
    free_block* first = nullptr;
    std::size_t count = 0;
  };

  template <class T>
  static constexpr bool pooled = sizeof(T) <= (smallest << (class_count - 1)) &&
                                 alignof(T) <= alignof(std::max_align_t);

  static constexpr std::size_t class_of(std::size_t bytes) noexcept {
    std::size_t c = 0;
    while (bytes > (smallest << c)) ++c;
    return c;
  }

  void* take(std::size_t c) {
    size_class& from = classes_[c];
    if (from.first == nullptr) return ::operator new(smallest << c);
    --from.count;
    return std::exchange(from.first, from.first->next);
  }
  void give(void* block, std::size_t c) noexcept {
    size_class& to = classes_[c];
    if (to.count == most_kept) {
      ::operator delete(block);
      return;
    }
    ++to.count;
    to.first = ::new (block) free_block{to.first};
  }

  std::array<size_class, class_count> classes_{};
};

}  // namespace heist::detail
