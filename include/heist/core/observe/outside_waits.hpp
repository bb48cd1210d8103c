// The waits of callers that are no fibers, for executor::state_text.
#pragma once

#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::detail {

/// The time since `since` (os_env::coarse_nanoseconds), as " (for 2.1 s)".
std::string wait_text(std::int64_t since);

/// One look at a wait. The waiting task holds `holds` until the wait has ended.
struct wait_look {
  static constexpr unsigned most_held = 8;
  struct permits {
    void const* of;
    std::uint32_t count;
  };

  std::uint32_t number = 0;  ///< the wait's: while it stays the same, so do the other fields. Even: there is no wait.
  void const* from = nullptr;
  void const* to = nullptr;
  std::uint32_t spare = 0;    ///< it may end unless more than that of `to` is held by waits that do not end
  std::uintptr_t owner = 0;   ///< the owner of the lock that it waits for, or 0 (parked_note::owner)
  bool of_semaphore = false;  ///< any code may end it by a release
  unsigned held = 0;
  permits holds[most_held];

  void hold(void const* of, std::uint32_t count) noexcept {
    if (held != most_held) holds[held++] = {of, count};
  }
};

struct outside_note {
  /// One line that names the awaited object and the time of the wait. While it is made, no note leaves the list.
  std::string (*text)(outside_note const& self) = nullptr;
  /// Adds to `seen` the permits that are held while a task waits, and unless it `runs`, the wait. Null: nothing is known.
  void (*look)(outside_note const& self, bool runs, wait_look& seen) noexcept = nullptr;
  outside_note* next = nullptr;
  outside_note** link = nullptr;  ///< the pointer to it, while it is in the list
  std::int64_t since = 0;         ///< when it was added
};

/// In a child of fork() it is empty: the threads and workers that have added notes exist in the parent only.
///
/// Threads  any.
/// Promises no memory is allocated and no text is made under the lock. So a thread that adds a note never waits for a text.
class outside_waits {
 public:
  void add(outside_note& n) noexcept;
  /// Waits until the texts that are being made are complete.
  void remove(outside_note& n) noexcept;
  bool empty() const noexcept;
  /// At most `most` lines.
  std::string text(unsigned most) const;

  /// Keeps the notes in the list.
  class reader {
   public:
    explicit reader(outside_waits const& of) noexcept;
    reader(reader const&) = delete;
    reader& operator=(reader const&) = delete;
    ~reader();

    outside_note const* first = nullptr;

   private:
    outside_waits const& of_;
    bool reads_ = false;
  };

 private:
  mutable spin_lock<> lock_;
  bool of_this_process() const noexcept { return process_ == os_env::process(); }

  outside_note* first_ = nullptr;
  unsigned process_ = 0;          ///< in which first_ was written
  mutable unsigned readers_ = 0;  ///< calls of text(), for which notes stay
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/observe/outside_waits.ipp"
#endif
