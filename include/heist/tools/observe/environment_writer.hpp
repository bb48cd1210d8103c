// Records and writes if HEIST_TRACE or HEIST_REPORT is set. A program gets this part by including this header in one of
// its files.
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/core/observe/environment_trace.hpp"

namespace heist::detail {

/// HEIST_TRACE=file: events for https://ui.perfetto.dev. HEIST_REPORT=file: a page for a browser. With - both write to
/// stderr: the events, and some lines in place of the page. %p in a name becomes the number of the process. A process's
/// second executor puts -2 before the extension, the third -3. Null without memory.
environment_trace* make_environment_trace() noexcept;

inline bool const environment_trace_is_there = (environment_trace::make = &make_environment_trace, true);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/tools/observe/environment_writer.ipp"
#endif
