// Door: tasks after tasks: heist::after, heist::with, then, when_all, when_any; default_executor, any_executor,
// per_worker.
#pragma once

#include "heist/dynamic/after.hpp"
#include "heist/dynamic/any_executor.hpp"
#include "heist/dynamic/default_executor.hpp"
#include "heist/dynamic/per_worker.hpp"
#include "heist/dynamic/when.hpp"
#include "heist/dynamic/with.hpp"
#include "heist/executor.hpp"
