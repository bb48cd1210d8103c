// Door: context::fork_join, heist::fork_join, scope, no_migrate, mutex.
#pragma once

#include "heist/executor.hpp"
#include "heist/executor/no_migrate.hpp"
#include "heist/fork/fork_join.hpp"
#include "heist/fork/scope.hpp"
