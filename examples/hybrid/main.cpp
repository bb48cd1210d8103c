// Heat in a plate, in a program that uses MPI itself. The ranks exchange rows by MPI_Isend and MPI_Irecv, and each rank
// computes its rows with a heist graph. It needs no heist::world, and any MPI with MPI_THREAD_FUNNELED is enough.
//   mpirun -n 2 example_hybrid --picture heat.svg
// Started without mpirun, it is one process.
#include <mpi.h>
//
#include <heist/heist.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "../heat_distributed/drawing.hpp"
#include "../progress_line.hpp"
#include "strip.hpp"

namespace {

struct wishes {
  std::size_t rows = 256, columns = 256, blocks = 4, steps = 100, workers = 1;
  bool is_quiet = false;
  std::string picture;
};

/// Returns the whole plate on rank 0, and an empty one on other ranks.
example::cells gathered(hybrid::strip const& mine, example::row_blocks const& blocks, MPI_Comm comm, int rank,
                        int ranks) {
  std::size_t const columns = blocks.of.columns, each = blocks.count / static_cast<std::size_t>(ranks);
  std::vector<int> counts, begins;
  for (std::size_t r = 0; r != static_cast<std::size_t>(ranks); ++r) {
    std::size_t const first = blocks.first_row(r * each), end = blocks.first_row((r + 1) * each);
    counts.push_back(static_cast<int>(end - first));
    begins.push_back(static_cast<int>(first));
  }
  MPI_Datatype row = MPI_DATATYPE_NULL;  // rows instead of cells: MPI counts in int
  MPI_Type_contiguous(static_cast<int>(columns), MPI_DOUBLE, &row);
  MPI_Type_commit(&row);
  example::cells whole(rank == 0 ? blocks.of.rows * columns : 0);
  MPI_Gatherv(mine.rows(), static_cast<int>(mine.count()), row, whole.data(), counts.data(), begins.data(), row, 0,
              comm);
  MPI_Type_free(&row);
  return whole;
}

/// Returns false if the plate differs from the result of one thread.
bool run(wishes const& w, MPI_Comm comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  auto const count = static_cast<std::size_t>(ranks);
  if (w.rows < count) throw std::runtime_error{fmt::format("{} rows are too few for {} ranks", w.rows, ranks)};
  example::row_blocks const blocks{{w.rows, w.columns}, count * std::min(w.blocks, w.rows / count)};
  hybrid::strip mine{blocks, comm, rank, ranks};
  heist::executor ex{w.workers};
  using examples::show_progress;
  examples::progress_line line{rank == 0 && !w.is_quiet ? show_progress::on_terminals : show_progress::never};
  MPI_Barrier(comm);
  auto const begin = std::chrono::steady_clock::now();
  line.start();
  for (std::size_t step = 1; step <= w.steps; ++step) {
    mine.step(ex);
    if (line.due()) line.show(fmt::format("step {} of {} ({} %)", step, w.steps, step * 100 / w.steps));
  }
  double const ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  line.clear();
  std::printf("rank %d of %d: rows %zu to %zu of %zu, blocks: %zu, steps: %zu, %.2f ms\n", rank, ranks,
              mine.first_row(), mine.first_row() + mine.count() - 1, w.rows, blocks.count / count, w.steps, ms);
  auto const whole = gathered(mine, blocks, comm, rank, ranks);
  int good = 1;
  if (rank == 0) {
    good = whole == example::computed_here(blocks.of, w.steps) ? 1 : 0;
    std::printf("the plate is %s\n", good != 0 ? "what one thread computes" : "WRONG");
    std::vector<int> owners;
    for (std::size_t i = 0; i != blocks.count; ++i) owners.push_back(static_cast<int>(i / (blocks.count / count)));
    if (!w.picture.empty()) example::draw(w.picture, blocks, whole, owners);
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, comm);
  return good != 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Heat in a plate with MPI between ranks and a heist graph in each; run it by mpirun -n RANKS, or alone."};
  wishes w;
  app.add_option("--rows", w.rows, "Rows of the plate, at least one for each rank")->check(CLI::Range(3, 100'000));
  app.add_option("--columns", w.columns, "Columns of the plate")->check(CLI::Range(3, 100'000));
  app.add_option("--blocks", w.blocks, "Blocks of rows of each rank: one task each")->check(CLI::Range(1, 10'000));
  app.add_option("--steps", w.steps, "Steps")->check(CLI::Range(1, 1'000'000));
  app.add_option("--workers", w.workers, "Workers of each rank")->check(CLI::Range(1, 1024));
  app.add_option("--picture", w.picture, "Write an SVG of the plate, its ranks and blocks");
  app.add_flag("--quiet", w.is_quiet, "Show no progress on terminals");
  CLI11_PARSE(app, argc, argv);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  bool good = false;
  try {
    good = run(w, MPI_COMM_WORLD);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
