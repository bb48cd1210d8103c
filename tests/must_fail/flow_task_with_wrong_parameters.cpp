// expect: a task of a flow is called with a reference to each datum
// A task that changes what it said it reads.
#include <heist/flow.hpp>

int main() {
  heist::executor ex{1};
  heist::flow f{ex};
  heist::datum<int> x{f, 0};
#ifdef HEIST_FIXED
  f.task([](int& v) { ++v; }, heist::update(x));
#else
  f.task([](int& v) { ++v; }, heist::read(x));
#endif
}
