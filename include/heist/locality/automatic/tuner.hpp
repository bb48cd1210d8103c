// Finds the fastest of several ways to do the same work again and again, while the work is done. The tuner knows the
// reported times and nothing else (README.md).
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"

namespace heist::detail {

/// The median of some times, and of how far they are from it.
struct time_estimate {
  double median = 0;
  double noise = 0;
};
time_estimate estimate_of(std::vector<double> times);

/// Way 0 is what one would do without a choice; the other ways are tried in order, each beside the best so far.
///
/// The cost of trying is bounded: see next().
///
/// Threads  as a container.
class tuner {
 public:
  // README.md, "Numbers".
  static constexpr std::size_t first_runs = 5;      ///< of way 0, measured, before anything is tried
  static constexpr std::size_t block = 3;           ///< measured runs of a way, one after the other
  static constexpr std::size_t most_rounds = 8;     ///< blocks of a way, each beside a block of the best
  static constexpr double sure = 2;                 ///< standard errors that a gain has to be,
  static constexpr std::size_t rounds_to_win = 2;   ///< and in so many rounds: one may be disturbed as a whole
  static constexpr double much_slower = 1.2;        ///< times the best's: not tried again unless times change
  static constexpr double hopeless = 1.5;           ///< times the best's: given up at the first measured run
  static constexpr double hopeless_at_once = 3;     ///< by the run before that
  static constexpr double clear_noises = 3;         ///< noises above the best's: given up at the second
  static constexpr double least_noise = 0.01;       ///< of the median
  static constexpr double share_of_all = 0.02;      ///< of all time so far that trying may have lost
  static constexpr double lost_at_start = 5;        ///< runs of the best that it may have lost besides
  static constexpr double first_guess = 1;          ///< runs of the best that a way's run is taken to lose at most
  static constexpr std::size_t window = 16;         ///< runs that say whether times have changed
  static constexpr double noises_of_change = 3;     ///< so many noises,
  static constexpr double least_change = 0.1;       ///< and so much of the median: they have
  static constexpr std::size_t first_pause = 64;    ///< runs before it looks again; twice as many each time
  static constexpr std::size_t first_recheck = 32;  ///< runs, converged, before the best is compared with way 0 again
  static constexpr std::size_t recheck_growth = 4;  ///< times as many the next time,
  static constexpr std::size_t last_recheck = 256;  ///< but no more than these
  static constexpr std::size_t longest_pause = std::size_t{1} << 20;

  /// So many runs of each way show nothing yet: it learns, or caches are filled. At least one way.
  explicit tuner(std::vector<std::size_t> learning);

  /// The way for the next run, which is as long as `runs` of them. It is the best way so far if a trial might lose more
  /// than `share_of_all` of the time of all runs and `lost_at_start` runs.
  std::size_t next(std::size_t runs = 1) const noexcept;
  /// A run of that way has ended well, after `time` > 0 each, if it was as long as `runs`. Throws bad_alloc.
  void ran(std::size_t way, double time, std::size_t runs = 1);
  /// Marks a way as impossible. `way` is not 0.
  void rule_out(std::size_t way);
  /// The first run of that way, while it has had none, takes so much longer.
  void starts_with(std::size_t way, double time);
  /// The way has forgotten its notes: it learns again before it is measured.
  void learns_again(std::size_t way);

  std::size_t best() const noexcept { return best_; }
  /// True if no way is being tried, except to recheck the best way, or ways that were not much slower.
  bool converged() const noexcept { return stage_ == stage::converged || rechecking_ || again_; }
  bool ruled_out(std::size_t way) const noexcept { return ways_[way].impossible; }
  std::size_t ways() const noexcept { return ways_.size(); }
  /// Of that way; 0: not measured.
  double time_of(std::size_t way) const noexcept { return ways_[way].time.median; }
  /// The best beside way 0, in turns.
  struct comparison {
    double ratio = 0;      ///< its time to that of way 0; 0: they were not compared
    std::size_t runs = 0;  ///< of each
    std::size_t at = 0;    ///< after so many runs of all
  };
  comparison const& comparison_with_first() const noexcept { return comparison_with_first_; }
  std::size_t runs() const noexcept { return runs_; }
  /// How often it has looked at all ways: at first, and when times had changed.
  std::size_t looks() const noexcept { return looks_; }
  /// The time that trials have lost, and the time of all runs.
  double lost() const noexcept { return lost_; }
  double total() const noexcept { return total_; }

 private:
  enum class stage {
    first,      ///< way 0 is measured
    trying,     ///< way tried_ is
    comparing,  ///< the best is, after a block of tried_
    converged
  };
  struct state_of_way {
    std::size_t learning = 0;  ///< runs that it needs
    std::size_t learnt = 0;    ///< and has had
    double start = 0;          ///< extra time of its first run
    bool impossible = false;
    bool given_up = false;     ///< until it looks again
    bool far = false;          ///< it was far behind
    std::size_t rounds = 0;    ///< blocks that were measured beside the best's,
    std::size_t won = 0;       ///< and were faster
    std::vector<double> seen;  ///< their runs, each to the median of the best's beside it
    time_estimate time;        ///< when it was measured last

    /// Its time to the best's; where it has been seen.
    double ratio() const { return estimate_of(seen).median; }
    /// As if it had not been compared with the best.
    void start_anew() noexcept {
      given_up = false;
      rounds = won = 0;
      seen.clear();
    }
  };

  std::size_t planned() const noexcept { return stage_ == stage::trying ? tried_ : best_; }
  bool may_lose(double more) const noexcept;
  bool is_disturbed(double time) const noexcept;
  double mean_of_best() const noexcept;
  void measured(double time);
  void evaluate();
  void give_up();
  void try_next();
  void converge();
  void begin_round(std::size_t with);
  double error_of(state_of_way const& w, double ratio) const;
  void forget_comparisons(bool far_too);
  void begin_block(std::size_t which);
  void take_best(std::size_t which);
  void keep(double time);
  void recheck();
  bool look_for_change();
  void look_again(bool changed);

  std::vector<state_of_way> ways_;
  stage stage_ = stage::first;
  std::size_t best_ = 0, tried_ = 0;
  std::size_t skipped_ = 0;  ///< runs of the present block that are not measured
  std::size_t in_block_ = 0;
  std::vector<double> of_tried_, of_best_;  ///< in this round
  std::vector<double> best_ratios_;         ///< the best way's last blocks in comparisons, each relative to its median
  std::vector<double> best_times_;          ///< the best way's last `window` times
  time_estimate kept_;                      ///< its expected time; median 0: not known yet
  bool look_again_ = false;                 ///< times have changed, so it will when the pause is over
  std::size_t since_look_ = 0, since_change_ = 0, pause_ = first_pause, again_pause_ = first_pause;
  std::size_t since_judged_ = 0, recheck_after_ = first_recheck;
  bool rechecking_ = false;  ///< the comparison is one of those
  bool again_ = false;       ///< the two ways were compared before, and times have not changed
  std::size_t runs_ = 0, looks_ = 1;
  double will_lose_ = 0;    ///< expected loss of the next run of tried_: the least that one has lost so far
  double learnt_in_ = 0;    ///< time of the last run of tried_ before it was measured
  bool disturbed_ = false;  ///< a run of the present block was
  double lost_ = 0, total_ = 0;
  comparison comparison_with_first_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/automatic/tuner.ipp"
#endif
