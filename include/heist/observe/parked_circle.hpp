// A circle among tasks that have parked, for people who look at a hang (executor::state_text, HEIST_WATCHDOG).
#pragma once

#include <string>
#include <vector>

#include "heist/base/config.hpp"
#include "heist/observe/parked_note.hpp"

namespace heist::detail {

/// One sentence for a circle among those that wait, or nothing. They may park and resume meanwhile: what it says was so
/// at a moment, and then stays so.
std::string text_of_circle(std::vector<parked_note const*> const& notes);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/observe/parked_circle.ipp"
#endif
