// Random programs on executors, as declarations: the bodies are instantiated once for each order (folder subjects) and
// shared by all policies that have it.
#pragma once

#include <cstdint>
#include <memory>

#include <heist/executor.hpp>
#include <heist/graph.hpp>

#include "support/program_memory.hpp"

namespace heist_fuzz {

using heist_test::program_memory;

/// Runs the whole program within the task of `c`, and returns the root's value. Defined for heist::context and for the
/// contexts of all orders; on Boost.Context for heist::context alone.
template <class Context>
std::uint64_t visit_root(program_memory& m, Context c);

// Templates, though there is one Context only, so that both kinds of flow have their own.

/// The children of a node as the tasks of a graph.
template <class Context>
struct graph_tasks {
  graph_tasks() = default;
  graph_tasks(graph_tasks const&) = delete;
  graph_tasks& operator=(graph_tasks const&) = delete;
  virtual ~graph_tasks() = default;

  heist::task_graph graph;
};

/// `told`: runs of it get the program's stop_token.
template <class Context>
std::unique_ptr<graph_tasks<Context>> make_tasks(program_memory& m, std::uint32_t n, bool told);
/// heist::fork_join of up to three leaves.
template <class Context>
void fork_without_context(program_memory& m, std::uint32_t const* leaves, std::uint32_t count);
/// Runs a graph with a condition, three times round. False if it has done anything else.
template <class Context>
bool run_loop(Context c);

}  // namespace heist_fuzz
