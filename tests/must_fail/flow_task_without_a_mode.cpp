// expect: a task of a flow says how it uses each datum
#include <heist/flow.hpp>

#include <functional>

int main() {
  heist::executor ex{1};
  heist::flow f{ex};
  heist::datum<int> x{f, 0};
#ifdef HEIST_FIXED
  f.task([](int& v) { ++v; }, heist::update(x));
#else
  f.task([](heist::datum<int>&) {}, std::ref(x));
#endif
}
