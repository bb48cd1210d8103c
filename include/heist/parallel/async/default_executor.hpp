// One executor for the whole process, so that libraries share its workers.
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/core/executor/executor.hpp"

namespace heist {

/// The executor of the process. The first call makes it, with options{}. It is destroyed when the program ends, after
/// all its tasks. Throws as executor's constructor; the next call tries again.
///
/// Threads  any. Each shared library with hidden visibility has its own.
HEIST_ONE_COPY executor<>& default_executor();

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/async/default_executor.ipp"
#endif
