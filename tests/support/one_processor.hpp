// The thread, and those that it starts, on one processor for a while.
#pragma once

#include <sched.h>

namespace heist_test {

class on_one_processor {
 public:
  on_one_processor() noexcept {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    changed_ = sched_setaffinity(0, sizeof one, &one) == 0;
  }
  on_one_processor(on_one_processor const&) = delete;
  on_one_processor& operator=(on_one_processor const&) = delete;
  ~on_one_processor() {
    if (changed_) sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_;
  bool changed_ = false;
};

}  // namespace heist_test
