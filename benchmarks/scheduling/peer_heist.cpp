// heist, under every policy.
#include "heist/algorithm.hpp"
#include "heist/automatic.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"

#include "rows.hpp"

#include <stdexcept>

namespace {

namespace policy = heist::policy;

template <class Context>
void tree(Context c, bench::costs const& d, std::size_t lo, std::size_t hi) {
  if (hi - lo == 1) return bench::nap(d.of[lo]);
  std::size_t const middle = lo + (hi - lo) / 2;
  c.fork_join([&, lo, middle](Context in) { tree(in, d, lo, middle); },
              [&, middle, hi](Context in) { tree(in, d, middle, hi); });
}

template <class Policy>
bench::peer peer_of(std::string const& name, std::size_t workers) {
  heist::options o;
  o.workers = workers;
  if (workers >= 8) {
    o.machine = heist::topology::parse("package:" + std::to_string(workers / 8) + " l3:1 core:8 pu:1");
  }
  auto const ex = std::make_shared<heist::executor<Policy>>(o);
  using context = typename heist::executor<Policy>::context_type;
  bench::peer p;
  p.name = name;
  p.tree = [ex](bench::costs const& d) { ex->invoke([&](context c) { tree(c, d, 0, d.of.size()); }); };
  p.loop = [ex](bench::costs const& d) {
    heist::for_each_index(*ex, std::size_t{0}, d.of.size(), [&](std::size_t i) { bench::nap(d.of[i]); });
  };
  p.tasks = [ex](bench::costs const& d) {
    heist::task_graph g;
    for (double const x : d.of) g.emplace([x] { bench::nap(x); });
    ex->run(g).get();
  };
  p.graph = [ex](bench::random_graph const& what) {
    heist::task_graph g;
    std::vector<heist::task<>> all;
    for (double const x : what.cost) all.push_back(g.emplace([x] { bench::nap(x); }));
    for (auto const& [from, to] : what.edges) all[from].precede(all[to]);
    ex->run(g).get();
  };
  p.loops_in_tasks = [ex](std::size_t n) {
    std::vector<heist::future<void>> all;
    for (std::size_t i = 0; i != n; ++i) {
      all.push_back(ex->submit([](context c) {
        heist::for_each_index(c, std::size_t{0}, std::size_t{4}, [](std::size_t) { bench::nap(4); });
      }));
    }
    for (auto& one : all) one.get();
  };
  return p;
}

}  // namespace

bench::peer bench::make_heist(std::string const& name, std::size_t workers) {
  if (name == "random") return peer_of<policy::random>(name, workers);
  if (name == "child_first")
    return peer_of<policy::with_order<policy::random, heist::order::child_first>>(name, workers);
  if (name == "sampling") return peer_of<policy::sampling>(name, workers);
  if (name == "victim_set") return peer_of<policy::victim_set>(name, workers);
  if (name == "hierarchical") return peer_of<policy::hierarchical>(name, workers);
  if (name == "cab") return peer_of<policy::cab>(name, workers);
  if (name == "cats") return peer_of<policy::cats>(name, workers);
  if (name == "replay") return peer_of<policy::replay>(name, workers);
  if (name == "automatic") return peer_of<policy::automatic>(name, workers);
  throw std::invalid_argument{"no policy '" + name +
                              "'; the policies are random, child_first, sampling, victim_set, hierarchical, cab, cats, "
                              "replay and automatic"};
}
