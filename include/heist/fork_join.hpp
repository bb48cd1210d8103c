// Door: context::fork_join, heist::fork_join, scope.
#pragma once

#include "heist/executor.hpp"
#include "heist/fork/fork_join.hpp"
#include "heist/fork/scope.hpp"
