// Door: what programs that run tasks use. Locality (cab, cats, replay, automatic, regions) is in locality.hpp; tools are in
// configuration.hpp, measure.hpp, observe.hpp, report.hpp, simulate.hpp and topology.hpp.
#pragma once

#include "heist/algorithm.hpp"
#include "heist/async.hpp"
#include "heist/coroutine.hpp"
#include "heist/executor.hpp"
#include "heist/flow.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/pipeline.hpp"
