// For stdexec's test of a replaced backend: the backend that it derives from is heist's.
#pragma once

#include "heist/parallel/execution/backend.hpp"

namespace STDEXEC::__parallel_scheduler_default_impl {

using __parallel_scheduler_backend_impl = heist::detail::parallel_backend;

}  // namespace STDEXEC::__parallel_scheduler_default_impl
