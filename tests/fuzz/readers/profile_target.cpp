// Profiles of regions, and the regions that take them: read, written, read again, cut, and asked for every task.
#include "all_targets.hpp"
#include "heist/locality/policy/profile.hpp"
#include "heist/locality/region/region.hpp"
#include "heist/region.hpp"

namespace fuzz {
namespace {

using heist::region_error;
using heist::region_profile;

outcome run(std::string_view input) {
  auto const read = [&] { return region_profile::from_json(input); };
  auto const p = attempt<region_error>(input.size(), {4096, 400}, read);
  heist::region r;
  auto const before = r.to_json();
  bool const region_rejects = rejects_call<region_error>([&] { return r.from_json(input), 0; });
  require(region_rejects == !p, "a region takes what is no profile, or refuses one");
  if (!p) {
    require(r.to_json() == before, "a region is changed by what it refuses");
    return {};
  }
  require(r.profile() == *p, "a region takes something else");
  require(region_profile::from_json(p->to_json()) == *p, "the profile changes when written and read");
  require(rejects_call<region_error>([&] { return region_profile::from_json(cut(input)); }), "a cut file is accepted");
  for (std::uint32_t i = 1; i < p->size(); ++i)
    require(p->lookup((*p)[i].parent, (*p)[i].index) == i, "a task is not found by its path");
  require(p->lookup(region_profile::no_entry, 0) == region_profile::no_entry, "a task is found that is not there");
  require(!p->text(digest(input) % 8).empty(), "a profile has no text");
  return {true, 2};
}

}  // namespace

target const profile_target{"profile", 4096, 10000, true, run};

}  // namespace fuzz
