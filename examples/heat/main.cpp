// Heat in a metal plate: each step runs the same few lines of fork/join, under a policy from the command line. A
// picture shows which squad or worker computed each row in each step.
#include <heist/heist.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>  // bad_alloc

#include "options.hpp"
#include "placement_drawing.hpp"
#include "plate_drawing.hpp"
#include "png.hpp"
#include "report.hpp"

namespace {

/// Returns true if the same steps without tasks give the same plate.
bool is_right(heat::plate const& solved, heat::plate_description const& what, std::size_t steps) {
  heat::plate expected{what};
  auto const begin = heat::clock::now();
  for (std::size_t step = 0; step < steps; ++step) heat::relax_serially(expected);
  double const seconds = heat::seconds_since(begin);
  for (std::size_t row = 0; row < solved.rows(); ++row) {
    auto const got = solved.now(row), wanted = expected.now(row);
    for (std::size_t column = 0; column < solved.columns(); ++column) {
      if (got[column] == wanted[column]) continue;
      fmt::print("WRONG        row {}, column {} has {} degrees instead of {}\n", row, column, got[column],
                 wanted[column]);
      return false;
    }
  }
  fmt::print("verified     equal to the bit to {} steps on one thread without tasks, which took {:.3f} s\n", steps,
             seconds);
  return true;
}

void write_pictures(heat::options const& o, heat::plate const& p, heat::placement_record const& record,
                    heat::placed_by by) {
  heat::write_png(o.plate_file, heat::draw(p));
  heat::write_png(o.placement_file, heat::draw(record));
  fmt::print("written      {}, dark is cold\n", o.plate_file);
  fmt::print("written      {}: steps from left to right, rows from top to bottom, coloured by {}\n", o.placement_file,
             by == heat::placed_by::squad ? "squad" : "worker");
  if (record.kept_steps() < record.steps())
    fmt::print("             the first {} of {} steps are in it; --record takes more\n", record.kept_steps(),
               record.steps());
}

bool run(heat::options const& o) {
  if (!o.no_pictures) {
    for (auto const& file : {o.plate_file, o.placement_file}) heat::expect_writable(file);
  }
  heat::plate p{o.plate};
  heat::placement_record record{p.computed_rows(), o.recorded_steps};
  heat::progress visible{o.progress};
  fmt::print("{}", heat::to_text(p, o.plate));
  auto const report = heat::policy_named(o.policy).run(o.run, p, record, visible);
  fmt::print("{}{}", heat::to_text(report, o, p), heat::to_text(record, report));
  if (!o.no_pictures) write_pictures(o, p, record, report.by);
  return !o.verify || is_right(p, o.plate, report.solved.steps);
}

}  // namespace

int main(int argc, char** argv) {
  heat::options o;
  CLI::App app;
  heat::declare_options(app, o);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? 0 : 1;
  }
  try {
    heat::settle(o);
    return run(o) ? 0 : 1;
  } catch (std::bad_alloc const&) {
    fmt::print(stderr, "error: not enough memory; take a smaller --size or --record\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "error: {}\n", e.what());
  }
  return 1;
}
