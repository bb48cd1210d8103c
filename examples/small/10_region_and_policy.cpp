// The same kernel under four policies. The policy is a template parameter of the executor. A region describes a
// repeated phase. The executor can work for a described machine, here two packages of two cores.
//
//   sweep --> sweep --> ...     each halves the plate recursively
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/topology.hpp>

#include <cstdio>
#include <utility>
#include <vector>

template <class Context>
void smooth(Context ctx, std::vector<double> const& from, std::vector<double>& to, std::size_t begin, std::size_t end) {
  if (end - begin > 1024) {
    auto const middle = begin + (end - begin) / 2;
    ctx.fork_join([&](Context c) { smooth(c, from, to, begin, middle); },
                  [&](Context c) { smooth(c, from, to, middle, end); });
    return;
  }
  for (auto i = begin; i < end; ++i) to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
}

template <class Policy>
void run(char const* name) {
  std::vector<double> now(1 << 16), next(now);
  now[1 << 15] = next[1 << 15] = 81;
  heist::executor<Policy> ex{{.workers = 4,
                              .machine = heist::topology::parse("package:2 l3:1 core:2 pu:1"),
                              .squads = heist::squad_by::package}};
  heist::region sweep{{.branching = 2, .bytes = 2 * now.size() * sizeof(double)}};
  for (int step = 0; step < 3; ++step) {
    ex.invoke(sweep, [&](auto ctx) { smooth(ctx, now, next, 1, now.size() - 1); });
    std::swap(now, next);
  }
  std::printf("%-6s %zu squad%s: %.0f %.0f %.0f %.0f\n", name, ex.squad_count(), ex.squad_count() == 1 ? "" : "s",
              now[1 << 15], now[(1 << 15) + 1], now[(1 << 15) + 2], now[(1 << 15) + 3]);
}

int main() {
  run<heist::policy::random>("random");
  run<heist::policy::cab>("cab");        // squads share a cache: subtrees that fit into it stay there
  run<heist::policy::cats>("cats");      // the same, with sizes that it measures
  run<heist::policy::replay>("replay");  // records which worker stole which task
}
