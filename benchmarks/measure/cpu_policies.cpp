// The CPU-bound programs of the CAB and CATS papers under each policy.
#include "policies.hpp"

#include "../locality/programs.hpp"

namespace measure {

std::vector<row> cpu_policy_rows() {
  return {policy_row<locality::queens>("CPU-bound"), policy_row<locality::fft>("CPU-bound"),
          policy_row<locality::knapsack>("CPU-bound", 25)};
}

}  // namespace measure
