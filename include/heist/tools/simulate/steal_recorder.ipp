// Bodies of steal_recorder.hpp.
#pragma once

#include "heist/tools/simulate/steal_recorder.hpp"

#include <algorithm>  // reverse

namespace heist::sim {

HEIST_BODY void steal_recorder::begin_run(std::uint32_t body) {
  body_ = body;
  steals_.clear();
  entries_.assign(entries_.size(), 0);
}

HEIST_BODY void steal_recorder::record(program const& p, std::uint32_t child, std::uint32_t worker,
                                       std::uint32_t victim, bool after_join) {
  steal_tree::steal s;
  for (std::uint32_t t = child; p.task_at(t).parent != none; t = p.task_at(t).parent)
    s.place.push_back(p.task_at(t).index);
  std::reverse(s.place.begin(), s.place.end());
  s.worker = worker;
  s.victim = victim;
  s.sequence = entries_[worker]++;
  s.after_join = after_join;
  steals_.push_back(std::move(s));
}

}  // namespace heist::sim
