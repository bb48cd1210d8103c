// Bodies of block_pool.hpp.
#pragma once

#include "heist/core/memory/block_pool.hpp"

namespace heist::detail {

HEIST_COLD_BODY block_freelist::~block_freelist() {
  for (std::size_t c = 0; c != block_classes; ++c) {
    while (free_block* const first = take(c)) free(first);
  }
}

HEIST_COLD_BODY void block_freelist::give(std::size_t c, free_block& first) noexcept {
  size_class& to = classes_[c];
  first.older = to.top.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  // release: E1; relaxed: nothing is read through a batch that lost
  while (!to.top.compare_exchange_weak(first.older, &first, std::memory_order_release, std::memory_order_relaxed))
    os_env::relax();
  to.batches.fetch_add(1, std::memory_order_relaxed);  // relaxed: a hint
}

HEIST_COLD_BODY free_block* block_freelist::take(std::size_t c) noexcept {
  size_class& from = classes_[c];
  if (from.top.load(std::memory_order_relaxed) == nullptr) return nullptr;  // relaxed: a hint
  if (!from.taken.try_lock()) return nullptr;
  free_block* first = from.top.load(std::memory_order_acquire);  // E1
  // No other thread takes batches away, so one that is seen again is the same with the same below. acquire: E1
  while (first != nullptr && !from.top.compare_exchange_weak(first, first->older, std::memory_order_acquire)) {
    os_env::relax();
  }
  from.taken.unlock();
  if (first != nullptr) from.batches.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a hint
  return first;
}

HEIST_COLD_BODY bool block_freelist::has_too_much() const noexcept {
  for (auto const& c : classes_) {
    if (too_many(c)) return true;
  }
  return false;
}

HEIST_COLD_BODY bool block_freelist::too_many(size_class const& c) noexcept {
  // relaxed: a hint; below 0 for a moment, which looks like many, where a batch is taken right after it was given
  return c.top.load(std::memory_order_relaxed) != nullptr && c.batches.load(std::memory_order_relaxed) > batches_kept;
}

HEIST_COLD_BODY void block_freelist::free(free_block* b) noexcept {
  while (b != nullptr) ::operator delete(std::exchange(b, b->next));
}

HEIST_COLD_BODY void* block_pool::take_from_batch(std::size_t c) noexcept {
  free_block* const first = freelist_.take(c);
  if (first == nullptr) return nullptr;
  classes_[c] = {first->next, block_batch - 1};
  return first;
}

HEIST_COLD_BODY void block_pool::give_older_half(std::size_t c) noexcept {
  size_class& from = classes_[c];
  // Walking there costs a load for each block given.
  free_block* last_kept = from.first;
  for (std::size_t i = 1; i < block_batch; ++i) last_kept = last_kept->next;
  free_block* const first = std::exchange(last_kept->next, nullptr);
  from.count = block_batch;
  freelist_.give(c, *first);
}

HEIST_COLD_BODY block_pool::~block_pool() {
  for (auto& c : classes_) {
    while (c.first != nullptr) ::operator delete(std::exchange(c.first, c.first->next));
  }
}

}  // namespace heist::detail
