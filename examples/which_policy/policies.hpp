// The policies that are compared, by name.
#pragma once

#include <heist/policy.hpp>
#include <heist/simulate.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace which_policy {

/// heist has no name for this combination of two policies. A user of both defines it like this.
struct sampling_victim_set : heist::policy::bundle<heist::victim::sampling_victim_set<>, heist::idle::standard> {};

struct policy_entry {
  std::string_view name, what;
  heist::sim::report (*simulate)(heist::sim::program const&, heist::sim::options const&);
};

/// The answer compares all policies with the first one.
inline constexpr std::array policies{
    policy_entry{"random", "steal from anybody; the default", &heist::simulate<heist::policy::random>},
    policy_entry{"sampling", "look at two, rob the one with the most to offer",
                 &heist::simulate<heist::policy::sampling>},
    policy_entry{"victim_set", "steal from a few, while there are many thieves",
                 &heist::simulate<heist::policy::victim_set>},
    policy_entry{"sampling_victim_set", "sampling among those few", &heist::simulate<sampling_victim_set>},
    policy_entry{"hierarchical", "near squads first", &heist::simulate<heist::policy::hierarchical>},
    policy_entry{"cab", "regions are cut into parts for the squads, by Eq. 4 of CAB",
                 &heist::simulate<heist::policy::cab>},
    policy_entry{"cats", "the same, by what the tasks of a region's first run touch",
                 &heist::simulate<heist::policy::cats>},
};

inline std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (auto const& entry : policies) names.emplace_back(entry.name);
  return names;
}

}  // namespace which_policy
