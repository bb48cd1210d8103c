// Many ranks in one process: a program that runs on each of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "heist/distributed/in_process.hpp"
#include "heist/distributed/world.hpp"

namespace heist_test {

/// Catch's assertions belong to one thread, so ranks count failures.
inline std::atomic<int> wrong{0};
inline void expect(bool holds) {
  if (!holds) ++wrong;
}

/// Calls program(world) on as many ranks, each in a thread of its own. An exception of a rank is rethrown after all
/// ranks have ended.
inline std::uint64_t on_ranks(int ranks, heist::distributed::faults const& faults, heist::world_options const& options,
                              std::function<void(heist::world&)> const& program) {
  heist::distributed::in_process_network network{ranks, faults};
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      using engine = heist::distributed::engine_of<heist::distributed::in_process_engine>;
      heist::world world{std::make_unique<engine>(network, r), options};
      try {
        program(world);
      } catch (...) {
        thrown[static_cast<std::size_t>(r)] = std::current_exception();
      }
    });
  }
  for (auto& t : threads) t.join();
  for (auto const& e : thrown) {
    if (e) std::rethrow_exception(e);
  }
  return network.messages();
}

}  // namespace heist_test
