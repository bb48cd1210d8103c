// Bodies of parked_note.hpp.
#pragma once

#include "heist/observe/parked_note.hpp"

#include <fmt/core.h>

#include <cstring>  // strlen, memcpy

namespace heist::detail {

HEIST_COLD_BODY void parked_note::begin(task_kind kind, char const* name, wait_reason const& why,
                                        parked_edge const& edge) noexcept {
  if (name != nullptr || why.name != nullptr || why.owner != nullptr || named_) {
    spin_guard guard{lock_};
    task_.copy(name);
    awaited_.copy(why.name);
    owner_ = why.owner;
    named_ = name != nullptr || why.name != nullptr;
  }
  since_.store(os_env::coarse_nanoseconds(), std::memory_order_relaxed);  // relaxed: for people
  kind_.store(kind, std::memory_order_relaxed);                           // relaxed: for people
  what_.store(why.what, std::memory_order_relaxed);                       // relaxed: for people
  // release, both: who sees it in edge() sees that the wait before has ended
  from_.store(edge.from, std::memory_order_release);
  to_.store(edge.to, std::memory_order_release);  // release: as above
  // relaxed: its own; release: pairs with edge()
  wait_.store(wait_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

HEIST_COLD_BODY void parked_note::end() noexcept {
  // relaxed: its own, and for people
  wait_.store(wait_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  what_.store(nullptr, std::memory_order_relaxed);  // relaxed: for people
  if (owner_ == nullptr) return;
  spin_guard guard{lock_};  // nobody looks at the lock after this
  owner_ = nullptr;
}

HEIST_COLD_BODY parked_note::seen_edge parked_note::edge() const noexcept {
  seen_edge seen;
  seen.wait = wait_.load(std::memory_order_acquire);  // acquire: pairs with begin()
  if (seen.wait % 2 == 0) return seen;
  // acquire: what is read of a later wait is seen to be so, when the number is read again
  seen.from = from_.load(std::memory_order_acquire);
  seen.to = to_.load(std::memory_order_acquire);  // acquire: as above
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
  return fmt::format("{}{}{} waits for {}{}{}",
                     to_string(kind_.load(std::memory_order_relaxed)),  // relaxed: as above
                     task.text[0] != 0 ? " " : "", task.text, what, awaited.text[0] != 0 ? " " : "", awaited.text);
}

HEIST_COLD_BODY void noted_name::copy(char const* from) noexcept {
  std::size_t const n = from == nullptr ? 0 : std::strlen(from);
  std::size_t const kept = n < length - 1 ? n : length - 1;
  if (kept != 0) std::memcpy(text, from, kept);
  text[kept] = 0;
}

}  // namespace heist::detail
