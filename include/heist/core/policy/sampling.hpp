// Sampling: a thief looks at a few workers and steals from the one with the most to offer.
// "Manycore Work Stealing" (Faxen and Ardelius, extended version of CF 2011), sections 2.1, 4 and 5.2.
#pragma once

#include <cstdint>

#include "heist/core/base/random.hpp"
#include "heist/core/policy/victim.hpp"
#include "heist/core/policy/victim_set.hpp"

namespace heist::victim {

/// The task closest to the root of its computation: in balanced trees it is the largest. The paper's.
struct closest_to_root {
  static constexpr bool better(offer const& a, offer const& b) noexcept { return a.depth < b.depth; }
};
/// The longest pool (Contreras and Martonosi), to compare with.
struct most_tasks {
  static constexpr bool better(offer const& a, offer const& b) noexcept { return a.tasks > b.tasks; }
};
static_assert(offer_rank<closest_to_root> && offer_rank<most_tasks>);

/// As the number of samples: the square root of the number of workers, rounded down.
inline constexpr std::uint32_t square_root_of_workers = 0;

/// Sampling among the workers that `Base` names. Before its first attempt, and before an attempt that follows a
/// successful one, a thief looks at up to `K` workers and steals from the best of them; of equals, the first. It stops looking
/// at one with nothing to take, and when the set of `Base` wraps: no worker is in it twice. After a failed attempt it
/// steals from the one it finds.
///
/// A worker with little to offer could be passed over for ever, so every 64th time it does not look (V2).
/// With K = 1 it is `Base`.
template <class Base, std::uint32_t K, class Rank = closest_to_root>
class sampled {
  static_assert(victim_policy<Base>,
                "heist: sampling needs a policy that names the workers to look at; fix its first parameter.");
  static_assert(offer_rank<Rank>,
                "heist: sampling needs a rank of offers; fix it by giving it a static noexcept better(a, b) of two "
                "heist::victim::offers.");

 public:
  void begin(thief_view const& me, fast_random& random) noexcept {
    if constexpr (search_policy<Base>) base_.begin(me, random);
    end_collection();
  }

  std::uint32_t next(thief_view const& me, fast_random& random) noexcept {
    awaited_ = false;
    if (chosen_ || (looks_ != 0 && wraps())) {
      end_collection();
      return best_;
    }
    std::uint32_t const victim = base_.next(me, random);
    if (looking_ && victim != me.self) {
      if (looks_ == 0) begin_collection(me.workers);
      awaited_ = looking_;
    }
    return victim;
  }

  bool wants_look() const noexcept { return awaited_; }

  void looked(std::uint32_t victim, offer const& what) noexcept {
    awaited_ = false;
    if (looks_++ == 0 || (what.tasks != 0 && Rank::better(what, best_offer_))) {
      best_ = victim;
      best_offer_ = what;
    }
    chosen_ = looks_ == wanted_ || what.tasks == 0;
  }

  void feedback(std::uint32_t victim, outcome what) noexcept {
    base_.feedback(victim, what);
    end_collection();
    looking_ = what == outcome::stolen;
  }
  void place(thief_view const& me, topology::machine const& machine,
             topology::squads const& squads) noexcept requires placed_policy<Base> {
    base_.place(me, machine, squads);
  }
  void met_thief(std::uint32_t victim) noexcept requires thief_counting_policy<Base> { base_.met_thief(victim); }

 private:
  static constexpr std::uint32_t look_elsewhere = 64;

  void begin_collection(std::uint32_t workers) noexcept {
    wanted_ = wanted(workers);
    looking_ = wanted_ != 0 && ++collections_ % look_elsewhere != 0;
  }
  void end_collection() noexcept {
    looks_ = 0;
    awaited_ = chosen_ = false;
  }
  bool wraps() const noexcept {
    if constexpr (requires(Base const& b) { b.wraps(); }) {
      return base_.wraps();
    } else {
      return false;
    }
  }
  /// How many looks; 0 if they would not change the choice.
  std::uint32_t wanted(std::uint32_t workers) noexcept {
    if constexpr (K != square_root_of_workers) {
      return K == 1 ? 0 : K;
    } else {
      while (root_ * root_ > workers) --root_;
      while ((root_ + 1) * (root_ + 1) <= workers) ++root_;
      return root_ == 1 ? 0 : root_;
    }
  }

  [[no_unique_address]] Base base_;
  std::uint32_t best_ = 0;
  offer best_offer_;
  std::uint32_t looks_ = 0, wanted_ = 0;  // of this collection; no looks: none has begun
  std::uint32_t collections_ = 0;         // in all
  std::uint32_t root_ = 0;                // the root of the number of workers, last time
  bool looking_ = true;                   // the last attempt succeeded, or there was none
  bool awaited_ = false;                  // looked() is to come
  bool chosen_ = false;                   // best_ is the worker to steal from
};

/// Looks at up to `K` workers drawn at random (section 4). The paper's best K is 2, if a look costs half a steal.
template <std::uint32_t K = 2, class Rank = closest_to_root>
struct sampling : sampled<random, K, Rank> {};

/// Looks at up to `K` workers of a victim set (the paper's SAMP+SET).
template <std::uint32_t K = 2, std::uint32_t W = 12, std::uint32_t m = 4, class Rank = closest_to_root>
struct sampling_victim_set : sampled<victim_set<W, m>, K, Rank> {};

static_assert(whole_victim_policy<sampling<>> && whole_victim_policy<sampling_victim_set<>>);
static_assert(sampling_policy<sampling<>> && search_policy<sampling<>> && !thief_counting_policy<sampling<>>);
static_assert(sampling_policy<sampling_victim_set<>> && search_policy<sampling_victim_set<>> &&
              thief_counting_policy<sampling_victim_set<>>);

}  // namespace heist::victim
