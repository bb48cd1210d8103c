// Everything: task graphs, asyncs, fork/join, policies, machines, observers.
#pragma once

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/observe.hpp"
#include "heist/policy.hpp"
#include "heist/topology.hpp"
