#include "fuzz/differential/runner.hpp"

#include <cstdio>  // snprintf
#include <stdexcept>
#include <vector>

namespace heist_fuzz {

using heist_test::decision;
using heist_test::fault;
using heist_test::program_memory;

void tally::add(fault f) noexcept {
  switch (f) {
    case fault::none:
      return;
    case fault::lost:
      ++lost;
      return;
    case fault::doubled:
      ++doubled;
      return;
    case fault::order:
      ++order;
      return;
    case fault::value:
      ++values;
      return;
    case fault::exception:
      ++exceptions;
      return;
    case fault::placed:
      ++placed;
      return;
    case fault::leak:
      ++leaks;
      return;
  }
}

namespace {

std::string list_of(std::set<std::uint32_t> const& numbers) {
  std::string out;
  for (std::uint32_t const n : numbers) (out += out.empty() ? "" : ",") += std::to_string(n);
  return out;
}

/// Forks and scopes alone: a steal tree says of nothing else where it runs.
bool is_told_by_trees(heist_test::random_program const& p) {
  using heist_test::way;
  for (auto const& n : p.nodes) {
    if (n.how != way::leaf && n.how != way::fork && n.how != way::inter && n.how != way::scope) return false;
  }
  return !p.has(heist_test::stays | heist_test::coarsens | heist_test::designates | heist_test::loops |
                heist_test::ends_waiting);
}

}  // namespace

std::string tally::text() const {
  auto const pair = [](char const* name, std::uint64_t n) {
    return "  " + std::string{name} + ' ' + std::to_string(n);
  };
  return "fuzz   " + pair("cases", cases) + pair("graphs", graphs) + pair("trees", trees) + pair("tasks", tasks) +
         pair("policies", policies.size()) + "  workers " + list_of(workers) + pair("lost", lost) +
         pair("doubled", doubled) + pair("order", order) + pair("values", values) + "\n       " +
         pair("thrown", thrown) + pair("delivered+counted", accounted) + pair("exceptions", exceptions) +
         pair("stopped", stopped) + pair("replays", replays) + pair("placed", placed) + pair("leaks", leaks) + '\n';
}

std::string tally::to_json() const {
  std::string out = "{\n";
  auto const add = [&out](char const* name, std::uint64_t n) {
    ((((out += "  \"") += name) += "\": ") += std::to_string(n)) += ",\n";
  };
  add("cases", cases);
  add("graphs", graphs);
  add("trees", trees);
  add("tasks", tasks);
  add("policies", policies.size());
  add("lost", lost);
  add("doubled", doubled);
  add("order", order);
  add("values", values);
  add("thrown", thrown);
  add("delivered+counted", accounted);
  add("exceptions", exceptions);
  add("stopped", stopped);
  add("replays", replays);
  add("placed", placed);
  add("leaks", leaks);
  return out + "  \"workers\": [" + list_of(workers) + "]\n}\n";
}

subject_type const& type_named(std::string const& policy) {
  for (subject_type const& t : all_subjects()) {
    if (policy == t.name) return t;
  }
  throw std::runtime_error{"there is no policy '" + policy + "' here; --list names them"};
}

decision run_case(subject& on, fuzz_case const& c, tally& sum, heist_test::sabotage broken) {
  ++sum.cases;
  ++(c.program.is_graph() ? sum.graphs : sum.trees);
  sum.policies.insert(c.where.policy);
  sum.workers.insert(c.where.workers);
  program_memory m{c.program};
  m.broken = broken;
  decision found;
  on.begin(c, m);
  bool const repeatable = c.follow == schedule::own && c.in_region && is_told_by_trees(c.program);
  std::vector<std::uint32_t> ran_on;
  for (std::uint32_t round = 0; round != c.rounds && found.what == fault::none; ++round) {
    m.clear();
    m.armed = c.armed_in(round);
    bool const whole = !(m.armed && c.program.has(heist_test::all_throws | heist_test::stops));
    std::uint32_t const passes = whole && c.program.is_graph() ? c.passes : 1;
    heist_test::program_outcome const o = on.run(round, passes);
    found = heist_test::program_evaluate{m, o, passes + o.more}();
    sum.tasks += found.tasks;
    sum.thrown += found.thrown;
    sum.accounted += found.delivered + found.counted;
    if (m.stop.stop_requested()) ++sum.stopped;
    if (!found.text.empty()) found.text += ", in round " + std::to_string(round);
    if (c.follow != schedule::free && (round != 0 || c.follow != schedule::own)) ++sum.replays;
    if (!repeatable || found.what != fault::none || !whole) continue;
    for (std::uint32_t n = 0; n != c.program.size(); ++n) {
      if (round == 0) {
        ran_on.push_back(m.cells[n].worker);
      } else if (!ran_on.empty() && on.repeated() && ran_on[n] != m.cells[n].worker) {
        found.what = fault::placed;
        found.text = "node " + std::to_string(n) + ": ran on worker " + std::to_string(m.cells[n].worker) + ", not " +
                     std::to_string(ran_on[n]) + ", along the tree of its own";
        break;
      }
    }
  }
  on.end();
  return found;
}

decision run_alone(fuzz_case const& c, int times, heist_test::sabotage broken) {
  decision found;
  subject_type const& type = type_named(c.where.policy);
  std::int64_t const before = heist_test::left_behind();
  {
    auto const on = type.make(c.where);
    tally sum;
    for (int i = 0; i != times && found.what == fault::none; ++i) found = run_case(*on, c, sum, broken);
  }
  if (found.what == fault::none && heist_test::left_behind() != before) {
    found.what = fault::leak;
    found.text = "an exception or a capture was not destroyed, or a handle that was kept said something else";
  }
  return found;
}

}  // namespace heist_fuzz
