// Bodies of adaptation.hpp.
#pragma once

#include "heist/locality/policy/adaptation.hpp"

#include <fmt/core.h>

#include <algorithm>  // min
#include <utility>    // move

#include "heist/core/base/errors.hpp"

namespace heist {

HEIST_COLD_BODY adaptation::adaptation(adaptation_options wanted) : options_{wanted} {
  if (wanted.prune_percent < 0 || wanted.prune_percent > 100 || wanted.most_relaxed < wanted.least_relaxed ||
      !(wanted.improvement > 0 && wanted.improvement <= 1)) {
    throw region_error{
        fmt::format("region.adapt: {} % to prune, {} to {} relaxed runs, improvement {}: these do not make sense; "
                    "fix it by 0 to 100 %, at least no more than at most, and an improvement above 0, up to 1",
                    wanted.prune_percent, wanted.least_relaxed, wanted.most_relaxed, wanted.improvement)};
  }
}

HEIST_COLD_BODY void adaptation::ran(steal_tree const& made, run_times const& times) {
  if (steps_.size() < most_steps) steps_.push_back({next_, times, tree_.steal_count(), made.steal_count()});
  switch (next_) {
    case phase::free:
      take(made, times);
      next_ = options_.most_relaxed == 0 ? phase::settling : phase::relaxed;
      break;
    case phase::relaxed: {
      ++relaxed_;
      bool const better = static_cast<double>(times.idle) < options_.improvement * static_cast<double>(idle_) ||
                          static_cast<double>(times.at_work) < options_.improvement * static_cast<double>(at_work_);
      idle_ = std::min(idle_, times.idle);
      at_work_ = std::min(at_work_, times.at_work);
      if (relaxed_ == 1 || times.elapsed <= elapsed_) take(made, times);
      if (relaxed_ >= options_.most_relaxed || (relaxed_ >= options_.least_relaxed && !better)) next_ = phase::settling;
      break;
    }
    case phase::settling:
      tree_ = steal_tree(made);  // as a whole or not at all
      next_ = phase::settled;
      break;
    case phase::settled:
      break;
  }
}

HEIST_COLD_BODY std::string adaptation::text() const {
  std::string text = "run  phase     elapsed us  at work us     idle us  steals followed  made\n";
  for (std::size_t i = 0; i != steps_.size(); ++i) {
    step const& s = steps_[i];
    text += fmt::format("{:3}  {:8}  {:10.1f}  {:10.1f}  {:10.1f}  {:15}  {:4}\n", i, name(s.in), us(s.times.elapsed),
                        us(s.times.at_work), us(s.times.idle), s.followed_steals, s.steals);
  }
  return text;
}

HEIST_COLD_BODY char const* adaptation::name(phase p) noexcept {
  switch (p) {
    case phase::free:
      return "free";
    case phase::relaxed:
      return "relaxed";
    case phase::settling:
      return "settling";
    default:
      return "settled";
  }
}

HEIST_COLD_BODY void adaptation::take(steal_tree const& made, run_times const& times) {
  steal_tree pruned = made;
  pruned.prune(options_.prune_percent);
  tree_ = std::move(pruned);
  elapsed_ = times.elapsed;
  if (next_ == phase::free) {
    idle_ = times.idle;
    at_work_ = times.at_work;
  }
}

}  // namespace heist
