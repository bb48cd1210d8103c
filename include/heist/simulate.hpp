// Door: a deterministic simulation of workers on a described machine, with the policies of the executor.
#pragma once

#include "heist/policy/tier_policies.hpp"
#include "heist/sim/engine.hpp"
#include "heist/sim/matrices.hpp"          // heat, sor, gauss_elimination
#include "heist/sim/mergesort.hpp"         // mergesort
#include "heist/sim/options.hpp"           // options, costs, caches
#include "heist/sim/program.hpp"           // program
#include "heist/sim/program_builder.hpp"   // program_builder
#include "heist/sim/ranks.hpp"             // simulate_ranks, network
#include "heist/sim/recorded_check.hpp"    // to_program
#include "heist/sim/recorded_file.hpp"     // save, load_recorded_program
#include "heist/sim/recorded_json.hpp"     // to_json, recorded_program_from_json
#include "heist/sim/recorded_program.hpp"  // recorded_program
#include "heist/sim/report.hpp"            // report
#include "heist/sim/sim_error.hpp"         // sim_error
#include "heist/sim/task_graphs.hpp"       // chain, tree_graph, random_graph, wavefront
#include "heist/sim/trees.hpp"             // balanced_tree, stress
#include "heist/sim/uts.hpp"               // uts
#include "heist/topology/synthetic.hpp"    // topology::parse

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
