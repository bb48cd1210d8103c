// Door: a number of threads that several executors share: heist::thread_limit. Not part of heist.hpp.
#pragma once

#include "heist/core/scheduler/thread_limit.hpp"
#include "heist/executor.hpp"
