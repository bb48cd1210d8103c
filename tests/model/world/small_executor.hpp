// An executor of few workers with one idle policy, running the shipped worker loop. See tests/model/README.md, "The
// world".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "heist/core/extension/search_of.hpp"
#include "heist/core/policy/idle.hpp"
#include "heist/core/policy/victim.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/worker_loop.hpp"

namespace world {

/// `Idle`, except that a search looks once everywhere. A thief that begins its search later finds everything that a
/// later look of the same search would find. Pauses only take time.
template <class Idle>
class hurried : public Idle {
 public:
  void begin(std::uint32_t workers, std::uint64_t worked) noexcept {
    Idle::begin(workers, worked);
    places_ = Idle::never_sleeps ? workers : workers - 1;
    looks_ = 0;
  }
  heist::idle::step failed() noexcept {
    if (++looks_ != places_) return heist::idle::step::pause;
    looks_ = 0;
    if (Idle::never_sleeps) return Idle::failed();
    int attempts = 0;
    while (Idle::failed() != heist::idle::step::sleep) model::check(++attempts < 1000, "I1: a search without end");
    return heist::idle::step::sleep;
  }
  std::uint32_t pauses() const noexcept { return 0; }
  std::uint32_t wake_delay() const noexcept { return 0; }

 private:
  std::uint32_t places_ = 0, looks_ = 0;
};

/// Names the other workers in turn, then the injection queue. The order of the looks adds no outcome, because the model
/// already varies the time of each look.
class in_turn {
 public:
  std::uint32_t next(heist::victim::thief_view const& me, heist::fast_random&) noexcept {
    last_ = last_ % me.workers + 1;
    return (me.self + last_) % me.workers;
  }
  void begin(heist::victim::thief_view const&, heist::fast_random&) noexcept { last_ = 0; }
  void feedback(std::uint32_t, heist::victim::outcome) noexcept {}

 private:
  std::uint32_t last_ = 0;
};

struct blind_observer {
  static constexpr bool observes = false;
  void steal(std::uint32_t, std::uint32_t) noexcept {}
};

/// In the manner of detail::scheduler (core/executor/executor.hpp). `Search`: of the policy (extensions.hpp).
template <class Idle, std::size_t Workers, class Search = heist::detail::no_search>
class scheduler : public heist::detail::core {
 public:
  using idle_type = hurried<Idle>;
  using victim_type = in_turn;
  using observer_type = blind_observer;
  using search_type = Search;

  explicit scheduler(heist::detail::virtual_thread* threads)
      : core{threads, Workers, heist::detail::idle_config::of<Idle>(), &heist::detail::worker_loop<scheduler>::run} {
    if constexpr (requires { Search::furnish(*this, heist::detail::idle_config::of<Idle>()); })
      Search::furnish(*this, heist::detail::idle_config::of<Idle>());
    core::start();
  }
  ~scheduler() { core::drain_and_stop(); }

  idle_type& idle(heist::detail::worker const& w) noexcept {
    decisions& d = decisions_[w.number];
    std::uint64_t const naps = heist::os_env::naps();
    // A sleep was cancelled, and the worker searches again at once: time passes, or other threads would never move.
    if (d.searched && w.worked == ~std::uint64_t{0} && d.naps == naps) heist::os_env::relax();
    d.searched = true;
    d.naps = naps;
    return d.idle;
  }
  victim_type& victim(heist::detail::worker const& w) noexcept { return decisions_[w.number].victim; }
  observer_type& observer() noexcept { return observer_; }

  struct no_watch {
    template <class HasWork>
    bool includes_all(heist::victim::thief_view const&, std::uint32_t, HasWork&&) const noexcept {
      return true;
    }
  };
  no_watch watch(heist::detail::worker const&) const noexcept { return {}; }

 private:
  struct decisions {
    idle_type idle;
    victim_type victim;
    bool searched = false;
    std::uint64_t naps = 0;
  };
  std::array<decisions, Workers> decisions_;
  [[no_unique_address]] observer_type observer_;
};

}  // namespace world
