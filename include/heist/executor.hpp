// Door: executor<Policy, Observer>, options, future.
#pragma once

#include "heist/executor/executor.hpp"
#include "heist/fork/fork_join.hpp"  // a context can fork wherever there is one
