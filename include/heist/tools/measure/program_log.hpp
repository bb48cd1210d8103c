// The log of a fork/join program while it runs, and its conversion into a sim::recorded_program.
#pragma once

#include <fmt/core.h>

#include <algorithm>  // min, reverse, sort
#include <atomic>
#include <cmath>    // llround
#include <cstddef>  // ptrdiff_t, size_t
#include <cstdint>
#include <deque>
#include <memory>  // unique_ptr
#include <type_traits>
#include <unordered_map>
#include <utility>  // move
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/locality/region/region.hpp"
#include "heist/tools/observe/recorder.hpp"
#include "heist/tools/simulate/recorded_program.hpp"
#include "heist/tools/simulate/sim_error.hpp"

namespace heist::detail {

/// A task as it is written down: by itself, on whichever worker it is.
struct logged_task {
  logged_task const* parent;  ///< null: the root of a run
  std::uint32_t index;        ///< its index among its parent's children
  std::uint32_t group;        ///< which fork of its parent made it
  void const* function;       ///< equal for equal code; null: what a task does beside the children of its scope
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> work{};  ///< ticks before, between and after its groups
  std::uint32_t number = 0;           ///< for the copier
};

/// The tasks of one recording.
///
/// Threads  add() for different workers at the same time; runs and regions by the outermost task; the rest when all has
///          ended.
class program_log {
 public:
  program_log(std::size_t workers, std::size_t most_tasks)
      : pages_{std::make_unique<page[]>(workers)}, workers_{workers}, most_{most_tasks}, left_{most_tasks} {}

  /// Null if there is no room: program() will say so.
  logged_task* add(std::size_t worker, logged_task const* parent, std::uint32_t index, std::uint32_t group,
                   void const* function) noexcept {
    page& p = pages_[worker];
    if (p.allowance == 0 && (p.allowance = take_portion()) == 0) return nullptr;
    --p.allowance;
    try {
      return &p.tasks.emplace_back(logged_task{parent, index, group, function});
    } catch (...) {
      lost();
      return nullptr;
    }
  }

  /// Adds the work of `task` since its last group, or its begin.
  void add_work(logged_task& task, std::uint64_t ticks) noexcept {
    try {
      task.work.push_back(ticks);
    } catch (...) {
      lost();
    }
  }

  static constexpr std::uint32_t no_region = sim::none;

  void add_run(logged_task* root, std::uint32_t region) noexcept {
    try {
      if (root != nullptr) runs_.push_back({root, region});
    } catch (...) {
      lost();
    }
  }

  /// The number of a region. One is known by its address.
  std::uint32_t number_of(region const& r) noexcept {
    try {
      auto const [found, is_new] = region_numbers_.try_emplace(&r, static_cast<std::uint32_t>(regions_.size()));
      if (is_new) {
        regions_.push_back({fmt::format("region {}", regions_.size() + 1), r.options().bytes,
                            static_cast<std::uint32_t>(r.options().branching)});
      }
      return found->second;
    } catch (...) {
      lost();
      return no_region;
    }
  }

  /// Moves all out, parents before children and runs in their order. Throws sim_error if tasks are missing.
  sim::recorded_program program(double nanoseconds_per_tick);

 private:
  struct alignas(cache_line_size) page {
    std::deque<logged_task> tasks;
    std::size_t allowance = 0;  ///< tasks that it may add before it has to ask
  };
  struct run {
    logged_task* root;
    std::uint32_t region;
  };

  void lost() noexcept { no_memory_.store(true, std::memory_order_relaxed); }  // relaxed: the end of the run orders it

  std::size_t take_portion() noexcept {
    constexpr std::size_t portion = 256;
    std::size_t left = left_.load(std::memory_order_relaxed);  // relaxed: a number on its own
    for (;;) {
      std::size_t const taken = std::min(left, portion);
      if (taken == 0) {
        full_.store(true, std::memory_order_relaxed);  // relaxed: as in lost()
        return 0;
      }
      // relaxed: as above
      if (left_.compare_exchange_weak(left, left - taken, std::memory_order_relaxed, std::memory_order_relaxed))
        return taken;
      os_env::relax();
    }
  }

  void expect_whole() const {
    if (full_.load(std::memory_order_relaxed)) {  // relaxed: all workers are done with it
      throw sim_error{
          fmt::format("the program has more than {} tasks, and was not recorded: fix it by a larger "
                      "recording_options::most_tasks (200 bytes each), a smaller problem, or coarser leaves",
                      most_)};
    }
    if (no_memory_.load(std::memory_order_relaxed)) {  // relaxed: as above
      throw sim_error{
          "there was not enough memory to record the program; fix it by a smaller problem or coarser leaves"};
    }
  }

  std::unique_ptr<page[]> pages_;
  std::size_t workers_, most_;
  os_env::atomic<std::size_t> left_;
  os_env::atomic<bool> full_{false}, no_memory_{false};
  std::vector<run> runs_;
  std::vector<sim::recorded_region> regions_;
  std::unordered_map<region const*, std::uint32_t> region_numbers_;
};

/// Moves the logged tasks into a recorded program: each run from its root, children by index.
class log_copier {
 public:
  log_copier(std::vector<logged_task*> tasks, double nanoseconds_per_tick, std::vector<sim::recorded_task>& to)
      : tasks_{std::move(tasks)},
        first_child_(tasks_.size() + 1),
        children_(tasks_.size()),
        nanoseconds_per_tick_{nanoseconds_per_tick},
        to_{to} {
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) tasks_[i]->number = i;
    for (logged_task const* t : tasks_) {
      if (t->parent != nullptr) ++first_child_[t->parent->number + 1];
    }
    for (std::size_t i = 1; i < first_child_.size(); ++i) first_child_[i] += first_child_[i - 1];
    std::vector<std::uint32_t> filled{first_child_.begin(), first_child_.end() - 1};
    for (logged_task* t : tasks_) {
      if (t->parent != nullptr) children_[filled[t->parent->number]++] = t;
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      std::sort(children_.begin() + first_child_[i], children_.begin() + first_child_[i + 1],
                [](logged_task const* a, logged_task const* b) { return a->index < b->index; });
    }
  }

  /// Returns the number of the root's copy.
  std::uint32_t copy_run(logged_task& root) {
    auto const result = static_cast<std::uint32_t>(to_.size());
    waiting_.push_back({&root, sim::recorded_task::no_parent, 0, 0});
    while (!waiting_.empty()) {
      place const next = waiting_.back();
      waiting_.pop_back();
      copy(next);
    }
    return result;
  }

 private:
  struct place {
    logged_task* task;
    std::uint32_t parent, index, group;
  };

  void copy(place const& at) {
    auto const number = static_cast<std::uint32_t>(to_.size());
    sim::recorded_task& copied = to_.emplace_back();
    copied.parent = at.parent;
    copied.index = at.index;
    copied.group = at.group;
    copied.function = number_of(at.task->function);
    copied.bytes = at.task->bytes;
    copied.work = std::move(at.task->work);
    close_ranks(*at.task, number, copied.work);
    for (std::uint64_t& w : copied.work) {
      w = static_cast<std::uint64_t>(std::llround(static_cast<double>(w) * nanoseconds_per_tick_));
    }
  }

  /// Numbers the children and their groups without gaps. Adds up the work around groups without a child: a fork may
  /// have failed before it had one.
  void close_ranks(logged_task const& task, std::uint32_t number, std::vector<std::uint64_t>& work) {
    std::uint32_t const begin = first_child_[task.number], count = first_child_[task.number + 1] - begin;
    std::vector<std::uint64_t> closed;
    std::size_t const waiting_before = waiting_.size();
    std::size_t before = 0;  // entries of `work` that are in `closed`
    auto const close = [&](std::size_t upto) {
      closed.push_back(0);
      for (; before < upto && before < work.size(); ++before) closed.back() += work[before];
    };
    for (std::uint32_t i = 0; i < count; ++i) {
      logged_task* const child = children_[begin + i];
      if (i == 0 || child->group != children_[begin + i - 1]->group) close(child->group + 1);
      waiting_.push_back({child, number, i, static_cast<std::uint32_t>(closed.size() - 1)});
    }
    close(work.size());
    work = std::move(closed);
    std::reverse(waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_before), waiting_.end());
  }

  /// In the order in which they are met; 0 for none.
  std::uint32_t number_of(void const* function) {
    if (function == nullptr) return 0;
    return functions_.try_emplace(function, static_cast<std::uint32_t>(functions_.size() + 1)).first->second;
  }

  std::vector<logged_task*> tasks_;
  std::vector<std::uint32_t> first_child_;  ///< of each task, where its children begin
  std::vector<logged_task*> children_;
  std::vector<place> waiting_;
  std::unordered_map<void const*, std::uint32_t> functions_;
  double nanoseconds_per_tick_;
  std::vector<sim::recorded_task>& to_;
};

inline sim::recorded_program program_log::program(double nanoseconds_per_tick) {
  expect_whole();
  std::vector<logged_task*> all;
  for (std::size_t w = 0; w < workers_; ++w) {
    for (logged_task& t : pages_[w].tasks) all.push_back(&t);
  }
  sim::recorded_program result;
  result.regions = std::move(regions_);
  result.tasks.reserve(all.size());
  log_copier copier{std::move(all), nanoseconds_per_tick, result.tasks};
  for (run const& r : runs_) result.runs.push_back({copier.copy_run(*r.root), r.region});
  return result;
}

/// The time of a tick, by a clock that counts nanoseconds.
class tick_rate {
 public:
  /// Waits until some time has passed since it was made: 10 milliseconds, if the clock is a real one.
  template <class Clock>
  double nanoseconds() const {
    if constexpr (!std::is_same_v<Clock, os_env>) {
      return 1;
    } else {
      constexpr std::int64_t enough = 10'000'000;
      while (now() - start_ns_ < enough) os_env::yield();
      return static_cast<double>(now() - start_ns_) / static_cast<double>(os_env::ticks() - start_ticks_);
    }
  }

 private:
  static std::int64_t now() {
    recorder clock{0};
    clock.start(0);
    return clock.start_ns();
  }

  std::uint64_t start_ticks_ = os_env::ticks();
  std::int64_t start_ns_ = now();
};

}  // namespace heist::detail
