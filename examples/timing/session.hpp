// One call of the example: get the circuit, time it on one thread and as a task graph, apply changes, write the files.
#pragma once

#include <heist/heist.hpp>

#include "histogram.hpp"
#include "multiplier.hpp"
#include "options.hpp"
#include "parallel.hpp"
#include "progress.hpp"
#include "reader.hpp"
#include "report.hpp"
#include "retiming.hpp"
#include "sequential.hpp"
#include "writer.hpp"

#include <algorithm>  // min
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace timing {

/// Calls f `repetitions` times. Returns the shortest time in seconds.
template <class F>
double best_of(int repetitions, F&& f) {
  double best = 1e300;
  for (int i = 0; i < repetitions; ++i) {
    auto const begin = clock::now();
    f();
    best = std::min(best, seconds_since(begin));
  }
  return best;
}

/// Opens `path` and calls write(stream). Throws std::runtime_error on failure.
template <class F>
void write_file(std::string const& path, F&& write) {
  std::ofstream out{path, std::ios::binary};
  if (out) write(out);
  out.flush();
  if (!out)
    throw std::runtime_error{
        fmt::format("{}: cannot be written; check the folder, its permissions and its space", path)};
}

/// Prints to stdout; progress goes to stderr.
class session {
 public:
  explicit session(options const& o) : options_{o}, circuit_{load(o)}, times_{circuit_, o.corners} {}

  template <class Executor>
  void run(Executor& ex) {
    fmt::print("circuit      {}\n", to_text(circuit_));
    reject_large_dot();
    analyse(ex);
    apply_changes(ex);
    if (!options_.save.empty()) write_file(options_.save, [&](auto& out) { out << to_verilog(circuit_); });
    if (!options_.svg.empty()) write_file(options_.svg, [&](auto& out) { out << slack_histogram(circuit_, times_); });
    for (auto const* path : {&options_.save, &options_.svg, &options_.dot}) {
      if (!path->empty()) fmt::print("written      {}\n", *path);
    }
  }

 private:
  static constexpr int repetitions = 10;
  static constexpr std::size_t least_for_graph = 50;  // gates: some 50 microseconds on one thread

  netlist load(options const& o) {
    progress_.phase(o.file.empty() ? "making the multiplier" : "reading " + printable(o.file));
    auto circuit = o.file.empty() ? make_multiplier(o.multiplier) : read_verilog_file(o.file);
    progress_.clear();
    return circuit;
  }

  void reject_large_dot() const {
    if (options_.dot.empty() || circuit_.cell_count <= largest_dot) return;
    throw std::runtime_error{
        fmt::format("--dot: a picture of {} gates cannot be read, so none is written above {}; "
                    "take a smaller circuit, or --trace, which grows better",
                    circuit_.cell_count, largest_dot)};
  }

  std::optional<femtoseconds> period() const {
    if (!options_.period) return std::nullopt;
    return static_cast<femtoseconds>(*options_.period * 1000);
  }

  template <class Executor>
  void analyse(Executor& ex) {
    bool const is_traced = !options_.trace.empty();
    times yardstick{circuit_, options_.corners};
    progress_.phase("timing on one thread");
    auto const sequential = best_of(repetitions, [&] { time_serial(circuit_, yardstick, period()); });

    progress_.phase("building the task graph");
    auto const begin = clock::now();
    timing_graph graph{circuit_, times_, period(), is_traced || !options_.dot.empty()};
    auto const building = seconds_since(begin);
    if (!options_.dot.empty()) write_file(options_.dot, [&](auto& out) { graph.graph().dot(out); });

    progress_.phase("timing as a task graph");
    auto const parallel = best_of(is_traced ? 1 : repetitions, [&] { graph.run(ex); });
    progress_.clear();
    if (times_ != yardstick)
      throw std::logic_error{"the task graph and the sequential analysis disagree: a bug in this program"};

    fmt::print("{}", text_of_path(circuit_, times_, options_.full_path));
    fmt::print(
        "time         {:.3f} ms as a graph of {} tasks on {} worker{}, {:.3f} ms on one thread without tasks: {:.2f} "
        "x\n",
        parallel * 1e3, graph.size(), ex.worker_count(), ex.worker_count() == 1 ? "" : "s", sequential * 1e3,
        sequential / parallel);
    fmt::print("             ({}; {} corner{}; building the graph took {:.3f} ms)\n",
               is_traced ? "one run, slower for being traced" : fmt::format("best of {} runs each", repetitions),
               options_.corners, options_.corners == 1 ? "" : "s", building * 1e3);
    if (circuit_.cell_count < least_for_graph) {
      fmt::print("             (below {} gates a task graph does not pay: waking the workers takes as long)\n",
                 least_for_graph);
    }
    sequential_seconds_ = sequential;
    full_tasks_ = graph.size() - 1;
  }

  template <class Executor>
  void apply_changes(Executor& ex) {
    if (options_.changes == 0) return;
    change_source source{circuit_, options_.seed};
    retimer again{circuit_, times_};
    std::vector<change> batch;
    std::uint64_t visits = 0;
    std::uint64_t rounds = 0;
    progress_.restart();
    auto const begin = clock::now();
    ex.invoke([&] {  // inside a task, so that the workers can share wide levels
      for (std::uint64_t done = 0; done < options_.changes; ++rounds) {
        batch.clear();
        // Each change is drawn from the current circuit, so the changes depend on the size of the batches.
        while (batch.size() < options_.batch && done + batch.size() < options_.changes) batch.push_back(source.next());
        visits += again.run(batch);
        done += batch.size();
        progress_.step("change", done, options_.changes);
      }
    });
    auto const elapsed = seconds_since(begin);
    progress_.clear();
    fmt::print("\n{} changes (seed {}), re-timed {} at a time\n", options_.changes, options_.seed, options_.batch);
    fmt::print("{}", text_of_path(circuit_, times_, options_.full_path));
    auto const full = sequential_seconds_ * static_cast<double>(rounds);
    fmt::print("time         {:.3f} s on {} worker{}; {} full analyses would take one thread {:.3f} s: {:.0f} x\n",
               elapsed, ex.worker_count(), ex.worker_count() == 1 ? "" : "s", rounds, full, full / elapsed);
    fmt::print("             {} visits of gates, {:.0f} per re-timing, {:.2f} % of those of full analyses\n", visits,
               static_cast<double>(visits) / static_cast<double>(rounds),
               100.0 * static_cast<double>(visits) / (static_cast<double>(full_tasks_) * static_cast<double>(rounds)));
    if (options_.verify) verify();
  }

  void verify() const {
    times unused{circuit_, options_.corners};
    time_serial(circuit_, unused, times_.period());
    if (times_ != unused) throw std::logic_error{"re-timing and a full analysis disagree: a bug in this program"};
    fmt::print("verified     all arrival and required times equal those of a full analysis\n");
  }

  options const& options_;
  progress progress_;
  netlist circuit_;
  times times_;
  double sequential_seconds_ = 0;
  std::size_t full_tasks_ = 0;
};

}  // namespace timing
