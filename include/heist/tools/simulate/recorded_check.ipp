// Bodies of recorded_check.hpp.
#pragma once

#include "heist/tools/simulate/recorded_check.hpp"

#include <algorithm>  // max, sort
#include <cstddef>    // size_t
#include <cstdint>
#include <span>
#include <tuple>  // tuple
#include <unordered_map>
#include <utility>  // forward
#include <vector>

#include "heist/locality/policy/path.hpp"
#include "heist/tools/simulate/fail.hpp"
#include "heist/tools/simulate/program_builder.hpp"

namespace heist::sim {

namespace detail {

template <class... Arguments>
[[noreturn]] void bad_recording(fmt::format_string<Arguments...> what, Arguments&&... arguments) {
  fail("this is no recording of a program: {}; fix it by recording the program again",
       fmt::format(what, std::forward<Arguments>(arguments)...));
}

/// The children of each task, in the order of the forks.
class recorded_children {
 public:
  /// Throws sim_error if the tasks are no forest.
  explicit recorded_children(recorded_program const& r) : recorded_{r}, first_(r.tasks.size() + 1) {
    std::size_t const n = r.tasks.size();
    if (n == 0) bad_recording("it has no tasks");
    if (n > most_tasks) bad_recording("it has {} tasks, more than {}", n, most_tasks);
    for (std::uint32_t i = 0; i != n; ++i) {
      std::uint32_t const parent = r.tasks[i].parent;
      if (parent == recorded_task::no_parent) continue;
      if (parent >= n || parent == i) bad_recording("task {} was forked by task {} of {}", i, parent, n);
      ordered_.push_back(i);
      ++first_[parent + std::size_t{1}];
    }
    std::sort(ordered_.begin(), ordered_.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::size_t i = 0; i != n; ++i) first_[i + 1] += first_[i];
    for (std::uint32_t i = 0; i != n; ++i) check_groups(i);
  }

  std::span<std::uint32_t const> of(std::uint32_t t) const noexcept {
    return {ordered_.data() + first_[t], first_[t + std::size_t{1}] - first_[t]};
  }

 private:
  std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> key(std::uint32_t t) const noexcept {
    return {recorded_.tasks[t].parent, recorded_.tasks[t].index, t};
  }
  void check_groups(std::uint32_t t) const {
    std::uint32_t index = 0, groups = 0;
    for (std::uint32_t const c : of(t)) {
      recorded_task const& child = recorded_.tasks[c];
      if (child.index != index)
        bad_recording("of the tasks that task {} has forked number {} is missing or there twice", t, index);
      if (child.group != groups && (groups == 0 || child.group != groups - 1))
        bad_recording("task {} is of its parent's fork {}, but {} would be next", c, child.group, groups);
      groups = child.group + 1;
      ++index;
    }
    if (recorded_.tasks[t].work.size() != groups + std::size_t{1})
      bad_recording("task {} has {} times of work, but {} forks, which make {}", t, recorded_.tasks[t].work.size(),
                    groups, groups + 1);
  }

  recorded_program const& recorded_;
  std::vector<std::size_t> first_;      ///< of each task, in ordered_
  std::vector<std::uint32_t> ordered_;  ///< all tasks with a parent, by parent and index
};

/// Turns a recording into a program. Memory without an address lies behind all memory with one.
class recorded_builder {
 public:
  explicit recorded_builder(recorded_program const& r) : recorded_{r}, children_{r}, built_{r.name} {
    std::uint64_t all_bytes = 0;
    for (recorded_task const& t : r.tasks) {
      if (t.bytes > most_bytes_of_a_task || (all_bytes += t.bytes) > most_bytes)
        bad_recording("a task touches {} bytes, more than 2^40, or all tasks together touch more than 2^54", t.bytes);
      if (t.address == recorded_task::unknown_address || t.bytes == 0) continue;
      if (t.address > most_address || t.bytes > most_address - t.address)
        bad_recording("a task touches {} bytes at {}, beyond 2^60", t.bytes, t.address);
      free_ = std::max(free_, t.address + t.bytes);
    }
    free_ = (free_ / 4096 + 1) * 4096;
  }

  program build() {
    for (recorded_region const& r : recorded_.regions) built_.add_region({r.name, r.bytes, r.branching});
    if (recorded_.graph) {
      build_graph();
    } else {
      build_trees();
    }
    return built_.finish();
  }

 private:
  static constexpr std::uint64_t most_address = std::uint64_t{1} << 60;
  static constexpr std::uint64_t most_bytes_of_a_task = std::uint64_t{1} << 40, most_bytes = std::uint64_t{1} << 54;

  struct open_task {
    std::uint32_t made, recorded;
    std::uint64_t path;
  };
  struct part {
    std::uint64_t address = 0, bytes = 0;
  };

  void build_graph() {
    if (!recorded_.runs.empty()) bad_recording("it is a graph, but has {} runs of trees", recorded_.runs.size());
    if (recorded_.graph_runs == 0) bad_recording("its graph ran 0 times");
    if (recorded_.graph_runs > recorded_program::most_graph_runs)
      bad_recording("its graph ran {} times, more than {}", recorded_.graph_runs, recorded_program::most_graph_runs);
    auto const n = static_cast<std::uint32_t>(recorded_.tasks.size());
    std::uint32_t const first = built_.add_graph(n, recorded_.graph_runs);
    for (std::uint32_t i = 0; i != n; ++i) {
      if (recorded_.tasks[i].parent != recorded_task::no_parent)
        bad_recording("it is a graph, but its task {} was forked by task {}", i, recorded_.tasks[i].parent);
      begin(first + i, i, nullptr);
    }
    for (recorded_edge const& e : recorded_.edges) {
      if (e.before >= n || e.after >= n || e.before == e.after)
        bad_recording("an edge leads from node {} to node {} of {}", e.before, e.after, n);
      built_.precede(first + e.before, first + e.after);
    }
  }

  void build_trees() {
    if (recorded_.runs.empty()) bad_recording("it has no runs");
    if (!recorded_.edges.empty()) bad_recording("it is no graph, but has {} edges", recorded_.edges.size());
    std::vector<std::uint32_t> made(recorded_.tasks.size(), none);  // roots only
    std::size_t reached = 0;
    for (recorded_run const& r : recorded_.runs) {
      if (r.root >= recorded_.tasks.size() || recorded_.tasks[r.root].parent != recorded_task::no_parent)
        bad_recording("a run begins with task {}, which is no root", r.root);
      if (r.region != none && r.region >= recorded_.regions.size())
        bad_recording("a run is of region {} of {}", r.region, recorded_.regions.size());
      if (made[r.root] != none) {
        built_.again(made[r.root], r.region);
        continue;
      }
      made[r.root] = built_.add_tree(r.region);
      reached += build_tree(made[r.root], r);
    }
    if (reached != recorded_.tasks.size())
      bad_recording("{} of its {} tasks belong to no run", recorded_.tasks.size() - reached, recorded_.tasks.size());
  }

  std::size_t build_tree(std::uint32_t root, recorded_run const& r) {
    std::vector<open_task> open{{root, r.root, tier::path_of_child(r.region, 0)}};
    std::size_t count = 0;
    for (; !open.empty(); ++count) {
      open_task const now = open.back();
      open.pop_back();
      recorded_task const& task = recorded_.tasks[now.recorded];
      begin(now.made, now.recorded, r.region == none ? nullptr : &own_memory_[now.path]);
      auto const children = children_.of(now.recorded);
      for (std::size_t from = 0, group = 0; from != children.size(); ++group) {
        std::size_t to = from;
        while (to != children.size() && recorded_.tasks[children[to]].group == group) ++to;
        std::uint32_t const first = built_.fork(static_cast<std::uint32_t>(to - from));
        built_.work(task.work[group + 1]);
        for (std::size_t i = to; i-- != from;)
          open.push_back({first + static_cast<std::uint32_t>(i - from), children[i],
                          tier::path_of_child(now.path, static_cast<std::uint32_t>(i))});
        from = to;
      }
    }
    return count;
  }

  /// `own`: where the memory without an address is of the tasks of the same path, if its region is known.
  void begin(std::uint32_t made, std::uint32_t number, part* own) {
    recorded_task const& task = recorded_.tasks[number];
    built_.begin(made, task.function);
    built_.work(task.work.front());
    std::uint64_t address = task.address;
    if (address == recorded_task::unknown_address) {
      part const unused{free_, task.bytes};
      if (own == nullptr || own->bytes < task.bytes) {
        free_ += task.bytes;
        if (own != nullptr) *own = unused;
      }
      address = own != nullptr ? own->address : unused.address;
    }
    built_.touch(address, task.bytes, task.writes);
  }

  recorded_program const& recorded_;
  recorded_children const children_;
  program_builder built_;
  std::uint64_t free_ = 0;                              ///< behind all memory so far
  std::unordered_map<std::uint64_t, part> own_memory_;  ///< by path; only looked up
};

}  // namespace detail

HEIST_COLD_BODY program to_program(recorded_program const& recorded) {
  return detail::recorded_builder(recorded).build();
}

HEIST_COLD_BODY void check(recorded_program const& recorded) {
  static_cast<void>(to_program(recorded));
}

}  // namespace heist::sim
