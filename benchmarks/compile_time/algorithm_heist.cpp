// A first program with algorithms.
#include <heist/algorithm.hpp>

#include <cstdio>
#include <vector>

int main() {
  heist::executor ex;
  std::vector<double> v(1000);
  heist::for_each_index(ex, 0, 1000, [&](int i) { v[static_cast<std::size_t>(i)] = 1.0 / (i + 1); });
  heist::sort(ex, v);
  std::printf("%f\n", heist::reduce(ex, v, 0.0));
}
