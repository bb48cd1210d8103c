// Stands for core/fiber/current.hpp: virtual threads share all thread_local variables.
#pragma once

#include <array>
#include <cstddef>

#include "../../../../../engine/scheduler.hpp"

namespace heist::detail {

struct worker;

inline std::array<worker*, model::max_threads> worker_of_thread{};

inline worker* this_worker() noexcept {
  return worker_of_thread[static_cast<std::size_t>(model::self())];
}
/// Every thread of a harness begins with it: an execution that was given up has left its own behind.
inline void set_this_worker(worker* w) noexcept {
  worker_of_thread[static_cast<std::size_t>(model::self())] = w;
}

}  // namespace heist::detail
