// What policies add under which graphs have a placement history, without the parts that only regions and forks need.
// They run the shipped locality/history/ and near search (locality/squads/squad_search.hpp,
// locality/replay/mail_search.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "heist/core/extension/executor_extension.hpp"
#include "heist/core/extension/search_of.hpp"
#include "heist/core/policy/search_step.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/locality/history/placement_extension.hpp"
#include "heist/locality/history/placement_history.hpp"
#include "heist/locality/squads/near_search.hpp"

namespace world {

/// As squad_extension and replay_extension, of graphs.
template <heist::detail::task_affinity NodeMap>
class history_extension final : public heist::detail::executor_extension, heist::detail::placement_extension {
 public:
  history_extension() noexcept { graphs = this; }
  heist::detail::task_affinity affinity_of_tasks() const noexcept override { return NodeMap; }
  heist::detail::unique_ptr<heist::detail::graph_recall> make_recall() const override {
    return heist::detail::make_unique<heist::detail::placement_history>();
  }
};

/// As squad_search while graphs run. `Squads::members()`: the members of each squad. A thief stays near for one search
/// instead of 48 attempts.
template <class Squads>
struct near_search : heist::detail::no_search {
  static constexpr bool looks = true;
  static constexpr bool in_groups = true;
  static constexpr bool requests_first = false;
  static constexpr bool has_mail = true;

  static void furnish(heist::detail::core& scheduler, heist::detail::idle_config idle) {
    scheduler.give_extension(std::make_unique<history_extension<heist::detail::task_affinity::squads>>(), has_mail,
                             Squads::members(), idle);
  }
  static void search_begins(heist::detail::worker& w) noexcept { w.near = true; }
  static void falls_asleep(heist::detail::worker& w) noexcept { w.near = false; }
  static void is_awake(heist::detail::worker&) noexcept {}
  static bool called(heist::detail::worker const& w) noexcept { return !w.mailbox.maybe_empty(); }

  template <class Loop>
  static heist::detail::runnable* look_first(heist::detail::fiber& self) {
    return look<Loop>(self);
  }
  template <class Loop>
  static heist::detail::runnable* look(heist::detail::fiber& self) {
    heist::detail::worker& w = *self.worker;
    return heist::detail::look_near(w, w.scheduler.peers[w.group]).task;
  }
  static std::uint32_t far_attempts(heist::detail::worker const& w) noexcept {
    return w.near ? heist::detail::search_step::last_resort : 1;
  }
  template <class Loop>
  static heist::detail::runnable* last_resort(heist::detail::fiber& self) {
    return self.worker->scheduler.take_any_mail();
  }
};

/// As mail_search.
struct mail_space : heist::detail::no_search {
  static constexpr bool looks = true;
  static constexpr bool has_mail = true;

  static void furnish(heist::detail::core& scheduler, heist::detail::idle_config idle) {
    scheduler.give_extension(std::make_unique<history_extension<heist::detail::task_affinity::workers>>(), has_mail, {},
                             idle);
  }
  static bool called(heist::detail::worker const& w) noexcept {
    return !w.own_fibers.maybe_empty() || !w.mailbox.maybe_empty();
  }
  template <class Loop>
  static heist::detail::runnable* look(heist::detail::fiber& self) {
    heist::detail::worker& w = *self.worker;
    return called(w) ? w.scheduler.take_submitted(w) : nullptr;
  }
  template <class Loop>
  static heist::detail::runnable* last_resort(heist::detail::fiber& self) {
    return self.worker->scheduler.take_any_mail();
  }
};

}  // namespace world
