// Compares the simulator's caches with this machine's. The programs are heat, SOR and Gauss elimination under random
// stealing and CAB. Their data has half, one and two times the size of all private caches.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/simulate.hpp>
#include <heist/topology.hpp>

#include <fmt/format.h>

#include <algorithm>  // clamp, max
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstdlib>  // getloadavg
#include <string>
#include <utility>  // pair
#include <vector>

#include "../locality/candidates.hpp"
#include "../locality/options.hpp"
#include "../locality/programs.hpp"
#include "../locality/timing.hpp"
#include "../workers.hpp"
#include "commands.hpp"
#include "placed_run.hpp"
#include "private_rows.hpp"
#include "real_costs.hpp"

namespace papers {
namespace {

/// The setting of the measured and of the simulated runs.
struct problem {
  locality::options options;
  heist::topology::machine machine;
  std::size_t workers = 0;
  unsigned rounds = 1;
  std::uint64_t seed = 1;
};

/// Bytes of all workers' own caches. An L2 of unknown size counts as 1 MiB.
std::size_t private_caches(problem const& p) {
  return p.workers * (p.machine.l2_bytes != 0 ? p.machine.l2_bytes : std::size_t{1} << 20);
}

/// Runs with their wall time for an element in ns. In each round all kinds of runs take turns. Three kinds have blocks
/// placed by hand. In `stays` the blocks stay. In `distributed` ("dealt" in the table) the halves change sides by
/// chance in about every second sweep. In `swapped` they change sides in each sweep.
struct measured {
  locality::settings settings;
  locality::span_of_steps steps{};
  std::vector<placed_run> stays{}, distributed{}, swapped{}, random{}, cab{};
  double lines = 0;  ///< lines of all data, for each element that a sweep computes
};

/// Calls `before_round()` before each round.
template <class P, class F>
measured measure(problem const& wanted, double seconds, std::size_t size, F const& before_round) {
  measured result{.settings = locality::settings_for<P>(wanted.options, size)};
  P program{result.settings};
  auto steps = locality::steps_for<P>(wanted.options, program.most_steps());
  double const elements = program.work(0);
  auto const enough = static_cast<std::size_t>(1e9 * seconds / (0.25 * elements));
  steps.timed = std::clamp<std::size_t>(enough, std::min<std::size_t>(20, steps.timed), steps.timed);
  result.steps = steps;
  result.lines = static_cast<double>(program.bytes() * P::sweeps_per_step) / elements / 64;
  using locality::placement;
  using by_hand = locality::by_hand<P>;
  auto const placed = [&](placement how) { return by_hand{program, how, wanted.machine, wanted.workers, steps}; };
  by_hand stays = placed(placement::stays), distributed = placed(placement::tossed),
          swapped = placed(placement::swapped);
  for (unsigned round = 0; round != wanted.rounds; ++round) {
    before_round();
    for (auto [blocks, runs] :
         {std::pair{&stays, &result.stays}, {&distributed, &result.distributed}, {&swapped, &result.swapped}})
      runs->push_back({blocks->run().per_element(), blocks->leaves(), blocks->stayed()});
    result.random.push_back(run_and_note<heist::policy::random>(program, wanted.options, steps));
    result.cab.push_back(run_and_note<heist::policy::cab>(program, wanted.options, steps));
  }
  return result;
}

double time_of(std::vector<placed_run> const& runs) {
  std::vector<double> all;
  for (placed_run const& run : runs) all.push_back(run.per_element);
  return locality::median(all);
}

/// The median of `of(i)` over all rounds i.
template <class F>
double middle(measured const& real, F of) {
  std::vector<double> all;
  for (std::size_t i = 0; i != real.random.size(); ++i) all.push_back(of(i));
  return locality::median(all);
}

/// Predicts a run from the simulator's caches. Each thread has one cache of a core's size.
template <class P>
double by_caches(P const& program, measured const& real, placed_run const& run, costs_of_lines const& cost,
                 double for_a_step, problem const& p) {
  return foretell(program, real.settings.size, run, real.steps, p.workers, private_caches(p) / p.workers, cost,
                  for_a_step);
}

/// The simulated wall time for an element, in ns.
struct simulated {
  double random = 0, cab = 0;
};

/// The time of a step in ns beyond the time predicted for its data.
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
  // A squad is one core. Its L2 is the shared cache of the squad, as in Eq. 4 of CAB in the executor.
  o.caches.private_bytes = 0;
  o.costs = costs_in_ticks();
  o.costs.shared_hit = 0;
  o.costs.memory = to_ticks(cost.released);
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

/// The cost of a line from the other core in one round, interpolated between two placements by hand. A line costs less
/// if the halves change sides in only some sweeps.
class line_costs {
 public:
  /// `element`: the time of one thread for an element, in ns.
  template <class P>
  line_costs(P const& program, measured const& real, std::size_t round, double element, problem const& p)
      : stays_{element,
               std::max(0., (real.stays[round].per_element * static_cast<double>(p.workers) - element) / real.lines),
               0},
        half_stays_{real.distributed[round].stayed},
        half_moved_{fitted(program, real, real.distributed[round], p)},
        all_moved_{fitted(program, real, real.swapped[round], p)} {}

  /// Predicts the time of a run in ns for an element.
  template <class P>
  double foretell(P const& program, measured const& real, placed_run const& run, double for_a_step,
                  problem const& p) const {
    costs_of_lines cost = stays_;
    double const more = half_stays_ > 0 ? std::clamp((half_stays_ - run.stayed) / half_stays_, 0., 1.) : 0;
    cost.moved = half_moved_ + more * (all_moved_ - half_moved_);
    return by_caches(program, real, run, cost, for_a_step, p);
  }

  double released() const { return stays_.released; }
  double half_moved() const { return half_moved_; }
  double all_moved() const { return all_moved_; }

 private:
  template <class P>
  double fitted(P const& program, measured const& real, placed_run const& run, problem const& p) const {
    costs_of_lines cost = stays_;
    double const free = by_caches(program, real, run, cost, 0, p);
    cost.moved = 1;
    double const slope = by_caches(program, real, run, cost, 0, p) - free;
    return slope > 0 ? std::max(0., (run.per_element - free) / slope) : 0;
  }

  costs_of_lines stays_;
  double half_stays_, half_moved_, all_moved_;
};

/// The step costs of one round, beyond the data, from leaves with data of each thread's own. `placed` uses the leaves'
/// recorded placement, `simulated` the simulator's thieves.
struct both_step_costs {
  step_costs placed, simulated;
};

template <std::size_t SweepsPerStep>
both_step_costs measure_steps(problem wanted, bool quick) {
  using own_rows = private_rows<SweepsPerStep>;
  wanted.rounds = 1;
  std::size_t const n = locality::size_for_bytes<own_rows>(private_caches(wanted) / (quick ? 32 : 4));
  measured const real = measure<own_rows>(wanted, quick ? 0.001 : 0.015, n, [] {});
  costs_of_lines const cost{real.stays[0].per_element * static_cast<double>(wanted.workers), 0, 0};
  own_rows const program{real.settings};
  double const elements = program.work(0);
  auto const beyond = [&](double time, double foretold) { return std::max(0., time - foretold) * elements; };
  auto const beyond_placed = [&](placed_run const& run) {
    return beyond(run.per_element, by_caches(program, real, run, cost, 0, wanted));
  };
  simulated const s = simulate<own_rows>(wanted, real, cost, {}, quick);
  return {{beyond_placed(real.random[0]), beyond_placed(real.cab[0])},
          {beyond(real.random[0].per_element, s.random), beyond(real.cab[0].per_element, s.cab)}};
}

template <class P>
void add_rows(problem wanted, bool quick, table& t, bar_panel& bars) {
  double element = 0;
  for (auto const& [text, share] : {std::pair{"half", 0.5}, std::pair{"one", 1.0}, std::pair{"two", 2.0}}) {
    auto const bytes = static_cast<std::size_t>(share * static_cast<double>(private_caches(wanted)));
    // Each round has its own costs, because this machine's speed changes within minutes.
    std::vector<both_step_costs> steps;
    measured const real =
        measure<P>(wanted, quick ? 0.001 : 0.015, locality::size_for_bytes<P>(quick ? bytes / 8 : bytes),
                   [&] { steps.push_back(measure_steps<P::sweeps_per_step>(wanted, quick)); });
    if (element == 0) element = time_of(real.stays) * static_cast<double>(wanted.workers);
    P const program{real.settings};
    std::vector<line_costs> costs;
    std::vector<simulated> placed;
    for (std::size_t i = 0; i != real.random.size(); ++i) {
      line_costs const& cost = costs.emplace_back(program, real, i, element, wanted);
      placed.push_back({cost.foretell(program, real, real.random[i], steps[i].placed.random, wanted),
                        cost.foretell(program, real, real.cab[i], steps[i].placed.cab, wanted)});
    }
    auto const cost = [&](double (line_costs::*of)() const) {
      return middle(real, [&](std::size_t i) { return (costs[i].*of)(); });
    };
    auto const step = [&](step_costs both_step_costs::*how, double step_costs::*of) {
      return middle(real, [&](std::size_t i) { return steps[i].*how.*of; });
    };
    auto const simulated_step = [&](double step_costs::*of) { return step(&both_step_costs::simulated, of); };
    simulated const s = simulate<P>(wanted, real, {element, cost(&line_costs::released), cost(&line_costs::half_moved)},
                                    {simulated_step(&step_costs::random), simulated_step(&step_costs::cab)}, quick);
    auto const seen_in = [&](std::size_t i) { return saved(real.random[i].per_element, real.cab[i].per_element); };
    auto const foretold_in = [&](std::size_t i) { return saved(placed[i].random, placed[i].cab); };
    double const seen = middle(real, seen_in), foretold = middle(real, foretold_in), free = saved(s.random, s.cab);
    double const error = middle(real, [&](std::size_t i) { return foretold_in(i) - seen_in(i); });
    auto const ns = [](double time) { return fmt::format("{:.3f}", time); };
    auto const one_digit = [](double x) { return fmt::format("{:.1f}", x); };
    auto const points = [](double of) { return fmt::format("{:+.1f}", 100 * of); };
    t.add({fmt::format("{}, {}", P::about.name, text),
           one_digit(step(&both_step_costs::placed, &step_costs::random) / 1000),
           one_digit(step(&both_step_costs::placed, &step_costs::cab) / 1000),
           one_digit(cost(&line_costs::released)),
           one_digit(cost(&line_costs::half_moved)),
           one_digit(cost(&line_costs::all_moved)),
           ns(time_of(real.stays)),
           ns(time_of(real.distributed)),
           ns(time_of(real.swapped)),
           percent(middle(real, [&](std::size_t i) { return real.random[i].stayed; })),
           ns(time_of(real.random)),
           ns(middle(real, [&](std::size_t i) { return placed[i].random; })),
           ns(s.random),
           ns(time_of(real.cab)),
           ns(middle(real, [&](std::size_t i) { return placed[i].cab; })),
           ns(s.cab),
           percent(seen),
           percent(foretold),
           points(error),
           percent(free),
           points(free - seen)});
    bars.groups.emplace_back(fmt::format("{}, {}", P::about.name, text),
                             std::vector<double>{100 * seen, 100 * foretold, 100 * free});
  }
}

panel cache_model_on(request const& wanted, std::size_t workers) {
  problem p;
  p.options.workers = workers;
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
  fmt::print(
      "load {:.2f}; {}. ns an element, medians of {} rounds. What an element costs, a line\n"
      "that a core has dropped and one that has moved from another core is taken from blocks placed by hand: those "
      "that\n"
      "stay in half of the caches, those that stay in more, and those that change sides in every second sweep (dealt) "
      "or in\n"
      "each (swapped). random and cab are foretold from that, twice: as placed, with the simulator's caches and each "
      "leaf\n"
      "where it was in that run; and simulated, with its own thieves. ",
      load, p.machine.to_text(), p.rounds);
  fmt::print(
      "What a step on data of each thread's own takes longer than\nforetold is added: the first two columns.\n\n");
  table t{{"program, of all L2",
           "step, random (us)",
           "cab (us)",
           "line dropped (ns)",
           "half moved (ns)",
           "all moved (ns)",
           "by hand",
           "dealt",
           "swapped",
           "random: stayed",
           "random",
           "as placed",
           "simulated",
           "cab",
           "as placed",
           "simulated",
           "cab saved",
           "as placed",
           "error (points)",
           "simulated",
           "error (points)"}};
  bar_panel bars{"time that CAB saves of random's", "%", {"measured", "as placed", "simulated"}, {}};
  add_rows<locality::heat>(p, wanted.quick, t, bars);
  add_rows<locality::sor>(p, wanted.quick, t, bars);
  add_rows<locality::ge>(p, wanted.quick, t, bars);
  print(t);
  return bars;
}

}  // namespace

void cache_model(request const& wanted) {
  std::vector<panel> panels;
  for (std::size_t const workers : bench::worker_list(wanted.workers)) {
    if (workers == 1) continue;  // no other core to exchange lines with
    fmt::print("{} workers: ", workers);
    if (heist::topology::allowed_cpus().size() < workers) {
      fmt::print("skipped: blocks placed by hand spin at a barrier, so each of their threads needs a CPU\n");
    } else {
      panels.emplace_back(cache_model_on(wanted, workers));
    }
  }
  write_plot(wanted, "The simulator's caches beside this machine's", panels);
}

}  // namespace papers
