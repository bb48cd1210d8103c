// Taskflow's names on heist: docs/migration.md says how to use them, and what differs.
#pragma once

#include "heist/compat/taskflow/taskflow/algorithm/module.hpp"
#include "heist/compat/taskflow/taskflow/core/executor.hpp"
#include "heist/compat/taskflow/taskflow/utility/os.hpp"
#include "heist/compat/taskflow/taskflow/utility/standard.hpp"
