// Elements by the stack that runs the calling code: each has its own, and finds it without a lock.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t
#include <memory>   // make_unique, unique_ptr
#include <mutex>
#include <vector>

#include "heist/async.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/task_state.hpp"

namespace tbb::detail {

/// The key of the calling code. A task has its stack as key, and so finds the same element after a wait. A thread outside
/// of tasks has a key of its own.
inline void const* element_key() noexcept {
  void const* const stack = heist::current_stack();
  return stack != nullptr ? stack : &this_task();
}

/// From keys to elements, which belong to somebody else. A key is inserted only by its own stack.
template <class Element>
class element_table {
 public:
  Element* find(void const* key) const noexcept {
    for (table const* t = current(); t != nullptr; t = t->older) {
      for (std::size_t i = hash(key) & t->mask;; i = (i + 1) & t->mask) {
        void const* const found = t->slots[i].key.load(std::memory_order_acquire);   // acquire: insert()
        if (found == key) return t->slots[i].value.load(std::memory_order_relaxed);  // relaxed: the key was read
        if (found == nullptr) break;
      }
    }
    return nullptr;
  }
  void insert(void const* key, Element* value) {
    std::lock_guard const guard{lock_};
    table* t = current_.load(std::memory_order_relaxed);  // relaxed: written under the lock
    if (t == nullptr || 2 * (t->used + 1) > t->mask) t = grow(t);
    std::size_t i = hash(key) & t->mask;
    while (t->slots[i].key.load(std::memory_order_relaxed) != nullptr) i = (i + 1) & t->mask;  // relaxed: as above
    t->slots[i].value.store(value, std::memory_order_relaxed);  // relaxed: the key comes after it
    t->slots[i].key.store(key, std::memory_order_release);      // release: the value, for find()
    ++t->used;
  }
  /// Not while others look.
  void clear() noexcept {
    current_.store(nullptr, std::memory_order_relaxed);  // relaxed: nobody looks
    all_.clear();
  }

 private:
  struct slot {
    std::atomic<void const*> key{nullptr};
    std::atomic<Element*> value{nullptr};
  };
  struct table {
    explicit table(std::size_t size, table* before) : mask{size - 1}, older{before}, slots{new slot[size]} {}
    std::size_t const mask;
    table* const older;
    std::size_t used = 0;
    std::unique_ptr<slot[]> const slots;
  };

  table* current() const noexcept { return current_.load(std::memory_order_acquire); }  // acquire: grow()
  static std::size_t hash(void const* key) noexcept {
    auto const bits = reinterpret_cast<std::uintptr_t>(key) >> 4;
    return static_cast<std::size_t>(bits * 0x9E3779B97F4A7C15u >> 20);
  }
  table* grow(table* before) {
    all_.push_back(std::make_unique<table>(before == nullptr ? 16 : 2 * (before->mask + 1), before));
    current_.store(all_.back().get(), std::memory_order_release);  // release: the table, for find()
    return all_.back().get();
  }

  std::mutex lock_;
  std::atomic<table*> current_{nullptr};
  std::vector<std::unique_ptr<table>> all_;
};

}  // namespace tbb::detail
