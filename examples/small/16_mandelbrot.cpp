// A picture whose points have unequal costs: the loop splits into two-dimensional tiles while it runs.
#include <heist/algorithm.hpp>

#include <complex>
#include <cstdio>
#include <string>
#include <vector>

int main() {
  std::size_t const rows = 21, columns = 64;
  int const most = 5000;
  std::vector<int> steps(rows * columns);
  heist::executor ex;

  heist::for_each_index_2d(ex, {0, rows}, {0, columns}, [&](std::size_t i, std::size_t j) {
    std::complex<double> const c{-2.2 + 3.2 * double(j) / columns, -1.2 + 2.4 * double(i) / (rows - 1)};
    std::complex<double> z = 0;
    int n = 0;
    while (n < most && std::norm(z) < 4) {
      z = z * z + c;
      ++n;
    }
    steps[i * columns + j] = n;
  });

  for (std::size_t i = 0; i < rows; ++i) {
    std::string line;
    for (std::size_t j = 0; j < columns; ++j) {
      int const n = steps[i * columns + j];
      line += n == most ? '#' : n > 12 ? '+' : n > 6 ? '-' : n > 4 ? '.' : ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(line.c_str());
  }
}
