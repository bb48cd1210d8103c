// The edges of a whole graph, in few bytes, and the ways of its tasks.
#pragma once

#include <algorithm>  // max, sort
#include <cstddef>    // size_t
#include <cstdint>
#include <utility>  // pair
#include <vector>

namespace heist::distributed {

/// Built by one rank while all ranks build their graphs. A task is its number, from 1.
///
/// Cost  a byte a task, and one or two for each of its inputs.
class edge_list {
 public:
  void add_task() {
    ++tasks_;
    bytes_.push_back(0);  // no distance
  }
  /// An input of the last task.
  void add_input(std::uint32_t from) {
    std::uint32_t distance = tasks_ - from;
    for (; distance >= 0x80; distance >>= 7) bytes_.push_back(static_cast<std::uint8_t>(distance | 0x80));
    bytes_.push_back(static_cast<std::uint8_t>(distance));
  }
  /// An order without a value, between any two tasks.
  void add_order(std::uint32_t from, std::uint32_t to) { orders_.emplace_back(from, to); }

  /// By task: how many tasks the longest path from it to the end of the graph has. An order to a task that was added
  /// before is left out.
  std::vector<std::uint32_t> ways() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  // to, from
    std::uint32_t to = 0, distance = 0;
    unsigned shift = 0;
    for (std::uint8_t const b : bytes_) {
      if (b == 0 && shift == 0) {
        ++to;
        continue;
      }
      distance |= (b & std::uint32_t{0x7f}) << shift;
      shift += 7;
      if ((b & 0x80) != 0) continue;
      edges.emplace_back(to, to - distance);
      distance = 0, shift = 0;
    }
    for (auto const& [from, later] : orders_) {
      if (from < later) edges.emplace_back(later, from);
    }
    if (!orders_.empty()) std::sort(edges.begin(), edges.end());
    std::vector<std::uint32_t> ways(tasks_ + std::size_t{1}, 1);
    for (std::size_t i = edges.size(); i-- != 0;)
      ways[edges[i].second] = std::max(ways[edges[i].second], ways[edges[i].first] + 1);
    return ways;
  }

 private:
  std::vector<std::uint8_t> bytes_;  ///< for each task a 0, then the distances to its inputs, 7 bits a byte
  std::vector<std::pair<std::uint32_t, std::uint32_t>> orders_;
  std::uint32_t tasks_ = 0;
};

}  // namespace heist::distributed
