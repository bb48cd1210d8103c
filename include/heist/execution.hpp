// Door: execution_scheduler, for std::execution (P2300): empty where neither <execution> has it nor stdexec is found.
#pragma once

#include <version>

#if defined(__cpp_lib_senders) || __has_include(<stdexec/execution.hpp>)
#include "heist/executor.hpp"
#include "heist/parallel/execution/bulk.hpp"
#include "heist/parallel/execution/scheduler.hpp"
#endif
