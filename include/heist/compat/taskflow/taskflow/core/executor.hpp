// The executor and how it runs tasks.
#pragma once

#include "heist/compat/taskflow/taskflow/core/runtime.hpp"
#include "heist/compat/taskflow/taskflow/core/scheduling.hpp"
#include "heist/compat/taskflow/taskflow/core/task_group.hpp"
