// What a run of a graph must have done, worked out by one thread.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "support/random_graph.hpp"

namespace heist_test {

/// The value of a node, from its number and the sum of its predecessors' values.
inline std::uint64_t node_value(std::uint32_t node, std::uint64_t sum) noexcept {
  std::uint64_t x = sum + (node + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Predecessors by node, and the values of a sequential run in Kahn's order.
class graph_oracle {
 public:
  explicit graph_oracle(plain_graph const& g) : first_(g.size + 1), from_(g.edges.size()), values_(g.size) {
    std::vector<std::uint32_t> first_out(g.size + 1), out(g.edges.size());
    for (auto const& [from, to] : g.edges) ++first_[to + 1], ++first_out[from + 1];
    for (std::size_t i = 0; i < g.size; ++i) first_[i + 1] += first_[i], first_out[i + 1] += first_out[i];
    std::vector<std::uint32_t> in_cursor(first_), out_cursor(first_out);
    for (auto const& [from, to] : g.edges) from_[in_cursor[to]++] = from, out[out_cursor[from]++] = to;
    std::vector<std::uint32_t> left(g.size), ready;
    for (std::uint32_t i = 0; i < g.size; ++i) {
      left[i] = first_[i + 1] - first_[i];
      if (left[i] == 0) ready.push_back(i);
    }
    for (std::size_t at = 0; at < ready.size(); ++at) {
      std::uint32_t const i = ready[at];
      std::uint64_t sum = 0;
      for_each_predecessor(i, [&](std::uint32_t p) { sum += values_[p]; });
      values_[i] = node_value(i, sum);
      for (std::uint32_t e = first_out[i]; e != first_out[i + 1]; ++e) {
        if (--left[out[e]] == 0) ready.push_back(out[e]);
      }
    }
    acyclic_ = ready.size() == g.size;
  }

  bool acyclic() const noexcept { return acyclic_; }
  std::vector<std::uint64_t> const& values() const noexcept { return values_; }

  template <class F>
  void for_each_predecessor(std::uint32_t node, F&& f) const {
    for (std::uint32_t e = first_[node]; e != first_[node + 1]; ++e) f(from_[e]);
  }

  /// Empty if every node ran `times` times and left its value; otherwise the first difference.
  std::string complete(std::vector<std::uint32_t> const& ran, std::vector<std::uint64_t> const& values,
                       std::uint32_t times) const {
    for (std::uint32_t i = 0; i < values_.size(); ++i) {
      if (ran[i] != times) return text(i, "ran " + std::to_string(ran[i]) + " times, not " + std::to_string(times));
      if (values[i] != values_[i]) return text(i, "has a wrong value");
    }
    return {};
  }

  /// For a run that was cut short: empty if no node ran twice, every node that ran came after predecessors that
  /// finished, and those that finished left their values.
  std::string partial(std::vector<std::uint32_t> const& ran, std::vector<std::uint64_t> const& values,
                      std::vector<std::uint32_t> const& finished) const {
    for (std::uint32_t i = 0; i < values_.size(); ++i) {
      if (ran[i] > 1) return text(i, "ran twice");
      if (finished[i] != 0 && values[i] != values_[i]) return text(i, "has a wrong value");
      std::string problem;
      if (ran[i] == 0) continue;
      for_each_predecessor(i, [&](std::uint32_t p) {
        if (finished[p] == 0) problem = text(i, "ran, its predecessor " + std::to_string(p) + " has not finished");
      });
      if (!problem.empty()) return problem;
    }
    return {};
  }

 private:
  static std::string text(std::uint32_t node, std::string const& what) {
    return "node " + std::to_string(node) + ' ' + what;
  }

  std::vector<std::uint32_t> first_, from_;
  std::vector<std::uint64_t> values_;
  bool acyclic_ = false;
};

}  // namespace heist_test
