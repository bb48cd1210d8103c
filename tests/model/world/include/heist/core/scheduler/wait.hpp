// Stands for core/scheduler/wait.hpp: only threads outside wait here. They do not look before they sleep
// (completion.cpp).
#pragma once

#include "heist/core/scheduler/core.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

struct wait_reason {
  char const* what = nullptr;
  char const* name = nullptr;
};

inline void wait_for(completion& c, unsigned, wait_reason const& = {}) {
  if (c.is_ready()) return;
  model::check(this_worker() == nullptr, "a worker waits");
  thread_waiter<os_env, 0> me;
  if (c.add_entry(me)) me.wait();
}
inline void wait_to_the_end(completion& c, unsigned generation, wait_reason const& why) {
  wait_for(c, generation, why);
}

}  // namespace heist::detail
