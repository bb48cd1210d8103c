// One of two units that include all of heist and use it.
#include "heist/configuration.hpp"
#include "heist/heist.hpp"
#include "heist/locality.hpp"
#include "heist/measure.hpp"
#include "heist/observe.hpp"
#include "heist/report.hpp"
#include "heist/run_loop.hpp"
#include "heist/simulate.hpp"
#include "heist/subgraph.hpp"
#include "heist/sync.hpp"
#include "heist/thread_limit.hpp"

int first_unit();

int first_unit() {
  heist::executor ex{1};
  return ex.invoke([] { return 1; });
}
