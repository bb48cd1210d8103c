// The bodies for the two plain orders.
#include "fuzz/differential/walk.hpp"

namespace heist_fuzz {

template std::uint64_t visit_root(program_memory&, heist::basic_context<heist::order::parent_first>);
template std::uint64_t visit_root(program_memory&, heist::basic_context<heist::order::child_first>);

}  // namespace heist_fuzz
