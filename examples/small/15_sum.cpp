// A sum and a scalar product: any number of workers gives the same bits, and no grain size is needed.
#include <heist/algorithm.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

int main() {
  std::vector<double> v(1'000'000);
  heist::executor one{1}, all;

  heist::for_each_index(all, std::size_t{0}, v.size(), [&](std::size_t i) { v[i] = 1 / (1.0 + double(i)); });

  double const sum = heist::reduce(all, v, 0.0);
  double const length = std::sqrt(heist::transform_reduce(all, v, v, 0.0));
  bool const same = sum == heist::reduce(one, v, 0.0);
  double const quick = heist::reduce(all, v, 0.0, heist::any_order(std::plus{}));  // the bits may differ
  std::printf("sum %.9f, length %.9f\n", sum, length);
  std::printf("one worker: %s; in any order: %s\n", same ? "the same bits" : "other bits",
              std::abs(quick - sum) < 1e-9 ? "close" : "far");
}
