// One executor for the whole process, so that libraries share its workers.
#pragma once

#include "heist/base/config.hpp"
#include "heist/executor/executor.hpp"

namespace heist {

/// The executor of the process. The first call makes it, with the number of workers in the environment variable
/// HEIST_WORKERS, or one for each CPU that the process may use. It is destroyed when the program ends, after all its
/// tasks. Throws as executor's constructor, and executor_error if HEIST_WORKERS is not a number of workers; the next
/// call tries again.
///
/// Threads  any. Each shared library with hidden visibility has its own.
HEIST_ONE_COPY executor<>& default_executor();

namespace detail {
/// What HEIST_WORKERS says: 0 if nothing. Throws executor_error.
std::size_t workers_wanted(char const* text);
}  // namespace detail

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/dynamic/default_executor.ipp"
#endif
