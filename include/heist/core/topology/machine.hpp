// A machine as plain data: its PUs (hardware threads) in logical order and the parts that each of them shares with
// other PUs. Nothing here asks the operating system; discover.hpp fills it in.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, uint32_t, uint64_t
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"

namespace heist::topology {

/// A hardware thread, and the logical index of everything around it; -1 where the machine has no such thing.
struct pu {
  std::uint32_t os_index = 0;  ///< the number that the operating system gives it
  std::int32_t core = -1;
  std::int32_t l2 = -1;
  std::int32_t l3 = -1;
  std::int32_t numa = -1;  ///< the memory nearest to it
  std::int32_t package = -1;

  friend bool operator==(pu const&, pu const&) = default;
};

/// The hardware that an executor runs on, or pretends to run on.
///
/// A regular value; may be edited. Neighbours in `pus` are close to each other. The indices of each level start at 0
/// and leave no gaps, in order of `pus`.
struct machine {
  std::vector<pu> pus;  ///< in logical order: PUs of a core, cores of a cache, ... stand together

  std::uint64_t l1d_bytes = 0;   ///< size of one L1 data cache; 0 if unknown (also below)
  std::uint64_t l2_bytes = 0;    ///< size of one L2 cache
  std::uint64_t l3_bytes = 0;    ///< size of one L3 cache
  std::uint64_t line_bytes = 0;  ///< size of a cache line

  /// numa_count() x numa_count() relative latencies, row by row, 10 = local as in ACPI; empty if unknown.
  std::vector<std::uint64_t> numa_distances;

  bool is_this_machine = false;  ///< threads may be pinned to its PUs: os_index means something here
  std::string note;              ///< a diagnostic of the discovery, empty if all went well

  std::size_t pu_count() const noexcept { return pus.size(); }
  std::size_t core_count() const noexcept { return count(&pu::core); }
  std::size_t l2_count() const noexcept { return count(&pu::l2); }
  std::size_t l3_count() const noexcept { return count(&pu::l3); }
  std::size_t numa_count() const noexcept { return count(&pu::numa); }
  std::size_t package_count() const noexcept { return count(&pu::package); }

  /// Latency between two NUMA nodes, 0 if unknown. Takes logical indices, as in pu::numa.
  std::uint64_t numa_distance(std::size_t from, std::size_t to) const noexcept;

  /// One line for people: "2 packages, 2 NUMA nodes, 2 L3 (32 MiB), 8 L2 (1 MiB), 8 cores, 16 PUs".
  std::string to_text() const;

  friend bool operator==(machine const&, machine const&) = default;

 private:
  std::size_t count(std::int32_t pu::*level) const noexcept;
};

namespace detail {

std::string bytes_text(std::uint64_t bytes);

}  // namespace detail

}  // namespace heist::topology

#if HEIST_HEADER_ONLY
#include "heist/core/topology/machine.ipp"
#endif
