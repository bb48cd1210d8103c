// Bodies of shared_mutex.hpp.
#pragma once

#include "heist/primitives/shared_mutex.hpp"

#include "heist/base/assert.hpp"

namespace heist {

HEIST_COLD_BODY shared_mutex::~shared_mutex() {
  spin_guard guard{lock_};  // the last call of unlock() may not have returned
  if (!line_.empty())
    HEIST_FATAL(
        "a heist::shared_mutex is destroyed while somebody waits for it; fix it by joining the tasks and threads that "
        "use "
        "it before it goes");
}

/// /// Called when there are no waiters, or for the first one.
HEIST_COLD_BODY bool shared_mutex::take(std::uint32_t how) noexcept {
  if (written_ || (how == writes && readers_ != 0)) return false;
  if (how == writes) {
    written_ = true;
  } else {
    ++readers_;
  }
  return true;
}

HEIST_COLD_BODY void shared_mutex::serve(detail::woken_list<>& woken) noexcept {
  while (!line_.empty() && take(line_.first()->wants)) line_.serve_first(woken);
}

HEIST_COLD_BODY bool shared_mutex::try_acquire(std::uint32_t how) noexcept {
  spin_guard guard{lock_};
  return line_.empty() && take(how);
}

HEIST_COLD_BODY detail::wait_end shared_mutex::acquire_or_enter(waiter& w) noexcept {
  spin_guard guard{lock_};
  if (w.end != detail::wait_end::none) return w.end;
  if (line_.empty() && take(w.wants)) return w.end = detail::wait_end::served;
  return line_.enter(w) ? detail::wait_end::none : w.end;
}

HEIST_COLD_BODY bool shared_mutex::wait(std::uint32_t how, std::int64_t end) {
  waiter w;
  w.wants = how;
  return detail::wait_in_line(in_line(), w, end, [&] { return acquire_or_enter(w); });
}

HEIST_COLD_BODY void shared_mutex::unlock() noexcept {
  detail::woken_list<> woken;
  spin_guard guard{lock_};
  if (!written_)
    HEIST_FATAL(
        "a heist::shared_mutex is unlocked that nobody has locked; fix it by a std::unique_lock, which does both once");
  written_ = false;
  serve(woken);
}

HEIST_COLD_BODY void shared_mutex::unlock_shared() noexcept {
  detail::woken_list<> woken;
  spin_guard guard{lock_};
  if (readers_ == 0)
    HEIST_FATAL(
        "a heist::shared_mutex is unlocked that nobody reads; fix it by a std::shared_lock, which does both once");
  if (--readers_ == 0) serve(woken);
}

HEIST_COLD_BODY void shared_mutex::leave(void* me, detail::queued_waiter<>& w, detail::wait_end why) noexcept {
  auto& m = *static_cast<shared_mutex*>(me);
  detail::woken_list<> woken;
  spin_guard guard{m.lock_};
  if (m.line_.leave(w, why, woken)) m.serve(woken);  // readers may have stood behind a writer
}

}  // namespace heist
