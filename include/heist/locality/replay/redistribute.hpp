// Data where it is used: an initialiser that runs along the schedule of a phase.
#pragma once

#include <string>
#include <utility>  // forward, move

#include "heist/core/base/errors.hpp"
#include "heist/locality/policy/replay_mode.hpp"
#include "heist/locality/region/region.hpp"

namespace heist {

/// The result of a redistribution.
struct redistribution {
  run_times times;
  std::string note;  ///< why the schedule was not followed to the letter; empty if it was
};

/// Runs `initializer(context)` strictly in the order of the last run that `phase` remembers. The initialiser is a
/// fork/join program of the same shape as that phase. It writes memory that no thread has touched, for instance to copy
/// the data there. The system then puts each page next to the core that will use it (first touch; "Optimizing Data
/// Locality for Fork/Join Programs Using Constrained Work Stealing", SC 2014, V). To check this, the leaves report the
/// memory that they write to a first_touch_check (tools/observe/page_nodes.hpp).
///
/// `where`: an executor with policy::replay, or a context of one. Throws region_error if the phase has no steal tree,
/// and what the initialiser throws. Cost: that of the initialiser, and a copy of the tree.
template <class Where, class F>
redistribution redistribute(Where&& where, region const& phase, F&& initializer) {
  if (phase.tree().empty()) {
    throw region_error{
        "heist::redistribute: the region has no steal tree, so there is no schedule for its data to follow; fix it by "
        "running it before, on an executor with policy::replay"};
  }
  region along;
  along.follow(phase.tree(), replay_mode::strict_ordered);
  where.invoke(along, std::forward<F>(initializer));
  return {along.times(), along.explain()};
}

}  // namespace heist
