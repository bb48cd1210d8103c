// Door: executor<Policy, Observer>, options, future.
#pragma once

#include "heist/core/executor/executor.hpp"
#include "heist/core/fork/fork_join.hpp"  // a context can fork wherever there is one
