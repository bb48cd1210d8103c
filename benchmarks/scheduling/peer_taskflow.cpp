// Taskflow.
#include <taskflow/taskflow.hpp>

#include <taskflow/algorithm/for_each.hpp>

#include "rows.hpp"

namespace {

void tree(tf::Runtime& r, bench::costs const& d, std::size_t lo, std::size_t hi) {
  if (hi - lo == 1) return bench::nap(d.of[lo]);
  std::size_t const middle = lo + (hi - lo) / 2;
  r.silent_async([&d, lo, middle](tf::Runtime& in) { tree(in, d, lo, middle); });
  tree(r, d, middle, hi);
  r.corun();
}

}  // namespace

bench::peer bench::make_taskflow(std::size_t workers) {
  auto const ex = std::make_shared<tf::Executor>(workers);
  peer p;
  p.name = "Taskflow";
  p.tree = [ex](costs const& d) {
    tf::Taskflow flow;
    flow.emplace([&d](tf::Runtime& r) { ::tree(r, d, 0, d.of.size()); });
    ex->run(flow).wait();
  };
  p.loop = [ex](costs const& d) {
    tf::Taskflow flow;
    flow.for_each_index(std::size_t{0}, d.of.size(), std::size_t{1}, [&d](std::size_t i) { nap(d.of[i]); });
    ex->run(flow).wait();
  };
  p.tasks = [ex](costs const& d) {
    tf::Taskflow flow;
    for (double const x : d.of) flow.emplace([x] { nap(x); });
    ex->run(flow).wait();
  };
  p.graph = [ex](random_graph const& what) {
    tf::Taskflow flow;
    std::vector<tf::Task> all;
    for (double const x : what.cost) all.push_back(flow.emplace([x] { nap(x); }));
    for (auto const& [from, to] : what.edges) all[from].precede(all[to]);
    ex->run(flow).wait();
  };
  return p;
}
