// Bodies of pooled.hpp.
#pragma once

#include "heist/core/executor/pooled.hpp"

#include "heist/core/memory/outside_blocks.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

HEIST_BODY void* allocate_shared_block(core& scheduler, std::size_t bytes) {
  return block_pool::fits(bytes, 1) ? scheduler.allocate_block(bytes) : ::operator new(bytes);
}

HEIST_BODY void free_shared_block(void* block, std::size_t bytes) noexcept {
  free_block_inline(block, bytes);
}

HEIST_COLD_BODY void free_block_outside(void* block, std::size_t bytes) noexcept {
  if (!block_pool::fits(bytes, 1) || !outside_blocks::give(block, bytes)) ::operator delete(block);
}

}  // namespace heist::detail
