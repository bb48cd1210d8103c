// Door: runs of a part of a graph: heist::subgraph. Not part of heist.hpp.
#pragma once

#include "heist/graph.hpp"
#include "heist/graph/subgraph.hpp"
