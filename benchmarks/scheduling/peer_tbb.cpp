// oneTBB.
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "rows.hpp"

namespace {

void tree(bench::costs const& d, std::size_t lo, std::size_t hi) {
  if (hi - lo == 1) return bench::nap(d.of[lo]);
  std::size_t const middle = lo + (hi - lo) / 2;
  tbb::parallel_invoke([&, lo, middle] { tree(d, lo, middle); }, [&, middle, hi] { tree(d, middle, hi); });
}

struct arena {
  explicit arena(std::size_t workers)
      : limit{tbb::global_control::max_allowed_parallelism, workers}, of{static_cast<int>(workers)} {}
  tbb::global_control limit;
  tbb::task_arena of;
};

}  // namespace

bench::peer bench::make_tbb(std::size_t workers) {
  auto const a = std::make_shared<arena>(workers);
  peer p;
  p.name = "oneTBB";
  p.tree = [a](costs const& d) { a->of.execute([&] { ::tree(d, 0, d.of.size()); }); };
  p.loop = [a](costs const& d) {
    a->of.execute([&] { tbb::parallel_for(std::size_t{0}, d.of.size(), [&](std::size_t i) { nap(d.of[i]); }); });
  };
  p.tasks = [a](costs const& d) {
    a->of.execute([&] {
      tbb::task_group all;
      for (double const x : d.of) all.run([x] { nap(x); });
      all.wait();
    });
  };
  p.graph = [a](random_graph const& what) {
    a->of.execute([&] {
      using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
      tbb::flow::graph g;
      std::vector<std::unique_ptr<node>> all;
      std::vector<bool> waits(what.cost.size());
      for (double const x : what.cost)
        all.push_back(std::make_unique<node>(g, [x](tbb::flow::continue_msg const&) { nap(x); }));
      for (auto const& [from, to] : what.edges) {
        tbb::flow::make_edge(*all[from], *all[to]);
        waits[to] = true;
      }
      for (std::size_t i = 0; i != all.size(); ++i) {
        if (!waits[i]) all[i]->try_put(tbb::flow::continue_msg{});
      }
      g.wait_for_all();
    });
  };
  p.loops_in_tasks = [a](std::size_t n) {
    a->of.execute([&] {
      tbb::task_group all;
      for (std::size_t i = 0; i != n; ++i) all.run([] { tbb::parallel_for(0, 4, [](int) { nap(4); }); });
      all.wait();
    });
  };
  return p;
}
