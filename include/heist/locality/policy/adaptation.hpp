// How a repeated phase finds its schedule: relaxed and pruned until nothing improves, then fixed ("Optimizing Data
// Locality for Fork/Join Programs Using Constrained Work Stealing", SC 2014, V and VI).
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/locality/policy/steal_tree.hpp"

namespace heist {

/// How the workers spent the time of one run of a region. In nanoseconds.
struct run_times {
  std::int64_t elapsed = 0;  ///< from its body's start to its end
  std::int64_t at_work = 0;  ///< of all workers, in the run's tasks: grows with misses and accesses to far memory
  std::int64_t idle = 0;     ///< of all workers, the rest

  friend bool operator==(run_times const&, run_times const&) = default;
};

/// Parameters of region::adapt(): its end, and its changes to the tree.
struct adaptation_options {
  int prune_percent = 85;         ///< of all steals, from the bottom, before each run; 0..100. The paper's number
  std::size_t least_relaxed = 2;  ///< relaxed runs, at least
  std::size_t most_relaxed = 5;   ///< and at most; the paper's number
  /// The schedule has converged when neither idle time nor time at work is less than this part of the least so far.
  double improvement = 0.95;
};

/// A region's phases, run by run. The first run is free. The next ones are relaxed along the last tree, pruned, until
/// neither the idle time nor the time at work improves. One run is then strict_unordered along the best tree, pruned.
/// All later runs are strict_ordered along that run's tree. Times of one run can mislead on a busy machine: adapt()
/// takes the best run's tree, not the last one's.
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
    std::size_t followed_steals = 0;  ///< steals in the tree that it followed
    std::size_t steals = 0;           ///< that were made
  };

  /// Throws region_error for numbers that make no sense.
  explicit adaptation(adaptation_options wanted = {});

  /// The next run's phase; free: the run follows nothing.
  phase next() const noexcept { return next_; }
  bool settled() const noexcept { return next_ == phase::settled; }
  /// The tree that the next run follows, unless it is free.
  steal_tree const& tree() const noexcept { return tree_; }

  /// A run has ended, without an exception, whose steal tree was `made`. Throws bad_alloc; then the next run does the
  /// same once more.
  void ran(steal_tree const& made, run_times const& times);

  /// All runs so far; of a settled region the first hundred.
  std::vector<step> const& steps() const noexcept { return steps_; }

  /// A table for people.
  std::string text() const;
  static char const* name(phase p) noexcept;

 private:
  static constexpr std::size_t most_steps = 100;

  static double us(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1000; }

  void take(steal_tree const& made, run_times const& times);

  adaptation_options options_;
  phase next_ = phase::free;
  std::size_t relaxed_ = 0;
  std::int64_t elapsed_ = 0, idle_ = 0, at_work_ = 0;  ///< the best so far
  steal_tree tree_;
  std::vector<step> steps_;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/locality/policy/adaptation.ipp"
#endif
