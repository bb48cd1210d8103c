// A sparse matrix times a vector: rows have unequal lengths, and a scan computes where each row begins.
#include <heist/algorithm.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::size_t const n = 20'000;
  heist::executor ex;

  // Row i has an entry 1 in column i / d for each divisor d of i below 100.
  auto const divides = [](std::size_t d, std::size_t i) { return i % d == 0; };
  std::vector<std::size_t> length(n), begin(n + 1);
  heist::for_each_index(ex, std::size_t{0}, n, [&](std::size_t i) {
    for (std::size_t d = 1; d < 100; ++d) length[i] += divides(d, i) ? 1 : 0;
  });
  heist::inclusive_scan(ex, length, begin.begin() + 1);

  std::vector<std::size_t> column(begin[n]);
  heist::for_each_index(ex, std::size_t{0}, n, [&](std::size_t i) {
    std::size_t at = begin[i];
    for (std::size_t d = 1; d < 100; ++d)
      if (divides(d, i)) column[at++] = i / d;
  });

  std::vector<double> x(n, 0.5), y(n);
  for (int times = 0; times < 3; ++times) {
    heist::for_each_index(ex, std::size_t{0}, n, [&](std::size_t i) {
      double sum = 0;
      for (std::size_t k = begin[i]; k < begin[i + 1]; ++k) sum += x[column[k]];
      y[i] = sum;
    });
    auto const most = heist::max_element(ex, y);
    std::printf("%zu entries, the largest of the product is %.1f in row %td\n", column.size(), *most, most - y.begin());
    x.swap(y);
  }
}
