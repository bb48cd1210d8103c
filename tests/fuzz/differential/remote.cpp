// An executor for waits in destructors.
#include <heist/executor.hpp>

#include "support/program_memory.hpp"

namespace {

heist::executor<>& remote() {
  static heist::executor<> ex{1};
  return ex;
}

}  // namespace

void heist_test::start_remote() {
  static_cast<void>(remote());
}
void heist_test::wait_remote() {
  remote().submit([] {}).wait();
}
