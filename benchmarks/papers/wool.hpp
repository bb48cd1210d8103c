// What the reproductions of "Manycore Work Stealing" (Faxen and Ardelius, extended version of CF 2011) share.
#pragma once

#include <heist/policy.hpp>
#include <heist/simulate.hpp>

#include <cstdint>

namespace papers::wool {

/// Wool's thieves never sleep, and a worker whose task was stolen leap-frogs.
template <class Victim>
struct policy
    : heist::policy::bundle<Victim, heist::idle::spinning, heist::order::parent_first, heist::join::leapfrog> {};

// Section 5.2's four strategies. RAND goes through the same permutation as SET, with nobody left out.
using rand = heist::victim::permuted;
using set = heist::victim::victim_set<12, 4>;
using samp = heist::victim::sampled<rand, heist::victim::square_root_of_workers>;
using samp_set = heist::victim::sampled<set, heist::victim::square_root_of_workers>;

/// Of the TILEPro64, in cycles. The paper says: "around 30 cycles per task spawned"; a stealing cycle takes about as
/// long as a leaf of 587 cycles; a look costs about half of a steal; the data TLB has 16 entries. How a steal divides
/// into the attempt, the rest, and the misses of a victim that has not been tried lately it does not say.
inline heist::sim::costs tile_costs() {
  heist::sim::costs c = heist::sim::costs::nothing();
  c.fork = 15;
  c.join = 15;
  c.attempt = 200;
  c.look = 200;
  c.steal = 250;
  c.unfamiliar = 150;
  c.familiar = 16;
  return c;
}

template <class Victim>
heist::sim::report simulate(heist::sim::program const& p, std::uint32_t workers, std::uint64_t seed,
                            heist::sim::costs const& costs = tile_costs()) {
  return heist::simulate<policy<Victim>>(p, {.workers = workers, .seed = seed, .costs = costs});
}

}  // namespace papers::wool
