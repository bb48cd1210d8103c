// The game of life: many steps over the same board. With a region and a policy with memory (cats), each part of the
// board returns to the squad that has it in its cache.
#include <heist/algorithm.hpp>
#include <heist/tiers.hpp>

#include <cstdio>
#include <utility>
#include <vector>

int main() {
  int const n = 256;  // a torus of n x n
  std::vector<char> now(n * n), next(n * n);
  for (auto const& [i, j] : {std::pair{1, 2}, {2, 3}, {3, 1}, {3, 2}, {3, 3}}) now[i * n + j] = 1;  // a glider
  for (int j = 100; j < 103; ++j) now[50 * n + j] = 1;                                              // a blinker

  heist::executor<heist::policy::cats> ex;
  heist::region step;
  for (int steps = 0; steps < 4 * 20; ++steps) {
    heist::for_each_index(ex, 0, n,
                          [&](int i) {
                            int const above = (i + n - 1) % n * n, below = (i + 1) % n * n, here = i * n;
                            for (int j = 0; j < n; ++j) {
                              int const left = (j + n - 1) % n, right = (j + 1) % n;
                              int const around = now[above + left] + now[above + j] + now[above + right] +
                                                 now[here + left] + now[here + right] + now[below + left] +
                                                 now[below + j] + now[below + right];
                              next[here + j] = around == 3 || (around == 2 && now[here + j] != 0);
                            }
                          },
                          {.region = &step});
    now.swap(next);
  }

  auto const alive = heist::count(ex, now, 1);
  auto const first = heist::find(ex, now, 1) - now.begin();
  std::printf("%td alive; the glider is at row %td, column %td\n", alive, first / n, first % n);
}
