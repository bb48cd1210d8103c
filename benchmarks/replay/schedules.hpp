// How a program's regions are run under policy::replay: free, along a recorded tree, as the user says, or by the
// paper's loops.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <fmt/format.h>

#include <algorithm>  // max, min
#include <cstddef>    // size_t
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>  // pair

#include "blocks.hpp"

namespace replay {

enum class guidance {
  none,       ///< stolen at random, and recorded
  ordered,    ///< along the fastest of the trees of the first steps: strict_ordered
  unordered,  ///< strict_unordered
  relaxed,
  is_assigned,  ///< as the user specifies
  iterative,    ///< relaxed until it converges, then strict_ordered (section V)
  coarsened     ///< by region::adapt, from the smallest blocks (section VI)
};

inline constexpr std::pair<std::string_view, guidance> guidances[] = {
    {"replay, free", guidance::none},          {"strict_ordered", guidance::ordered},
    {"strict_unordered", guidance::unordered}, {"relaxed", guidance::relaxed},
    {"user-specified", guidance::is_assigned}, {"iterative relaxed", guidance::iterative},
    {"coarsened", guidance::coarsened}};

/// So many steps are recorded before the others follow them.
inline constexpr std::size_t recorded_steps = 30;

/// A region, and what its next run follows.
class guided {
 public:
  void begin(guidance how) {
    how_ = how;
    state_ = state::recording;
    if (how == guidance::is_assigned) region_.follow_designations();  // locality
    if (how == guidance::coarsened) region_.adapt();                  // locality
    if (how == guidance::none || how == guidance::is_assigned || how == guidance::coarsened) state_ = state::settled;
  }

  template <class Context, class F>
  void run(Context ctx, F const& f) {
    ctx.invoke(region_, f);
    if (state_ != state::settled) learn();
  }

  /// After the recorded steps: from now on along the fastest run of `model`, this region or one with the same tasks.
  void follow(guided const& model) {
    if (state_ == state::settled || !model.best_) return;
    heist::replay_mode const mode = how_ == guidance::ordered     ? heist::replay_mode::strict_ordered
                                    : how_ == guidance::unordered ? heist::replay_mode::strict_unordered
                                                                  : heist::replay_mode::relaxed;
    region_.follow(*model.best_, mode);  // locality
    state_ = how_ == guidance::iterative ? state::converging : state::settled;
    least_ = none_yet;
    best_elapsed_ = longest;
  }

  heist::region const& region() const { return region_; }

 private:
  enum class state { recording, converging, settled };

  static constexpr int patience = 3, most_runs = 20;
  static constexpr double least_gain = 0.02;  // share of the least time of a run so far
  static constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
  static constexpr heist::run_times none_yet{longest, longest, longest};

  /// Section V: converged when neither idle time nor time at work gets less.
  void learn() {
    heist::run_times const now = region_.times();
    auto const is_less = [](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) < (1 - least_gain) * static_cast<double>(b);
    };
    bool const gain = is_less(now.idle, least_.idle) || is_less(now.at_work, least_.at_work);
    if (is_better(now)) {
      best_ = region_.tree();
      best_elapsed_ = now.elapsed;
    }
    least_.at_work = std::min(now.at_work, least_.at_work);
    least_.idle = std::min(now.idle, least_.idle);
    if (state_ == state::recording) return;
    runs_without_gain_ = gain ? 0 : runs_without_gain_ + 1;
    if (++runs_ == most_runs || runs_without_gain_ == patience) {
      region_.follow(*best_, heist::replay_mode::strict_ordered);  // locality
      state_ = state::settled;
    } else {
      region_.follow(region_.tree(), heist::replay_mode::relaxed);  // locality
    }
  }

  /// A run without steals shows only that the other workers were late.
  bool is_better(heist::run_times const& now) const {
    bool const stolen = region_.tree().steal_count() > 0;
    bool const was_stolen = best_ && best_->steal_count() > 0;
    return stolen == was_stolen ? now.elapsed < best_elapsed_ : stolen;
  }

  heist::region region_;
  guidance how_ = guidance::none;
  state state_ = state::recording;
  heist::run_times least_ = none_yet;
  std::optional<heist::steal_tree> best_;
  std::int64_t best_elapsed_ = longest;
  int runs_ = 0, runs_without_gain_ = 0;
};

/// The regions of one program in one run.
class schedule {
 public:
  schedule(guidance how, std::size_t regions, bool one_tree, std::size_t workers)
      : how_{how}, regions_(regions), one_tree_{one_tree}, workers_{workers} {
    for (guided& r : regions_) r.begin(how);
  }

  /// One phase.
  template <class Context, class Work, class Leaf>
  void run(Context ctx, std::size_t region, box const& b, block_size s, Work const& work, Leaf const& leaf) {
    if (how_ == guidance::coarsened) {
      block_size const smallest{std::max<std::size_t>(1, s.rows / finer), std::max<std::size_t>(1, s.columns / finer)};
      regions_[region].run(ctx, [&](Context c) { divide(c, b, smallest, work, leaf, where_stolen{}); });
    } else if (how_ == guidance::is_assigned) {
      regions_[region].run(ctx, [&](Context c) { distribute(c, b, s, work, leaf, {0, workers_}); });
    } else {
      regions_[region].run(ctx, [&](Context c) { divide(c, b, s, work, leaf, to_blocks{}); });
    }
  }

  void end_of_step(std::size_t step) {
    if (step + 1 != recorded_steps) return;
    for (std::size_t i = 0; i < regions_.size(); ++i) regions_[i].follow(regions_[one_tree_ ? 0 : i]);
  }

  heist::region const& region(std::size_t i) const { return regions_[i].region(); }

  /// A summary of the last run of each region.
  std::string text() const {
    std::size_t steals = 0, bytes = 0;
    std::string notes;
    for (guided const& r : regions_) {
      steals += r.region().tree().steal_count();
      bytes += r.region().tree().bytes();
      if (notes.empty() && !r.region().explain().empty()) notes = "; " + r.region().explain();
    }
    return fmt::format("{} steals, {:.2f} KiB of trees per worker{}", steals,
                       static_cast<double>(bytes) / static_cast<double>(workers_) / 1024, notes);
  }

 private:
  guidance how_;
  std::deque<guided> regions_;
  bool one_tree_;
  std::size_t workers_;
};

}  // namespace replay
