// The memory-bound programs of the CAB and CATS papers under each policy.
#include "policies.hpp"

#include "../locality/programs.hpp"

namespace measure {

std::vector<row> policy_rows() {
  return {policy_row<locality::heat>("memory-bound"), policy_row<locality::sor>("memory-bound"),
          policy_row<locality::ge>("memory-bound"), policy_row<locality::merge_sorting>("memory-bound")};
}

}  // namespace measure
