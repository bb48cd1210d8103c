// Door: coroutine, resume_on, sync_wait, when_all; empty where the compiler has no coroutines of the standard.
#pragma once

#include "heist/core/base/config.hpp"

#if HEIST_COROUTINES
#include "heist/graph.hpp"
#include "heist/parallel/coroutine/coroutine.hpp"
#include "heist/parallel/coroutine/graph.hpp"
#include "heist/parallel/coroutine/when_all.hpp"
#endif
