// An observer that keeps the places of tasks in two tiers, and a check of the kept places by the rules of CAB and CATS.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint32_t, uint64_t
#include <memory>   // unique_ptr
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>  // forward
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/observe/observer.hpp"

namespace heist {

/// The kinds of reports to a squad_observer.
enum class placement_kind : std::uint8_t { inter_begin, inter_end, intra_begin };

/// One thing that a worker did in an inter-squad task or its subtree.
struct placement_event {
  std::uint64_t order = 0;     ///< an earlier event has a smaller number; all differ
  void const* task = nullptr;  ///< the inter-squad task, by a name that other tasks may have later
  std::uint32_t worker = 0;
  std::uint32_t squad = 0;  ///< the worker's, as the worker reported it
  std::uint32_t level = 0;  ///< inter_begin: in the region's tree, whose body is 1
  placement_kind what = {};
};

/// Keeps all reports to a squad_observer.
///
/// Threads  members of an observer: each worker writes its own list. Everything else while no task runs.
/// Cost     an addition to one counter that all workers share, and 32 bytes, for each event. An event for which there
/// is
///          no memory is dropped and counted.
class placement_trace : public null_observer {
 public:
  static constexpr bool observes = true;

  void start(std::size_t workers);
  void inter_begin(std::size_t worker, std::size_t squad, void const* task, std::uint32_t level) noexcept;
  void inter_end(std::size_t worker, std::size_t squad, void const* task) noexcept;
  void intra_begin(std::size_t worker, std::size_t squad, void const* task) noexcept;

  /// All events, in the order in which they happened. Cost: sorts them.
  std::vector<placement_event> events() const;
  /// Events that were lost.
  std::size_t released() const noexcept;
  /// Forgets all kept events.
  void clear() noexcept;

 private:
  struct alignas(cache_line_size) list {
    std::vector<placement_event> events;
    std::size_t released = 0;
  };

  void add(std::size_t worker, std::size_t squad, void const* task, std::uint32_t level, placement_kind what) noexcept;

  std::vector<std::unique_ptr<list>> lists_;
  alignas(cache_line_size) os_env::atomic<std::uint64_t> next_{0};
};

static_assert(squad_observer<placement_trace> && placement_trace::observes);

/// The result of check_placement().
struct placement_report {
  std::vector<std::string> violations;  ///< a sentence for each
  std::size_t inter_begins = 0;         ///< inter-squad tasks that were taken, and those continued after their children
  std::size_t intra_begins = 0;         ///< frames of their subtrees that changed their worker, or waited
  std::size_t squads_used = 0;          ///< squads that ran some inter-squad task
  std::uint32_t deepest = 0;            ///< the largest level

  bool ok() const noexcept { return violations.empty(); }
  /// For people: the figures, then at most `most` violations.
  std::string text(std::size_t most = 10) const;
};

namespace detail {

/// Follows a trace from event to event.
class placement_checker {
 public:
  placement_checker(std::span<std::uint32_t const> squad_of, std::span<std::uint32_t const> head,
                    std::optional<std::uint32_t> deepest_allowed)
      : squad_of_{squad_of},
        head_{head},
        deepest_allowed_{deepest_allowed},
        running_(head.size()),
        used_(head.size()) {}

  void look_at(placement_event const& e);
  placement_report finish();

 private:
  void begins(placement_event const& e);
  void check_level(placement_event const& e);
  void ends(placement_event const& e);
  void intra_begin(placement_event const& e);

  template <class... Arguments>
  void wrong(placement_event const& e, fmt::format_string<Arguments...> why, Arguments&&... arguments) {
    constexpr std::string_view words[] = {"begins inter-squad task", "ends inter-squad task",
                                          "goes on with a frame below inter-squad task"};
    std::string const level = e.what == placement_kind::inter_begin ? fmt::format(" of level {}", e.level) : "";
    report_.violations.push_back(fmt::format("event {}: worker {} of squad {} {} {}{}, but {}", e.order, e.worker,
                                             e.squad, words[static_cast<std::size_t>(e.what)], e.task, level,
                                             fmt::format(why, std::forward<Arguments>(arguments)...)));
  }

  std::span<std::uint32_t const> squad_of_;  ///< worker -> squad
  std::span<std::uint32_t const> head_;      ///< squad -> its head worker
  std::optional<std::uint32_t> deepest_allowed_;
  std::vector<void const*> running_;  ///< squad -> the inter-squad task that it is busy with
  std::vector<bool> used_;
  std::unordered_map<void const*, placement_event> open_;  ///< inter-squad task -> its begin
  std::unordered_set<std::uint32_t> levels_;               ///< of which a task has begun
  bool any_ = false;
  std::uint64_t last_ = 0;
  placement_report report_;
};

}  // namespace detail

/// Checks a trace of an executor whose workers are divided into `squads` (topology::make_squads), from a moment at
/// which no region ran to another one (CAB, section III; CATS, section 3.3):
///
/// - Only head workers begin inter-squad tasks. Only they continue with such tasks after the children.
/// - A squad runs one inter-squad task at a time, with its whole subtree. Every task that begins ends there.
/// - A worker that continues a frame is in the squad that runs the inter-squad task of that frame's subtree.
/// - A region's body is level 1. A task begins after one of the level above. If `deepest` is given, no task is below it.
///
/// Tasks that wait at an inter-squad fork under a heist::no_migrate guard go on without waiting for their squad, which
/// the trace shows as a violation.
/// Cost: linear in the number of events.
template <class Squads>
placement_report check_placement(std::span<placement_event const> events, Squads const& squads,
                                 std::optional<std::uint32_t> deepest = std::nullopt) {
  detail::placement_checker checker{squads.squad_of, squads.head, deepest};
  for (auto const& e : events) checker.look_at(e);
  return checker.finish();
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/tools/observe/placement_trace.ipp"
#endif
