// What a parked task is and what it waits for, for people who look at a hang (executor::state_text, HEIST_WATCHDOG).
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>  // size_t
#include <cstring>  // strlen, memcpy
#include <string>

#include "heist/base/env.hpp"
#include "heist/observe/observer.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist::detail {

/// What somebody waits for.
struct wait_reason {
  char const* what = "the tasks that it has forked";
  char const* name = nullptr;  ///< of that; read by the call that is handed the reason, and not later
};

/// Written by the fiber that parks, read by anybody. Names are copied: what bears them may soon be gone.
class parked_note {
 public:
  void begin(task_kind kind, char const* name, wait_reason const& why) noexcept {
    if (name != nullptr || why.name != nullptr || named_) {
      spin_guard guard{lock_};
      copy(task_, name);
      copy(awaited_, why.name);
      named_ = name != nullptr || why.name != nullptr;
    }
    kind_.store(kind, std::memory_order_relaxed);      // relaxed: for people
    what_.store(why.what, std::memory_order_relaxed);  // relaxed: for people
  }
  void end() noexcept { what_.store(nullptr, std::memory_order_relaxed); }  // relaxed: for people

  bool waits() const noexcept { return what_.load(std::memory_order_relaxed) != nullptr; }  // relaxed: for people

  /// Empty if it does not wait.
  std::string text() const {
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

 private:
  static constexpr std::size_t length = 48;

  static void copy(char (&to)[length], char const* from) noexcept {
    std::size_t const n = from == nullptr ? 0 : std::strlen(from);
    std::size_t const kept = n < length - 1 ? n : length - 1;
    if (kept != 0) std::memcpy(to, from, kept);
    to[kept] = 0;
  }

  os_env::atomic<char const*> what_{nullptr};
  os_env::atomic<task_kind> kind_{task_kind::other};
  bool named_ = false;
  mutable spin_lock<> lock_;  // guards the names
  char task_[length]{};
  char awaited_[length]{};
};

}  // namespace heist::detail
