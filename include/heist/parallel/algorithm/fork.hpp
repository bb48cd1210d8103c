// Forks of algorithms.
#pragma once

#include <new>  // bad_alloc

#include "heist/core/base/config.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/fiber/control_words.hpp"
#include "heist/core/fork/fork_join.hpp"

namespace heist::detail {

/// Calls c.fork_join(f, g). If that finds no stack for the first (options::max_fibers, memory; child-first order only),
/// calls them one after the other: elements that are under way must not be left there. Both compute in the caller's
/// floating-point modes.
template <class Context, class F, class G>
HEIST_ALWAYS_INLINE void fork_or_call(Context const& c, F&& f, G&& g) {
  bool f_start = false, g_start = false;
  control_words const modes = control_words::now();
  try {
    c.fork_join(
        [&](Context lower) {
          f_start = true;
          in_modes const as_caller{modes};  // another worker may run it
          f(lower);
        },
        [&](Context upper) {
          g_start = true;
          in_modes const as_caller{modes};
          g(upper);
        });
    return;
  } catch (stack_error const&) {
    if (f_start || g_start) throw;  // from inside
  } catch (std::bad_alloc const&) {
    if (f_start || g_start) throw;
  }
  f(c);
  g(c);
}

}  // namespace heist::detail
