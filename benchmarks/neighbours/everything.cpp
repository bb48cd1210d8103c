// fib in a file that also uses graphs, CAB, CATS and replay.
#include <string>
#include <vector>

#include <heist/locality.hpp>

#include "fib.hpp"

namespace {

template <class Context>
void halve(Context ctx, std::vector<double>& v, std::size_t lo, std::size_t hi) {
  if (hi - lo > 8) {
    std::size_t const mid = lo + (hi - lo) / 2;
    ctx.fork_join([&](Context c) { halve(c, v, lo, mid); }, [&](Context c) { halve(c, v, mid, hi); });
    return;
  }
  for (std::size_t i = lo; i < hi; ++i) v[i] *= 0.5;
}

template <class Policy>
double halved() {
  heist::executor<Policy> ex{2};
  std::vector<double> v(1000, 1.0);
  heist::region sweep{{.branching = 2, .bytes = v.size() * sizeof(double)}};
  for (int step = 0; step < 5; ++step) ex.invoke(sweep, [&](auto ctx) { halve(ctx, v, 0, v.size()); });
  return v[0];
}

double everything_else() {
  double sum = halved<heist::policy::random>() + halved<heist::policy::cab>() + halved<heist::policy::cats>() +
               halved<heist::policy::replay>();
  heist::executor ex{2};
  heist::task_graph g;
  auto words = g.emplace([] { return std::string{"graphs of tasks"}; });
  auto length = g.emplace([](std::string const& s) { return s.size(); }, words);
  g.emplace(
      [&](auto ctx, std::string const& s, std::size_t n) {
        sum += static_cast<double>(s.size() + n) + static_cast<double>(neighbours::fib(ctx, 5));
      },
      words, length);
  ex.run(g).get();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) return std::printf("%g\n", everything_else()), 0;
  return neighbours::measure(argc, argv);
}
