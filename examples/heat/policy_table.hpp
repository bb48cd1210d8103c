// The policies by name. No other file of the example names policies.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <stdexcept>  // invalid_argument
#include <string>
#include <string_view>
#include <vector>

#include "placement.hpp"
#include "plate.hpp"
#include "progress.hpp"
#include "solver.hpp"

namespace heat {

/// The solution, and a description of the executor that computed it.
struct report_on_run {
  solution solved;
  std::size_t workers = 0, squads = 0;
  placed_by by = placed_by::squad;
  std::string machine;
  std::string note;     ///< how the last step was divided, and why; empty under policies without tiers
  std::string profile;  ///< the measurements of the first step, as a table; empty under policies that measure nothing
};

struct run_request {
  heist::options where;
  solver_options how;
  bool by_automatic = true;                       ///< by squad if there are several, else by worker
  std::optional<std::uint32_t> boundary_level{};  ///< CAB's level, if the user sets it
};

struct policy_entry {
  std::string_view name;
  std::string_view what;
  report_on_run (*run)(run_request const&, plate&, placement_record&, progress&);
};

template <class Policy>
report_on_run run_with(run_request const& wanted, plate& p, placement_record& record, progress& visible) {
  heist::executor<Policy> ex{wanted.where};
  auto how = wanted.how;
  if (wanted.by_automatic) how.by = ex.squad_count() > 1 ? placed_by::squad : placed_by::worker;
  heist::region sweep{{.branching = 2, .bytes = p.size_bytes(), .boundary_level = wanted.boundary_level}};
  auto const solved = ex.invoke([&](auto ctx) { return solve(ctx, sweep, p, how, record, visible); });
  return {solved,
          ex.worker_count(),
          ex.squad_count(),
          how.by,
          ex.machine().to_text(),
          sweep.explain(),
          sweep.profile().empty() ? std::string{} : sweep.profile().text()};
}

inline constexpr std::array policies{
    policy_entry{"random", "steal from anybody", &run_with<heist::policy::random>},
    policy_entry{"sampling", "steal from who has the most to offer, of a few", &run_with<heist::policy::sampling>},
    policy_entry{"victim_set", "steal from a few, while there are many thieves", &run_with<heist::policy::victim_set>},
    policy_entry{"cab",
                 "between squads steal large parts, inside a squad what they consist of; divided by Eq. 4 of CAB",
                 &run_with<heist::policy::cab>},
    policy_entry{"cats", "the same, divided by what the first step was measured to touch",
                 &run_with<heist::policy::cats>},
};

inline std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (auto const& entry : policies) names.emplace_back(entry.name);
  return names;
}

/// Throws std::invalid_argument for an unknown name.
inline policy_entry const& policy_named(std::string_view name) {
  for (auto const& entry : policies) {
    if (entry.name == name) return entry;
  }
  throw std::invalid_argument{"there is no policy of that name; --help lists them"};
}

}  // namespace heat
