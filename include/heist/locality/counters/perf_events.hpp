// Hardware events on Linux: which ones count the misses of a core's last private data cache, how the kernel opens and
// shows them, and what its refusals mean. The one file that calls perf_event_open; hardware_counters.hpp uses it.
#pragma once

#include <linux/perf_event.h>  // perf_event_attr, perf_event_mmap_page
#include <unistd.h>            // close, read, syscall, sysconf

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint32_t, uint64_t
#include <string>
#include <string_view>
#include <vector>

#include "heist/core/base/config.hpp"

namespace heist::detail {

/// An event as perf_event_open takes it.
struct perf_event {
  std::uint32_t type = 0;    ///< PERF_TYPE_...
  std::uint64_t config = 0;  ///< of PERF_TYPE_RAW on x86: event number + 256 * mask

  friend bool operator==(perf_event const&, perf_event const&) = default;
};

/// Events whose sum is the number of lines that came into the last private data cache, and a name for them.
struct private_miss_events {
  std::vector<perf_event> events;
  std::string name;
};

/// The kernel's own notion of a cache miss; on some processors that of the shared cache.
private_miss_events generic_miss_events();

/// The events to count on this processor, from the text of /proc/cpuinfo. An event for the L2's misses alone does not
/// suffice. In a sweep over arrays the L2's prefetcher brings nearly all lines, and the remaining misses say nothing
/// about the size of the data. So prefetches count as well where the processor can tell them.
private_miss_events private_misses_of(std::string_view cpuinfo);

/// Why perf_event_open failed and how to fix it, as a sentence without its full stop.
/// `paranoid` is the text of /proc/sys/kernel/perf_event_paranoid, empty if it cannot be read.
std::string perf_error(int error, std::string_view event, std::string_view paranoid);

/// The first characters of a file; empty if it cannot be read. Uses no iterator, which would throw when a read fails.
std::string text_of(char const* path, std::size_t most);

/// The operating system's calls that hardware_counters makes. Tests supply another class.
struct os_perf {
  /// A file for an event of the calling thread, counted in user mode only, or -errno. `leader` is the file of the group
  /// that it joins; -1 makes a new group. A group is counted whenever the thread runs, or not at all (pinned): counts
  /// extrapolated from a share of the time would be of no use for one task.
  int open(perf_event event, int leader) noexcept;
  void close(int file) noexcept { ::close(file); }

  /// The page by which the kernel lets user mode read the counter; null if it does not.
  perf_event_mmap_page const volatile* map(int file) noexcept;
  void unmap(perf_event_mmap_page const volatile* page) noexcept;
  /// True if all `bytes` were read from the file.
  bool read(int file, void* to, std::size_t bytes) noexcept;
  /// rdpmc. `index` must be one that the page shows at this moment.
  std::uint64_t counter([[maybe_unused]] std::uint32_t index) noexcept;
  static constexpr bool reads_in_user_mode = is_x86_64;

  std::string cpuinfo() const;  // the first processor speaks for all
  std::string paranoid() const;

 private:
  static std::size_t page_bytes() noexcept;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/counters/perf_events.ipp"
#endif
