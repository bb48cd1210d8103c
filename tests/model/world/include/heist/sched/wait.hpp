// Stands for sched/wait.hpp: only threads outside wait here. They do not look before they sleep (completion.cpp).
#pragma once

#include "heist/sched/core.hpp"
#include "heist/sync/completion.hpp"

namespace heist::detail {

inline void wait_for(completion& c, unsigned) {
  if (c.done()) return;
  model::check(this_worker() == nullptr, "a worker waits");
  thread_waiter<os_env, 0> me;
  if (c.enlist(me)) me.wait();
}

}  // namespace heist::detail
