// Door: flow, datum, read, write, update, commute.
#pragma once

#include "heist/dynamic/flow.hpp"
#include "heist/executor.hpp"
