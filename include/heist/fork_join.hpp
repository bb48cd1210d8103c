// Door: context::fork_join, heist::fork_join, scope, region, redistribute, no_migrate, mutex, and the measurement of
// work and span.
#pragma once

#include "heist/executor.hpp"
#include "heist/fork/fork_join.hpp"
#include "heist/fork/redistribute.hpp"
#include "heist/fork/region_entry.hpp"
#include "heist/fork/scope.hpp"
#include "heist/fork/work_span.hpp"
#include "heist/sched/no_migrate.hpp"
#include "heist/sched/region.hpp"
