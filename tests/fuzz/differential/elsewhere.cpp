// An executor for waits in destructors.
#include <heist/executor.hpp>

#include "support/program_memory.hpp"

namespace {

heist::executor<>& elsewhere() {
  static heist::executor<> ex{1};
  return ex;
}

}  // namespace

void heist_test::start_elsewhere() {
  static_cast<void>(elsewhere());
}
void heist_test::wait_elsewhere() {
  elsewhere().submit([] {}).wait();
}
