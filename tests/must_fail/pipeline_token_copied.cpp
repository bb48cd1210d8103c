// expect: which cannot be copied
// lines: 25
// A token that is taken by value.
#include <heist/pipeline.hpp>

int main() {
#ifdef HEIST_FIXED
  auto const first = [](heist::token& t) { t.stop(); };
#else
  auto const first = [](heist::token t) { t.stop(); };
#endif
  heist::executor ex{1};
  heist::pipeline p{4, heist::serial_stage(first)};
  ex.run(p).get();
}
