// The second of two units that include all of heist and use it. Its order of headers differs, so that a header that
// hides a name of another header is found either way.
// clang-format off
#include "heist/subgraph.hpp"
#include "heist/run_loop.hpp"
#include "heist/thread_limit.hpp"
#include "heist/sync.hpp"
#include "heist/simulate.hpp"
#include "heist/report.hpp"
#include "heist/configuration.hpp"
#include "heist/observe.hpp"
#include "heist/measure.hpp"
#include "heist/locality.hpp"
#include "heist/heist.hpp"
// clang-format on

int second_unit();

int second_unit() {
  heist::executor ex{1};
  return ex.invoke([] { return 2; });
}
