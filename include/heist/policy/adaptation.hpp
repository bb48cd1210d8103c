// How a repeated phase finds its schedule: relaxed and pruned until nothing improves, then fixed ("Optimizing Data
// Locality for Fork/Join Programs Using Constrained Work Stealing", SC 2014, V and VI).
#pragma once

#include <fmt/format.h>

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <cstdint>
#include <string>
#include <utility>  // move
#include <vector>

#include "heist/base/errors.hpp"
#include "heist/observe/steal_tree.hpp"

namespace heist {

/// How the workers spent the time of one run of a region. In nanoseconds.
struct run_times {
  std::int64_t elapsed = 0;  ///< from its body's start to its end
  std::int64_t at_work = 0;  ///< of all workers, in the run's tasks: grows with misses and accesses to far memory
  std::int64_t idle = 0;     ///< of all workers, the rest

  friend bool operator==(run_times const&, run_times const&) = default;
};

struct adaptation_options {
  int prune_percent = 85;         ///< of the steals, from the bottom, before each run; 0..100. The paper's number
  std::size_t least_relaxed = 2;  ///< relaxed runs, at least
  std::size_t most_relaxed = 5;   ///< and at most; the paper's number
  /// The schedule has converged when neither idle time nor time at work is less than this part of the least so far.
  double improvement = 0.95;
};

/// What a region does run by run: free once, then relaxed along the last tree, pruned; when neither the idle time nor
/// the time at work improves, strict_unordered once along the best tree, pruned; then strict_ordered along that run's
/// tree for ever. Times of one run can mislead on a busy machine; the best run's tree is taken, not the last one's.
///
/// Threads  as a container.
class adaptation {
 public:
  enum class phase {
    free,      ///< random stealing; the first run
    relaxed,   ///< replay_mode::relaxed, along a pruned tree
    settling,  ///< replay_mode::strict_unordered, along the best tree, pruned
    settled    ///< replay_mode::strict_ordered
  };
  /// One run that has ended.
  struct step {
    phase in = phase::free;
    run_times times;
    std::size_t followed_steals = 0;  ///< of the tree that it followed
    std::size_t steals = 0;           ///< that were made
  };

  /// Throws region_error for numbers that make no sense.
  explicit adaptation(adaptation_options wanted = {}) : options_{wanted} {
    if (wanted.prune_percent < 0 || wanted.prune_percent > 100 || wanted.most_relaxed < wanted.least_relaxed ||
        !(wanted.improvement > 0 && wanted.improvement <= 1)) {
      throw region_error{
          fmt::format("region.adapt: {} % to prune, {} to {} relaxed runs, improvement {}: these do not make sense; "
                      "mend it by 0 to 100 %, at least no more than at most, and an improvement above 0, up to 1",
                      wanted.prune_percent, wanted.least_relaxed, wanted.most_relaxed, wanted.improvement)};
    }
  }

  /// What the next run does; free: it follows nothing.
  phase next() const noexcept { return next_; }
  bool settled() const noexcept { return next_ == phase::settled; }
  /// The tree that the next run follows, unless it is free.
  steal_tree const& tree() const noexcept { return tree_; }

  /// A run has ended, without an exception, whose steal tree was `made`. Throws bad_alloc; then the next run does the
  /// same once more.
  void ran(steal_tree made, run_times const& times) {
    if (steps_.size() < most_steps) steps_.push_back({next_, times, tree_.steal_count(), made.steal_count()});
    switch (next_) {
      case phase::free:
        take(std::move(made), times);
        next_ = options_.most_relaxed == 0 ? phase::settling : phase::relaxed;
        break;
      case phase::relaxed: {
        ++relaxed_;
        bool const better = static_cast<double>(times.idle) < options_.improvement * static_cast<double>(idle_) ||
                            static_cast<double>(times.at_work) < options_.improvement * static_cast<double>(at_work_);
        idle_ = std::min(idle_, times.idle);
        at_work_ = std::min(at_work_, times.at_work);
        if (relaxed_ == 1 || times.elapsed <= elapsed_) take(std::move(made), times);
        if (relaxed_ >= options_.most_relaxed || (relaxed_ >= options_.least_relaxed && !better))
          next_ = phase::settling;
        break;
      }
      case phase::settling:
        tree_ = std::move(made);
        next_ = phase::settled;
        break;
      case phase::settled:
        break;
    }
  }

  /// All runs so far; of a settled region the first hundred.
  std::vector<step> const& steps() const noexcept { return steps_; }

  /// A table for people.
  std::string text() const {
    std::string text = "run  phase     elapsed us  at work us     idle us  steals followed  made\n";
    for (std::size_t i = 0; i != steps_.size(); ++i) {
      step const& s = steps_[i];
      text += fmt::format("{:3}  {:8}  {:10.1f}  {:10.1f}  {:10.1f}  {:15}  {:4}\n", i, name(s.in), us(s.times.elapsed),
                          us(s.times.at_work), us(s.times.idle), s.followed_steals, s.steals);
    }
    return text;
  }
  static char const* name(phase p) noexcept {
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

 private:
  static constexpr std::size_t most_steps = 100;

  static double us(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1000; }

  void take(steal_tree made, run_times const& times) {
    made.prune(options_.prune_percent);
    tree_ = std::move(made);
    elapsed_ = times.elapsed;
    if (next_ == phase::free) {
      idle_ = times.idle;
      at_work_ = times.at_work;
    }
  }

  adaptation_options options_;
  phase next_ = phase::free;
  std::size_t relaxed_ = 0;
  std::int64_t elapsed_ = 0, idle_ = 0, at_work_ = 0;  ///< the best so far
  steal_tree tree_;
  std::vector<step> steps_;
};

}  // namespace heist
