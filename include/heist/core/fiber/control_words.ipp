// Bodies of control_words.hpp.
#pragma once

#include "heist/core/fiber/control_words.hpp"

#include "heist/core/base/assert.hpp"

namespace heist::detail {

HEIST_BODY in_modes::in_modes(control_words wanted) noexcept : before_{control_words::now()} {
  changes_ = before_.modes() != wanted.modes();
  if (changes_) wanted.with_flags_of(before_).install();
  asm volatile("" ::: "memory");  // later code computes in these modes
}

HEIST_BODY in_modes::~in_modes() {
  asm volatile("" ::: "memory");  // as above
  if (changes_) before_.with_flags_of(control_words::now()).install();
}

HEIST_COLD_BODY void keeps_modes::check([[maybe_unused]] control_words before) noexcept {
  HEIST_ASSERT(control_words::now().modes() == before.modes(),
               "a task has ended, or a coroutine is suspended, in another floating-point mode than it began with "
               "(rounding, denormals, traps), and the worker's next task would compute in that mode; fix it by "
               "restoring the mode first, or by setting it on the thread that makes the executor, before it makes it");
}

}  // namespace heist::detail
