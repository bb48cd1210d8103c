// The heap of an execution. Blocks are never reused before the execution ends, so a late access finds a dead object and
// not a new one. Addresses repeat from run to run. Forgetting an execution costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mix.hpp"
#include "tape.hpp"

namespace model {

class arena {
 public:
  /// True while code under test runs: its allocations come from here.
  bool active = false;

  /// nullptr when the execution allocates absurdly much.
  void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (alignment < alignof(header)) alignment = alignof(header);
    std::uintptr_t const base = reinterpret_cast<std::uintptr_t>(bytes_);
    std::uintptr_t const block = (base + used_ + sizeof(header) + alignment - 1) / alignment * alignment;
    if (block + size > base + capacity) return nullptr;
    std::size_t const before = used_;
    used_ = block + size - base;
    ++live_;
    std::memset(bytes_ + before, 0xCD, used_ - before);  // the same in every execution
    *header_of(reinterpret_cast<void*>(block)) = {size, alive};
    return reinterpret_cast<void*>(block);
  }

  bool owns(void const* block) const noexcept {
    auto const p = static_cast<unsigned char const*>(block);
    return p >= bytes_ && p < bytes_ + capacity;
  }

  /// False when the block is not a live one: a double free, or a pointer into the middle.
  bool free(void* block) noexcept {
    header* const h = header_of(block);
    if (h->state != alive) return false;
    h->state = dead;
    --live_;
    std::memset(block, 0xDD, h->size);
    return true;
  }

  /// Blocks that have not been freed yet.
  int live() const noexcept { return live_; }

  /// A number for all blocks that the execution has allocated, and their content.
  std::uint64_t image() const noexcept { return mix_bytes(1, bytes_, (used_ + 7) / 8 * 8); }

  void save(tape& to) const noexcept {
    to.put(used_);
    to.put(live_);
    to.put(bytes_, used_);
  }
  void restore(tape& from) noexcept {
    from.get(used_);
    from.get(live_);
    from.get(bytes_, used_);
  }

  void reset() noexcept {
    used_ = 0;
    live_ = 0;
  }

 private:
  struct alignas(16) header {
    std::size_t size;
    std::uint64_t state;
  };
  static constexpr std::uint64_t alive = 0xA11FEB10C4A11FEB;
  static constexpr std::uint64_t dead = 0xDEADB10C4DEADB10;
  static constexpr std::size_t capacity = 1 << 20;

  static header* header_of(void* block) noexcept { return static_cast<header*>(block) - 1; }

  alignas(64) unsigned char bytes_[capacity]{};
  std::size_t used_ = 0;
  int live_ = 0;
};

inline constinit arena heap;

}  // namespace model
