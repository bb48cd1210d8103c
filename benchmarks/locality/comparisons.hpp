// Which contestants meet: in the comparison of one program, in the sweep over boundary levels, in the check.
#pragma once

#include <heist/heist.hpp>
#include <heist/topology.hpp>

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>  // move
#include <vector>

#include <fmt/format.h>

#include "candidates.hpp"
#include "comparison.hpp"
#include "options.hpp"
#include "policies.hpp"
#include "program.hpp"
#include "regions.hpp"
#include "report.hpp"

namespace locality {

/// Where the contestants run.
struct place {
  explicit place(options const& o) {
    heist::executor<> ex{o.for_executor(std::size_t{1} << 20)};
    machine = ex.machine();
    workers = ex.worker_count();
    squads = ex.squad_count();
  }

  /// Blocks can be placed by hand where each thread has a CPU to itself.
  bool has_cpu_for_each_worker() const {
    return machine.is_this_machine && workers <= heist::topology::allowed_cpus().size();
  }
  std::string text() const { return fmt::format("{} workers, {} squads; {}", workers, squads, machine.to_text()); }

  heist::topology::machine machine;
  std::size_t workers = 0, squads = 0;
};

template <class P>
class comparisons {
 public:
  /// Solves the program serially, which shows what the others' results must be.
  comparisons(options const& o, place const& where, std::size_t size)
      : options_{o},
        where_{where},
        settings_{settings_for<P>(o, size)},
        program_{settings_},
        steps_{steps_for<P>(o, program_.most_steps())} {
    all_.title = fmt::format("{}: {} {}, {}", P::about.name, P::about.size_means, settings_.size, P::about.problem);
    if (std::size_t const bytes = program_.bytes(); bytes != 0) all_.title += ", " + bytes_text(bytes);
    if (settings_.leaf != 0) all_.title += fmt::format(", leaves of at most {}", settings_.leaf);
    all_.title += fmt::format(", {} steps after {}", steps_.timed, steps_.warmup);
    all_.unit = sweeps ? "ns/element" : "ms";
    all_.scale = sweeps ? 1 : 1e6;
    candidate serial = make_serial(program_, where_.machine, steps_);
    serial.run();
    serial.wrong = program_.check(steps_.all());
    all_.candidates.push_back(std::move(serial));
  }

  /// Every policy, against blocks placed by hand where that can be.
  comparison policies() {
    all_.reference = "random";
    add_by_hand();
    add_policies();
    return finish();
  }

  /// Every policy against the first.
  comparison policies_only() {
    all_.reference = "random";
    add_policies();
    return finish();
  }

  /// All boundary levels, and what the policy chooses on its own. For programs that sweep.
  comparison boundary_levels() {
    all_.reference = "random";
    add_by_hand();
    add_policies();
    for_each_policy_with_boundary_level([&]<class Policy>(std::string const& name) {
      for (std::uint32_t level = 0; level <= program_.levels(); ++level) {
        all_.candidates.push_back(
            make_scheduled<Policy>(fmt::format("{} BL {}", name, level), program_, options_, steps_, level));
      }
    });
    comparison result = finish();
    for_each_policy_with_boundary_level([&]<class Policy>(std::string const& name) { mark_choice(result, name); });
    return result;
  }

 private:
  static constexpr bool sweeps = requires { P::sweeps_per_step; };

  void add_by_hand() {
    if constexpr (sweeps) {
      if (!where_.has_cpu_for_each_worker()) return;
      auto const add = [&](std::string name, placement how) {
        all_.candidates.push_back(make_by_hand(std::move(name), program_, how, where_.machine, where_.workers, steps_));
      };
      all_.reference = "by hand";
      add(all_.reference, placement::stays);
      add("by hand, random blocks", placement::random);
      add("by hand, swapped", placement::swapped);
    }
  }

  void add_policies() {
    for_each_policy([&]<class Policy>(std::string const& name) {
      if (options_.needs_policy(name))
        all_.candidates.push_back(make_scheduled<Policy>(name, program_, options_, steps_));
    });
  }

  /// Which of the boundary levels the policy chooses on its own, and how far from the best that is.
  static void mark_choice(comparison& all, std::string const& policy) {
    std::string const prefix = policy + " BL ";
    candidate const *best = nullptr, *chosen = nullptr;
    for (candidate const& own : all.candidates) {
      if (own.name != policy || !own.boundary_level) continue;
      for (candidate& c : all.candidates) {
        if (!c.name.starts_with(prefix) || c.rounds.empty()) continue;
        if (best == nullptr || median(c.rounds) < median(best->rounds)) best = &c;
        if (c.name != prefix + std::to_string(*own.boundary_level)) continue;
        c.note += "; what the policy chooses on its own";
        chosen = &c;
      }
    }
    if (chosen == nullptr) return;
    all.summary += fmt::format("best: {}; the policy chooses {}: {:.3f} of its time\n", best->name, chosen->name,
                               median(chosen->rounds) / median(best->rounds));
  }

  comparison finish() {
    contend(program_, all_, steps_, options_.rounds, options_.calm);
    return std::move(all_);
  }

  options const& options_;
  place const& where_;
  settings settings_;
  P program_;
  span_of_steps steps_;
  comparison all_;
};

}  // namespace locality
