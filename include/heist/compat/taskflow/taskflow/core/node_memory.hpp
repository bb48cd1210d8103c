// Memory for the tasks of graphs. The memory of destroyed graphs is kept for later ones: fresh pages cost more than the
// tasks.
#pragma once

#include <algorithm>  // min
#include <cstddef>
#include <memory>  // make_unique, unique_ptr
#include <mutex>
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
    used_ = std::exchange(other.used_, 0);
    room_ = std::exchange(other.room_, 0);
    return *this;
  }
  ~node_memory() { clear(); }

  void* take() {
    if (used_ == room_) {
      std::size_t const wanted = std::min<std::size_t>(full, 2 * room_ + 2);
      chunks_.push_back(wanted == full ? kept().take() : std::make_unique<place[]>(wanted));
      room_ = wanted;
      used_ = 0;
    }
    return &chunks_.back()[used_++];
  }
  void clear() noexcept {
    if (room_ == full) kept().give(chunks_, first_full);
    chunks_.clear();
    used_ = room_ = 0;
  }

 private:
  struct place {
    place() noexcept {}
    alignas(node) std::byte bytes[sizeof(node)];
  };
  using chunk = std::unique_ptr<place[]>;
  static constexpr std::size_t full = 62;       // nodes in a chunk, after chunks of 2, 6, 14, 30
  static constexpr std::size_t first_full = 4;  // its number in a graph
  static constexpr std::size_t most_kept = (std::size_t{256} << 20) / (full * sizeof(place));

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
  std::size_t used_ = 0, room_ = 0;  // of the last
};

}  // namespace tf::detail
