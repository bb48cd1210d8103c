// Door: tasks after tasks: heist::after, after_always, heist::with, then, when_all, when_any, make_ready_future;
// default_executor, executor_ref, per_worker.
#pragma once

#include "heist/core/executor/with.hpp"
#include "heist/executor.hpp"
#include "heist/parallel/async/after.hpp"
#include "heist/parallel/async/default_executor.hpp"
#include "heist/parallel/async/executor_ref.hpp"
#include "heist/parallel/async/per_worker.hpp"
#include "heist/parallel/async/ready.hpp"
#include "heist/parallel/async/when.hpp"
