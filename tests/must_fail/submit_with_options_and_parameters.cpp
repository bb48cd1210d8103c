// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 22
// As submit_with_parameters, with options.
#include <heist/heist.hpp>

#include <stop_token>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  return ex.submit(heist::with{.stop = std::stop_token{}}, [] { return 1; }).get();
#else
  return ex.submit(heist::with{.stop = std::stop_token{}}, [](std::stop_token t) { return t.stop_requested() ? 1 : 0; })
      .get();
#endif
}
