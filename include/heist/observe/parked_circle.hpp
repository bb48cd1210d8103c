// A circle among tasks that have parked, for people who look at a hang (executor::state_text, HEIST_WATCHDOG).
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "heist/base/config.hpp"
#include "heist/observe/parked_note.hpp"

namespace heist::detail {

/// A fiber that may have parked: its note and its stack.
struct parked_place {
  parked_note const* note;
  std::uintptr_t stack_bottom;
  std::size_t stack_bytes;
};

/// Which of them has the lock whose owner() is `owner`. Null: none of them.
HEIST_ALWAYS_INLINE parked_note const* owner_of(std::uintptr_t owner, std::vector<parked_place> const& all) noexcept {
  for (parked_place const& p : all) {
    if (p.note->waits() && owner - p.stack_bottom < p.stack_bytes) return p.note;
  }
  return nullptr;
}
/// One sentence for a circle among those that wait, or nothing. They may park and resume meanwhile: what it says was so
/// at a moment, and then stays so.
std::string text_of_circle(std::vector<parked_place> const& all);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/observe/parked_circle.ipp"
#endif
