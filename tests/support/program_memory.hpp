// The traces that a random program leaves when it runs. They are plain memory that its tasks share without atomics, so
// forks, joins and edges must order it, and ThreadSanitizer sees missing order.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>  // move
#include <vector>

#include "support/random_program.hpp"

namespace heist_test {

/// The value of a node, from its number and the sum of the values that count for it.
inline std::uint64_t node_value(std::uint32_t node, std::uint64_t sum) noexcept {
  std::uint64_t x = sum + (node + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Waits for a task of an executor that is under no test. start_remote() makes it; not to be called by a task.
void start_remote();
void wait_remote();

/// Its destructor waits: elsewhere, and if `here` is given by that, too. Counts the objects that there are.
class waits_at_end {
 public:
  explicit waits_at_end(std::function<void()> const* here) noexcept : here_{here} {
    alive.fetch_add(1, std::memory_order_relaxed);
  }
  waits_at_end(waits_at_end const&) = delete;
  waits_at_end& operator=(waits_at_end const&) = delete;
  ~waits_at_end() {
    wait_remote();
    if (here_ != nullptr) (*here_)();
    alive.fetch_sub(1, std::memory_order_relaxed);
  }

  static inline std::atomic<std::int64_t> alive{0};

 private:
  std::function<void()> const* here_;
};
using waiting_end = std::shared_ptr<waits_at_end>;

/// The exception of a node that throws. Counts the objects that exist.
struct program_failure {
  explicit program_failure(std::uint32_t n, waiting_end e = {}) noexcept : node{n}, end{std::move(e)} {
    alive.fetch_add(1, std::memory_order_relaxed);
  }
  program_failure(program_failure const& other) noexcept : program_failure{other.node, other.end} {}
  program_failure& operator=(program_failure const&) = delete;
  ~program_failure() { alive.fetch_sub(1, std::memory_order_relaxed); }

  std::uint32_t node;
  waiting_end end;
  static inline std::atomic<std::int64_t> alive{0};
};

/// Handles that said something else when their graph and their executor were gone.
inline std::atomic<std::int64_t> wrong_handles{0};
/// The counts that must be as before when an executor is gone, with all its work.
inline std::int64_t left_behind() noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;  // asked when all threads have ended
  return program_failure::alive.load(relaxed) + waits_at_end::alive.load(relaxed) + wrong_handles.load(relaxed);
}

/// The faults that a task itself saw, as bits.
enum sight : std::uint32_t {
  early = 1u << 0,        ///< before something that it is to come after had ended, or after its parent had
  other_value = 1u << 1,  ///< a result that differs from the value that the child left
  moved = 1u << 2,        ///< on another worker, though it was not to migrate
  untold = 1u << 3,       ///< nothing told it of a stop
  no_worker = 1u << 4,    ///< on a worker, or in a squad, that there is none of
  crowded = 1u << 5       ///< while another task of the same limiter ran
};

/// The notes of one node. Only that node writes them, except `inside`, `passed` and `group_cut`.
struct program_cell {
  std::uint64_t value = 0;
  std::uint32_t start_time = 0, ended = 0, failed = 0;  ///< failed: left by an exception
  std::uint32_t threw = 0;                              ///< by itself
  std::uint32_t sights = 0;
  std::uint32_t worker = 0;
  std::uint32_t cut = 0;                 ///< of a node that runs a graph: 1: the run was stopped, 2: the node, too
  std::uint32_t inside = 0, passed = 0;  ///< of such a node: written by its limited tasks
  bool group_cut = false;                ///< when_all() was stopped; the coroutine writes it in the first of the group
  std::array<std::uint32_t, most_noted> caught{};  ///< by group: 1 + the node whose exception it was
};

/// Faults that are planted, to see whether the judge notices them.
enum class sabotage : std::uint8_t { none, loses, doubles, swaps, spoils, swallows, forgets };

struct program_memory {
  program_memory() = default;
  explicit program_memory(random_program const& p) : program{&p}, cells(p.size()) {}
  void clear() {
    for (auto& c : cells) c = {};
    stop = std::stop_source{};
  }

  random_program const* program = nullptr;
  /// For the callable of that node to hold; mostly nothing.
  waiting_end end_of(std::uint32_t n) const {
    if (!program->nodes[n].is(ends_waiting)) return {};
    if (broken == sabotage::forgets) waits_at_end::alive.fetch_add(1, std::memory_order_relaxed);
    return std::make_shared<waits_at_end>(n % 2 == 0 ? wait_here : nullptr);
  }

  std::vector<program_cell> cells;
  std::stop_source stop;
  bool armed = true;  ///< do nodes that throw or stop do so?
  std::uint32_t workers = 1, squads = 1;
  std::function<void()> const* wait_here = nullptr;  ///< for a task of the executor; lives as long as that
  sabotage broken = sabotage::none;
};

/// The end of a run, as the caller that started it saw it.
struct program_outcome {
  std::uint32_t delivered = no_node;  ///< the node whose exception arrived
  bool threw_other = false;           ///< something else arrived
  std::string text;                   ///< what it said
  bool stopped = false;               ///< of a graph
  std::uint32_t more = 0;             ///< of a graph: runs that a callback has started
  std::uint64_t value = 0;            ///< of a tree
};

/// Values are sums, of which the places among the siblings are part: two that are swapped do not cancel out.
inline std::uint64_t weighed(std::uint64_t value, std::uint32_t place) noexcept {
  return value * (2 * place + std::uint64_t{1});
}
/// Values that count instead of children whose exception was caught, or that a stop has skipped.
inline constexpr std::uint64_t value_of_caught = 0x5ca1ab1e, value_of_skipped = 0x0ddba11;

}  // namespace heist_test
