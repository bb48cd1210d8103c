// heist/tools/simulate: programs, their work and span, and programs that are refused.
#include "heist/tools/simulate/program_builder.hpp"

#include <cstdint>

#include "support/catch.hpp"
#include "support/texts.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;
using heist::sim_error;

TEST_CASE("program: work and span of a tree with work before, between and after its forks", "[sim]") {
  sim::program_builder b("by hand");
  auto const root = b.add_tree();
  b.begin(root);
  b.work(10);
  auto const first = b.fork(2);
  b.work(5);
  auto const second = b.fork(1);
  b.work(1);
  b.begin(first);
  b.work(100);
  b.begin(first + 1);
  b.work(30);
  b.begin(second);
  b.work(7);
  b.again(root);
  auto const p = b.finish();
  CHECK(p.task_count() == 4);
  CHECK(p.tasks_run() == 8);
  CHECK(p.work() == 2 * (10 + 100 + 30 + 5 + 7 + 1));
  CHECK(p.span() == 2 * (10 + 100 + 5 + 7 + 1));
  CHECK(p.task_at(second).parent == root);
  CHECK(p.task_at(second).index == 2);
}

TEST_CASE("program: work and span of graphs", "[sim]") {
  auto const chain = sim::chain({.nodes = 10, .work = 3, .rounds = 4});
  CHECK(chain.work() == 120);
  CHECK(chain.span() == 120);
  auto const tree = sim::tree_graph({.depth = 4, .work = 3});
  CHECK(tree.work() == 31 * 3);
  CHECK(tree.span() == 5 * 3);
  auto const square = sim::wavefront({.side = 5, .work = 3});
  CHECK(square.work() == 25 * 3);
  CHECK(square.span() == 9 * 3);
}

TEST_CASE("program: no node of a random graph has more edges than was asked for", "[sim]") {
  auto const p = sim::random_graph({.nodes = 500, .degree = 3});
  for (std::uint32_t i = 0; i != p.task_count(); ++i) {
    CHECK(p.successors(i).size() <= 3);
    CHECK(p.predecessors(i) <= 3);
    CHECK((i == 0) == (p.predecessors(i) == 0));
  }
}

TEST_CASE("program: the papers' trees", "[sim]") {
  auto const tree = sim::balanced_tree({.depth = 12, .leaf = 1000});
  CHECK(tree.task_count() == 8191);
  CHECK(tree.work() == 4096 * 1000);
  CHECK(tree.span() == 1000);
  auto const stress = sim::stress({.height = 10, .leaf = 256, .repetitions = 3});
  CHECK(stress.work() == 3 * 1024 * 512);
  CHECK(stress.span() == 3 * 512);
}

TEST_CASE("program: durations of a Poisson process have their mean, and the same seed gives the same ones", "[sim]") {
  auto const a = sim::balanced_tree({.depth = 14, .leaf = sim::exponential(1000), .seed = 7});
  auto const b = sim::balanced_tree({.depth = 14, .leaf = sim::exponential(1000), .seed = 7});
  auto const c = sim::balanced_tree({.depth = 14, .leaf = sim::exponential(1000), .seed = 8});
  CHECK(a.work() == b.work());
  CHECK(a.work() != c.work());
  CHECK(static_cast<double>(a.work()) / 16384 == Approx(1000).epsilon(0.03));
}

TEST_CASE("program: unbalanced trees have their shape from the seed, and binomial ones that do not end are refused",
          "[sim]") {
  CHECK(sim::uts({.seed = 3}).task_count() == sim::uts({.seed = 3}).task_count());
  CHECK(sim::uts({.seed = 3}).task_count() != sim::uts({.seed = 4}).task_count());
  CHECK(sim::uts({.shape = sim::uts_shape::geometric, .root_children = 4, .depth = 5}).task_count() > 100);
  CHECK_THROWS_AS(sim::uts({.children = 8, .probability = 0.125}), sim_error);
}

TEST_CASE("program: the leaves of a sweep cover every row once, balanced or not", "[sim]") {
  for (bool const unbalanced : {false, true}) {
    for (std::uint32_t const branching : {2u, 3u, 7u}) {
      auto const p = sim::heat(
          {.rows = 101, .columns = 3, .steps = 1, .leaf_rows = 4, .branching = branching, .unbalanced = unbalanced});
      CHECK(p.work() == 101 * 3);
      std::uint64_t written = 0;
      for (auto const& t : p.touches()) written += t.writes ? t.bytes : 0;
      CHECK(written == 101 * 3 * 8);
    }
  }
  CHECK(sim::gauss_elimination({.rows = 4, .columns = 4, .leaf_rows = 1}).work() == 3 * 4 + 2 * 3 + 1 * 2);
  CHECK(sim::gauss_elimination({.rows = 4, .columns = 4, .leaf_rows = 1, .only_what_is_left = true}).work() ==
        3 * 4 + 2 * 3 + 1 * 2);
  auto const whole = sim::gauss_elimination({.rows = 64, .columns = 64, .leaf_rows = 1});
  auto const left = sim::gauss_elimination({.rows = 64, .columns = 64, .leaf_rows = 1, .only_what_is_left = true});
  CHECK(left.task_count() < whole.task_count());
}

TEST_CASE("program: nonsense is refused with a sentence that says how to fix it", "[sim]") {
  CHECK_THROWS_AS(sim::program_builder("nothing").finish(), sim_error);
  CHECK_THROWS_AS(sim::balanced_tree({.branching = 0}), sim_error);
  CHECK_THROWS_AS(sim::balanced_tree({.rounds = 0}), sim_error);
  CHECK_THROWS_AS(sim::balanced_tree({.depth = 60}), sim_error);
  CHECK_THROWS_AS(sim::balanced_tree({.depth = 1, .leaf = ~std::uint64_t{0}}), sim_error);
  CHECK_THROWS_AS(sim::chain({.nodes = 0}), sim_error);
  CHECK_THROWS_AS(sim::chain({.nodes = ~std::uint32_t{0}}), sim_error);
  CHECK_THROWS_AS(sim::tree_graph({.depth = 32}), sim_error);
  CHECK_THROWS_AS(sim::wavefront({.side = 100'000}), sim_error);
  CHECK_THROWS_AS(sim::heat({.rows = 0}), sim_error);
  CHECK_THROWS_AS(sim::heat({.rows = ~std::uint64_t{0}}), sim_error);
  CHECK_THROWS_AS(sim::heat({.branching = 1}), sim_error);
  CHECK_THROWS_AS(sim::mergesort({.elements = 0}), sim_error);
  CHECK_THROWS_AS(sim::mergesort({.elements = ~std::uint64_t{0}}), sim_error);

  sim::program_builder forgotten("forgotten");
  forgotten.begin(forgotten.add_tree());
  forgotten.fork(1);
  CHECK(has(error_text_of<sim_error>([&] { forgotten.finish(); }),
            "task 1 of \"forgotten\" has no begin(), so its work is unknown; fix it by begin(1)"));

  sim::program_builder cycle("circle");
  auto const first = cycle.add_graph(2);
  cycle.begin(first);
  cycle.begin(first + 1);
  cycle.precede(first, first + 1);
  cycle.precede(first + 1, first);
  CHECK(has(error_text_of<sim_error>([&] { cycle.finish(); }), "2 of its 2 nodes wait for each other"));
}
