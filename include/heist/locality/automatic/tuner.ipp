// Bodies of tuner.hpp.
#pragma once

#include "heist/locality/automatic/tuner.hpp"

#include <algorithm>  // max, min, min_element, nth_element
#include <cmath>      // abs, sqrt
#include <numeric>    // accumulate
#include <utility>    // move

namespace heist::detail {

HEIST_COLD_BODY double median_of(std::vector<double>& times) {
  auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  double const upper = *middle;
  if (times.size() % 2 != 0) return upper;
  return (*std::max_element(times.begin(), middle) + upper) / 2;
}

HEIST_COLD_BODY time_estimate estimate_of(std::vector<double> times) {
  if (times.empty()) return {};
  time_estimate of;
  of.median = median_of(times);
  for (double& t : times) t = std::abs(t - of.median);
  of.noise = std::max(median_of(times), tuner::least_noise * of.median);
  return of;
}

HEIST_COLD_BODY tuner::tuner(std::vector<std::size_t> learning) : ways_(learning.size()) {
  for (std::size_t i = 0; i != learning.size(); ++i) ways_[i].learning = learning[i];
  skipped_ = ways_[0].learning;
  if (ways_.size() == 1) stage_ = stage::converged;
}

HEIST_COLD_BODY bool tuner::may_lose(double more) const noexcept {
  double const one = ways_[best_].time.median;
  return lost_ + more <= share_of_all * total_ + lost_at_start * one;
}

/// Does it take long by what makes the best's runs long now and then? Once in a block that is believed.
HEIST_COLD_BODY bool tuner::is_disturbed(double time) const noexcept {
  return !disturbed_ && !best_times_.empty() && time > hopeless * ways_[best_].time.median &&
         time <= *std::max_element(best_times_.begin(), best_times_.end());
}

HEIST_COLD_BODY double tuner::mean_of_best() const noexcept {
  if (best_times_.empty()) return ways_[best_].time.median;
  return std::accumulate(best_times_.begin(), best_times_.end(), 0.0) / static_cast<double>(best_times_.size());
}

HEIST_COLD_BODY std::size_t tuner::next(std::size_t runs) const noexcept {
  if (stage_ != stage::trying) return best_;
  // One that fills caches is not begun if there is nothing left for the one after it, which shows something.
  std::size_t const needed = runs * (skipped_ != 0 ? 2 : 1);
  state_of_way const& w = ways_[tried_];
  double const once = w.learnt == 0 ? w.start : 0;
  return may_lose(will_lose_ * static_cast<double>(needed) + once) ? tried_ : best_;
}

HEIST_COLD_BODY void tuner::ran(std::size_t which, double time, std::size_t runs) {
  runs_ += runs;
  since_look_ += runs;
  since_judged_ += runs;
  total_ += time * static_cast<double>(runs);
  if (which != best_ && is_disturbed(time)) {
    disturbed_ = true;
    return;
  }
  if (which != best_) {
    // Compares with the mean, which contains the disturbances of all runs as often as this time does.
    double const loss = time - mean_of_best();
    // The very first run has extra costs, such as allocation, once.
    if (ways_[which].learnt == 0) will_lose_ = first_guess * ways_[best_].time.median;
    will_lose_ = std::min(will_lose_, std::max(0.0, loss));
    lost_ = std::max(0.0, lost_ + loss * static_cast<double>(runs));
  }
  state_of_way& w = ways_[which];
  w.learnt = std::min(w.learning, w.learnt + runs);
  if (which == best_ && stage_ != stage::first) {
    keep(time);
    if (look_for_change()) return;
  }
  if (stage_ == stage::converged) {
    if (best_ != 0 && since_judged_ >= recheck_after_) {
      recheck();
    } else if (since_look_ >= again_pause_) {
      look_again(false);
    }
    return;
  }
  if (which != planned()) {
    // Trying has to wait, so caches are filled again before it goes on.
    if (stage_ == stage::trying && w.learnt == w.learning) skipped_ = std::max<std::size_t>(skipped_, 1);
    return;
  }
  if (skipped_ != 0) {
    bool const fills = w.rounds == 0 && skipped_ == 1 && w.learning > 1;  // it has learnt before
    skipped_ -= std::min(skipped_, runs);
    if (stage_ != stage::trying) return;
    learnt_in_ = time;
    if (fills && time > hopeless_at_once * ways_[best_].time.median) {
      w.time = {time, 0};
      give_up();
    }
    return;
  }
  measured(time);
}

/// A run of planned() that counts.
HEIST_COLD_BODY void tuner::measured(double time) {
  ++in_block_;
  if (stage_ == stage::first) {
    keep(time);
    if (in_block_ != first_runs) return;
    ways_[0].time = estimate_of(best_times_);
    try_next();
  } else if (stage_ == stage::trying) {
    of_tried_.push_back(time);
    time_estimate const best = ways_[best_].time;
    ways_[tried_].time = estimate_of(of_tried_);
    bool const first = ways_[tried_].rounds == 0;
    if (first && of_tried_.size() == 1 && std::min(time, learnt_in_) > hopeless * best.median) return give_up();
    double const least = *std::min_element(of_tried_.begin(), of_tried_.end());
    if (first && of_tried_.size() == 2 && least > best.median + clear_noises * best.noise) return give_up();
    if (in_block_ != block) return;
    if (first && least > best.median + best.noise) return give_up();
    begin_block(best_);
    stage_ = stage::comparing;
  } else {
    of_best_.push_back(time);
    if (in_block_ == block) evaluate();
  }
}

/// How far the ratio may be off by chance: the standard error of two medians of so many runs each.
HEIST_COLD_BODY double tuner::error_of(state_of_way const& w, double ratio) const {
  std::vector<double> deviations;
  for (double const s : w.seen) deviations.push_back(std::abs(s / ratio - 1));
  for (double const s : best_ratios_) deviations.push_back(std::abs(s - 1));
  double const deviation =
      1.4826 * std::max(median_of(deviations), least_noise);  // normal noise has so many median distances
  return 1.2533 * deviation * std::sqrt(2.0 / static_cast<double>(w.seen.size()));
}

/// Both have been measured one after the other.
HEIST_COLD_BODY void tuner::evaluate() {
  state_of_way& w = ways_[tried_];
  ways_[best_].time = estimate_of(of_best_);
  w.time = estimate_of(of_tried_);
  double const best_median = ways_[best_].time.median;
  for (double const t : of_best_) best_ratios_.push_back(t / best_median);
  if (best_ratios_.size() > 4 * window)
    best_ratios_.erase(best_ratios_.begin(),
                       best_ratios_.begin() + static_cast<std::ptrdiff_t>(best_ratios_.size() - 4 * window));
  for (double const t : of_tried_) w.seen.push_back(t / best_median);
  ++w.rounds;
  double const ratio = w.ratio(), error = error_of(w, ratio);
  if (w.time.median < best_median) ++w.won;
  if (tried_ == 0) comparison_with_first_ = {1 / ratio, w.seen.size(), runs_};
  if (ratio + sure * error < 1) {
    if (w.won >= rounds_to_win) {
      comparison_with_first_ = best_ == 0 ? comparison{ratio, w.seen.size(), runs_} : comparison{};
      take_best(tried_);
      return try_next();
    }
    if (w.rounds != most_rounds) return begin_round(tried_);
  }
  if (w.rounds == most_rounds || ratio > 1 + (w.rounds == 1 ? error / 2 : 0)) return give_up();
  try_next();
}

HEIST_COLD_BODY void tuner::give_up() {
  state_of_way& w = ways_[tried_];
  // Before its block was over, beside the best's last runs.
  if (tried_ == 0 && of_best_.empty())
    comparison_with_first_ = {ways_[best_].time.median / w.time.median, of_tried_.size(), runs_};
  w.given_up = true;
  w.far = w.time.median > much_slower * ways_[best_].time.median;
  try_next();
}

/// Changes the best way. Divides the ratios that were seen beside the previous best by the gain.
HEIST_COLD_BODY void tuner::take_best(std::size_t which) {
  state_of_way& now = ways_[which];
  double const gain = now.seen.empty() ? 1 : now.ratio();
  for (state_of_way& w : ways_) {
    for (double& s : w.seen) s /= gain;
    if (!w.seen.empty() && w.ratio() > 1) w.given_up = true;
  }
  ways_[best_].given_up = true;
  now.start_anew();
  best_ = which;
  best_times_ = of_tried_;
  best_ratios_.clear();
  kept_ = {};
  since_change_ = 0;
}

/// Each way once; then those that may be faster, the most promising first.
HEIST_COLD_BODY void tuner::try_next() {
  if (rechecking_) {
    if (best_ != 0 && !ways_[0].given_up) return begin_round(0);
    return converge();
  }
  std::size_t most = best_;
  double least = 0;
  for (std::size_t i = 0; i != ways_.size(); ++i) {
    state_of_way const& w = ways_[i];
    if (i == best_ || w.impossible || w.given_up) continue;
    if (w.rounds == 0) return begin_round(i);
    double const ratio = w.ratio();
    if (most == best_ || ratio < least) most = i, least = ratio;
  }
  if (most != best_) return begin_round(most);
  converge();
}

HEIST_COLD_BODY void tuner::converge() {
  if (rechecking_ && best_ == 0) look_again_ = true;  // it was luck
  rechecking_ = again_ = false;
  tried_ = best_;
  stage_ = stage::converged;
  since_judged_ = 0;
}

/// Was it luck? Compares it with way 0 once more, and then converges again.
HEIST_COLD_BODY void tuner::recheck() {
  recheck_after_ = std::min(recheck_growth * recheck_after_, last_recheck);
  rechecking_ = true;
  ways_[0].start_anew();
  begin_round(0);
}

/// `far_too`: also with those that were far behind.
HEIST_COLD_BODY void tuner::forget_comparisons(bool far_too) {
  for (state_of_way& w : ways_) {
    w.start_anew();
    w.given_up = w.far && !far_too;
  }
  best_ratios_.clear();
}

HEIST_COLD_BODY void tuner::begin_round(std::size_t with) {
  tried_ = with;
  of_tried_.clear();
  of_best_.clear();
  if (best_times_.size() >= first_runs) ways_[best_].time = estimate_of(best_times_);
  state_of_way const& w = ways_[with];
  double const share = w.rounds == 0 ? first_guess : std::max(0.0, w.ratio() - 1);
  will_lose_ = share * ways_[best_].time.median;
  begin_block(with);
  stage_ = stage::trying;
}

/// Other ways' runs have been before it, so the first one fills caches.
HEIST_COLD_BODY void tuner::begin_block(std::size_t which) {
  in_block_ = 0;
  disturbed_ = false;
  skipped_ = std::max<std::size_t>(ways_[which].learning - ways_[which].learnt, 1);
}

HEIST_COLD_BODY void tuner::keep(double time) {
  if (best_times_.size() == window) best_times_.erase(best_times_.begin());
  best_times_.push_back(time);
  ++since_change_;
}

/// Have the best way's times changed? True if the comparison in progress is out of date.
HEIST_COLD_BODY bool tuner::look_for_change() {
  if (since_change_ >= window) {
    time_estimate const now = estimate_of(best_times_);
    since_change_ = 0;
    double const by = std::abs(now.median - kept_.median);
    bool const known = kept_.median != 0;
    bool const changed =
        known && by > noises_of_change * std::max(kept_.noise, now.noise) && by > least_change * kept_.median;
    if (!known || changed) kept_ = ways_[best_].time = now;
    if (changed) {
      look_again_ = true;
      if (stage_ != stage::converged) begin_round(tried_);
    }
  }
  if (!look_again_ || since_look_ < pause_ || ways_.size() == 1) return false;
  look_again(true);
  return true;
}

/// `changed`: nothing that was seen holds any more. Otherwise it may have been chance.
HEIST_COLD_BODY void tuner::look_again(bool changed) {
  look_again_ = rechecking_ = false;
  since_look_ = 0;
  if (changed) {
    recheck_after_ = first_recheck;
    comparison_with_first_ = {};
  }
  std::size_t& pause = changed ? pause_ : again_pause_;
  pause = std::min(2 * pause, longest_pause);
  if (changed) ++looks_;
  again_ = !changed;
  forget_comparisons(changed);
  for (state_of_way& w : ways_) {
    if (changed && &w != &ways_[best_]) w.time = {};
  }
  try_next();
}

HEIST_COLD_BODY void tuner::rule_out(std::size_t which) {
  if (which == 0) return;
  ways_[which].impossible = true;
  if (which == best_) {
    of_tried_.clear();
    take_best(0);
    forget_comparisons(true);
    if (stage_ != stage::converged) try_next();
  } else if (stage_ != stage::converged && stage_ != stage::first && which == tried_) {
    try_next();
  }
}

HEIST_COLD_BODY void tuner::starts_with(std::size_t which, double time) {
  ways_[which].start = time;
}

HEIST_COLD_BODY void tuner::learns_again(std::size_t which) {
  ways_[which].learnt = 0;
  if (stage_ == stage::trying && which == tried_) skipped_ = std::max(skipped_, ways_[which].learning);
}

}  // namespace heist::detail
