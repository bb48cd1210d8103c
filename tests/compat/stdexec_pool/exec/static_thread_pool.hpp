// Stands in for stdexec's pool in stdexec's own tests: an executor of heist with the members that they use.
#pragma once

#if defined(STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY)  // the pool itself is included; the tests do not use it
#include_next <exec/static_thread_pool.hpp>
#else

#include <cstddef>
#include <cstdint>
#include <thread>

#include "heist/execution.hpp"

namespace experimental::execution {

class static_thread_pool {
 public:
  using scheduler = heist::execution_scheduler;

  explicit static_thread_pool(std::uint32_t threads = std::thread::hardware_concurrency()) : workers_{threads} {}

  scheduler get_scheduler() noexcept { return scheduler{workers_}; }
  std::uint32_t available_parallelism() const noexcept { return static_cast<std::uint32_t>(workers_.worker_count()); }
  void request_stop() noexcept {}  // it ends with its work

 private:
  heist::executor<> workers_;
};

}  // namespace experimental::execution

namespace exec = experimental::execution;

#endif
