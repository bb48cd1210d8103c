// Bodies of parked_note.hpp.
#pragma once

#include "heist/core/observe/parked_note.hpp"

#include <cstring>  // strlen, memcpy

#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY void parked_note::begin(task_kind kind, char const* name, wait_reason const& why,
                                        parked_edge const& edge) noexcept {
  bool const has_details = why.owner != nullptr || why.permits != nullptr || edge.limits != nullptr;
  if (name != nullptr || why.name != nullptr || has_details || more_) {
    spin_guard guard{lock_};
    task_.copy(name);
    awaited_.copy(why.name);
    owner_ = why.owner;
    limits_ = edge.limits;
    for_permits_ = why.permits != nullptr;
    cached_ = why.spare;
    more_ = name != nullptr || why.name != nullptr || has_details;
  }
  since_.store(os_env::coarse_nanoseconds(), std::memory_order_relaxed);  // relaxed: for people
  kind_.store(kind, std::memory_order_relaxed);                           // relaxed: for people
  what_.store(why.what, std::memory_order_relaxed);                       // relaxed: for people
  // release, both: a thread that sees it in look() sees that the wait before has ended
  from_.store(edge.from, std::memory_order_release);
  to_.store(why.permits != nullptr ? why.permits : edge.to, std::memory_order_release);  // release: as above
  // relaxed: its own; release: pairs with look()
  wait_.store(wait_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

HEIST_COLD_BODY void parked_note::end() noexcept {
  // relaxed: its own, and for people
  wait_.store(wait_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  what_.store(nullptr, std::memory_order_relaxed);  // relaxed: for people
  if (owner_ == nullptr && limits_ == nullptr) return;
  spin_guard guard{lock_};  // no thread looks at the lock, or at the task, after this
  owner_ = nullptr;
  limits_ = nullptr;
}

HEIST_COLD_BODY wait_look parked_note::look() const noexcept {
  wait_look seen;
  seen.number = wait_.load(std::memory_order_acquire);  // acquire: pairs with begin()
  if (seen.number % 2 == 0) return seen;
  spin_guard guard{lock_};
  if (limits_ != nullptr) limits_->look(*limits_, true, seen);
  seen.owner = owner_now();
  seen.of_semaphore = for_permits_;
  seen.spare = cached_;
  // relaxed, both: the fence
  seen.from = from_.load(std::memory_order_relaxed);
  seen.to = to_.load(std::memory_order_relaxed);  // relaxed: the fence
  os_env::fence(std::memory_order_acquire);       // acquire: a value read of a later wait is seen to be one
  if (wait_.load(std::memory_order_relaxed) != seen.number) seen.number = 0;  // relaxed: the fence
  return seen;
}

HEIST_COLD_BODY std::string parked_note::text() const {
  char const* const what = what_.load(std::memory_order_relaxed);  // relaxed: for people
  if (what == nullptr) return {};
  noted_name task, awaited;
  {
    spin_guard guard{lock_};
    task = task_;
    awaited = awaited_;
  }
  return format_text("{}{}{} waits for {}{}{}",
                     {to_string(kind_.load(std::memory_order_relaxed)),  // relaxed: as above
                      task.text[0] != 0 ? " " : "", task.text, what, awaited.text[0] != 0 ? " " : "", awaited.text});
}

HEIST_COLD_BODY void noted_name::copy(char const* from) noexcept {
  std::size_t const n = from == nullptr ? 0 : std::strlen(from);
  std::size_t const kept = n < length - 1 ? n : length - 1;
  if (kept != 0) std::memcpy(text, from, kept);
  text[kept] = 0;
}

}  // namespace heist::detail
