// Door: what waits without its worker: mutex, timed_mutex, recursive_mutex, shared_mutex, condition_variable_any,
// counting_semaphore, latch, barrier, manual_reset_event, channel; and what heist::with{.deadline} needs. Not part of heist.hpp.
#pragma once

#include "heist/executor.hpp"
#include "heist/parallel/primitives/channel.hpp"
#include "heist/parallel/primitives/condition_variable.hpp"
#include "heist/parallel/primitives/deadline.hpp"
#include "heist/parallel/primitives/latch.hpp"
#include "heist/parallel/primitives/mutex.hpp"
#include "heist/parallel/primitives/semaphore.hpp"
#include "heist/parallel/primitives/shared_mutex.hpp"
