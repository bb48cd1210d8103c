// Counts what the calling thread does to its core's caches, for the profile of CATS (Chen et al., ICS 2012, section
// 3.2.1). Machines that refuse are the normal case: containers, virtual machines.
#pragma once

#include <array>
#include <cerrno>  // EBUSY, EINVAL, ENOENT, EOPNOTSUPP
#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint32_t, uint64_t
#include <string>
#include <string_view>
#include <utility>  // move

#include "heist/core/base/env.hpp"
#include "heist/locality/counters/perf_events.hpp"

namespace heist {

/// Counted since some moment in the past; differences have a meaning, single values have none.
struct counter_values {
  std::uint64_t private_misses = 0;  ///< lines brought into the core's last private data cache (L2)
  std::uint64_t l1_misses = 0;       ///< reads that missed the L1 data cache
  std::uint64_t instructions = 0;

  counter_values& operator+=(counter_values const& other) noexcept {
    private_misses += other.private_misses;
    l1_misses += other.l1_misses;
    instructions += other.instructions;
    return *this;
  }
  friend counter_values operator-(counter_values const& later, counter_values const& earlier) noexcept {
    return {later.private_misses - earlier.private_misses, later.l1_misses - earlier.l1_misses,
            later.instructions - earlier.instructions};
  }
  friend bool operator==(counter_values const&, counter_values const&) = default;
};

/// Counts events of one thread: the one that makes it, from then on.
///
/// Promises  S1  if the machine refuses, the constructor succeeds: available() is false, why() tells in one sentence
///               (without its full stop) the refusal, its reason and its remedy, and read() returns zeros.
///           S2  if available, each value of read() is at least the previous one, and counts this thread's work in
///               between. All zeros are possible: some virtual machines count nothing.
/// Threads   read() on the thread that made it, the destructor on any.
/// Cost      read(), twice per stretch of a profiled task, is tens of nanoseconds where user mode may read the
///           counters, some microseconds where the kernel must. Making one some system calls.
/// Models    hardware_counters
// clang-format off
template <class C>
concept counter_source =
    std::default_initializable<C> &&
    requires(C c, C const& fixed) {
      { c.read() } noexcept -> std::same_as<counter_values>;
      { fixed.available() } noexcept -> std::same_as<bool>;
      { fixed.why() } -> std::convertible_to<std::string>;
    };
/// One that says which event private_misses counts; for notes.
template <class C>
concept naming_source = counter_source<C> && requires(C const& fixed) {
  { fixed.event() } -> std::convertible_to<std::string>;
};
// clang-format on

/// Performance counters of the processor, by perf_event_open. Counts user mode only.
///
/// All events are one group that is counted whenever the thread runs, never for a share of the time.
/// private_misses_of() defines a private miss. If the processor refuses its events, the kernel's own notion of a cache
/// miss takes their place, and event() says so. Making one throws std::bad_alloc at most.
///
/// `Calls` are the calls to the operating system; tests replace them.
template <class Calls>
class basic_hardware_counters {
 public:
  explicit basic_hardware_counters(Calls calls = {}) : calls_(std::move(calls)) {
    auto misses = detail::private_misses_of(calls_.cpuinfo());
    int error = open_group(misses);
    if (error == ENOENT || error == EINVAL || error == EOPNOTSUPP) {
      misses = detail::generic_miss_events();
      error = open_group(misses);
    }
    event_ = std::move(misses.name);
    if (error != 0) {
      why_ = detail::perf_error(error, rejected_, calls_.paranoid());
    } else if (!read_by_kernel(last_)) {  // so reads a pinned group that got no counters
      close();
      why_ = detail::perf_error(EBUSY, "a group that is counted all the time", {});
    }
  }
  basic_hardware_counters(basic_hardware_counters const&) = delete;
  basic_hardware_counters& operator=(basic_hardware_counters const&) = delete;
  ~basic_hardware_counters() { close(); }

  bool available() const noexcept { return count_ > 0; }
  /// Empty if available.
  std::string const& why() const noexcept { return why_; }
  /// The event that private_misses counts.
  std::string const& event() const noexcept { return event_; }

  /// Values up to now; the last ones again if the kernel fails to read them.
  counter_values read() noexcept {
    if (count_ == 0) return last_;
    counter_values now;
    if (read_in_user_mode(now) || read_by_kernel(now)) last_ = now;
    return last_;
  }

 private:
  static constexpr std::size_t most_events = 5;

  struct open_event {
    int file;
    perf_event_mmap_page const volatile* page;
    std::uint64_t counter_values::*counts;
  };

  void close() noexcept {
    while (count_ > 0) {
      auto const& e = events_[--count_];
      if (e.page != nullptr) calls_.unmap(e.page);
      calls_.close(e.file);
    }
  }

  /// All events or none: an error number, or 0.
  int open_group(detail::private_miss_events const& misses) {
    for (auto const& event : misses.events)
      if (int const error = open_one(event, &counter_values::private_misses, misses.name)) return error;
    constexpr auto l1_read_miss = std::uint64_t{PERF_COUNT_HW_CACHE_L1D} | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                                  PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
    int error = open_one({PERF_TYPE_HW_CACHE, l1_read_miss}, &counter_values::l1_misses, "L1 data cache read misses");
    if (error == 0)
      error = open_one({PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}, &counter_values::instructions, "instructions");
    return error;
  }
  int open_one(detail::perf_event event, std::uint64_t counter_values::*counts, std::string_view name) {
    int const file = calls_.open(event, count_ == 0 ? -1 : events_[0].file);
    if (file < 0) {
      close();
      rejected_ = name;
      return -file;
    }
    events_[count_++] = {file, Calls::reads_in_user_mode ? calls_.map(file) : nullptr, counts};
    return 0;
  }

  bool read_by_kernel(counter_values& to) noexcept {
    std::array<std::uint64_t, 1 + most_events> group;  // their number, then the values
    if (!calls_.read(events_[0].file, group.data(), (1 + count_) * sizeof group[0]) || group[0] != count_) return false;
    to = {};
    for (std::size_t i = 0; i < count_; ++i) to.*events_[i].counts += group[1 + i];
    return true;
  }

  bool read_in_user_mode(counter_values& to) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      std::uint64_t value = 0;
      if (events_[i].page == nullptr || !read_page(*events_[i].page, value)) return false;
      to.*events_[i].counts += value;
    }
    return true;
  }

  /// The protocol of <linux/perf_event.h>: the kernel changes `lock` before and after it changes the rest. It does so
  /// on this thread's core, when the thread is switched out and in again, so the compiler alone must keep the order.
  /// False if the event is not in a counter at this moment, or if user mode may not read it.
  bool read_page(perf_event_mmap_page const volatile& page, std::uint64_t& value) noexcept {
    std::uint32_t lock = 0;
    do {
      lock = page.lock;
      os_env::fence(std::memory_order_acquire);  // acquire: `lock` is read before the rest
      std::uint32_t const index = page.index;    // 0: in no counter; else one more than its number
      if (page.cap_user_rdpmc == 0 || index == 0 || page.pmc_width == 0) return false;
      auto const unused_bits = 64u - page.pmc_width;
      auto const counted = static_cast<std::int64_t>(calls_.counter(index - 1) << unused_bits) >> unused_bits;
      value = static_cast<std::uint64_t>(page.offset) + static_cast<std::uint64_t>(counted);
      os_env::fence(std::memory_order_acquire);  // acquire: the rest is read before `lock` again
    } while (page.lock != lock);
    return true;
  }

  [[no_unique_address]] Calls calls_;
  std::array<open_event, most_events> events_{};
  std::string rejected_;  ///< the event that was, if one was
  std::size_t count_ = 0;
  counter_values last_;
  std::string why_;
  std::string event_;
};

using hardware_counters = basic_hardware_counters<detail::os_perf>;

static_assert(counter_source<hardware_counters>);

}  // namespace heist
