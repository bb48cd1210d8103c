// Door: what waits without its worker: mutex, timed_mutex, recursive_mutex, shared_mutex, condition_variable_any,
// counting_semaphore, latch, barrier, manual_reset_event, channel; and what heist::with{.deadline} needs. Not part of heist.hpp.
#pragma once

#include "heist/executor.hpp"
#include "heist/primitives/channel.hpp"
#include "heist/primitives/condition_variable.hpp"
#include "heist/primitives/deadline.hpp"
#include "heist/primitives/latch.hpp"
#include "heist/primitives/mutex.hpp"
#include "heist/primitives/semaphore.hpp"
#include "heist/primitives/shared_mutex.hpp"
