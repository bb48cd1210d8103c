// Policies and costs for the reproductions of "Manycore Work Stealing" (Faxen and Ardelius, extended version of CF
// 2011).
#pragma once

#include <heist/policy.hpp>
#include <heist/simulate.hpp>

#include <cstdint>

namespace papers::wool {

/// Wool's thieves never sleep, and a worker whose task was stolen leap-frogs.
template <class Victim>
struct policy
    : heist::policy::bundle<Victim, heist::idle::spinning, heist::order::parent_first, heist::join::leapfrog> {};

// The four strategies of section 5.2. RAND goes through the same permutation as SET, but uses all workers.
using rand = heist::victim::permuted;
using set = heist::victim::victim_set<12, 4>;
using samp = heist::victim::sampled<rand, heist::victim::square_root_of_workers>;
using samp_set = heist::victim::sampled<set, heist::victim::square_root_of_workers>;

/// Costs of the TILEPro64 in cycles. The paper says "around 30 cycles per task spawned". A stealing cycle takes about
/// as long as a leaf of 587 cycles. A look costs about half of a steal. The data TLB has 16 entries. The paper does not
/// divide a steal into the attempt, the rest, and the misses at a victim that the thief has not tried lately.
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

/// The same with joins that park.
template <class Victim>
struct parking_policy : heist::policy::bundle<Victim, heist::idle::spinning> {};

template <class Victim>
heist::sim::report simulate(heist::sim::program const& p, std::uint32_t workers, std::uint64_t seed,
                            heist::sim::costs const& costs = tile_costs(), bool parks = false) {
  heist::sim::options const o{.workers = workers, .seed = seed, .costs = costs};
  return parks ? heist::simulate<parking_policy<Victim>>(p, o) : heist::simulate<policy<Victim>>(p, o);
}

}  // namespace papers::wool
