// Heat in a plate over many processes. The plate is cut into strips of rows. Neighbours send the edges of their strips
// to each other as values of tasks.
//
//   mpirun -n 2 example_heat_distributed --picture heat.svg
//   mpirun -n 2 example_heat_distributed --save folder     after a crash: ... --restart folder
//   mpirun -n 2 example_heat_distributed --all-on-first    puts all strips on rank 0, measures, and places them again
//
// Started without mpirun, it is one process.
#include <heist/distributed.hpp>
#include <heist/executor.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "drawing.hpp"
#include "row_blocks.hpp"

namespace {

struct hints {
  std::size_t rows = 256, columns = 256, row_blocks = 8, steps = 60, workers = 1, every = 10;
  bool all_on_first = false;
  std::string drawing, save, restart;
};

/// Runs the graph; under --all-on-first once more, with measured places. Rank 0 checks the plate.
class solver {
 public:
  solver(heist::world& world, hints const& w)
      : world_{world}, hints_{w}, row_blocks_{{w.rows, w.columns}, w.row_blocks}, ex_{w.workers} {}

  bool run() {
    heist::distributed_options options{.remember = hints_.all_on_first || !hints_.save.empty(),
                                       .restart = hints_.restart};
    double const first = run_once(options, hints_.save);
    if (!hints_.all_on_first) return good_;
    heist::place::measured const better{*graph_};
    options.placement = &better;
    double const second = run_once(options, {});
    if (world_.rank() == 0) {
      std::printf("placed again: %zu tasks moved; %.1f ms, then %.1f ms (simulated %.1f, %.1f)\n", better.moved(),
                  first, second, better.predicted_before() / 1000, better.predicted_after() / 1000);
    }
    return good_;
  }

 private:
  using strip = heist::placed<example::cells>;

  /// Returns the shortest time in milliseconds: of three runs under --all-on-first, otherwise of one.
  double run_once(heist::distributed_options const& options, std::string const& save) {
    heist::distributed_graph g{world_, options};
    heist::place::block const block{row_blocks_.count, world_.size()};
    auto const place = [&](std::size_t i) { return heist::prefer(hints_.all_on_first ? 0 : block(i)); };
    std::vector<strip> cut;
    auto const ends = example::add_steps(
        g, row_blocks_, hints_.steps, place, [this] { steps_.fetch_add(1, std::memory_order_relaxed); },
        [&](std::size_t step, std::vector<strip> const& now) {
          if (step % hints_.every == 0) cut.insert(cut.end(), now.begin(), now.end());
        });
    std::vector<int> ranks;
    for (strip const& s : ends) ranks.push_back(s.rank());
    g.emplace(
        heist::on(0), [this](heist::values<example::cells> all) { join(all); }, heist::each(ends));
    if (!save.empty()) g.save(save, cut);
    double best = 0;
    for (int i = 0; i < (hints_.all_on_first ? 3 : 1); ++i) {
      steps_ = 0;
      world_.barrier();
      auto const begin = std::chrono::steady_clock::now();
      ex_.run(g).get();
      double const ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      best = i == 0 ? ms : std::min(best, ms);
    }
    std::printf("rank %d of %d: %zu x %zu cells in %zu strips, %zu steps: %zu steps of strips run here, %.2f ms\n",
                world_.rank(), world_.size(), hints_.rows, hints_.columns, row_blocks_.count, hints_.steps,
                steps_.load(), best);
    if (world_.rank() == 0) check(ranks);
    graph_ = std::make_unique<heist::distributed_graph>(std::move(g));
    return best;
  }

  /// Runs on rank 0, as the last task.
  void join(heist::values<example::cells> all) {
    whole_.clear();
    for (auto const& part : all) whole_.insert(whole_.end(), part.begin(), part.end());
  }
  /// Called on rank 0 after the runs.
  void check(std::vector<int> const& ranks) {
    bool const same = whole_ == example::computed_here(row_blocks_.of, hints_.steps);
    good_ = good_ && same;
    std::printf("the plate is %s\n", same ? "what one thread computes" : "WRONG");
    if (!hints_.drawing.empty()) example::draw(hints_.drawing, row_blocks_, whole_, ranks);
  }

  heist::world& world_;
  hints const& hints_;
  example::row_blocks const row_blocks_;
  heist::executor<> ex_;
  std::unique_ptr<heist::distributed_graph> graph_;
  example::cells whole_;
  std::atomic<std::size_t> steps_{0};
  bool good_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Heat in a plate over many processes; run it by mpirun -n RANKS, or alone."};
  hints w;
  app.add_option("--rows", w.rows, "Rows of the plate")->check(CLI::Range(3, 100'000));
  app.add_option("--columns", w.columns, "Columns of the plate")->check(CLI::Range(3, 100'000));
  app.add_option("--strips", w.row_blocks, "Strips of rows, at most as many as there are rows")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--steps", w.steps, "Steps")->check(CLI::Range(1, 100'000));
  app.add_option("--workers", w.workers, "Workers of each rank")->check(CLI::Range(1, 1024));
  app.add_option("--picture", w.drawing, "Write an SVG of the plate and its ranks");
  app.add_option("--save", w.save, "A folder for the strips of every tenth step");
  app.add_option("--every", w.every, "Of every so-manieth step")->check(CLI::Range(1, 100'000));
  app.add_option("--restart", w.restart, "Go on from what was saved there");
  app.add_flag("--all-on-first", w.all_on_first, "Begin with all strips on rank 0, measure, and place them again");
  CLI11_PARSE(app, argc, argv);
  w.row_blocks = std::min(w.row_blocks, w.rows);
  try {
    heist::world world{argc, argv};
    return solver{world, w}.run() ? 0 : 1;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
