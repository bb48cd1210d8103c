// One executor for the whole process, so that libraries share its workers.
#pragma once

#include "heist/base/config.hpp"
#include "heist/executor/executor.hpp"

namespace heist {

/// The executor of the process: made at the first call, with as many workers as the environment variable HEIST_WORKERS
/// says, or, without it, as CPUs that the process may use. Destroyed when the program ends, after all its work. The
/// first call throws what executor's constructor throws, and executor_error if HEIST_WORKERS is no such number; the
/// next one tries again.
///
/// Threads  any. Of several shared libraries with hidden visibility each has its own.
HEIST_ONE_COPY executor<>& default_executor();

namespace detail {
/// What HEIST_WORKERS says: 0 if nothing. Throws executor_error.
std::size_t workers_wanted(char const* text);
}  // namespace detail

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/dynamic/default_executor.ipp"
#endif
