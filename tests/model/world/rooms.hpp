// Rooms of policies under which graphs remember, without what regions and forks need of them: where the shipped locality/history/
// and near search are run (locality/squads/squad_search.hpp, locality/replay/gift_search.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "heist/core/extension/room_core.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/locality/history/remembering.hpp"
#include "heist/locality/squads/near_search.hpp"

namespace world {

/// As squad_room and replay_room, of graphs.
template <heist::detail::task_homes Homes>
class remembering_room final : public heist::detail::room_core {
 public:
  heist::detail::task_homes homes_of_tasks() const noexcept override { return Homes; }
  heist::detail::graph_recall* make_recall() const override { return new heist::detail::remembering; }
};

/// As squad_search while graphs run. `Squads::members()`: who is in each. A thief stays near for one search in the place
/// of 48 attempts.
template <class Squads>
struct near_room : heist::detail::no_search {
  static constexpr bool looks = true;
  static constexpr bool in_groups = true;
  static constexpr bool requests_first = false;
  static constexpr bool has_gifts = true;

  static void furnish(heist::detail::core& home, heist::idle_rules idle) {
    home.give_room(std::make_unique<remembering_room<heist::detail::task_homes::squads>>(), has_gifts,
                   Squads::members(), idle);
  }
  static void search_begins(heist::detail::worker& w) noexcept { w.near = true; }
  static void falls_asleep(heist::detail::worker& w) noexcept { w.near = false; }
  static void is_awake(heist::detail::worker&) noexcept {}
  static bool called(heist::detail::worker const& w) noexcept { return !w.gifts.maybe_empty(); }

  template <class Loop>
  static heist::detail::runnable* look_first(heist::detail::fiber& self) {
    return look<Loop>(self);
  }
  template <class Loop>
  static heist::detail::runnable* look(heist::detail::fiber& self) {
    heist::detail::worker& w = *self.worker;
    return heist::detail::look_near(w, w.home.mates[w.group]).task;
  }
  static bool stays_near(heist::detail::worker const& w) noexcept { return w.near; }
  template <class Loop>
  static heist::detail::runnable* last_resort(heist::detail::fiber& self) {
    return self.worker->home.take_any_gift();
  }
};

/// As gift_search.
struct gift_room : heist::detail::no_search {
  static constexpr bool looks = true;
  static constexpr bool has_gifts = true;

  static void furnish(heist::detail::core& home, heist::idle_rules idle) {
    home.give_room(std::make_unique<remembering_room<heist::detail::task_homes::workers>>(), has_gifts, {}, idle);
  }
  static bool called(heist::detail::worker const& w) noexcept {
    return !w.own_fibers.maybe_empty() || !w.gifts.maybe_empty();
  }
  template <class Loop>
  static heist::detail::runnable* look(heist::detail::fiber& self) {
    heist::detail::worker& w = *self.worker;
    return called(w) ? w.home.take_submitted(w) : nullptr;
  }
  template <class Loop>
  static heist::detail::runnable* last_resort(heist::detail::fiber& self) {
    return self.worker->home.take_any_gift();
  }
};

}  // namespace world
