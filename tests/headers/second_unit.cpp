// The other of two units that include all of heist and use it.
#include "heist/heist.hpp"

int second_unit();

int second_unit() {
  heist::executor ex{1};
  return ex.sync_wait([] { return 2; });
}
