#include "compare_programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>  // join

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <cstdio>     // fflush
#include <cstdlib>    // getloadavg
#include <fstream>
#include <string>
#include <utility>  // move
#include <vector>

#include "../locality/comparison.hpp"
#include "../locality/comparisons.hpp"
#include "../locality/report.hpp"
#include "entrants.hpp"
#include "programs.hpp"

namespace replay {

namespace {

/// The time of all is compared with the first one's.
template <class P>
locality::comparison compare(locality::options const& o, locality::place const& where, std::size_t size) {
  locality::settings const settings = locality::settings_for<P>(o, size);
  P program{settings};
  std::size_t const checked_steps = 20;
  locality::span_of_steps const steps{
      warmup, o.steps.value_or(o.check ? std::min(checked_steps, P::about.steps) : P::about.steps)};
  locality::comparison all;
  all.title =
      fmt::format("{}: {} {}, {}, {}, leaves of {}, {} steps after {}", P::about.name, P::about.size_means, size,
                  P::about.problem, locality::bytes_text(program.bytes()), settings.leaf, steps.timed, steps.warmup);
  all.unit = "ns/element";
  all.candidates = entrants<P>{program, o, where, steps}.all();
  if (all.candidates.empty())
    throw locality::wrong_input{fmt::format("there is no such schedule: {}", fmt::join(o.policies, ", "))};
  all.reference = all.candidates.front().name;
  locality::candidate serial = locality::make_serial(program, where.machine, steps);
  serial.run();
  serial.wrong = program.check(steps.all());
  all.candidates.push_back(std::move(serial));
  locality::contend(program, all, steps, o.rounds, o.calm);
  return all;
}

}  // namespace

bool compare_programs(locality::options o) {
  double load = 0;
  ::getloadavg(&load, 1);
  bool right = true;
  std::string text;
  nlohmann::json results = nlohmann::json::array();
  for (std::size_t const workers : o.worker_counts()) {
    o.workers = workers;
    locality::place const where{o};
    text = where.text();
    fmt::print("{}{}; load {:.2f}\n", text, o.pin ? "; pinned" : "", load);
    std::fflush(stdout);  // the first program may take minutes
    for_each_program([&]<class P>() {
      if (!o.needs_program(P::about.name)) return;
      for (std::size_t const size : locality::sizes_for<P>(o)) {
        locality::comparison const all = compare<P>(o, where, size);
        print(all);
        right = right && all.right();
        results.push_back(to_json(all));
        results.back()["workers"] = workers;
      }
    });
  }
  if (results.empty())
    throw locality::wrong_input{fmt::format("there is no such program: {}", fmt::join(o.programs, ", "))};
  if (!o.json.empty()) {
    std::ofstream out{o.json};
    out << nlohmann::json{{"where", text}, {"load", load}, {"comparisons", results}}.dump(1) << '\n';
    if (!out.flush()) throw locality::wrong_input{fmt::format("{}: the file cannot be written", o.json)};
  }
  return right;
}

void list_programs() {
  for_each_program([]<class P>() {
    auto const& p = P::about;
    fmt::print("{:15} {} ({}: {}; leaf {})\n", p.name, p.problem, p.size_means, p.usual, p.leaf);
  });
}

}  // namespace replay
