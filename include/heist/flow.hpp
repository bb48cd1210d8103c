// Door: flow, datum, read, write, update, commute.
#pragma once

#include "heist/executor.hpp"
#include "heist/parallel/flow/flow.hpp"
