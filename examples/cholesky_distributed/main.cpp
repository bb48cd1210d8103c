// A tiled Cholesky factorisation over many processes, with a two-dimensional block-cyclic distribution:
//   mpirun -n 4 example_cholesky_distributed --tiles 16 --size 64 --picture cholesky.svg
//
// Started without mpirun, it is one process.
#include <heist/distributed.hpp>
#include <heist/executor.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "drawing.hpp"
#include "factorisation.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

double ms_since(clock_type::time_point t) {
  return std::chrono::duration<double, std::milli>(clock_type::now() - t).count();
}

/// The largest difference between two tiles of the factor. In a tile on the diagonal only the lower triangle counts.
double difference(example::tile const& have, example::tile const& want, std::size_t size, bool diagonal) {
  double worst = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < (diagonal ? i + 1 : size); ++j)
      worst = std::max(worst, std::abs(have[i * size + j] - want[i * size + j]));
  }
  return worst;
}

int run(heist::world& world, std::size_t n, std::size_t size, std::size_t workers, int runs,
        std::string const& drawing) {
  heist::executor ex{workers};
  auto const place = heist::place::block_cyclic::square(world.size());
  std::mutex lock;
  std::vector<example::span> spans;  // the tasks of the last run
  auto begin = clock_type::now();
  // Each task notes its begin. This is also the end of the worker's task before it; the last one keeps length 0.
  auto const note = [&](heist::context c, char kind) {
    if (drawing.empty()) return;
    double const now = ms_since(begin);
    int const worker = static_cast<int>(c.worker_id());
    std::lock_guard const guard{lock};
    for (auto s = spans.rbegin(); s != spans.rend(); ++s) {
      if (s->worker == worker) {
        s->end = now;
        break;
      }
    }
    spans.push_back({kind, world.rank(), worker, now, now});
  };
  heist::distributed_graph g{world};
  auto factor = example::add_cholesky(g, n, size, place, note);
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    world.barrier();
    spans.clear();
    begin = clock_type::now();
    ex.run(g).get();
    double const ms = ms_since(begin);
    best = i == 0 ? ms : std::min(best, ms);
  }

  // Each rank checks its tiles; rank 0 collects the errors and the spans.
  auto const want = example::factored_here(n, size);
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      if (factor(i, j).here())
        worst = std::max(worst, difference(factor(i, j).result(), want[i * (i + 1) / 2 + j], size, i == j));
    }
  }
  heist::distributed_graph sums{world};
  std::vector<heist::placed<double>> errors;
  std::vector<heist::placed<std::vector<example::span>>> parts;
  for (int r = 0; r < world.size(); ++r) {
    errors.push_back(sums.emplace(heist::on(r), [&] { return worst; }));
    parts.push_back(sums.emplace(heist::on(r), [&] { return spans; }));
  }
  bool good = true;
  sums.emplace(
      heist::on(0),
      [&](heist::values<double> all, heist::values<std::vector<example::span>> lists) {
        double const error = *std::max_element(all.begin(), all.end());
        good = error < 1e-9;
        std::printf("%zu x %zu tiles of %zu x %zu, %d ranks of %zu workers: best of %d runs %.2f ms, error %.1e\n", n,
                    n, size, size, world.size(), workers, runs, best, error);
        if (drawing.empty()) return;
        std::vector<example::span> everything;
        for (auto const& list : lists) everything.insert(everything.end(), list.begin(), list.end());
        example::draw(drawing, everything, world.size(), static_cast<int>(workers));
        std::printf("picture: %s\n", drawing.c_str());
      },
      heist::each(errors), heist::each(parts));
  ex.run(sums).get();
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"A tiled Cholesky factorisation over many processes; run it by mpirun -n RANKS, or alone."};
  std::size_t tiles = 16, size = 64, workers = 1;
  int runs = 3;
  std::string drawing;
  app.add_option("--tiles", tiles, "Tiles in each row")->check(CLI::Range(1, 1000));
  app.add_option("--size", size, "Rows of a tile")->check(CLI::Range(1, 4096));
  app.add_option("--workers", workers, "Workers of each rank")->check(CLI::Range(1, 1024));
  app.add_option("--runs", runs, "How often")->check(CLI::Range(1, 1000));
  app.add_option("--picture", drawing, "Write an SVG of who ran what");
  CLI11_PARSE(app, argc, argv);
  try {
    heist::world world{argc, argv};
    return run(world, tiles, size, workers, runs, drawing);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
