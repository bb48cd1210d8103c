// How near the simulator's caches are to this machine's: heat, SOR and Gauss elimination under random stealing and CAB,
// with data of half, one and two times all private caches.
#include <heist/heist.hpp>
#include <heist/simulate.hpp>

#include <fmt/format.h>

#include <algorithm>  // clamp, max
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstdlib>  // getloadavg
#include <string>
#include <utility>  // pair
#include <vector>

#include "../locality/contestants.hpp"
#include "../locality/options.hpp"
#include "../locality/programs.hpp"
#include "../locality/timing.hpp"
#include "commands.hpp"
#include "placed_run.hpp"
#include "real_costs.hpp"

namespace papers {
namespace {

/// What both halves of the comparison run.
struct problem {
  locality::options options;
  heist::topology::machine machine;
  std::size_t workers = 0;
  std::size_t bytes = 0;  ///< of the data
  unsigned rounds = 1;
  std::uint64_t seed = 1;
};

/// Wall time for an element, in ns, in rounds in which all take turns.
struct measured {
  locality::settings settings;
  locality::span_of_steps steps{};
  std::vector<double> by_hand, swapped;
  std::vector<placed_run> random, cab;
  double lines = 0;  ///< that a sweep touches, for each element that it computes
};

template <class P>
measured measure(problem const& wanted, double seconds) {
  measured result{.settings = locality::settings_for<P>(wanted.options, locality::size_for_bytes<P>(wanted.bytes))};
  P program{result.settings};
  auto steps = locality::steps_for<P>(wanted.options, program.most_steps());
  double const elements = program.work(0);
  auto const enough = static_cast<std::size_t>(1e9 * seconds / (0.25 * elements));
  steps.timed = std::clamp<std::size_t>(enough, std::min<std::size_t>(20, steps.timed), steps.timed);
  result.steps = steps;
  result.lines = static_cast<double>(program.bytes() * P::sweeps_per_step) / elements / 64;
  using locality::placing;
  std::array<locality::contestant, 2> by_hand{
      locality::make_by_hand("by hand", program, placing::stays, wanted.machine, wanted.workers, steps),
      locality::make_by_hand("swapped", program, placing::swapped, wanted.machine, wanted.workers, steps)};
  for (unsigned round = 0; round != wanted.rounds; ++round) {
    for (auto& c : by_hand) c.rounds.push_back(c.run().per_element());
    result.random.push_back(run_and_note<heist::policy::random>(program, wanted.options, steps));
    result.cab.push_back(run_and_note<heist::policy::cab>(program, wanted.options, steps));
  }
  result.by_hand = by_hand[0].rounds;
  result.swapped = by_hand[1].rounds;
  return result;
}

/// The median of what `of(i)` says of each round.
template <class F>
double middle(measured const& real, F of) {
  std::vector<double> all;
  for (std::size_t i = 0; i != real.random.size(); ++i) all.push_back(of(i));
  return locality::median(all);
}

/// The simulated wall time for an element, in ns.
struct simulated {
  double random = 0, cab = 0;
};

/// What a step of 16 leaves without data takes longer than in the simulation, in ns.
struct step_costs {
  double random = 0, cab = 0;
};

heist::sim::program tasks_of(std::string const& name, heist::sim::matrix_options const& shape) {
  if (name == "heat") return heist::sim::heat(shape);
  return name == "sor" ? heist::sim::sor(shape) : heist::sim::gauss_elimination(shape);
}

template <class Policy>
double simulate(problem const& wanted, heist::sim::program const& p, costs_of_lines const& cost, double elements) {
  heist::sim::options o{.workers = static_cast<std::uint32_t>(wanted.workers), .machine = wanted.machine};
  o.squads = heist::squad_by::l2;
  o.caches.block_bytes = 1024;
  // A squad is one core: its L2 is what the squad shares, as Eq. 4 of CAB has it in the executor too.
  o.caches.private_bytes = 0;
  o.costs = costs_in_ticks();
  o.costs.shared_hit = 0;
  o.costs.memory = to_ticks(cost.dropped);
  o.costs.transfer = to_ticks(cost.moved);
  constexpr unsigned seeds = 3;
  double sum = 0;
  for (unsigned i = 0; i != seeds; ++i) {
    o.seed = wanted.seed + i;
    sum += static_cast<double>(heist::simulate<Policy>(p, o).makespan) / seeds;
  }
  return sum / static_cast<double>(ticks_per_ns) / elements;
}

template <class P>
simulated simulate(problem const& wanted, measured const& real, costs_of_lines const& cost, step_costs const& empty,
                   bool quick) {
  std::size_t const n = real.settings.size;
  std::uint32_t const steps = quick ? 4 : 60;
  auto const p =
      tasks_of(std::string{P::about.name}, {.rows = n,
                                            .columns = n,
                                            .steps = steps,
                                            .leaf_rows = real.settings.leaf,
                                            .ticks_per_element = cost.element * static_cast<double>(ticks_per_ns),
                                            .only_what_is_left = true});
  P program{real.settings};
  double elements = 0;
  std::size_t const all = P::about.name == "ge" ? program.most_steps() : steps;
  for (std::size_t i = 0; i != all; ++i) elements += program.work(i);
  double const each = static_cast<double>(all) / elements;
  return {simulate<heist::policy::random>(wanted, p, cost, elements) + empty.random * each,
          simulate<heist::policy::cab>(wanted, p, cost, elements) + empty.cab * each};
}

step_costs measure_steps(problem const& wanted, bool quick) {
  constexpr std::size_t leaves = 16;
  using program = locality::heat;
  program real{{.size = leaves, .leaf = 1}};
  locality::span_of_steps const steps{10, quick ? std::size_t{100} : std::size_t{2000}};
  auto random = locality::make_scheduled<heist::policy::random>("random", real, wanted.options, steps);
  auto cab = locality::make_scheduled<heist::policy::cab>("cab", real, wanted.options, steps);
  for (unsigned round = 0; round != wanted.rounds; ++round) {
    for (auto* const c : {&random, &cab}) c->rounds.push_back(c->run().per_element() * real.work(0));
  }
  std::uint32_t const simulated_steps = 60;
  auto const p = heist::sim::heat(
      {.rows = leaves, .columns = leaves, .steps = simulated_steps, .leaf_rows = 1, .ticks_per_element = 0});
  auto const beyond = [&](double measured, double simulated) { return std::max(0., measured - simulated); };
  return {beyond(locality::median(random.rounds), simulate<heist::policy::random>(wanted, p, {}, simulated_steps)),
          beyond(locality::median(cab.rounds), simulate<heist::policy::cab>(wanted, p, {}, simulated_steps))};
}

template <class P>
void add_rows(problem wanted, std::size_t caches, bool quick, table& t, bar_panel& bars) {
  costs_of_lines cost;
  for (auto const& [text, share] : {std::pair{"half", 0.5}, std::pair{"one", 1.0}, std::pair{"two", 2.0}}) {
    wanted.bytes = static_cast<std::size_t>(share * static_cast<double>(caches));
    if (quick) wanted.bytes /= 8;
    step_costs const empty = measure_steps(wanted, quick);
    measured const real = measure<P>(wanted, quick ? 0.001 : 0.015);
    auto const threads = static_cast<double>(wanted.workers);
    if (cost.element == 0) cost.element = locality::median(real.by_hand) * threads;
    auto const costs_by = [&](double by_hand, double swapped) {
      auto const of_line = [&](double time) { return std::max(0., (time * threads - cost.element) / real.lines); };
      return costs_of_lines{cost.element, of_line(by_hand), of_line(swapped)};
    };
    cost = costs_by(locality::median(real.by_hand), locality::median(real.swapped));
    simulated const s = simulate<P>(wanted, real, cost, empty, quick);
    // Each round by its own costs: those of this machine change by the minute.
    P const program{real.settings};
    std::vector<simulated> placed;
    for (std::size_t i = 0; i != real.random.size(); ++i) {
      auto const as_placed = [&](placed_run const& run, double for_a_step) {
        return foretell(program, real.settings.size, run, real.steps, wanted.workers, caches / wanted.workers,
                        costs_by(real.by_hand[i], real.swapped[i]), for_a_step);
      };
      placed.push_back({as_placed(real.random[i], empty.random), as_placed(real.cab[i], empty.cab)});
    }
    auto const seen_in = [&](std::size_t i) { return saved(real.random[i].per_element, real.cab[i].per_element); };
    auto const foretold_in = [&](std::size_t i) { return saved(placed[i].random, placed[i].cab); };
    double const seen = middle(real, seen_in), foretold = middle(real, foretold_in), free = saved(s.random, s.cab);
    double const error = middle(real, [&](std::size_t i) { return foretold_in(i) - seen_in(i); });
    auto const ns = [](double time) { return fmt::format("{:.3f}", time); };
    auto const points = [](double of) { return fmt::format("{:+.1f}", 100 * of); };
    t.add({fmt::format("{}, {}", P::about.name, text), fmt::format("{:.1f}", empty.random / 1000),
           fmt::format("{:.1f}", empty.cab / 1000), fmt::format("{:.1f}", cost.dropped),
           fmt::format("{:.1f}", cost.moved), ns(locality::median(real.by_hand)), ns(locality::median(real.swapped)),
           percent(middle(real, [&](std::size_t i) { return real.random[i].stayed; })),
           ns(middle(real, [&](std::size_t i) { return real.random[i].per_element; })),
           ns(middle(real, [&](std::size_t i) { return placed[i].random; })), ns(s.random),
           ns(middle(real, [&](std::size_t i) { return real.cab[i].per_element; })),
           ns(middle(real, [&](std::size_t i) { return placed[i].cab; })), ns(s.cab), percent(seen), percent(foretold),
           points(error), percent(free), points(free - seen)});
    bars.groups.emplace_back(fmt::format("{}, {}", P::about.name, text),
                             std::vector<double>{100 * seen, 100 * foretold, 100 * free});
  }
}

/// Of all workers' own caches; where the machine does not say, of a mebibyte each.
std::size_t private_caches(problem const& p) {
  return p.workers * (p.machine.l2_bytes != 0 ? p.machine.l2_bytes : std::size_t{1} << 20);
}

}  // namespace

void cache_model(request const& wanted) {
  if (heist::topology::allowed_cpus().size() < 2) {
    fmt::print("skipped: blocks placed by hand spin at a barrier and need a CPU for each of two threads\n");
    return;
  }
  problem p;
  p.options.workers = 2;
  p.options.squads = "l2";
  p.options.pin = true;
  p.rounds = wanted.quick ? 1 : 7;
  p.seed = wanted.seed;
  {
    heist::executor<> ex{p.options.for_executor(std::size_t{1} << 20)};
    p.machine = ex.machine();
    p.workers = ex.worker_count();
  }
  double load = 0;
  ::getloadavg(&load, 1);
  std::size_t const caches = private_caches(p);
  fmt::print(
      "load {:.2f}; {}. ns an element, medians of {} rounds. What an element costs, a line\n"
      "that a core has dropped and one that has moved from the other core is taken from blocks placed by hand: those "
      "that\n"
      "stay in half of the caches, those that stay in more, those that change sides in each sweep. random and cab are "
      "foretold\n"
      "from that, twice: as placed, with the simulator's caches and each leaf where it was in that run; and simulated, "
      "with its\n"
      "own thieves. ",
      load, p.machine.describe(), p.rounds);
  fmt::print("What a step without data takes longer than simulated is added: the first two columns.\n\n");
  table t{{"program, of all L2", "step, random (us)", "cab (us)", "line dropped (ns)", "moved (ns)", "by hand",
           "swapped", "random: stayed", "random", "as placed", "simulated", "cab", "as placed", "simulated",
           "cab saved", "as placed", "error (points)", "simulated", "error (points)"}};
  bar_panel bars{"time that CAB saves of random's", "%", {"measured", "as placed", "simulated"}, {}};
  add_rows<locality::heat>(p, caches, wanted.quick, t, bars);
  add_rows<locality::sor>(p, caches, wanted.quick, t, bars);
  add_rows<locality::ge>(p, caches, wanted.quick, t, bars);
  print(t);
  write_plot(wanted, "The simulator's caches beside this machine's", {bars});
}

}  // namespace papers
