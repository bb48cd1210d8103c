// All of heist, and nothing of it used.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/measure.hpp>
#include <heist/observe.hpp>
#include <heist/run_loop.hpp>
#include <heist/simulate.hpp>
#include <heist/subgraph.hpp>
#include <heist/sync.hpp>
#include <heist/thread_limit.hpp>
