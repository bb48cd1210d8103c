// Bodies of wake_place.hpp.
#pragma once

#include "heist/core/base/wake_place.hpp"

#include <sched.h>  // sched_getaffinity, sched_getcpu, sched_setaffinity

#include <cerrno>   // errno, saved around calls
#include <cstddef>  // size_t

namespace heist::detail {

HEIST_COLD_BODY void sleeper_place::before_sleep(int thread) noexcept {
  thread_ = thread;
  waker_ = -1;
}

HEIST_COLD_BODY void sleeper_place::wakes(std::int64_t now, bool keeps_off) noexcept {
  int const saved = errno;
  waker_ = ::sched_getcpu();
  since_ = now;
  if (keeps_off && waker_ >= 0) keep_off(waker_);
  errno = saved;
}

HEIST_COLD_BODY bool sleeper_place::after_sleep(std::int64_t now) noexcept {
  constexpr std::int64_t late = 100'000;  // ns: an idle processor takes half of it at most
  int const saved = errno;
  bool is_late = waker_ >= 0 && now - since_ >= late && ::sched_getcpu() == waker_;
  if (is_kept_off_) restore();
  if (is_late) {  // unless it has only that one
    cpu_set_t mine;
    is_late = ::sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) > 1;
  }
  errno = saved;
  return is_late;
}

HEIST_COLD_BODY void sleeper_place::keep_off(int processor) noexcept {
  if (::sched_getaffinity(thread_, sizeof before_, &before_) != 0) return;
  cpu_set_t others = before_;
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  int const left = CPU_COUNT(&others);
  is_kept_off_ = left != 0 && left != CPU_COUNT(&before_) && ::sched_setaffinity(thread_, sizeof others, &others) == 0;
}

HEIST_COLD_BODY void sleeper_place::restore() noexcept {
  is_kept_off_ = false;
  if (::sched_setaffinity(0, sizeof before_, &before_) == 0) return;
  // Its group has other processors now: all that it may have.
  for (std::size_t i = 0; i != CPU_SETSIZE; ++i) CPU_SET(i, &before_);
  ::sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace heist::detail
