// Bodies of region.hpp.
#pragma once

#include "heist/locality/region/region.hpp"

#include <utility>  // move

#include "heist/core/base/errors.hpp"
#include "heist/core/extension/loop_region.hpp"
#include "heist/locality/region/region_entry.hpp"  // enter_region_of_loop

namespace heist {

HEIST_COLD_BODY region::region(region_options wanted) : options_{wanted} {
  // relaxed: a function
  detail::loop_region::call.store(&detail::enter_region_of_loop, std::memory_order_relaxed);
}

HEIST_COLD_BODY void region::from_json(std::string_view text) {
  profile_ = region_profile::from_json(text);
  profile_wanted_ = false;
  planned_for_ = 0;
}

}  // namespace heist

namespace heist::detail {

HEIST_COLD_BODY void region_access::begin(region& r) {
  // acquire: what the run before has written
  if (r.running_.exchange(true, std::memory_order_acquire)) {
    throw region_error{
        "this heist::region is used by another run: a region is the memory of one phase and has one run at a time. "
        "Fix it by a region for each, or by waiting for the first run."};
  }
}

HEIST_COLD_BODY void region_access::run_initializer(region& r, context const& c) {
  region_access const in_use{r};
  adaptation const& adapted = r.adaptation_;
  if (r.following_ != region::following::itself || adapted.next() == adaptation::phase::free || r.data_settled_) return;
  region along;
  along.follow(adapted.tree(), replay_mode::strict_ordered);
  c.invoke(along, [&r](context const& inside) { r.initializer_(inside); });
  r.data_settled_ = adapted.settled();
}

HEIST_COLD_BODY std::uint32_t region_access::squad_of(std::uint64_t path, std::uint32_t fallback,
                                                      std::size_t squads) const {
  std::uint32_t const found = r.squad_of_.find(path);
  return found < squads ? found : fallback;
}

HEIST_COLD_BODY void region_access::forget_squads() const noexcept {
  r.squad_of_.clear();
}

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY void region::follow(steal_tree tree, replay_mode mode) {
  detail::region_access const in_use{*this};
  if (tree.empty()) {
    throw steal_tree_error{
        "region.follow: this is the steal tree of no run, so there is nothing to follow; fix it by a run of a region "
        "under policy::replay, and its tree() afterwards"};
  }
  recorded_.reset();
  followed_ = std::move(tree);
  mode_ = mode;
  following_ = following::tree;
}

HEIST_COLD_BODY void region::follow_designations() {
  detail::region_access const in_use{*this};
  recorded_.reset();
  following_ = following::designations;
}

HEIST_COLD_BODY void region::unfollow() {
  detail::region_access const in_use{*this};
  recorded_.reset();
  following_ = following::nothing;
}

HEIST_COLD_BODY void region::adapt(adaptation_options wanted) {
  detail::region_access const in_use{*this};
  recorded_.reset();
  adaptation_ = adaptation{wanted};
  initializer_ = nullptr;
  data_settled_ = false;
  following_ = following::itself;
}

}  // namespace heist
