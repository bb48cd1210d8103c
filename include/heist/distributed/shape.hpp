// All ranks' knowledge of a graph that remembers: the places and edges of every task, other ranks' tasks included.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // pair
#include <vector>

namespace heist::distributed {

/// How a task came to its place.
enum class task_place : std::uint8_t {
  fixed,      ///< heist::on
  preferred,  ///< heist::prefer
  follows     ///< where its first input is
};

/// Tasks by number, from 1. Inputs have smaller numbers.
struct graph_shape {
  std::vector<std::int32_t> ranks;
  std::vector<task_place> places;
  std::vector<std::uint32_t> first;  ///< of a task's inputs, in the list
  std::vector<std::uint32_t> inputs;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> orders;  ///< precede(): without values, on one rank

  std::uint32_t tasks() const noexcept { return static_cast<std::uint32_t>(ranks.size()); }
  void add(int rank, task_place how) {
    ranks.push_back(rank);
    places.push_back(how);
    first.push_back(static_cast<std::uint32_t>(inputs.size()));
  }
  void add_input(std::uint32_t from) { inputs.push_back(from); }
  /// False for what no graph can be, which only a broken file says.
  bool is_sound() const noexcept {
    if (places.size() != ranks.size() || first.size() != ranks.size()) return false;
    for (std::uint32_t t = 1; t <= tasks(); ++t) {
      std::size_t const begin = first[t - 1], end = t < tasks() ? first[t] : inputs.size();
      if (begin > end || end > inputs.size()) return false;
      for (std::size_t i = begin; i < end; ++i) {
        if (inputs[i] == 0 || inputs[i] >= t) return false;
      }
    }
    for (auto const& [from, to] : orders) {
      if (from == 0 || to == 0 || from > tasks() || to > tasks()) return false;
    }
    return true;
  }
  /// Calls f(input's number) for each input of a task.
  template <class F>
  void each_input(std::uint32_t task, F&& f) const {
    std::size_t const end = task < tasks() ? first[task] : inputs.size();
    for (std::size_t i = first[task - 1]; i < end; ++i) f(inputs[i]);
  }
};

/// The state of a task in a graph that is restarted.
enum class saved_state : std::uint8_t {
  runs,    ///< its value was not saved
  loaded,  ///< its value is read, because a task that runs takes it, or no task does
  skipped  ///< no task needs its value any more
};

/// A task runs again if its value was not saved and is needed: by a task that runs, or because no task takes it.
inline std::vector<saved_state> left_to_do(graph_shape const& g, std::vector<bool> const& saved) {
  std::vector<std::vector<std::uint32_t>> before(g.tasks() + 1);
  std::vector<bool> is_taken(g.tasks() + 1);
  auto const edge = [&](std::uint32_t from, std::uint32_t to) {
    before[to].push_back(from);
    is_taken[from] = true;
  };
  for (std::uint32_t t = 1; t <= g.tasks(); ++t) g.each_input(t, [&](std::uint32_t from) { edge(from, t); });
  for (auto const& [from, to] : g.orders) edge(from, to);
  std::vector<saved_state> state(g.tasks() + 1, saved_state::skipped);
  std::vector<std::uint32_t> running;
  auto const need = [&](std::uint32_t t) {
    if (saved[t]) {
      state[t] = saved_state::loaded;
    } else if (state[t] != saved_state::runs) {
      state[t] = saved_state::runs;
      running.push_back(t);
    }
  };
  for (std::uint32_t t = 1; t <= g.tasks(); ++t) {
    if (!is_taken[t]) need(t);
  }
  while (!running.empty()) {
    std::uint32_t const t = running.back();
    running.pop_back();
    for (std::uint32_t const from : before[t]) need(from);
  }
  return state;
}

}  // namespace heist::distributed
