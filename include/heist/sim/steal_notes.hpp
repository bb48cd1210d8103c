// Notes which part of a run was stolen by whom, and makes the run's steal tree of it.
#pragma once

#include <algorithm>  // reverse
#include <cstdint>
#include <utility>  // move
#include <vector>

#include "heist/observe/steal_tree.hpp"
#include "heist/sim/program.hpp"

namespace heist::sim {

class steal_notes {
 public:
  explicit steal_notes(std::uint32_t workers) : begun_(workers) {}

  void begin_run(std::uint32_t body) {
    body_ = body;
    steals_.clear();
    begun_.assign(begun_.size(), 0);
  }
  /// `worker` begins with the rest of a frame, which called `child` last.
  void went_on(program const& p, std::uint32_t child, std::uint32_t worker, std::uint32_t victim, bool after_join) {
    steal_tree::steal s;
    for (std::uint32_t t = child; p.task_at(t).parent != none; t = p.task_at(t).parent)
      s.place.push_back(p.task_at(t).index);
    std::reverse(s.place.begin(), s.place.end());
    s.worker = worker;
    s.victim = victim;
    s.sequence = begun_[worker]++;
    s.after_join = after_join;
    steals_.push_back(std::move(s));
  }
  steal_tree finish_run() { return {begun_.size(), body_, std::move(steals_)}; }

 private:
  std::vector<std::uint32_t> begun_;  ///< entries of each worker
  std::uint32_t body_ = 0;
  std::vector<steal_tree::steal> steals_;
};

}  // namespace heist::sim
