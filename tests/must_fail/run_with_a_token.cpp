// expect: pass a stop token as heist::with\{.stop = token\}
// lines: 22
// A stop token stands in heist::with.
#include <heist/heist.hpp>

#include <stop_token>

int main() {
  heist::executor ex{1};
  heist::task_graph g;
  std::stop_token const token;
#ifdef HEIST_FIXED
  return ex.run(g, heist::with{.stop = token}).get(), 0;
#else
  return ex.run(g, token).get(), 0;
#endif
}
