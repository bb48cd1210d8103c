// Victim sets: a thief keeps to a few victims as long as there are many thieves.
// "Manycore Work Stealing" (Faxen and Ardelius, extended version of CF 2011), section 2.2.
#pragma once

#include <cstdint>
#include <new>      // bad_alloc
#include <utility>  // swap

#include "heist/core/base/random.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/policy/victim.hpp"

namespace heist::victim {

/// Each thief goes round in a private random permutation of the workers, from a random start S. When it has met `m`
/// thieves and made `W` attempts it goes back to S. So t thieves among p workers have sets of about max(W, m p / t).
/// When it comes round to S it counts afresh. It draws a new S with each search, each steal, and after 1000 failed
/// attempts: thieves whose sets contain no other workers do not stay among themselves.
///
/// W = 12 and m = 4 are the paper's, for 16 entries in the data TLB; it found them insensitive.
///
/// The thief's own number is in the permutation as well and stands for the injection queue (V1); it is no attempt.
///
/// Cost  begin() allocates once: 4 bytes for each worker. next() draws at random without begin() or memory. The set is
///       all workers without met_thief().
template <std::uint32_t W = 12, std::uint32_t m = 4>
class victim_set {
  static_assert(W != 0, "heist: a thief cannot go back before it has tried any victim; fix it by W of at least 1.");

 public:
  void begin(thief_view const& me, fast_random& random) noexcept {
    if (order_.size() != me.workers) [[unlikely]]
      shuffle(me.workers, random);
    failed_ = restart_now;
  }

  std::uint32_t next(thief_view const& me, fast_random& random) noexcept {
    if (order_.size() != me.workers) [[unlikely]]
      return random.below(me.workers);
    if (failed_ >= most_failed) {
      start_ = random.below(me.workers);
      failed_ = 0;
      go_back();
    } else if (at_end_of_set()) {
      go_back();
    }
    std::uint32_t const victim = order_[at_];
    at_ = at_ + 1 == me.workers ? 0 : at_ + 1;
    if (victim != me.self) {
      ++tried_;
      ++failed_;
    }
    return victim;
  }

  void feedback(std::uint32_t, outcome what) noexcept {
    if (what == outcome::stolen) failed_ = restart_now;
  }
  void met_thief(std::uint32_t) noexcept requires(m != 0) { ++met_; }

  /// True if next() is about to name a worker of this set a second time.
  bool wraps() const noexcept { return failed_ < most_failed && at_end_of_set(); }

 private:
  static constexpr std::uint32_t most_failed = 1000;  // the paper's
  static constexpr std::uint32_t restart_now = ~std::uint32_t{0};

  bool at_end_of_set() const noexcept { return at_ == start_ || (tried_ >= W && met_ >= m); }
  void go_back() noexcept {
    at_ = start_;
    tried_ = met_ = 0;
  }

  void shuffle(std::uint32_t workers, fast_random& random) noexcept {
    try {
      order_.resize(workers);
    } catch (std::bad_alloc const&) {
      return;  // it is as it was: empty, or for another number of workers
    }
    for (std::uint32_t i = 0; i != workers; ++i) order_[i] = i;
    for (std::uint32_t i = workers; i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
  }

  detail::vector<std::uint32_t> order_;  // a permutation, if it is as long as there are workers
  std::uint32_t start_ = 0;              // S
  std::uint32_t at_ = 0;                 // the worker to name next
  std::uint32_t tried_ = 0, met_ = 0;    // since S was left
  std::uint32_t failed_ = restart_now;   // attempts since S was drawn
};

/// All workers in turn, in a private random order: random stealing at the cost of a victim set, so that the two can be
/// compared (the paper's RAND).
struct permuted : victim_set<~std::uint32_t{0}, 0> {};

static_assert(whole_victim_policy<victim_set<>> && whole_victim_policy<permuted>);
static_assert(search_policy<victim_set<>> && thief_counting_policy<victim_set<>> && search_policy<permuted> &&
              !thief_counting_policy<permuted>);

}  // namespace heist::victim
