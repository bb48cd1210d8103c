// The knowledge of one thread, store or fence: which stores can no longer be overlooked, and which plain accesses
// happen before this point.
#pragma once

#include <array>
#include <cstdint>

namespace model {

/// Thread 0 sets an execution up and checks its end; the other threads are under test.
inline constexpr int max_threads = 8;
/// Atomics that one execution may create, the freed ones included.
inline constexpr int max_locations = 160;

/// Signed, because baseline x86-64 has a vector maximum for signed 16-bit numbers.
using stamp = std::int16_t;

/// A point in the partial order of an execution.
struct view {
  /// Per atomic: index of the oldest store that may still be read.
  std::array<stamp, max_locations> seen{};
  /// Per thread: its accesses up to this number happen before this point.
  std::array<stamp, max_threads> clock{};

  /// Learns everything that `other` knows, as in a synchronisation.
  void join(view const& other) noexcept {
    join_seen(other);
    for (int i = 0; i < max_threads; ++i) raise(clock[i], other.clock[i]);
  }

  /// Learns only which stores are too old, as between sc fences. They do not order plain accesses.
  void join_seen(view const& other) noexcept {
    for (int block = 0; block < used; block += lane) {
      for (int i = block; i < block + lane; ++i) raise(seen[i], other.seen[i]);
    }
  }

  /// Number of atomics of the running execution; the rest of `seen` is zero everywhere.
  static inline int used = 0;

 private:
  static constexpr int lane = 8;
  static_assert(max_locations % lane == 0);
  static void raise(stamp& to, stamp from) noexcept { to = to < from ? from : to; }
};

}  // namespace model
