// Is every worker busy while work is ready? Bodies sleep, so any machine shows it with any number of workers. A row is
// the time of a program over its lower bound max(T1 / workers, longest path). For a greedy scheduler it is at most 2 -
// 1 / workers (Graham).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

/// A number of time units that a body sleeps.
struct costs {
  std::vector<double> of;
  double sum() const { return std::accumulate(of.begin(), of.end(), 0.0); }
  double longest() const { return *std::max_element(of.begin(), of.end()); }
};

inline costs even(std::size_t n) {
  return {std::vector<double>(n, 4.0)};
}
inline costs triangular(std::size_t n) {
  costs c{std::vector<double>(n)};
  for (std::size_t i = 0; i != n; ++i) c.of[i] = 8.0 * static_cast<double>(i + 1) / static_cast<double>(n);
  return c;
}

/// Tasks in an order in which each stands after those that it waits for.
struct random_graph {
  std::vector<double> cost;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  double longest_path = 0;

  explicit random_graph(std::size_t workers) : cost(12 * workers) {
    std::mt19937 random{7};
    std::vector<double> path(cost.size());
    for (std::size_t i = 0; i != cost.size(); ++i) {
      cost[i] = path[i] = 1 + static_cast<double>(random() % 5);
      for (int k = 0; k != 2 && i > workers; ++k) {
        std::size_t const before = random() % (i - workers / 2);
        edges.emplace_back(before, i);
        path[i] = std::max(path[i], path[before] + cost[i]);
      }
      longest_path = std::max(longest_path, path[i]);
    }
  }
};

/// The functions of a library; an empty function leaves its rows out.
struct peer {
  std::string name;
  std::function<void(costs const&)> tree;   ///< leaves of a binary tree of forks
  std::function<void(costs const&)> loop;   ///< from the calling thread
  std::function<void(costs const&)> tasks;  ///< independent tasks of a graph, or a task group
  std::function<void(random_graph const&)> graph;
  std::function<void(std::size_t n)> loops_in_tasks;  ///< n tasks, each with a loop of 4 bodies of 4 units
};

inline double& unit_ms() {
  static double unit = 2;
  return unit;
}
inline void nap(double units) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(units * unit_ms()));
}

/// Peers that were found when this was built, each for so many workers.
peer make_heist(std::string const& policy, std::size_t workers);
peer make_tbb(std::size_t workers);
peer make_openmp(std::size_t workers);
peer make_taskflow(std::size_t workers);

}  // namespace bench
