// Which policy will suit my machine? The program simulates a recorded program on a described machine under every
// policy. It answers with tables, a picture and a sentence.
#include <heist/heist.hpp>
#include <heist/simulate.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cerrno>   // errno
#include <cstdio>   // fputs
#include <cstring>  // strerror
#include <exception>
#include <fstream>
#include <new>  // bad_alloc
#include <string>

#include "calibration.hpp"
#include "chart.hpp"
#include "comparison.hpp"
#include "decision.hpp"
#include "json_text.hpp"
#include "options.hpp"
#include "programs.hpp"
#include "table.hpp"

namespace {

using which_policy::wrong_input;

void write_file(std::string const& path, std::string const& text) {
  errno = 0;
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  out << text;
  out.close();
  if (!out) {
    throw wrong_input{fmt::format("{}: the file cannot be written: {}; name one in a folder that exists and has room",
                                  path, errno != 0 ? std::strerror(errno) : "output error")};
  }
}

/// Reports an unwritable file before the long work instead of after it.
void expect_writable(std::string const& path) {
  errno = 0;
  if (std::ofstream out{path, std::ios::binary | std::ios::app}; !out) {
    throw wrong_input{fmt::format("{}: the file cannot be written: {}; name one in a folder that exists", path,
                                  errno != 0 ? std::strerror(errno) : "output error")};
  }
}

heist::sim::recorded_program load_or_record(which_policy::options const& o, which_policy::progress& visible) {
  heist::sim::recorded_program recorded;
  if (!o.trace.empty()) recorded = heist::sim::load_recorded_program(o.trace);
  if (!o.no_plot) expect_writable(o.plot_file);
  for (auto const& file : {o.json_file, o.record_file}) {
    if (!file.empty() && file != "-") expect_writable(file);
  }
  if (o.trace.empty()) recorded = which_policy::program_named(o.program).record(o.recording, visible);
  if (!o.record_file.empty()) heist::sim::save(recorded, o.record_file);
  return recorded;
}

/// Sets the costs of memory of the simulated machine, and returns those of the recording's machine.
heist::sim::options set_memory(which_policy::options const& o, heist::sim::recorded_program const& recorded,
                               heist::sim::options& how) {
  auto const usual = how;
  auto const here = [&](heist::sim::options& to) {
    heist::sim::set_memory(to, heist::sim::measure_streams(to, which_policy::data_of(recorded)));
  };
  if (o.memory == "here") {
    here(how);
  } else if (o.memory != "usual") {
    heist::sim::set_memory(how, which_policy::load_streams(o.memory));
  }
  auto recorded_on = how;
  recorded_on.machine = o.recorded_on;
  if (o.memory != "usual" && o.recorded_on != *how.machine) {
    recorded_on = usual;
    recorded_on.machine = o.recorded_on;
    if (o.recorded_on.is_this_machine) here(recorded_on);
  }
  return recorded_on;
}

void run(which_policy::options const& o) {
  which_policy::progress visible{o.progress};
  auto recorded = load_or_record(o, visible);
  auto const as_recorded = heist::sim::to_program(recorded);
  auto wanted = o.run;
  auto const recorded_on = set_memory(o, recorded, wanted.how);
  std::string const memory = o.keeps_work
                                 ? "the recorded work is taken to contain none of its time"
                                 : which_policy::calibrate(recorded, wanted.how, recorded_on, !o.sets_memory_cost);
  auto const& machine = *wanted.how.machine;
  auto c = which_policy::compare(heist::sim::to_program(recorded), wanted, visible);
  c.work = static_cast<double>(as_recorded.work());
  c.span = static_cast<double>(as_recorded.span());
  auto const v = which_policy::evaluate(c);
  if (!o.no_plot) write_file(o.plot_file, which_policy::chart(recorded.name, machine.to_text(), c, v));
  auto const json = which_policy::to_json(recorded.name, machine.to_text(), c, v);
  if (o.json_file == "-") {
    std::fputs(json.c_str(), stdout);
    return;
  }
  if (!o.json_file.empty()) write_file(o.json_file, json);
  fmt::print("{}\n{}\n{}\n", which_policy::to_text(recorded, machine, memory, c), which_policy::policy_table(c),
             which_policy::worker_table(c));
  if (auto const notes = which_policy::notes(c); !notes.empty()) fmt::print("{}\n", notes);
  fmt::print("answer       {}\n", v.message);
  if (!o.record_file.empty()) fmt::print("written      {}, the recording\n", o.record_file);
  if (!o.no_plot) fmt::print("written      {}\n", o.plot_file);
  if (!o.json_file.empty()) fmt::print("written      {}\n", o.json_file);
}

}  // namespace

int main(int argc, char** argv) {
  which_policy::options o;
  CLI::App app;
  which_policy::declare_options(app, o);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? 0 : 1;
  }
  try {
    which_policy::settle(o);
    run(o);
    return 0;
  } catch (std::bad_alloc const&) {
    fmt::print(stderr, "error: not enough memory; take a smaller --size, or fewer --threads\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "error: {}\n", e.what());
  }
  return 1;
}
