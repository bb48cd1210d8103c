// Bodies of thread_limit.hpp.
#pragma once

#include "heist/core/scheduler/thread_limit.hpp"

#include <cstdint>

#include "heist/core/scheduler/core.hpp"

namespace heist {

struct thread_limit::member final : detail::permit_line<>::member {
  explicit member(detail::core& executor) noexcept : of{executor} {}
  void ask() noexcept override {
    for (auto const& w : of.workers) {
      // relaxed: it is asked again if it is missed
      if (w->has_permit.load(std::memory_order_relaxed)) detail::core::notify_busy(*w);
    }
  }
  detail::core& of;
};

HEIST_COLD_BODY thread_limit::member& thread_limit::of(detail::worker& w) noexcept {
  return *static_cast<member*>(w.scheduler.joined_limit());
}

HEIST_COLD_BODY void* thread_limit::join(detail::core& executor) {
  auto* const made = new member{executor};
  line_.join(*made);
  return made;
}

HEIST_COLD_BODY void thread_limit::leave(void* joined) noexcept {
  auto* const m = static_cast<member*>(joined);
  line_.leave(*m);
  delete m;
}

HEIST_COLD_BODY void thread_limit::stop(void* joined) noexcept {
  line_.cancel(*static_cast<member*>(joined));
}

HEIST_COLD_BODY void thread_limit::wait(detail::worker& w, bool gives) noexcept {
  // relaxed: for people
  char const* const before = w.state.exchange("waits for a permit of a thread_limit", std::memory_order_relaxed);
  auto const stops = [&w] { return w.scheduler.stopping(); };
  bool const has = gives ? line_.pass(of(w), stops) : line_.acquire(of(w), stops);
  w.state.store(before, std::memory_order_relaxed);    // relaxed: as above
  w.has_permit.store(has, std::memory_order_relaxed);  // relaxed: its own
  w.permit_since = os_env::ticks();
}

HEIST_COLD_BODY void thread_limit::begin(detail::worker& w) noexcept {
  if (!w.has_permit.load(std::memory_order_relaxed)) wait(w, false);  // relaxed: its own
}

HEIST_COLD_BODY bool thread_limit::try_begin(detail::worker& w) noexcept {
  if (!line_.try_acquire(of(w))) return false;
  w.has_permit.store(true, std::memory_order_relaxed);  // relaxed: its own
  w.permit_since = os_env::ticks();
  return true;
}

HEIST_COLD_BODY void thread_limit::end(detail::worker& w) noexcept {
  if (w.has_permit.exchange(false, std::memory_order_relaxed)) line_.release(of(w));  // relaxed: its own
}

HEIST_COLD_BODY bool thread_limit::is_over(detail::worker const& w) const noexcept {
  constexpr std::uint64_t turn = 2'000'000;  // ticks, about a millisecond
  return line_.wanted() && os_env::ticks() - w.permit_since >= turn;
}

HEIST_COLD_BODY void thread_limit::search(detail::worker& w) noexcept {
  if (!line_.wanted()) return;
  end(w);
  begin(w);
}

HEIST_COLD_BODY void thread_limit::pass(detail::worker& w) noexcept {
  wait(w, w.has_permit.exchange(false, std::memory_order_relaxed));  // relaxed: its own
}

}  // namespace heist
