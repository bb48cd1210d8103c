// expect: what follows a pipeline in run\(\) is one heist::with
// lines: 22
// A stop token stands in heist::with.
#include <heist/heist.hpp>

#include <stop_token>

int main() {
  heist::executor ex{1};
  heist::pipeline p{1, heist::serial_stage([](heist::token& t) { t.stop(); })};
  std::stop_token const token;
#ifdef HEIST_FIXED
  ex.run(p, heist::with{.stop = token}).get();
#else
  ex.run(p, token).get();
#endif
}
