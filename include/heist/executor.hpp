// Door: executor<Policy, Observer>, options, future.
#pragma once

#include "heist/fork/fork_join.hpp"  // a context can fork wherever there is one
#include "heist/fork/region_entry.hpp"
#include "heist/sched/executor.hpp"
