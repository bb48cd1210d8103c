// Recordings and replays, one after the other, with more workers than cores. The ledger of a strict replay equals that
// of the recording every time, and no mode loses or doubles a task.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "support/catch.hpp"
#include "support/replayed_program.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using heist::region;
using heist::replay_mode;
using heist_test::replayed_program;
using heist_test::tally;

TEST_CASE("replay: every recording can be repeated", "[stress]") {
  int const all = heist_test::stress_rounds(heist::under_tsan ? 10'000 : 1000);  // a thousand there, too
  for (std::size_t const workers : {16u, 3u}) {
    int const rounds = workers == 3 ? all / 4 : all;
    heist::executor<heist::policy::replay> ex{workers};
    heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(120)}, "replays"};
    std::size_t steals = 0, joins = 0;
    for (int i = 0; i < rounds; ++i) {
      replayed_program const p{.seed = static_cast<std::uint32_t>(i), .depth = 2 + i % 4, .leaf = 4000};
      auto const run = [&](region& r, tally& book) { ex.invoke(r, [&](auto ctx) { p(ctx, book); }); };
      region first;
      tally a;
      run(first, a);
      steals += first.tree().steal_count();
      joins += first.tree().join_count();
      for (auto const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered, replay_mode::relaxed}) {
        region again;
        tally b;
        again.follow(first.tree(), mode);
        run(again, b);
        REQUIRE((b.twice == 0 && b.steps() == a.steps()));
        if (mode != replay_mode::relaxed) REQUIRE(b.ran_on == a.ran_on);
        if (mode == replay_mode::strict_ordered) REQUIRE((b.order == a.order && again.tree() == first.tree()));
      }
    }
    std::printf("%zu workers: %d recordings, each followed in three modes; %zu steals, %zu joins that went on later\n",
                workers, rounds, steals, joins);
  }
}
