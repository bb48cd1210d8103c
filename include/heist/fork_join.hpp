// Door: context::fork_join, heist::fork_join, scope, no_migrate, mutex.
#pragma once

#include "heist/core/executor/no_migrate.hpp"
#include "heist/core/fork/fork_join.hpp"
#include "heist/core/fork/scope.hpp"
#include "heist/executor.hpp"
