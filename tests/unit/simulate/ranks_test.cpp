// Graphs over ranks in simulated time.
#include <heist/simulate.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "support/catch.hpp"
#include "support/texts.hpp"

using heist::sim::rank_options;
using heist::sim::rank_task;
using heist::sim::simulate_ranks;

namespace {

/// All costs are zero except those that a test sets.
rank_options free_of_cost(std::uint32_t ranks, std::uint32_t workers = 1) {
  return {
      .ranks = ranks, .workers = workers, .network = {.latency = 0, .link = 0, .crossing = 0, .copying = 0}, .node = 0};
}

}  // namespace

TEST_CASE("a chain on one rank takes the sum, and over two ranks the crossings in addition", "[sim][ranks]") {
  std::vector<rank_task> chain;
  for (std::uint32_t i = 0; i < 10; ++i) {
    chain.push_back({.work = 100, .bytes = 1000, .rank = 0, .inputs = {}});
    if (i > 0) chain.back().inputs = {i - 1};
  }
  CHECK(simulate_ranks(chain, free_of_cost(1)).makespan == 1000);
  for (std::uint32_t i = 0; i < 10; ++i) chain[i].rank = i % 2;
  auto wanted = free_of_cost(2);
  wanted.network = {.latency = 7, .link = 0.01, .crossing = 3, .copying = 0.002};
  auto const r = simulate_ranks(chain, wanted);
  CHECK(r.makespan == 1000 + 9 * (7 + 10 + 2 * (3 + 2)));
  CHECK(r.crossings == 9);
  CHECK(r.bytes == 9000);
  CHECK(r.busy == std::vector<heist::sim::ticks>{500 + 4 * 5 + 5 * 5, 500 + 5 * 5 + 4 * 5});
}

TEST_CASE("a value is sent once to a rank, and those of one link come one after the other", "[sim][ranks]") {
  std::vector<rank_task> tasks;
  for (std::uint32_t i = 0; i < 4; ++i) tasks.push_back({.work = 0, .bytes = 100, .rank = 0, .inputs = {}});
  for (std::uint32_t i = 0; i < 4; ++i) {
    tasks.push_back({.work = 0, .bytes = 0, .rank = 1, .inputs = {i}});
    tasks.push_back({.work = 0, .bytes = 0, .rank = 1, .inputs = {i}});
  }
  auto wanted = free_of_cost(2);
  wanted.network.link = 1;
  auto const r = simulate_ranks(tasks, wanted);
  CHECK(r.crossings == 4);
  CHECK(r.makespan == 400);
}

TEST_CASE("no run is shorter than the longest chain, or than the work of a rank by its workers", "[sim][ranks]") {
  std::minstd_rand random{5};
  for (std::uint32_t round = 0; round < 50; ++round) {
    std::uint32_t const ranks = 1 + round % 4, workers = 1 + round % 3;
    std::vector<rank_task> tasks;
    std::vector<heist::sim::ticks> chain, work(ranks);
    for (std::uint32_t i = 0; i < 200; ++i) {
      rank_task t{.work = random() % 1000,
                  .bytes = random() % 1000,
                  .rank = static_cast<std::uint32_t>(random() % ranks),
                  .inputs = {}};
      heist::sim::ticks before = 0;
      for (std::uint32_t k = 0; i > 0 && k < random() % 4; ++k) {
        auto const from = static_cast<std::uint32_t>(random() % i);
        if (std::find(t.inputs.begin(), t.inputs.end(), from) != t.inputs.end()) continue;
        t.inputs.push_back(from);
        before = std::max(before, chain[from]);
      }
      chain.push_back(before + t.work);
      work[t.rank] += t.work;
      tasks.push_back(t);
    }
    heist::sim::ticks const longest = *std::max_element(chain.begin(), chain.end());
    heist::sim::ticks const all = std::accumulate(work.begin(), work.end(), heist::sim::ticks{0});
    auto const r = simulate_ranks(tasks, free_of_cost(ranks, workers));
    CHECK(r.makespan >= longest);
    CHECK(r.makespan >= *std::max_element(work.begin(), work.end()) / workers);
    CHECK(r.makespan <= all);
    CHECK(r.busy == work);
    if (ranks == 1) CHECK(r.makespan <= longest + all / workers);  // Graham's bound
    rank_options const costly{.ranks = ranks, .workers = workers, .network = {}, .node = 50};
    CHECK(simulate_ranks(tasks, costly).makespan == simulate_ranks(tasks, costly).makespan);
  }
}

TEST_CASE("programs over ranks without sense are refused", "[sim][ranks]") {
  auto const says = [](std::vector<rank_task> const& tasks, rank_options const& wanted) {
    return heist_test::error_text_of<heist::sim_error>([&] { simulate_ranks(tasks, wanted); }).find("fix it") !=
           std::string::npos;
  };
  CHECK(says({{.work = 1, .bytes = 0, .rank = 1, .inputs = {}}}, free_of_cost(1)));
  CHECK(says({{.work = 1, .bytes = 0, .rank = 0, .inputs = {0}}}, free_of_cost(1)));
  CHECK(says({}, free_of_cost(0)));
  CHECK(says({}, free_of_cost(1, 0)));
  CHECK(simulate_ranks({}, free_of_cost(1)).makespan == 0);
}
