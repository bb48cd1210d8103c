// Which of the tasks that are ready begins first: the longest way to the end, where nothing else is said.
#include <heist/executor.hpp>
#include <heist/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random_graph.hpp"
#include "support/spelled.hpp"
#include "support/watchdog.hpp"

using heist_test::spelled;
using seconds = std::chrono::seconds;

namespace {

/// The order in which one worker runs the tasks by the rules, computed from plain lists.
std::vector<std::uint32_t> expected_order(heist_test::plain_graph const& plain) {
  std::vector<std::vector<std::uint32_t>> to(plain.size);
  std::vector<std::uint32_t> left(plain.size), way(plain.size);
  for (auto const& [a, b] : plain.edges) to[a].push_back(b), ++left[b];
  std::function<std::uint32_t(std::uint32_t)> const way_of = [&](std::uint32_t t) {
    if (way[t] != 0) return way[t];
    std::uint32_t longest = 0;
    for (std::uint32_t const next : to[t]) longest = std::max(longest, way_of(next));
    return way[t] = longest + 1;
  };
  auto const wanted_first = [&](std::vector<std::uint32_t>& tasks) {
    std::stable_sort(tasks.begin(), tasks.end(), [&](auto a, auto b) { return way_of(a) > way_of(b); });
  };
  std::vector<std::uint32_t> stack, done;
  for (std::uint32_t t = 0; t != plain.size; ++t) {
    if (left[t] == 0) stack.push_back(t);
  }
  wanted_first(stack);
  std::reverse(stack.begin(), stack.end());
  while (!stack.empty()) {
    std::uint32_t const now = stack.back();
    stack.pop_back();
    done.push_back(now);
    wanted_first(to[now]);
    std::vector<std::uint32_t> ready;
    for (std::uint32_t const next : to[now]) {
      if (--left[next] == 0) ready.push_back(next);
    }
    stack.insert(stack.end(), ready.rbegin(), ready.rend());
  }
  return done;
}

}  // namespace

TEST_CASE("one worker runs random graphs in the order that the rules give", "[graph][order][random]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  for (auto const shape : heist_test::all_shapes) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      heist_test::random_engine random{seed};
      auto const plain = heist_test::make_graph(shape, 60, random);
      bool const backwards = seed % 2 == 0;  // tasks are added in the opposite order, so that edges lead back
      INFO(heist_test::name_of(shape) << ", seed " << seed);
      heist::task_graph g;
      std::vector<std::uint32_t> order;
      std::vector<heist::task<>> tasks(plain.size);
      auto mapped = plain;
      for (auto& [a, b] : mapped.edges) {
        if (backwards) a = plain.size - 1 - a, b = plain.size - 1 - b;
      }
      for (std::uint32_t t = 0; t != plain.size; ++t) tasks[t] = g.emplace([&order, t] { order.push_back(t); });
      for (auto const& [a, b] : mapped.edges) tasks[a].precede(tasks[b]);
      for (int run = 0; run < 2; ++run) {
        order.clear();
        ex.run(g).get();
        CHECK(order == expected_order(mapped));
      }
    }
  }
}

TEST_CASE("what has the longest way to the end begins first, from the first run on", "[graph][order]") {
  spelled s;
  auto root = s.letter('r');
  auto brief = s.letter('b'), middle = s.letter('m'), far = s.letter('f');
  auto m2 = s.letter('M'), f2 = s.letter('F'), f3 = s.letter('G');
  root.precede(brief, middle, far);
  middle.precede(m2);
  far.precede(f2);
  f2.precede(f3);
  CHECK(s.run() == "rfFGmMb");
  CHECK(s.run() == "rfFGmMb");
}

TEST_CASE("the longest way is found whatever the order in which tasks were added", "[graph][order]") {
  spelled s;
  auto f3 = s.letter('G'), f2 = s.letter('F'), m2 = s.letter('M');  // every edge leads back
  auto brief = s.letter('b'), far = s.letter('f'), middle = s.letter('m');
  auto root = s.letter('r');
  root.precede(middle, brief, far);
  middle.precede(m2);
  far.precede(f2);
  f2.precede(f3);
  CHECK(s.run() == "rfFGmMb");
}

TEST_CASE("sources begin in the order of their ways, and equal ones as they were added", "[graph][order]") {
  spelled s;
  auto a = s.letter('a'), b = s.letter('b'), c = s.letter('c'), d = s.letter('d');
  auto end = s.letter('e');
  c.precede(end);
  CHECK(s.run() == "ceabd");
  a.precede(end);
  CHECK(s.run() == "acebd");
  b.precede(d);
  CHECK(s.run() == "abdce");  // ready tasks wait on a stack: the end of b's chain comes before c
}

TEST_CASE("tasks with equal ways run in the order in which they were added", "[graph][order]") {
  spelled s;
  auto root = s.letter('0');
  for (char c = 'a'; c <= 'z'; ++c) root.precede(s.letter(c));
  CHECK(s.run() == "0abcdefghijklmnopqrstuvwxyz");
}

TEST_CASE("an edit of the graph gives tasks new ways", "[graph][order]") {
  spelled s;
  auto root = s.letter('r'), x = s.letter('x'), y = s.letter('y'), z = s.letter('z');
  root.precede(x, y);
  CHECK(s.run() == "rxyz");
  y.precede(z);
  CHECK(s.run() == "ryzx");
  s.g.erase_edge(y, z);
  x.precede(z);
  CHECK(s.run() == "rxzy");
}

TEST_CASE("the successors of a condition keep their numbers whatever their ways are", "[graph][order]") {
  for (int chosen = 0; chosen < 2; ++chosen) {
    spelled s;
    auto choose = s.g.emplace_condition([chosen] { return chosen; });
    auto brief = s.letter('b'), far = s.letter('f'), end = s.letter('e');
    choose.precede(brief, far);
    far.precede(end);
    CHECK(s.run() == (chosen == 0 ? "b" : "fe"));
  }
}
