// Data flow: the program is written in serial order. Tasks declare the data that they read and write, and tasks without
// a conflict run in parallel. The example computes the Cholesky factor of a small matrix, column by column.
#include <heist/flow.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <deque>

int main() {
  constexpr std::size_t n = 4;
  using column = std::array<double, n>;
  heist::executor ex;
  heist::flow f{ex};
  std::deque<heist::datum<column>> a;  // symmetric: 4 on the diagonal, 1 beside it
  for (std::size_t j = 0; j < n; ++j) {
    column c{};
    for (std::size_t i = 0; i < n; ++i) c[i] = i == j ? 4 : i + 1 == j || j + 1 == i ? 1 : 0;
    a.emplace_back(f, c);
  }

  for (std::size_t k = 0; k < n; ++k) {
    f.task(
        [k](column& c) {
          double const root = std::sqrt(c[k]);
          for (std::size_t i = k; i < n; ++i) c[i] /= root;
        },
        heist::update(a[k]));
    for (std::size_t j = k + 1; j < n; ++j) {  // these tasks run in parallel
      f.task(
          [j](column const& done, column& c) {
            for (std::size_t i = j; i < n; ++i) c[i] -= done[i] * done[j];
          },
          heist::read(a[k]), heist::update(a[j]));
    }
  }
  f.wait();
  for (std::size_t k = 0; k < n; ++k) {
    f.task([k](column const& c) { std::printf("%.4f\n", c[k]); }, heist::read(a[k]));
    f.wait();
  }
}
