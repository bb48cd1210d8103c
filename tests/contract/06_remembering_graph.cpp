// Task graphs know the machine, too: under a policy with memory a graph remembers where its tasks ran, how long they took, and
// what they touched; the next run finds its data where they are, and begins with what the end waits for.
#include <heist/heist.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"

constexpr int side = 16;

// A wavefront of blocks: each task after its upper and its left neighbour.
struct board {
  std::vector<int> where = std::vector<int>(side * side, -1);  // who ran it
  heist::task_graph g;
  std::vector<heist::task<>> t;

  board() {
    for (int i = 0; i < side; ++i) {
      for (int j = 0; j < side; ++j) {
        t.push_back(g.emplace([this, i, j](auto ctx) {
          long x = 0;
          for (int k = 0; k < 2000; ++k) x += k ^ j;
          where[i * side + j] = x == -1 ? -1 : int(ctx.worker_id());
        }));
        if (i > 0) t[(i - 1) * side + j].precede(t.back());
        if (j > 0) t[i * side + j - 1].precede(t.back());
      }
    }
  }
};

int main() {
  {  // squads: four squads of two; a run later each task is in the squad that had it, and says so
    heist::executor<heist::policy::cats> ex{{.workers = 8, .machine = heist::topology::parse("package:4 l3:1 core:2 pu:1"), .squads = heist::squad_by::l3}};
    board b;
    for (auto& task : b.t) task.footprint(64 << 10);  // what it touches; measured where nothing is said and counters are allowed
    ex.run_n(b.g, 3).get();
    heist::graph_memory before = b.g.memory();
    CHECK(before.tasks() == b.g.size());
    ex.run(b.g).get();
    heist::graph_memory after = b.g.memory();
    std::size_t same = 0;
    for (auto const& task : b.t) same += before.squad(task) == after.squad(task);
    CHECK(same > b.g.size() / 2);
    CHECK(!b.g.explain().empty());  // one sentence: how the last run was divided, and why
    CHECK(before.time(b.t[0]).count() > 0);
  }

  {  // replay: a run is recorded, kept as JSON, and followed: strictly, every task runs where it ran
    heist::executor<heist::policy::replay> ex{2};
    board b;
    ex.run(b.g).get();
    std::vector<int> const first = b.where;
    std::string const kept = b.g.memory().to_json();
    b.g.follow(heist::graph_memory::from_json(kept), heist::replay_mode::strict_ordered);
    for (int run = 0; run < 5; ++run) {
      std::fill(b.where.begin(), b.where.end(), -1);
      ex.run(b.g).get();
      CHECK(b.where == first);
    }
    // relaxed: the same, but whoever has nothing else to do may take a task; then again without memory
    b.g.follow(heist::graph_memory::from_json(kept), heist::replay_mode::relaxed);
    ex.run(b.g).get();
    b.g.forget();
    ex.run(b.g).get();
    std::ostringstream picture;
    b.g.memory().write_svg(picture);  // who ran what, and when
    CHECK(picture.str().find("<svg") != std::string::npos);
  }

  {  // a schedule by hand: tasks are given to workers, or squads
    heist::executor<heist::policy::replay> ex{2};
    heist::task_graph g;
    std::vector<int> where(10);
    for (int i = 0; i < 10; ++i) g.emplace([&, i](auto ctx) { where[i] = int(ctx.worker_id()); }).on_worker(i % 2);
    g.follow_placement();
    ex.run(g).get();
    for (int i = 0; i < 10; ++i) CHECK(where[i] == i % 2);
  }

  {  // priorities: among tasks that are ready the more urgent begins first; by default the longest way to the end decides,
     // by number of tasks in the first run, by time after it
    heist::executor one{1};
    heist::task_graph g;
    std::string order;
    auto start = g.emplace([] {});
    for (char c : {'a', 'b', 'c'}) start.precede(g.emplace([&order, c] { order += c; }).priority(heist::priority(c - 'a')));
    one.run(g).get();
    CHECK(order == "cba");

    heist::task_graph h;
    order.clear();
    auto root = h.emplace([] {});
    auto brief = h.emplace([&] { order += 'b'; });
    auto first = h.emplace([&] { order += 'l'; }), then = h.emplace([&] { order += 'l'; });
    root.precede(brief, first);
    first.precede(then);
    one.run(h).get();
    CHECK(order[0] == 'l');
  }

  {  // what a memory does not fit is an error that says why: another graph, fewer workers than it names
    heist::executor<heist::policy::replay> ex{2};
    board b;
    ex.run(b.g).get();
    heist::task_graph other;
    other.emplace([] {});
    bool caught = false;
    try {
      other.follow(b.g.memory(), heist::replay_mode::strict_ordered);
    } catch (heist::graph_error const&) {
      caught = true;
    }
    CHECK(caught);
  }
  std::puts("06_remembering_graph: ok");
}
