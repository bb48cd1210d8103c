// expect: an executor has no async()
// lines: 15
// The name that std::async has.
#include <heist/executor.hpp>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  ex.post([] {});
#else
  ex.async([] {});
#endif
}
