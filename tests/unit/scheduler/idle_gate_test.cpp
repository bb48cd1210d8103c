// heist::detail::idle_gate: which worker wakes which, step by step, on one thread.
#include "heist/core/sync/idle_gate.hpp"

#include "support/catch.hpp"

using heist::detail::idle_config;
using heist::detail::idle_gate;
using heist::detail::idle_outcome;

namespace {

constexpr idle_config paper{.never_sleeps = false, .keeps_a_thief = true, .wakes_on_push = false};
constexpr idle_config ours{.never_sleeps = false, .keeps_a_thief = false, .wakes_on_push = true};
constexpr auto nothing = [] { return false; };
constexpr auto something = [] { return true; };
constexpr auto no_op = [] {};

}  // namespace

TEST_CASE("idle_gate: a thief that sees work does not sleep and is a thief still", "[sched]") {
  for (auto const config : {paper, ours}) {
    idle_gate<> gate{2, config};
    gate.start_stealing();
    bool slept = false;
    CHECK(gate.try_sleep(
              0, something, [&] { slept = true; }, no_op) == idle_outcome::search);
    CHECK_FALSE(slept);
    CHECK(gate.thieves() == 1);
    CHECK_FALSE(gate.notifier().maybe_waiting());
  }
}

TEST_CASE("idle_gate: the last thief stays awake while a worker is active (Algorithm 5, line 29)", "[sched]") {
  idle_gate<> gate{2, paper};
  gate.set_active();
  gate.start_stealing();
  CHECK(gate.try_sleep(0, nothing, no_op, no_op) == idle_outcome::search);
  CHECK(gate.thieves() == 1);
  CHECK(gate.active_count() == 1);
}

TEST_CASE("idle_gate: a submission between announcement and sleep keeps the worker awake", "[sched]") {
  for (auto const config : {paper, ours}) {
    idle_gate<> gate{2, config};
    gate.start_stealing();
    // The submission comes after the worker has looked for the last time: the event count must remember it.
    auto const outcome = gate.try_sleep(
        1,
        [&] {
          gate.submitted();
          return false;
        },
        no_op, no_op);
    CHECK(outcome == idle_outcome::slept);
    CHECK(gate.thieves() == 0);
    CHECK_FALSE(gate.notifier().maybe_waiting());
  }
}

TEST_CASE("idle_gate: a push between announcement and sleep keeps the worker awake if the policy wakes on push",
          "[sched]") {
  idle_gate<> gate{2, ours};
  gate.start_stealing();
  auto const outcome = gate.try_sleep(
      0,
      [&] {
        gate.pushed();
        return false;
      },
      no_op, no_op);
  CHECK(outcome == idle_outcome::slept);
}

TEST_CASE("idle_gate: the end of an executor between announcement and sleep is seen", "[sched]") {
  for (auto const config : {paper, ours}) {
    idle_gate<> gate{1, config};
    gate.start_stealing();
    CHECK(gate.try_sleep(
              0,
              [&] {
                gate.wake_all();
                return false;
              },
              no_op, no_op) == idle_outcome::slept);
  }
}
