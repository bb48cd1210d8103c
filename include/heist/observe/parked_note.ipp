// Bodies of parked_note.hpp.
#pragma once

#include "heist/observe/parked_note.hpp"

#include <fmt/format.h>

#include <cstring>  // strlen, memcpy

namespace heist::detail {

HEIST_COLD_BODY void parked_note::begin(task_kind kind, char const* name, wait_reason const& why) noexcept {
  if (name != nullptr || why.name != nullptr || named_) {
    spin_guard guard{lock_};
    copy(task_, name);
    copy(awaited_, why.name);
    named_ = name != nullptr || why.name != nullptr;
  }
  kind_.store(kind, std::memory_order_relaxed);      // relaxed: for people
  what_.store(why.what, std::memory_order_relaxed);  // relaxed: for people
}

HEIST_COLD_BODY std::string parked_note::text() const {
  char const* const what = what_.load(std::memory_order_relaxed);  // relaxed: for people
  if (what == nullptr) return {};
  char task[length], awaited[length];
  {
    spin_guard guard{lock_};
    std::memcpy(task, task_, length);
    std::memcpy(awaited, awaited_, length);
  }
  return fmt::format("{}{}{} waits for {}{}{}",
                     to_string(kind_.load(std::memory_order_relaxed)),  // relaxed: as above
                     task[0] != 0 ? " " : "", task, what, awaited[0] != 0 ? " " : "", awaited);
}

HEIST_COLD_BODY void parked_note::copy(char (&to)[length], char const* from) noexcept {
  std::size_t const n = from == nullptr ? 0 : std::strlen(from);
  std::size_t const kept = n < length - 1 ? n : length - 1;
  if (kept != 0) std::memcpy(to, from, kept);
  to[kept] = 0;
}

}  // namespace heist::detail
