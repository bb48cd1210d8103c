// heist/tools/simulate: the workers that are awake under each idle policy.
#include <algorithm>  // max
#include <cstdint>

#include "support/catch.hpp"
#include "support/texts.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;

namespace {

/// One long task, alone.
sim::program long_task() {
  return sim::chain({.nodes = 1, .work = 10'000'000});
}
template <class Idle>
sim::report under(sim::program const& p, std::uint32_t workers = 8) {
  return heist::simulate<policy::with_idle<policy::random, Idle>>(p, {.workers = workers});
}

/// Sleeps at once, and no worker wakes another.
struct sleeps_forever : idle::standard {
  static constexpr bool wakes_on_push = false;
  idle::step failed() noexcept { return idle::step::sleep; }
};

}  // namespace

TEST_CASE("idle: beside one long task the adaptive policy keeps one thief awake, ours none, ABP all", "[sim]") {
  auto const awake = [](sim::report const& r) { return r.series.back().searching; };
  CHECK(awake(under<idle::adaptive>(long_task())) == 1);
  CHECK(awake(under<idle::bws>(long_task())) == 1);
  CHECK(awake(under<idle::standard>(long_task())) == 0);
  CHECK(awake(under<idle::spinning>(long_task())) == 7);
  CHECK(under<idle::spinning>(long_task()).sleeps == 0);
}

TEST_CASE("idle: sleepers are woken when there is work for them", "[sim]") {
  sim::program_builder b("late");
  auto const root = b.add_tree();
  b.begin(root);
  b.work(5'000'000);  // everybody falls asleep
  auto const first = b.fork(64);
  for (std::uint32_t i = 0; i != 64; ++i) {
    b.begin(first + i);
    b.work(200'000);
  }
  auto const p = b.finish();
  for_each_policy([&]<class Policy>(char const* name) {
    auto const r = heist::simulate<Policy>(p, {.workers = 8});
    INFO(name << ": " << r.text());
    CHECK(r.makespan < 5'000'000 + 64 * 200'000 / 8 + 600'000);
    if (!Policy::idle_type::never_sleeps) CHECK(r.wakes >= 6);
  });
}

TEST_CASE("idle: a policy that lets everybody sleep leaves the work to who has it", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 8});
  auto const r = under<sleeps_forever>(p);
  CHECK(r.tasks == p.task_count());
  CHECK(r.wakes == 0);
}

TEST_CASE("idle: where that stops the program it is refused", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 2, .leaf = 1000, .leaf_bytes = 64, .rounds = 3});
  using forgetful = policy::with_idle<policy::cab, sleeps_forever>;
  sim::options wanted{.machine = four_sockets()};
  auto const text = error_text_of<heist::sim_error>([&] { heist::simulate<forgetful>(p, wanted); });
  CHECK((text == "accepted" || has(text, "fix it by")));
}

TEST_CASE("idle: the series has about as many samples as were asked for, equally far apart", "[sim]") {
  for (std::size_t const wanted : {2u, 10u, 256u}) {
    auto const r = heist::simulate(sim::balanced_tree({.depth = 10}), {.workers = 4, .samples = wanted});
    CHECK(r.series.size() <= wanted);
    CHECK(2 * r.series.size() + 2 >= wanted);
    for (std::size_t i = 0; i != r.series.size(); ++i) CHECK(r.series[i].time == i * r.series_interval);
  }
}
