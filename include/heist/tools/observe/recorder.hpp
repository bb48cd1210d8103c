// An observer that keeps what happens on each worker, in order and with times, to be looked at later.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint8_t, uint32_t
#include <cstdio>   // snprintf
#include <cstring>  // memcpy, strlen
#include <memory>   // unique_ptr
#include <new>      // bad_alloc
#include <string_view>
#include <unordered_set>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/observe/observer.hpp"
#include "heist/tools/observe/event_clock.hpp"
#include "heist/tools/observe/task_edges.hpp"

// Edges
//   E1  record: size.store(release) -> event_count, for_each_event: size.load(acquire) events, names, chunks below size

namespace heist {

/// The kind of an event; see observer.hpp.
enum class event_kind : std::uint8_t { task_begin, task_end, steal, sleep, wake, park, resume, module_end };

/// An event on one worker.
struct recorded_event {
  std::int64_t ns = 0;       ///< steady_clock
  void const* id = nullptr;  ///< id of the task; park, resume: id of the fiber
  /// task_begin, module_end: the name of the task. park: the reason of the wait. nullptr: there is none. The text lives
  /// as long as the recording.
  char const* name = nullptr;
  std::uint32_t victim = 0;  ///< steal: the worker that was robbed
  event_kind what = {};
  task_kind kind = task_kind::other;  ///< task_begin, task_end
};

/// Records the events of an executor's workers.
///
/// Keeps the first `capacity` events of each worker, rounded up to whole chunks, and counts the later ones. It
/// allocates memory as needed, and drops an event without memory.
/// Threads   members of an observer: each worker writes its own buffer. Any thread may read at any time, but not while
///           start() runs, and sees the events so far. A run or a future that was waited for is recorded whole. Of
///           posted tasks the last end may be missing until the executor is idle.
/// Cost      a look at the clock and 32 bytes per event; a name or a reason of a wait costs a hash of it.
class recorder {
 public:
  static constexpr bool observes = true;
  static constexpr std::size_t default_capacity = std::size_t{1} << 20;

  explicit recorder(std::size_t capacity_per_worker = default_capacity)
      : chunks_per_worker_((capacity_per_worker + chunk_size - 1) / chunk_size) {}

  /// Drops all events, and makes room for this many workers.
  void start(std::size_t workers) {
    buffers_.clear();
    buffers_.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) buffers_.push_back(std::make_unique<buffer>(chunks_per_worker_));
    start_ns_ = now();
  }

  void task_begin(std::size_t worker, task_view const& task) noexcept {
    recorded_event e = at_now(event_kind::task_begin, task.id);
    e.kind = task.kind;
    buffers_[worker]->add(e, task.name);
  }
  void task_end(std::size_t worker, task_view const& task) noexcept {
    recorded_event e = at_now(event_kind::task_end, task.id);
    e.kind = task.kind;
    buffers_[worker]->add(e);
  }
  void module_end(std::size_t worker, task_view const& task) noexcept {
    buffers_[worker]->add(at_now(event_kind::module_end, task.id), task.name);
  }
  void steal(std::size_t thief, std::size_t victim) noexcept {
    recorded_event e = at_now(event_kind::steal, nullptr);
    e.victim = static_cast<std::uint32_t>(victim);
    buffers_[thief]->add(e);
  }
  void sleep(std::size_t worker) noexcept { buffers_[worker]->add(at_now(event_kind::sleep, nullptr)); }
  void wake(std::size_t worker) noexcept { buffers_[worker]->add(at_now(event_kind::wake, nullptr)); }
  void park(std::size_t worker, void const* fiber) noexcept { park(worker, fiber, {}); }
  void park(std::size_t worker, void const* fiber, wait_view const& wait) noexcept {
    recorded_event const e = at_now(event_kind::park, fiber);
    if (wait.name == nullptr) return buffers_[worker]->add(e, wait.what);
    char text[128];
    std::snprintf(text, sizeof text, "%s %s", wait.what, wait.name);
    buffers_[worker]->add(e, text);
  }
  void resume(std::size_t worker, void const* fiber) noexcept {
    buffers_[worker]->add(at_now(event_kind::resume, fiber));
  }

  /// The edges of the graphs that ran on this executor first; of two recorders in a tee the first has them. start()
  /// keeps them.
  task_edges const& edges() const noexcept { return *edges_; }
  detail::graph_listener* listener() noexcept { return edges_.get(); }

  /// The clock of the events.
  static std::int64_t now() noexcept { return detail::event_clock(); }

  std::size_t worker_count() const noexcept { return buffers_.size(); }
  /// The time of start(), on the clock of the events.
  std::int64_t start_ns() const noexcept { return start_ns_; }
  std::size_t event_count(std::size_t worker) const noexcept {
    return buffers_[worker]->size.load(std::memory_order_acquire);  // E1
  }
  /// The number of dropped events of this worker.
  std::size_t released(std::size_t worker) const noexcept {
    return buffers_[worker]->released.load(std::memory_order_relaxed);  // relaxed: a number on its own
  }
  /// Event `i` of a worker, i < event_count(worker), in the order in which they happened.
  recorded_event const& event_at(std::size_t worker, std::size_t i) const noexcept {
    return buffers_[worker]->chunks[i / chunk_size][i % chunk_size];
  }
  /// Calls f(recorded_event const&) for every event of a worker, in the order in which they happened.
  template <class F>
  void for_each_event(std::size_t worker, F f) const {
    auto const n = event_count(worker);
    for (std::size_t i = 0; i < n; ++i) f(event_at(worker, i));
  }

 private:
  static constexpr std::size_t chunk_size = 1024;  // 32 KiB: large beside malloc's own cost, small beside a run

  template <class T>
  using atomic = os_env::atomic<T>;

  /// One worker writes it. All threads read `size` and `released`.
  struct alignas(cache_line_size) buffer {
    atomic<std::size_t> size{0};
    atomic<std::size_t> released{0};
    std::vector<std::unique_ptr<recorded_event[]>> chunks;  ///< its length never changes: readers look at it
    std::unordered_set<std::string_view> names;             ///< worker only; views of `texts`
    std::vector<std::unique_ptr<char[]>> texts;             ///< worker only; readers follow event::name

    explicit buffer(std::size_t most_chunks) : chunks(most_chunks) {}

    void add(recorded_event e, char const* name = nullptr) noexcept {
      auto const n = size.load(std::memory_order_relaxed);  // relaxed: only this worker writes it
      try {
        if (n == chunks.size() * chunk_size) return drop();
        if (n % chunk_size == 0) chunks[n / chunk_size] = std::make_unique<recorded_event[]>(chunk_size);
        if (name != nullptr) e.name = kept(name);
      } catch (std::bad_alloc const&) {
        return drop();
      }
      chunks[n / chunk_size][n % chunk_size] = e;
      size.store(n + 1, std::memory_order_release);  // E1
    }

    void drop() noexcept {
      auto const n = released.load(std::memory_order_relaxed);  // relaxed: only this worker writes it
      released.store(n + 1, std::memory_order_relaxed);         // relaxed: a number on its own
    }

    /// Our copy of a name: one for all tasks that have it.
    char const* kept(char const* name) {
      auto const known = names.find(std::string_view(name));
      if (known != names.end()) return known->data();
      auto const bytes = std::strlen(name) + 1;
      texts.push_back(std::make_unique<char[]>(bytes));
      char* const stored = texts.back().get();
      std::memcpy(stored, name, bytes);
      names.insert(std::string_view(stored, bytes - 1));
      return stored;
    }
  };

  static recorded_event at_now(event_kind what, void const* id) noexcept {
    recorded_event e;
    e.ns = now();
    e.id = id;
    e.what = what;
    return e;
  }

  std::size_t chunks_per_worker_;
  std::int64_t start_ns_ = 0;
  std::vector<std::unique_ptr<buffer>> buffers_;
  std::unique_ptr<task_edges> edges_ = std::make_unique<task_edges>();  // the executor has its address
};

static_assert(wait_observer<recorder> && module_observer<recorder> && detail::edge_observer<recorder>);

}  // namespace heist
