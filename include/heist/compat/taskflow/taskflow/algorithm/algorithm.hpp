// Taskflow's folder has a file of this name; here taskflow.hpp has it all.
#pragma once

#include "heist/compat/taskflow/taskflow/taskflow.hpp"
