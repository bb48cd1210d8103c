// Door: a deterministic simulation of workers on a described machine, with the policies of the executor.
#pragma once

#include "heist/core/topology/synthetic.hpp"  // topology::parse
#include "heist/locality/policy/tier_policies.hpp"
#include "heist/tools/simulate/engine.hpp"
#include "heist/tools/simulate/matrices.hpp"          // heat, sor, gauss_elimination
#include "heist/tools/simulate/mergesort.hpp"         // mergesort
#include "heist/tools/simulate/options.hpp"           // options, costs, caches
#include "heist/tools/simulate/program.hpp"           // program
#include "heist/tools/simulate/program_builder.hpp"   // program_builder
#include "heist/tools/simulate/ranks.hpp"             // simulate_ranks, network
#include "heist/tools/simulate/recorded_check.hpp"    // to_program
#include "heist/tools/simulate/recorded_file.hpp"     // save, load_recorded_program
#include "heist/tools/simulate/recorded_json.hpp"     // to_json, recorded_program_from_json
#include "heist/tools/simulate/recorded_program.hpp"  // recorded_program
#include "heist/tools/simulate/report.hpp"            // report
#include "heist/tools/simulate/sim_error.hpp"         // sim_error
#include "heist/tools/simulate/streams.hpp"           // measure_streams, set_memory
#include "heist/tools/simulate/task_graphs.hpp"       // chain, tree_graph, random_graph, wavefront
#include "heist/tools/simulate/trees.hpp"             // balanced_tree, stress
#include "heist/tools/simulate/uts.hpp"               // uts

namespace heist {

/// Runs a program on simulated workers, under any policy that executor<Policy> takes:
///
///   auto const tree = sim::balanced_tree({.depth = 12, .leaf = sim::exponential(1000)});
///   auto const r = simulate<policy::sampling>(tree, {.workers = 1024, .costs = sim::costs::wool_section_4()});
///
/// Along the steal tree of another run, from pages that this one has touched first:
///
///   sim::options wanted{.machine = m};
///   wanted.numa.pages = sim::page_placement::first_touch;
///   auto const first = simulate<policy::replay>(initialiser, wanted);
///   wanted.numa.homes = &*first.homes;
///   wanted.follow = &first.trees.back();
///   auto const second = simulate<policy::replay>(kernel, wanted);
///
/// Throws sim_error for options without sense and for a policy that breaks a promise, topology_error for squads that
/// the machine does not have. The same arguments give the same report.
/// Cost: some 100 ns for each task and each attempt to steal, on the calling thread; about 200 bytes for each task.
template <policy::executor_policy Policy = policy::random>
sim::report simulate(sim::program const& program, sim::options const& wanted = {}) {
  return sim::engine<Policy>(program, wanted).run();
}

}  // namespace heist
