// write_dot: a graph's picture with what a recorder has seen.
#include <regex>
#include <sstream>
#include <string>

#include "heist/graph.hpp"
#include "heist/measure.hpp"
#include "support/catch.hpp"

namespace {

using recording_executor = heist::executor<heist::policy::random, heist::recorder>;

/// The picture, with T in the place of each time.
std::string drawing(heist::task_graph const& g, heist::recorder const& seen) {
  std::ostringstream out;
  heist::write_dot(out, g, seen);
  return std::regex_replace(out.str(), std::regex{R"([0-9.e+]+ (ns|us|ms))"}, "T");
}

}  // namespace

TEST_CASE("measured dot: how often a task ran, its limits, and the longest path in red", "[graph]") {
  recording_executor ex{2};
  heist::task_graph g;
  g.name("chain");
  heist::limiter two{2};
  auto a = g.emplace([] { return 1; }).name("a");
  auto b = g.emplace([](int) {}, a).name("b \"quoted\"");
  auto c = g.emplace([] {}).name("c").limit(two);
  b.precede(c);
  ex.run_n(g, 3).get();
  auto side = g.emplace([] {}).name("side");
  a.precede(side);
  CHECK(drawing(g, ex.observer()) ==
        "digraph \"chain\" {\n"
        "  rankdir=LR;\n"
        "  node [shape=box, style=rounded];\n"
        "  n0 [label=\"a\\n3 x T\"];\n"
        "  n1 [label=\"b \\\"quoted\\\"\\n3 x T\"];\n"
        "  n2 [label=\"c\\n3 x T\\nlimit 1 of 2\"];\n"
        "  n3 [label=\"side\\nnot run\"];\n"
        "  n0 -> n1 [style=bold, color=red];\n"
        "  n1 -> n2 [color=red];\n"
        "  n0 -> n3;\n"
        "  n0 [color=red, penwidth=2];\n"
        "  n1 [color=red, penwidth=2];\n"
        "  n2 [color=red, penwidth=2];\n"
        "}\n");
}

TEST_CASE("measured dot: composed graphs are opened, and their neighbours stand at their ends", "[graph]") {
  recording_executor ex{1};
  heist::task_graph inner, g;
  auto x = inner.emplace([] {}).name("x");
  auto y = inner.emplace([] {}).name("y");
  x.precede(y);
  auto both = g.compose(inner).name("both");
  auto end = g.emplace([] {}).name("end");
  both.precede(end);
  ex.run(g).get();
  CHECK(drawing(g, ex.observer()) ==
        "digraph \"task graph\" {\n"
        "  rankdir=LR;\n"
        "  node [shape=box, style=rounded];\n"
        "  subgraph cluster_0 {\n"
        "    style=rounded;\n"
        "    n0 [label=\"both\\nT\", shape=box3d];\n"
        "    n1 [label=\"x\\nT\"];\n"
        "    n2 [label=\"y\\nT\"];\n"
        "  }\n"
        "  n3 [label=\"end\\nT\"];\n"
        "  n1 -> n2 [color=red];\n"
        "  n0 -> n1 [style=dotted, color=red];\n"
        "  n2 -> n3 [color=red];\n"
        "  n0 [color=red, penwidth=2];\n"
        "  n1 [color=red, penwidth=2];\n"
        "  n2 [color=red, penwidth=2];\n"
        "  n3 [color=red, penwidth=2];\n"
        "}\n");
}

TEST_CASE("measured dot: conditions keep their numbers, and nothing is red; an empty graph is an empty picture",
          "[graph]") {
  recording_executor ex{1};
  heist::task_graph g;
  std::ostringstream nothing;
  heist::write_dot(nothing, g, ex.observer());
  CHECK(nothing.str() == "digraph \"task graph\" {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n}\n");

  int rounds = 0;
  auto start = g.emplace([] {}).name("start");
  auto again = g.emplace_condition([&] { return ++rounds < 4 ? 0 : 1; }).name("again");
  auto end = g.emplace([] {}).name("end");
  start.precede(again);
  again.precede(again, end);
  ex.run(g).get();
  std::string const seen = drawing(g, ex.observer());
  CHECK(seen.find("n1 [label=\"again\\n4 x T\", shape=diamond];") != seen.npos);
  CHECK(seen.find("n1 -> n1 [style=dashed, label=0];") != seen.npos);
  CHECK(seen.find("n1 -> n2 [style=dashed, label=1];") != seen.npos);
  CHECK(seen.find("red") == seen.npos);
}
