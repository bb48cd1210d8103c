// expect: pass a stop token as heist::with\{.stop = token\}
// lines: 22
// A stop token stands in heist::with.
#include <heist/heist.hpp>

#include <stop_token>

int main() {
  heist::executor ex{1};
  std::stop_token const token;
#ifdef HEIST_FIXED
  return ex.submit(heist::with{.stop = token}, [] { return 1; }).get();
#else
  return ex.submit(token, [] { return 1; }).get();
#endif
}
