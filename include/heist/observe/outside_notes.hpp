// What is waited for by something that is no fiber, for executor::state_text.
#pragma once

#include <cstdint>
#include <string>

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist::detail {

/// The time since `since` (os_env::coarse_nanoseconds), as " (for 2.1 s)".
std::string waited_text(std::int64_t since);

struct outside_note {
  /// One line that says what is waited for, and how long. While it is made, no note leaves the list.
  std::string (*text)(outside_note const& self) = nullptr;
  outside_note* next = nullptr;
  outside_note** link = nullptr;  ///< what points to it, while it is in the list
  std::int64_t since = 0;         ///< when it was added
};

/// In a child of fork() it is empty: the threads and workers that have added notes exist in the parent only.
///
/// Threads  any.
/// Promises no memory is allocated and no text is made under the lock. So a thread that adds a note never waits for a text.
class outside_notes {
 public:
  void add(outside_note& n) noexcept;
  /// Waits until the texts that are being made are complete.
  void remove(outside_note& n) noexcept;
  bool empty() const noexcept;
  /// For outside_note::text(). Notes are added in front, so `next` of this note and of those behind it does not change.
  outside_note const* first() const noexcept;
  /// At most `most` lines.
  std::string text(unsigned most) const;

 private:
  class reader;

  mutable spin_lock<> lock_;
  bool of_this_process() const noexcept { return process_ == os_env::process(); }

  outside_note* first_ = nullptr;
  unsigned process_ = 0;          ///< in which first_ was written
  mutable unsigned readers_ = 0;  ///< calls of text(), for which notes stay
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/observe/outside_notes.ipp"
#endif
