// Memory for the tasks of graphs. The memory of destroyed graphs is kept for later ones: fresh pages cost more than the
// tasks. Large graphs get pages of 2 MiB where the system has them.
#pragma once

#include <sys/mman.h>  // madvise

#include <algorithm>  // min
#include <cstddef>
#include <memory>  // make_unique, unique_ptr
#include <mutex>
#include <new>      // operator new
#include <utility>  // exchange, move
#include <vector>

#include "heist/compat/taskflow/taskflow/core/node.hpp"

namespace tf::detail {

/// Places for nodes, not initialised. Threads: one at a time.
class node_memory {
 public:
  node_memory() = default;
  node_memory(node_memory const&) = delete;
  node_memory& operator=(node_memory&& other) noexcept {
    clear();
    chunks_ = std::exchange(other.chunks_, {});
    large_ = std::exchange(other.large_, {});
    used_ = std::exchange(other.used_, 0);
    room_ = std::exchange(other.room_, 0);
    last_ = std::exchange(other.last_, nullptr);
    return *this;
  }
  ~node_memory() { clear(); }

  void* take() {
    if (used_ == room_) add_chunk();
    return &last_[used_++];
  }
  void clear() noexcept {
    if (chunks_.size() > first_full) kept().give(chunks_, first_full);
    chunks_.clear();
    large_.clear();
    used_ = room_ = 0;
  }

 private:
  struct place {
    place() noexcept {}
    alignas(node) std::byte bytes[sizeof(node)];
  };
  using chunk = std::unique_ptr<place[]>;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  struct free_large {
    void operator()(place* p) const noexcept { ::operator delete (static_cast<void*>(p), std::align_val_t{huge_page}); }
  };
  using large_chunk = std::unique_ptr<place, free_large>;
  static constexpr std::size_t full = 62;       // nodes in a chunk, after chunks of 2, 6, 14, 30
  static constexpr std::size_t first_full = 4;  // its number in a graph
  static constexpr std::size_t most_chunks = (std::size_t{8} << 20) / (full * sizeof(place));  // then large ones
  static constexpr std::size_t most_kept = (std::size_t{256} << 20) / (full * sizeof(place));

  void add_chunk() {
    if (chunks_.size() < most_chunks) {
      std::size_t const wanted = std::min<std::size_t>(full, 2 * room_ + 2);
      chunks_.push_back(wanted == full ? kept().take() : std::make_unique<place[]>(wanted));
      last_ = chunks_.back().get();
      room_ = wanted;
    } else {
      large_.emplace_back();
      void* const p = ::operator new (2 * huge_page, std::align_val_t{huge_page});
      large_.back().reset(last_ = static_cast<place*>(p));
      ::madvise(p, 2 * huge_page, MADV_HUGEPAGE);  // if that fails, the pages are small ones
      room_ = 2 * huge_page / sizeof(place);
    }
    used_ = 0;
  }

  /// Full chunks that no graph has. Threads: any.
  class store {
   public:
    chunk take() {
      std::lock_guard const guard{lock_};
      if (free_.empty()) return std::make_unique<place[]>(full);
      chunk c = std::move(free_.back());
      free_.pop_back();
      return c;
    }
    void give(std::vector<chunk>& from, std::size_t first) noexcept {
      std::lock_guard const guard{lock_};
      if (free_.capacity() < most_kept) return;
      for (std::size_t i = first; i < from.size() && free_.size() < most_kept; ++i) free_.push_back(std::move(from[i]));
    }
    store() { free_.reserve(most_kept); }

   private:
    std::mutex lock_;
    std::vector<chunk> free_;
  };
  /// Never destroyed: graphs may be static.
  static store& kept() {
    static store& one = *new store;
    return one;
  }

  std::vector<chunk> chunks_;
  std::vector<large_chunk> large_;
  place* last_ = nullptr;            // chunk
  std::size_t used_ = 0, room_ = 0;  // of the last
};

}  // namespace tf::detail
