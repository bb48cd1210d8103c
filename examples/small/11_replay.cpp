// A schedule, recorded and followed: each leaf runs on the same worker and finds its data in the same cache.
//
//   first run: free, gives a steal tree --> later runs: follow it
#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <array>
#include <cstdio>

constexpr int leaves = 256;
using tally = std::array<std::size_t, leaves>;  // leaf -> worker

template <class Context>
void work(Context ctx, tally& ran_on, int first, int count) {
  if (count > 1) {
    ctx.fork_join([&](Context c) { work(c, ran_on, first, count / 2); },
                  [&](Context c) { work(c, ran_on, first + count / 2, count - count / 2); });
    return;
  }
  double volatile x = 1;
  for (int i = 0; i < 2000; ++i) x = x * 1.0000001;
  ran_on[static_cast<std::size_t>(first)] = ctx.worker_id();
}

int main() {
  heist::executor<heist::policy::replay> ex{4};
  heist::region recorded;
  tally before{};
  ex.invoke(recorded, [&](auto ctx) { work(ctx, before, 0, leaves); });
  heist::steal_tree const tree = recorded.tree();
  std::printf("recorded on %zu workers\n", static_cast<std::size_t>(tree.worker_count()));

  heist::region again;
  again.follow(heist::steal_tree::from_json(tree.to_json()), heist::replay_mode::strict_unordered);  // or from a file
  for (int i = 0; i < 3; ++i) {
    tally now{};
    ex.invoke(again, [&](auto ctx) { work(ctx, now, 0, leaves); });
    std::printf("run %d: every leaf where it was: %s\n", i + 1, now == before ? "yes" : "no");
  }
}
