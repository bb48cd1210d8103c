// One of two units that include all of heist and use it.
#include "heist/heist.hpp"

int first_unit();

int first_unit() {
  heist::executor ex{1};
  return ex.sync_wait([] { return 1; });
}
