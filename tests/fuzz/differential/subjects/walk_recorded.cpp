// The bodies for policies that record.
#include "fuzz/differential/walk.hpp"

namespace heist_fuzz {

template std::uint64_t visit_root(program_memory&, heist::basic_context<heist::order::recorded>);

}  // namespace heist_fuzz
