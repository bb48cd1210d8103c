// Door: coroutine, resume_on, sync_wait; empty where the compiler has no coroutines of the standard.
#pragma once

#include "heist/base/config.hpp"

#if HEIST_COROUTINES
#include "heist/coroutine/coroutine.hpp"
#include "heist/coroutine/graph.hpp"
#include "heist/graph.hpp"
#endif
