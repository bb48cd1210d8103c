// The bodies for policies with tiers.
#include "fuzz/differential/walk.hpp"

namespace heist_fuzz {

template std::uint64_t visit_root(program_memory&, heist::basic_context<heist::order::by_tier>);

}  // namespace heist_fuzz
