// A circle among tasks that have parked, for users that look at a hang (executor::state_text, HEIST_WATCHDOG).
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/observe/parked_note.hpp"

namespace heist::detail {

/// A fiber that may have parked: its note and its stack. Or a task that may wait for permits and has no fiber: `queued`.
struct parked_place {
  parked_note const* note;
  std::uintptr_t stack_bottom;
  std::size_t stack_bytes;
  outside_note const* queued = nullptr;
};

/// The place whose stack has the address `owner`, if it waits. Null: there is none.
parked_note const* owner_of(std::uintptr_t owner, vector<parked_place> const& all) noexcept;
/// One sentence for a circle among the places that wait, or nothing. Tasks may park and resume meanwhile: the sentence
/// was true at a moment, and then stays true. The places stay as long as it lasts (core/sync/README.md, "Circles that
/// are named").
std::string text_of_cycle(vector<parked_place> const& all);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/observe/parked_cycle.ipp"
#endif
