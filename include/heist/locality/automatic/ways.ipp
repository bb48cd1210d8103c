// Bodies of ways.hpp.
#pragma once

#include "heist/locality/automatic/ways.hpp"

#include <fmt/core.h>

namespace heist::detail {

/// Nanoseconds that it takes to make an executor, and each of its threads; some 1.5 ms were measured with two.
inline constexpr double time_to_make = 1e6, time_to_start = 2e5;

HEIST_COLD_BODY tuner tuner_for(std::span<way_to_run const> ways, core const& scheduler, others const& by) {
  std::vector<std::size_t> learning;
  for (way_to_run const& w : ways) learning.push_back(w.learning);
  if (scheduler.worker_count == 1) learning.resize(1);
  tuner made{learning};
  for (std::size_t i = 1; i < learning.size(); ++i) {
    if (scheduler.where.squads().members.size() == 1 && ways[i].by != other_policy::replay) made.rule_out(i);
    made.starts_with(i, ways[i].start);
    if (ways[i].by && by.made(*ways[i].by) == nullptr)
      made.starts_with(i, time_to_make + time_to_start * static_cast<double>(scheduler.worker_count));
  }
  return made;
}

HEIST_COLD_BODY void made_by(tuner& t, std::span<way_to_run const> ways, other_policy by) {
  for (std::size_t i = 1; i < t.ways(); ++i) {
    if (ways[i].by == by) t.starts_with(i, 0);
  }
}

HEIST_COLD_BODY std::string note_on(tuner const& t, std::string const& name) {
  if (t.ways() == 1) return "random: there is one worker, so there is nothing to choose";
  std::string text = name;
  if (tuner::comparison const& c = t.comparison_with_first(); t.best() != 0 && c.ratio == 0) {
    text += ": it is the fastest, but was not compared with random in the same minutes";
  } else if (t.best() != 0) {
    text += fmt::format(": {:.2f} of random's time, by {} run{} of each in turns, {} runs ago", c.ratio, c.runs,
                        c.runs == 1 ? "" : "s", t.runs() - c.at);
  } else if (t.converged()) {
    text += ": nothing that was tried is faster by more than the noise";
  }
  text += fmt::format(", {} {} runs", t.converged() ? "after" : "as far as is known after", t.runs());
  return text;
}

}  // namespace heist::detail
