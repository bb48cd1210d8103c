// Makes the backend that of the program's parallel scheduler (README.md).
#pragma once

#include "heist/parallel/execution/backend.hpp"

#if defined(HEIST_HAS_PARALLEL_SCHEDULER) && defined(STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY)

namespace heist::detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/// stdexec's headers define the replaceable function themselves, and it asks this factory.
inline auto const replaced_backend = replacement::set_parallel_scheduler_backend(&share_parallel_backend);
#pragma GCC diagnostic pop

}  // namespace heist::detail

#elif defined(HEIST_HAS_PARALLEL_SCHEDULER)

/// The replaceable function of the standard. Weak, so that several files of a program may include this header.
__attribute__((weak)) std::shared_ptr<heist::detail::replacement::parallel_scheduler_backend>
heist::detail::replacement::query_parallel_scheduler_backend() {
  return heist::detail::share_parallel_backend();
}

#endif
