// Stands for core/base/env.hpp: code that is no template over Env, such as a run of a graph, is compiled for the model,
// too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../../../../engine/env.hpp"

namespace heist {

struct os_env : model::env {
  /// The loops that yield only read: those of thieves that never sleep, and of threads that wait for visitors.
  static void yield() noexcept { read_again(); }
  static void nap(std::uint32_t) noexcept { read_again(); }
  static std::uint64_t ticks() noexcept { return 0; }
  static std::int64_t nanoseconds() noexcept { return 0; }
  static std::int64_t coarse_nanoseconds() noexcept { return 0; }
  template <class T>
  static void store_shared(T& field, T value, std::memory_order = std::memory_order_relaxed) noexcept {
    field = value;
  }
  template <class T>
  static T load_shared(T& field, std::memory_order = std::memory_order_relaxed) noexcept {
    return field;
  }

  /// Counts how often each thread has gone to sleep.
  struct park_word : model::park_word {
    void wait(std::uint32_t expected) noexcept {
      ++naps();
      model::park_word::wait(expected);
    }
  };
  static std::uint64_t& naps() noexcept {
    static std::array<std::uint64_t, model::max_threads> of_thread{};
    return of_thread[static_cast<std::size_t>(model::self())];
  }
};

}  // namespace heist
