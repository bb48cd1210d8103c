// Bodies of chooser.hpp.
#pragma once

#include "heist/automatic/chooser.hpp"

#include <algorithm>  // max, min, min_element, nth_element
#include <cmath>      // abs
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

HEIST_COLD_BODY usual_time usual_of(std::vector<double> times) {
  if (times.empty()) return {};
  usual_time of;
  of.median = median_of(times);
  for (double& t : times) t = std::abs(t - of.median);
  of.noise = std::max(median_of(times), chooser::least_noise * of.median);
  return of;
}

HEIST_COLD_BODY chooser::chooser(std::vector<std::size_t> learning) : ways_(learning.size()) {
  for (std::size_t i = 0; i != learning.size(); ++i) ways_[i].learning = learning[i];
  skipped_ = ways_[0].learning;
  if (ways_.size() == 1) stage_ = stage::settled;
}

HEIST_COLD_BODY bool chooser::may_lose(double more) const noexcept {
  double const one = ways_[best_].usual.median;
  return lost_ + more <= share_of_all * total_ + lost_at_start * one;
}

/// Does it take long by what makes the best's runs long now and then? Once in a block that is believed.
HEIST_COLD_BODY bool chooser::is_disturbed(double time) const noexcept {
  return !disturbed_ && !recent_.empty() && time > hopeless * ways_[best_].usual.median &&
         time <= *std::max_element(recent_.begin(), recent_.end());
}

HEIST_COLD_BODY double chooser::mean_of_best() const noexcept {
  if (recent_.empty()) return ways_[best_].usual.median;
  return std::accumulate(recent_.begin(), recent_.end(), 0.0) / static_cast<double>(recent_.size());
}

HEIST_COLD_BODY std::size_t chooser::next(std::size_t runs) const noexcept {
  if (stage_ != stage::trying) return best_;
  // One that fills caches is not begun if there is nothing left for the one after it, which shows something.
  std::size_t const needed = runs * (skipped_ != 0 ? 2 : 1);
  return may_lose(will_lose_ * static_cast<double>(needed)) ? tried_ : best_;
}

HEIST_COLD_BODY void chooser::ran(std::size_t which, double time, std::size_t runs) {
  runs_ += runs;
  since_look_ += runs;
  since_judged_ += runs;
  total_ += time * static_cast<double>(runs);
  if (which != best_ && is_disturbed(time)) {
    disturbed_ = true;
    return;
  }
  if (which != best_) {
    // Beside the mean, in which what disturbs all alike is as often as here.
    double const loss = time - mean_of_best();
    will_lose_ = tried_runs_++ == 0 ? std::max(0.0, loss) : std::min(will_lose_, std::max(0.0, loss));
    lost_ = std::max(0.0, lost_ + loss * static_cast<double>(runs));
  }
  state_of_way& w = ways_[which];
  w.learnt = std::min(w.learning, w.learnt + runs);
  if (which == best_ && stage_ != stage::first) {
    keep(time);
    if (look_for_change()) return;
  }
  if (stage_ == stage::settled) {
    if (best_ != 0 && since_judged_ >= doubt_) doubt();
    return;
  }
  if (which != planned()) {
    // Trying has to wait, so caches are filled again before it goes on.
    if (stage_ == stage::trying && w.learnt == w.learning) skipped_ = std::max<std::size_t>(skipped_, 1);
    return;
  }
  if (skipped_ != 0) {
    skipped_ -= std::min(skipped_, runs);
    return;
  }
  measured(time);
}

/// A run of planned() that counts.
HEIST_COLD_BODY void chooser::measured(double time) {
  ++in_block_;
  if (stage_ == stage::first) {
    keep(time);
    if (in_block_ != first_runs) return;
    ways_[0].usual = usual_of(recent_);
    try_next(0);
  } else if (stage_ == stage::trying) {
    of_tried_.push_back(time);
    usual_time const best = ways_[best_].usual;
    ways_[tried_].usual = usual_of(of_tried_);
    if (time > hopeless * best.median && of_tried_.size() == 1) return try_next(tried_);
    double const least = *std::min_element(of_tried_.begin(), of_tried_.end());
    if (of_tried_.size() == 2 && least > best.median + clear_noises * best.noise) return try_next(tried_);
    if (in_block_ != block) return;
    if (least > best.median + best.noise) return try_next(tried_);
    begin_block(best_);
    stage_ = stage::beside;
  } else {
    of_best_.push_back(time);
    if (in_block_ == block) judge();
  }
}

/// Both have been measured one after the other.
HEIST_COLD_BODY void chooser::judge() {
  usual_time const before = usual_of(of_best_), now = usual_of(of_tried_);
  ways_[best_].usual = before;
  ways_[tried_].usual = now;
  double const noise = std::max({before.noise, now.noise, usual_of(recent_).noise});  // few runs may agree by chance
  ++rounds_;
  if (now.median + noise < before.median) {
    take_best(tried_, of_tried_);
    return try_next(tried_);
  }
  bool const open = now.median < before.median && rounds_ < most_rounds;
  if (!open) return try_next(tried_);
  begin_block(tried_);
  stage_ = stage::trying;
}

HEIST_COLD_BODY void chooser::take_best(std::size_t which, std::vector<double> const& times) {
  best_ = which;
  recent_ = times;
  kept_ = {};
  since_change_ = 0;
}

HEIST_COLD_BODY void chooser::try_next(std::size_t after) {
  for (std::size_t i = after + 1; i < ways_.size() && !doubts_; ++i) {
    if (!ways_[i].impossible && i != best_) return begin_comparison(i);
  }
  if (doubts_ && best_ == 0) look_again_ = true;  // it was luck
  doubts_ = false;
  tried_ = best_;
  stage_ = stage::settled;
  since_judged_ = 0;
}

/// Was it luck? Compares it with way 0 once more, and then settles again.
HEIST_COLD_BODY void chooser::doubt() {
  doubt_ = std::min(doubts_grow * doubt_, longest_pause);
  doubts_ = true;
  begin_comparison(0);
}

HEIST_COLD_BODY void chooser::begin_comparison(std::size_t with) {
  tried_ = with;
  rounds_ = 0;
  of_tried_.clear();
  of_best_.clear();
  if (recent_.size() >= first_runs) ways_[best_].usual = usual_of(recent_);
  tried_runs_ = 0;
  will_lose_ = first_guess * ways_[best_].usual.median;
  begin_block(with);
  stage_ = stage::trying;
}

/// Other ways' runs have been before it, so the first one fills caches.
HEIST_COLD_BODY void chooser::begin_block(std::size_t which) {
  in_block_ = 0;
  disturbed_ = false;
  skipped_ = std::max<std::size_t>(ways_[which].learning - ways_[which].learnt, 1);
}

HEIST_COLD_BODY void chooser::keep(double time) {
  if (recent_.size() == window) recent_.erase(recent_.begin());
  recent_.push_back(time);
  ++since_change_;
}

/// Are the best's times what they were? True if what was being compared is out of date.
HEIST_COLD_BODY bool chooser::look_for_change() {
  if (since_change_ >= window) {
    usual_time const now = usual_of(recent_);
    since_change_ = 0;
    double const by = std::abs(now.median - kept_.median);
    bool const known = kept_.median != 0;
    bool const changed =
        known && by > noises_of_change * std::max(kept_.noise, now.noise) && by > least_change * kept_.median;
    if (!known || changed) kept_ = ways_[best_].usual = now;
    if (changed) {
      look_again_ = true;
      if (stage_ != stage::settled) begin_comparison(tried_);
    }
  }
  if (!look_again_ || since_look_ < pause_ || ways_.size() == 1) return false;
  look_again();
  return true;
}

HEIST_COLD_BODY void chooser::look_again() {
  look_again_ = doubts_ = false;
  since_look_ = 0;
  doubt_ = first_doubt;
  pause_ = std::min(2 * pause_, longest_pause);
  ++looks_;
  for (state_of_way& w : ways_) {
    if (&w != &ways_[best_]) w.usual = {};
  }
  if (best_ == 0) return try_next(0);
  begin_comparison(0);  // way 0 is tried as the others are
}

HEIST_COLD_BODY void chooser::rule_out(std::size_t which) {
  if (which == 0) return;
  ways_[which].impossible = true;
  if (which == best_) {
    take_best(0, {});
    if (stage_ != stage::settled) begin_comparison(tried_);
  } else if (stage_ != stage::settled && stage_ != stage::first && which == tried_) {
    try_next(tried_);
  }
}

HEIST_COLD_BODY void chooser::learns_again(std::size_t which) {
  ways_[which].learnt = 0;
  if (stage_ == stage::trying && which == tried_) skipped_ = std::max(skipped_, ways_[which].learning);
}

}  // namespace heist::detail
