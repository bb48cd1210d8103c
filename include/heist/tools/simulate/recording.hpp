// The events of a simulation, in the form of a real recording: write_chrome_trace() shows both alike.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <tuple>  // tie
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/tools/observe/chrome_trace.hpp"
#include "heist/tools/observe/placement_trace.hpp"
#include "heist/tools/observe/recorder.hpp"

namespace heist::sim {

/// The events of each worker in the order of simulated time; a tick is shown as a nanosecond. Every stretch of work of
/// a task is a slice. Steals and sleep are as in a real recorder.
class recording {
 public:
  explicit recording(std::size_t workers) : events_(workers) {}

  // Queries of write_chrome_trace().
  std::size_t worker_count() const noexcept { return events_.size(); }
  std::int64_t start_ns() const noexcept { return 0; }
  std::size_t event_count(std::size_t worker) const noexcept { return events_[worker].size(); }
  std::size_t released(std::size_t /*worker*/) const noexcept { return 0; }
  recorded_event const& event_at(std::size_t worker, std::size_t i) const noexcept { return events_[worker][i]; }

  /// Where the tasks of two tiers ran, for check_placement(); empty without tiers.
  std::vector<placement_event> const& placement() const noexcept { return placement_; }

  // Reports of the simulator.
  void placed(std::uint32_t worker, std::uint32_t squad, std::uint32_t task, std::uint32_t level, placement_kind what) {
    placement_.push_back({placement_.size(), name_of(task), worker, squad, level, what});
  }
  void worked(std::uint32_t worker, std::uint32_t task, std::uint64_t from, std::uint64_t to);
  void stole(std::uint32_t worker, std::uint32_t victim, std::uint64_t when);
  void slept(std::uint32_t worker, bool begins, std::uint64_t when);

  friend bool operator==(recording const& a, recording const& b) {
    auto const same = [](recorded_event const& x, recorded_event const& y) {
      return std::tie(x.ns, x.id, x.victim, x.what) == std::tie(y.ns, y.id, y.victim, y.what);
    };
    if (a.events_.size() != b.events_.size()) return false;
    for (std::size_t w = 0; w != a.events_.size(); ++w) {
      if (a.events_[w].size() != b.events_[w].size()) return false;
      for (std::size_t i = 0; i != a.events_[w].size(); ++i)
        if (!same(a.events_[w][i], b.events_[w][i])) return false;
    }
    return true;
  }

 private:
  static void const* name_of(std::uint32_t task) noexcept {
    return reinterpret_cast<void const*>(std::uintptr_t{task} + 1);  // NOLINT(performance-no-int-to-ptr): only compared
  }
  std::vector<std::vector<recorded_event>> events_;
  std::vector<placement_event> placement_;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/recording.ipp"
#endif
