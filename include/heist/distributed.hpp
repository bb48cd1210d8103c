// One graph over many processes: distributed_graph, world. Needs MPI and Boost.Serialization; heist.hpp does not
// include it.
#pragma once

#include "heist/distributed/graph.hpp"
#include "heist/distributed/mpi.hpp"
#include "heist/distributed/place.hpp"
