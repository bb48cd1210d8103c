// Door: tasks for one thread, such as the main thread: heist::run_loop. Not part of heist.hpp.
#pragma once

#include "heist/executor.hpp"
#include "heist/parallel/async/run_loop.hpp"
