// As heist/distributed.hpp, with StarPU-MPI to move values: heist::world world{heist::distributed::starpu(argc, argv)}.
#pragma once

#include "heist/distributed.hpp"
#include "heist/distributed/starpu.hpp"
