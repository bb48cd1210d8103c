// Bodies of timed_wait.hpp.
#pragma once

#include "heist/core/executor/timed_wait.hpp"

#include <cstddef>  // size_t

#include "heist/core/base/park_word.hpp"
#include "heist/core/executor/blocking.hpp"
#include "heist/core/executor/circular_wait.hpp"
#include "heist/core/scheduler/wait.hpp"

namespace heist::detail {

// A waiter cannot leave a completion's list before it is woken. So a thread that waits with a limit is not in the list:
// a bell is, one for each completion, which lives until it is rung. The threads sleep at one of a few places that all
// completions share.

/// Where threads sleep that wait for some end; rung too often it only makes them look.
struct alignas(cache_line_size) waker_place {
  park_word rung;
};
inline waker_place& waker_place_of(completion const& end) noexcept {
  static constinit waker_place places[64];
  auto const at = reinterpret_cast<std::uintptr_t>(&end) / 64;
  return places[(at * 0x9E3779B97F4A7C15u) >> 58];
}

struct waker final : completion_waiter {
  waker_place* place;
  explicit waker(waker_place& where) noexcept : completion_waiter{&ring}, place{&where} {}

  static void ring(completion_waiter& self) noexcept {
    auto* const b = static_cast<waker*>(&self);
    b->place->rung.fetch_add(1, std::memory_order_release);  // release: a thread that sees it sees the task ended
    b->place->rung.wake_all();
    delete b;
  }
};

static_assert((awaited_end::has_waker & (async_base::fetched | async_base::waits | async_base::inherits)) == 0);

HEIST_COLD_BODY awaited_end awaited_end_of(async_base& task) noexcept {
  return {task.finished, task.marks, task.generation, {"a future, for a limited time"}, stop_target_of(task)};
}

HEIST_COLD_BODY void sleep_for_end(awaited_end const& of, std::int64_t nanoseconds) {
  constexpr std::uint8_t has_waker = awaited_end::has_waker;
  core::check_process(of.generation);
  waker_place& place = waker_place_of(of.end);
  // relaxed: one bell is enough, and the place is rung also if it is hung too late
  if ((of.marks.fetch_or(has_waker, std::memory_order_relaxed) & has_waker) == 0) {
    waker* made = nullptr;
    try {
      made = new waker{place};
    } catch (...) {
      of.marks.fetch_and(static_cast<std::uint8_t>(~has_waker), std::memory_order_relaxed);  // relaxed: above
      throw;
    }
    if (!of.end.add_entry(*made)) waker::ring(*made);  // other threads may sleep already and rely on it
  }
  auto const sleep = [&] {
    propagated_stop const stop{of.to};
    call_blocking([&]() noexcept {
      std::uint32_t const seen = place.rung.load(std::memory_order_acquire);  // acquire: pairs with ring()
      if (!of.end.is_ready()) place.rung.wait_for(seen, nanoseconds);
    });
  };
  if (this_worker() != nullptr) return sleep();
  noted_thread const noted{of.why};
  sleep();
}

}  // namespace heist::detail
