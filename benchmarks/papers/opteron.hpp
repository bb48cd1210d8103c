// The machine of the CAB and CATS papers, their programs, and the schedulers that the papers compare.
#pragma once

#include <fmt/format.h>
#include <heist/policy.hpp>
#include <heist/simulate.hpp>
#include <heist/topology.hpp>

#include <cstddef>  // size_t
#include <cstdint>
#include <iterator>  // size
#include <optional>
#include <string>
#include <vector>

#include "halves_or_quarters.hpp"
#include "report.hpp"

namespace papers::opteron {

/// Four Opteron 8380 at 2.5 GHz. Each has four cores with 512 KiB of L2 each, a shared L3 of 6 MiB, and memory.
inline constexpr std::string_view description = "package:4 [numa] l3:1(size=6MiB) l2:4(size=512KiB) core:1 pu:1";

/// Thieves of the papers' systems spin: they try one victim after the other, and never sleep.
template <class Policy>
using spinning = heist::policy::with_idle<Policy, heist::idle::spinning>;
/// MIT Cilk with pinned workers (Cilk-a): random victims, child-first.
using cilk = heist::policy::with_order<heist::policy::random, heist::order::child_first>;
using heist::policy::cab;
using heist::policy::cats;
/// As published: the region does not remember which squad ran each task in the step before.
template <class Policy>
using published = heist::policy::without_memory<Policy>;

/// Costs in nanoseconds. The papers give no latencies. A line from L3 costs 18, which is 45 cycles. A line from the
/// memory of any socket costs 90. Scheduling has the simulator's default costs.
inline heist::sim::costs costs() {
  heist::sim::costs c;
  c.private_hit = 2;
  c.shared_hit = 18;
  c.memory = 90;
  return c;
}

/// What a table varies: the boundary level, costs, and where pages are.
struct setting {
  std::optional<std::uint32_t> boundary_level = std::nullopt;
  heist::sim::costs of_machine = costs();
  heist::sim::numa pages = {};
};

template <class Policy>
heist::sim::report simulate(heist::sim::program const& p, std::uint64_t seed, setting const& at = {}) {
  heist::sim::options o{.workers = 16, .machine = heist::topology::parse(description), .seed = seed};
  o.squads = heist::squad_by::package;
  o.costs = at.of_machine;
  o.caches.block_bytes = 1024;
  o.numa = at.pages;
  o.boundary_level = at.boundary_level;
  return heist::simulate<Policy>(p, o);
}

/// Means of several seeds.
struct figures {
  double time = 0, l2 = 0, l3 = 0;  ///< ticks; misses of the private and of the shared caches
  double l3_of_l2() const { return l2 == 0 ? 0 : l3 / l2; }
};

template <class Policy>
figures mean(request const& wanted, heist::sim::program const& p, setting const& at = {}) {
  figures sum;
  for (unsigned round = 0; round < wanted.rounds; ++round) {
    auto const r = simulate<Policy>(p, wanted.seed + round, at);
    sum.time += static_cast<double>(r.makespan) / wanted.rounds;
    sum.l2 += static_cast<double>(r.cache.shared_hits + r.cache.memory) / wanted.rounds;
    sum.l3 += static_cast<double>(r.cache.memory) / wanted.rounds;
  }
  return sum;
}

/// The savings of one scheduler relative to a base scheduler, as shares of the base.
struct savings {
  double time, l2, l3;
};

inline savings saved_by(figures const& better, figures const& base) {
  return {saved(base.time, better.time), saved(base.l2, better.l2), saved(base.l3, better.l3)};
}

/// A scheduler with tiers beside Cilk, all with spinning thieves but for `sleeping`.
struct comparison {
  savings sleeping;           ///< as published, both with heist's standard idle policy
  savings literal, remember;  ///< as published, and with the memory of squads
  figures base, of_literal, of_remember;
};

template <class Tiers>
comparison compare(request const& wanted, heist::sim::program const& p, setting const& at = {}) {
  comparison c{};
  c.sleeping = saved_by(mean<published<Tiers>>(wanted, p, at), mean<cilk>(wanted, p, at));
  c.base = mean<spinning<cilk>>(wanted, p, at);
  c.of_literal = mean<published<spinning<Tiers>>>(wanted, p, at);
  c.of_remember = mean<spinning<Tiers>>(wanted, p, at);
  c.literal = saved_by(c.of_literal, c.base);
  c.remember = saved_by(c.of_remember, c.base);
  return c;
}

/// Misses of a paper's table, of Cilk and of its own scheduler.
struct stated_misses {
  double l2_cilk, l2_own, l3_cilk, l3_own;
};

/// Tables and bars. add() adds a row to the tables of time, L3 misses, L2 misses, and L3 misses over L2 misses.
class tables_of_savings {
 public:
  explicit tables_of_savings(std::string const& scheduler)
      : time_{{"time saved by " + scheduler, "published, sleeping thieves", "published", "with memory", "paper"}},
        l3_{{"L3 misses saved", "published, sleeping thieves", "published", "with memory", "paper"}},
        l2_{{"L2 misses saved", "published, sleeping thieves", "published", "with memory", "paper"}},
        ratio_{{"L3 misses / L2 misses", "Cilk", "paper's Cilk", "published", "with memory", "paper"}},
        bars_{"saved by " + scheduler,
              "%",
              {"time", "time, memory", "L2", "L2, memory", "L2, paper", "L3", "L3, memory", "L3, paper"},
              {}} {}

  void add(std::string const& name, comparison const& c, std::string const& paper_time, stated_misses const& s) {
    double const l2 = saved(s.l2_cilk, s.l2_own), l3 = saved(s.l3_cilk, s.l3_own);
    time_.add({name, percent(c.sleeping.time), percent(c.literal.time), percent(c.remember.time), paper_time});
    l3_.add({name, percent(c.sleeping.l3), percent(c.literal.l3), percent(c.remember.l3), percent(l3)});
    l2_.add({name, percent(c.sleeping.l2), percent(c.literal.l2), percent(c.remember.l2), percent(l2)});
    bars_.groups.emplace_back(
        name, std::vector<double>{100 * c.literal.time, 100 * c.remember.time, 100 * c.literal.l2, 100 * c.remember.l2,
                                  100 * l2, 100 * c.literal.l3, 100 * c.remember.l3, 100 * l3});
    auto const two = [](double x) { return fmt::format("{:.2f}", x); };
    ratio_.add({name, two(c.base.l3_of_l2()), two(s.l3_cilk / s.l2_cilk), two(c.of_literal.l3_of_l2()),
                two(c.of_remember.l3_of_l2()), two(s.l3_own / s.l2_own)});
  }
  void print() const {
    for (auto const* t : {&time_, &l3_, &l2_, &ratio_}) {
      fmt::print("\n");
      papers::print(*t);
    }
  }
  bar_panel const& bars() const { return bars_; }

 private:
  table time_, l3_, l2_, ratio_;
  bar_panel bars_;
};

/// A table and a plot of what a scheduler saves of Cilk's, by the size of the problem.
class savings_by_size {
 public:
  /// The figures in the paper's text; empty where the text has none.
  struct stated {
    std::string time, l2, l3;
  };

  savings_by_size(std::string const& program, std::string const& size, std::string const& cilk,
                  std::string const& scheduler)
      : table_{{size, "time, " + cilk + " (ms)", "saved, sleeping thieves", "time saved", "with memory", "paper",
                "L2 misses saved", "with memory", "paper", "L3 misses saved", "with memory", "paper", "L3/L2, " + cilk,
                scheduler, "with memory"}},
        lines_{program + ": saved by " + scheduler,
               "rows",
               "%",
               true,
               {{"time", {}},
                {"L2 misses", {}},
                {"L3 misses", {}},
                {"time, with memory", {}},
                {"L3 misses, with memory", {}}}} {}

  void add(std::string const& size, std::uint32_t rows, comparison const& c, stated const& paper) {
    auto const two = [](double x) { return fmt::format("{:.2f}", x); };
    table_.add({size, two(1e-6 * c.base.time), percent(c.sleeping.time), percent(c.literal.time),
                percent(c.remember.time), paper.time, percent(c.literal.l2), percent(c.remember.l2), paper.l2,
                percent(c.literal.l3), percent(c.remember.l3), paper.l3, two(c.base.l3_of_l2()),
                two(c.of_literal.l3_of_l2()), two(c.of_remember.l3_of_l2())});
    double const shares[] = {c.literal.time, c.literal.l2, c.literal.l3, c.remember.time, c.remember.l3};
    for (std::size_t i = 0; i != std::size(shares); ++i) lines_.lines[i].points.emplace_back(rows, 100 * shares[i]);
  }
  void print() const { papers::print(table_); }
  line_panel const& lines() const { return lines_; }

 private:
  table table_;
  line_panel lines_;
};

inline heist::sim::program heat(shape const& s) {
  return heist::sim::heat({.rows = s.rows,
                           .columns = s.columns,
                           .steps = s.steps,
                           .leaf_rows = s.leaf_rows,
                           .element_bytes = s.element_bytes,
                           .ticks_per_element = ticks_per_element});
}

inline heist::sim::program sor(shape const& s) {
  return heist::sim::sor({.rows = s.rows,
                          .columns = s.columns,
                          .steps = s.steps,
                          .leaf_rows = s.leaf_rows,
                          .element_bytes = s.element_bytes,
                          .ticks_per_element = ticks_per_element});
}

/// `only_what_is_left`: the tasks of a step divide the rows below its pivot. Otherwise they divide all rows, so that a
/// leaf has the same rows in each step, and does nothing where these are done.
inline heist::sim::program ge(shape const& s, bool only_what_is_left = true) {
  return heist::sim::gauss_elimination({.rows = s.rows,
                                        .columns = s.columns,
                                        .leaf_rows = s.leaf_rows,
                                        .element_bytes = s.element_bytes,
                                        .ticks_per_element = ticks_per_element,
                                        .only_what_is_left = only_what_is_left});
}

}  // namespace papers::opteron
