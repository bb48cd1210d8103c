// The bodies for heist::context, which leaves the order to the executor.
#include "fuzz/differential/walk_graph.hpp"

namespace heist_fuzz {

template std::uint64_t visit_root(program_memory&, heist::context);
template std::unique_ptr<graph_tasks<heist::context>> make_tasks<heist::context>(program_memory&, std::uint32_t, bool);
template void fork_without_context<heist::context>(program_memory&, std::uint32_t const*, std::uint32_t);
template bool run_loop(heist::context);

}  // namespace heist_fuzz
