// Bodies of squad_extension.hpp.
#pragma once

#include "heist/locality/squads/squad_extension.hpp"

#include "heist/locality/history/placement_history.hpp"

#include <fmt/core.h>
#include <pthread.h>  // pthread_self

#include <utility>  // move

#include "heist/core/scheduler/fiber.hpp"
#include "heist/locality/policy/first_squad.hpp"

namespace heist::detail {

HEIST_COLD_BODY idle_gate<>* squad_extension::make_gates(core& scheduler, idle_config config) {
  auto const& placed = scheduler.where.squads();
  cache_bytes_ = topology::shared_cache_bytes(scheduler.where.machine(), placed);
  on_several_nodes_ = tier::on_several_nodes(scheduler.where.machine(), placed);
  squads.make(placed.members.size(), scheduler.worker_count, config);
  peers_.resize(squads.size());
  members_ = std::vector<squad_member>(scheduler.worker_count);
  for (std::size_t s = 0; s < squads.size(); ++s) {
    for (std::uint32_t const number : placed.members[s]) {
      worker& w = *scheduler.workers[number];
      squad_member& m = members_[number];
      m.in = &squads[s];
      m.peers = &peers_[s];
      m.head = number == placed.head[s];
      m.place = static_cast<std::uint32_t>(peers_[s].size());
      peers_[s].push_back(&w);
      w.extension_data = &m;
      w.gate = &squads[s].gate;
      w.group = static_cast<std::uint32_t>(s);
    }
  }
  return &squads[0].gate;
}

HEIST_COLD_BODY unique_ptr<graph_recall> squad_extension::make_recall() const {
  return make_unique<placement_history>();
}

HEIST_COLD_BODY bool squad_extension::may_take(worker const& thief) const noexcept {
  squad_member const& m = member_of(thief);
  return squads.may_take(*m.in, m.head);
}

HEIST_COLD_BODY std::uint32_t squad_extension::thieves() const noexcept {
  std::uint32_t sum = 0;
  for (std::size_t s = 0; s < squads.size(); ++s) sum += squads[s].gate.thieves();
  return sum;
}

HEIST_COLD_BODY std::string squad_extension::state_text() const {
  std::string text;
  for (std::size_t s = 0; s < squads.size(); ++s) {
    auto const& pool = squads[s].pool;
    text += fmt::format("  squad {}: {}, pool {}{}\n", s, pool.busy() ? "busy" : "free",
                        pool.maybe_empty() ? "empty" : "not empty",
                        pool.maybe_pinned() ? ", something that belongs here" : "");
  }
  return text;
}

HEIST_COLD_BODY void squad_extension::release(worker& w, squad_task& task) noexcept {
  if (!task.occupies) return;
  task.occupies = false;
  squad_member const& m = member_of(w);
  squads.release(*task.in, m.head && m.in == task.in);
}

HEIST_COLD_BODY pooled_runnable* squad_extension::take_inter(worker& w, std::uint32_t& from) noexcept {
  squad_member& m = member_of(w);
  m.squad_was_busy = false;
  from = w.random.below(static_cast<std::uint32_t>(squads.size()));
  pooled_runnable* const found = squads.head_take(*m.in, from);
  if (found != nullptr || !squads.collects() || !distribute_collected()) return found;
  return squads.head_take(*m.in, from);
}

HEIST_COLD_BODY bool squad_extension::distribute_collected() noexcept {
  undistributed_children* found = nullptr;
  {
    spin_guard guard{undistributed_lock_};
    for (found = undistributed_; found != nullptr && !found->claim();) found = found->next;
  }
  if (found == nullptr) return false;
  found->distribute_claimed();
  return true;
}

HEIST_COLD_BODY void squad_extension::add_entry(undistributed_children& of_scope) noexcept {
  spin_guard guard{undistributed_lock_};
  of_scope.next = undistributed_;
  of_scope.previous = nullptr;
  if (undistributed_ != nullptr) undistributed_->previous = &of_scope;
  undistributed_ = &of_scope;
}

HEIST_COLD_BODY void squad_extension::leave(undistributed_children& of_scope) noexcept {
  spin_guard guard{undistributed_lock_};
  (of_scope.previous != nullptr ? of_scope.previous->next : undistributed_) = of_scope.next;
  if (of_scope.next != nullptr) of_scope.next->previous = of_scope.previous;
}

HEIST_COLD_BODY bool squad_extension::counts_misses() const noexcept {
  if (counters_ == nullptr) return false;
  spin_guard guard{lock_};
  return !counters_known_ || counters_available_;
}

HEIST_COLD_BODY counter_values squad_extension::read_counters(worker& w) noexcept {
  if (counters_ == nullptr) return {};
  ::pthread_t const here = ::pthread_self();
  squad_member& m = member_of(w);
  counter_handle& counters = m.counters;
  if (!counters || m.counted_by != here) {  // another thread may carry it by now
    try {
      counter_handle made{counters_};
      std::string why_not = made.why(), event = made.event();
      counters = std::move(made);
      m.counted_by = here;
      spin_guard guard{lock_};
      if (!counters_known_) {
        counters_known_ = true;
        counters_available_ = counters.available();
        counters_why_not_ = std::move(why_not);
        counters_event_ = std::move(event);
      }
    } catch (...) {  // no memory
      return {};
    }
  }
  return counters.read();
}

HEIST_COLD_BODY void squad_task::make_ready(fiber& f) noexcept {
  if (suspended) {
    extension->squads.add_pinned(*in, f.resume_item);
  } else {
    extension->squads.add_ready(*in, f.resume_item);
  }
}

HEIST_COLD_BODY deferred_call squad_task::left(fiber& f) noexcept {
  if (!suspended) return {};
  worker& w = *f.worker;
  extension->tell(w, *this, squad_event::leaves);
  extension->release(w, *this);
  return {};
}

HEIST_COLD_BODY void squad_task::returned(fiber& f, worker& w) noexcept {
  if (suspended && f.no_migrate == 0) {  // it came through a pool
    squad_member const& m = member_of(w);
    in = m.in;
    occupies = !m.squad_was_busy;
  }
  extension->tell(w, *this, suspended ? squad_event::enters : squad_event::moves);
}

HEIST_COLD_BODY void* squad_task::wait_outside_begins() noexcept {
  extension->squads.wait_outside_begins(*in);
  return in;
}

HEIST_COLD_BODY void squad_task::wait_outside_ends(void* squad_that_blocked) noexcept {
  extension->squads.wait_outside_ends(*static_cast<squad*>(squad_that_blocked));
}

}  // namespace heist::detail
