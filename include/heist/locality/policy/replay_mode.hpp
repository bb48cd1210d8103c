// How faithfully a run follows the steal tree of an earlier one.
#pragma once

namespace heist {

/// How closely a run along a steal tree repeats the recorded run. "Optimizing Data Locality for Fork/Join Programs
/// Using Constrained Work Stealing" (Lifflander, Krishnamoorthy, Kale, SC 2014), section IV.C. The worker that runs the
/// rest of a frame that was stolen gives it to the worker that the tree names.
enum class replay_mode {
  strict_ordered,    ///< each worker runs what the tree gives it, in the tree's order; none steals or searches
  strict_unordered,  ///< each worker runs what the tree gives it, in the order in which it comes; none steals
  relaxed            ///< unordered, but a worker without work steals, and follows the tree below the stolen frame
};

}  // namespace heist
