// Distributed graphs with memory: saved and restarted, and placed by measurements.
#include <heist/distributed/graph.hpp>
#include <heist/distributed/place.hpp>
#include <heist/executor.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random_distributed.hpp"
#include "support/ranks.hpp"
#include "support/texts.hpp"

using heist::distributed::saved_state;
using heist_test::expect;
using heist_test::on_ranks;
using heist_test::wrong;

namespace {

/// A folder of its own, gone at the end.
struct folder {
  std::string path = std::filesystem::temp_directory_path() / ("heist-saved-" + std::to_string(std::random_device{}()));
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// Runs a graph. If `may_fail`, it must throw, and the exception is hidden.
void run(heist::executor<>& ex, heist::distributed_graph& g, bool may_fail) {
  try {
    ex.run(g).get();
    expect(!may_fail);
  } catch (heist::distributed_error const& e) {
    expect(may_fail && e.what_there == "boom");
  }
}

/// Steps 0 to 11 in turn on the ranks, each takes what the one before leaves; `ran` counts them, step 7 may throw.
heist::placed<std::string> add_steps(heist::distributed_graph& g, int ranks, std::vector<std::atomic<int>>& ran,
                                     bool fails) {
  auto v = g.emplace(heist::on(0), [&ran] { return ++ran[0], std::string{"0"}; });
  for (int i = 1; i < 12; ++i) {
    auto const step = [&ran, i, fails](std::string&& s) {
      if (fails && i == 7) throw std::runtime_error{"boom"};
      ++ran[static_cast<std::size_t>(i)];
      return s + "," + std::to_string(i);
    };
    v = g.emplace(heist::on(i % ranks), step, heist::take(v));
  }
  return v;
}

}  // namespace

TEST_CASE("what was saved and is needed is loaded, what was saved and is not needed is skipped",
          "[distributed][save]") {
  heist::distributed::graph_shape g;
  auto const add = [&](std::vector<std::uint32_t> const& in) {
    g.add(0, heist::distributed::task_place::fixed);
    for (std::uint32_t const from : in) g.add_input(from);
  };
  add({}), add({1}), add({2}), add({2}), add({3, 4});  // 1 - 2 - (3, 4) - 5
  auto const states = [&](std::vector<bool> const& saved) {
    std::string text;
    for (auto const s : heist::distributed::left_to_do(g, saved)) text += "RLS"[static_cast<int>(s)];
    return text.substr(1);
  };
  CHECK(states({false, false, false, false, false, false}) == "RRRRR");
  CHECK(states({false, true, true, true, false, false}) == "SLLRR");
  CHECK(states({false, true, false, true, true, false}) == "SSLLR");
  CHECK(states({false, true, true, true, true, true}) == "SSSSL");
  CHECK(states({false, true, false, false, true, false}) == "LRRLR");
  g.orders.emplace_back(1, 5);  // 5 runs again, so 1 does, unless it was saved
  CHECK(states({false, false, false, true, true, false}) == "RSLLR");
  CHECK(states({false, false, false, false, false, true}) == "SSSSL");
}

TEST_CASE("a graph that failed goes on where it was", "[distributed][save]") {
  for (int const ranks : {1, 2, 3}) {
    wrong = 0;
    folder const f;
    std::vector<std::atomic<int>> ran(12);
    for (bool const fails : {true, false}) {
      on_ranks(ranks, {}, {}, [&](heist::world& w) {
        heist::executor ex{2};
        heist::distributed_graph g{w, {.remember = true, .restart = fails ? "" : f.path}};
        auto const last = add_steps(g, ranks, ran, fails);
        g.save(f.path);
        run(ex, g, fails);
        if (!fails && last.here()) expect(last.result() == "0,1,2,3,4,5,6,7,8,9,10,11");
      });
    }
    // Step 6 may have been interrupted while it was being saved; then every task that step 6 needs runs again.
    for (std::size_t i = 0; i < 12; ++i) CHECK((ran[i] == 1 || (ran[i] == 2 && i < 7)));
    CHECK(ran[0] == 1);
    // Nothing is left to do.
    on_ranks(ranks, {}, {}, [&](heist::world& w) {
      heist::executor ex{1};
      heist::distributed_graph g{w, {.restart = f.path}};
      auto const last = add_steps(g, ranks, ran, false);
      for (int i = 0; i < 2; ++i) {
        run(ex, g, false);
        if (last.here()) expect(last.result() == "0,1,2,3,4,5,6,7,8,9,10,11");
      }
    });
    CHECK(ran[11] == 1);
    CHECK(wrong == 0);
  }
}

TEST_CASE("random graphs that are interrupted anywhere end as if they had not been", "[distributed][save]") {
  wrong = 0;
  for (unsigned seed = 2; seed < 60; seed += 3) {  // those that throw
    folder const f;
    for (bool const again : {false, true}) {
      on_ranks(2, {}, {}, [&](heist::world& w) {
        heist::executor ex{1};
        heist_test::random_distributed plan{seed, 2, 40};
        plan.throwing = !again;
        heist::distributed_graph g{w, {.remember = true, .restart = again ? f.path : ""}};
        auto const made = plan.build(g);
        g.save(f.path);
        try {
          ex.run(g).get();
          expect(again);
        } catch (heist::distributed_error const&) {
          expect(!again);
        }
        if (again) expect(plan.wrong_in(made) == 0);
      });
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a cut saves what it names only, and ranks may be others when it is restarted", "[distributed][save]") {
  wrong = 0;
  folder const f;
  std::vector<std::atomic<int>> ran(4);
  auto const build = [&](heist::distributed_graph& g, int last_rank) {
    auto const a = g.emplace(heist::on(0), [&] { return ++ran[0], 1; });
    auto const b = g.emplace(
        heist::on(last_rank), [&](int x) { return ++ran[1], x + 1; }, a);
    auto const c = g.emplace(
        heist::on(0), [&](int x) { return ++ran[2], x + 1; }, b);
    auto const d = g.emplace(
        heist::on(last_rank), [&](int x) { return ++ran[3], x + 1; }, c);
    return std::vector{b, d};
  };
  on_ranks(2, {}, {}, [&](heist::world& w) {
    heist::executor ex{1};
    heist::distributed_graph g{w, {.remember = true}};
    auto const made = build(g, 1);
    g.save(f.path, made[0]);
    run(ex, g, false);
    run(ex, g, false);
  });
  CHECK(std::filesystem::exists(f.path + "/task-2"));
  CHECK_FALSE(std::filesystem::exists(f.path + "/task-3"));
  on_ranks(1, {}, {}, [&](heist::world& w) {
    heist::executor ex{1};
    heist::distributed_graph g{w, {.restart = f.path}};
    auto const made = build(g, 0);
    run(ex, g, false);
    expect(made[1].result() == 4);
  });
  CHECK((ran[0] == 2 && ran[1] == 2 && ran[2] == 3 && ran[3] == 3));
  CHECK(wrong == 0);
}

TEST_CASE("a file that is not whole is refused, and files of another time are not taken", "[distributed][save]") {
  wrong = 0;
  folder const f;
  std::vector<std::atomic<int>> ran(12);
  auto const once = [&](bool restart, bool fails) {
    for (auto& r : ran) r = 0;
    on_ranks(2, {}, {}, [&](heist::world& w) {
      heist::executor ex{1};
      heist::distributed_graph g{w, {.remember = true, .restart = restart ? f.path : ""}};
      add_steps(g, 2, ran, fails);
      if (!restart) g.save(f.path);
      run(ex, g, fails);
    });
  };
  once(false, false);
  std::filesystem::resize_file(f.path + "/task-12", 20);
  on_ranks(2, {}, {}, [&](heist::world& w) {
    std::string const text = heist_test::error_text_of<heist::graph_error>([&] {
      heist::distributed_graph{w, {.restart = f.path}};
    });
    expect(text.find(f.path + "/task-12 is shorter than its head (20 of 56 bytes)") != std::string::npos);
  });
  std::filesystem::remove(f.path + "/task-12");  // the last one: the one before is taken
  auto const note = [&] { return heist::distributed::plan_restart(heist::distributed::saved_values{f.path}).note; };
  CHECK(note().find(f.path + "/task-12 is missing, so its task runs again") != std::string::npos);
  once(true, false);
  CHECK((ran[11] == 1 && ran[10] == 0));
  CHECK(!note().empty());  // this program was restarted, and saves nothing
  std::filesystem::remove(f.path + "/task-3");
  CHECK(note().find("missing there: 2") != std::string::npos);
  once(false, true);  // files of the first program do not count: its end is not this program's end
  CHECK(note().empty());
  once(true, false);
  CHECK((ran[7] == 1 && ran[11] == 1));
  CHECK(wrong == 0);
}

TEST_CASE("what cannot be saved or restarted is refused in one sentence", "[distributed][save]") {
  wrong = 0;
  folder const f;
  on_ranks(2, {}, {}, [&](heist::world& w) {
    heist::executor ex{1};
    auto const says = [&](std::string const& part, auto what) {
      std::string const text = heist_test::error_text_of<heist::graph_error>(what);
      expect(text.find(part) != std::string::npos && text.find("fix it") != std::string::npos);
    };
    heist::distributed_graph forgets{w};
    says("remembers nothing", [&] { forgets.save(f.path); });
    says("remembers nothing", [&] { heist::place::measured{forgets}; });
    says("nothing in", [&] { heist::distributed_graph{w, {.restart = f.path + "/none"}}; });
    heist::distributed_graph g{w, {.remember = true}};
    auto const v = g.emplace(heist::on(0), [] { return 1; });
    auto const u = g.emplace(
        heist::on(1), [](int x) { return x; }, v);
    says("have never ended", [&] { heist::place::measured{g}; });
    says("cannot write", [&] { g.save("/dev/null/here"); });
    says("has no name", [&] { g.save(""); });
    g.save(f.path);
    says("to be saved again", [&] { g.save(f.path); });
    ex.run(g).get();
    heist::place::measured const seen{g};
    heist::distributed_graph same{w, {.restart = f.path}};
    auto const first = same.emplace(heist::on(0), [] { return 1; });
    same.emplace(
        heist::on(1), [](int x) { return x; }, first);
    ex.run(same).get();
    if (first.here()) says("only tasks that were saved need it", [&] { first.result(); });
    for (bool const measured : {false, true}) {
      heist::distributed_graph other{w, {.restart = measured ? "" : f.path, .placement = measured ? &seen : nullptr}};
      other.emplace(heist::on(0), [] { return 1; });
      says(measured ? "than the one that was measured" : "than the one that was saved", [&] { ex.run(other).get(); });
    }
    if (u.here()) expect(u.result() == 1);
  });
  CHECK(wrong == 0);
}

namespace {

using heist::distributed::placement_search;
using heist::distributed::task_cost;
using heist::distributed::task_place;

/// `chains` of four tasks each, of which only the first has a place of its own, and one that takes all ends.
heist::distributed::graph_shape chains(std::uint32_t count, std::vector<int> const& ranks, task_place how) {
  heist::distributed::graph_shape g;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t k = 0; k < 4; ++k) {
      g.add(ranks[i % ranks.size()], k == 0 ? how : task_place::follows);
      if (k > 0) g.add_input(g.tasks() - 1);
    }
  }
  g.add(0, task_place::fixed);
  for (std::uint32_t i = 0; i < count; ++i) g.add_input(4 * i + 4);
  return g;
}

/// As if each task had taken so long.
placement_search searched(heist::distributed::graph_shape const& g, std::uint32_t ranks, double us, std::uint64_t bytes,
                          bool stays = false) {
  placement_search s{g, ranks, {}};
  std::vector<task_cost> costs;
  for (std::uint32_t t = 1; t <= g.tasks(); ++t) costs.push_back({t, stays, t == g.tasks() ? 1 : us, bytes});
  s.add(1, costs);
  for (std::uint32_t r = 1; r < ranks; ++r) s.add(1, {});
  REQUIRE(s.complete());
  s.run(300);
  return s;
}

/// How many tasks are on each rank.
std::vector<int> counts(placement_search const& s, std::uint32_t ranks) {
  std::vector<int> n(ranks);
  auto const all = s.ranks();
  for (std::size_t t = 1; t < all.size(); ++t) ++n[static_cast<std::size_t>(all[t])];
  return n;
}

}  // namespace

TEST_CASE("work moves to ranks that had none, chains as one", "[distributed][measured]") {
  auto const s = searched(chains(8, {0}, task_place::preferred), 2, 3000, 8);
  CHECK(s.after() < 0.52 * s.before());
  CHECK(counts(s, 2) == std::vector<int>{17, 16});
  auto const four = searched(chains(8, {0}, task_place::preferred), 4, 3000, 8);
  CHECK(four.after() < 0.27 * four.before());
}

TEST_CASE("what is fixed stays, and what hangs on it; what is good is kept", "[distributed][measured]") {
  auto const unmoved = [](placement_search const& s, heist::distributed::graph_shape const& g) {
    auto const all = s.ranks();
    for (std::uint32_t t = 1; t <= g.tasks(); ++t) {
      if (all[t] != g.ranks[t - 1]) return false;
    }
    return s.after() == s.before();
  };
  auto const fixed = chains(8, {0}, task_place::fixed);
  CHECK(unmoved(searched(fixed, 2, 3000, 8), fixed));
  auto const good = chains(8, {0, 1}, task_place::preferred);
  CHECK(unmoved(searched(good, 2, 3000, 8), good));
  auto const held =
      chains(8, {0}, task_place::preferred);  // by values that cannot travel to the last one, which is fixed
  CHECK(unmoved(searched(held, 2, 3000, 8, true), held));
  auto const large = chains(8, {0}, task_place::preferred);  // by values that take longer than the tasks
  CHECK(unmoved(searched(large, 2, 1, 10'000'000), large));
  auto ordered = chains(8, {0}, task_place::preferred);
  for (std::uint32_t i = 0; i < 8; ++i) ordered.orders.emplace_back(4 * i + 1, ordered.tasks());
  CHECK(unmoved(searched(ordered, 2, 3000, 8), ordered));
}

TEST_CASE("random graphs: never predicted worse, and never to a rank that there is not", "[distributed][measured]") {
  std::minstd_rand random{3};
  for (std::uint32_t round = 0; round < 12; ++round) {
    std::uint32_t const ranks = 1 + round % 4;
    heist::distributed::graph_shape g;
    std::vector<task_cost> costs;
    for (std::uint32_t t = 1; t <= 100; ++t) {
      g.add(static_cast<int>(random() % ranks), static_cast<task_place>(t == 1 ? random() % 2 : random() % 3));
      for (auto k = t == 1 ? 0 : 1 + random() % 3; k > 0; --k)
        g.add_input(static_cast<std::uint32_t>(1 + random() % (t - 1)));
      if (g.places.back() == task_place::follows) g.ranks.back() = g.ranks[g.inputs[g.first.back()] - 1];
      costs.push_back({t, random() % 20 == 0, static_cast<double>(random() % 300), random() % 5000});
    }
    placement_search s{g, ranks, {}};
    s.add(2, costs);
    s.run(200);
    CHECK(s.after() <= s.before());
    auto const all = s.ranks();
    for (std::uint32_t t = 1; t <= 100; ++t) {
      CHECK((all[t] >= 0 && static_cast<std::uint32_t>(all[t]) < ranks));
      if (g.places[t - 1] == task_place::fixed) CHECK(all[t] == g.ranks[t - 1]);
      if (g.places[t - 1] == task_place::follows) CHECK(all[t] == all[g.inputs[g.first[t - 1]]]);
    }
  }
}

TEST_CASE("a graph is built as it was measured, and leaves what it left", "[distributed][measured]") {
  wrong = 0;
  on_ranks(2, {}, {}, [&](heist::world& w) {
    auto const build = [](heist::distributed_graph& g) {
      std::vector<heist::placed<std::string>> made;
      for (int i = 0; i < 12; ++i) {
        made.push_back(g.emplace(heist::prefer(0), [] {
          auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds{2};
          while (std::chrono::steady_clock::now() < end) {
          }
          return std::string{"x"};
        }));
        made.push_back(g.emplace([](std::string&& s) { return s + "y"; }, heist::take(made.back())));
      }
      made.push_back(g.emplace(
          heist::on(1),
          [](heist::values<std::string> all) {
            std::string text;
            for (auto const& s : all) text += s.back();
            return text;
          },
          heist::each(std::vector{made[1], made[3], made[23]})));
      return made;
    };
    heist::executor ex{1};
    heist::distributed_graph g{w, {.remember = true}};
    build(g);
    ex.run(g).get();
    heist::place::measured const seen{g};
    expect(seen.predicted_after() <= seen.predicted_before());
    heist::distributed_graph better{w, {.placement = &seen}};
    auto const there = build(better);
    std::size_t moved = 0;
    for (std::size_t i = 0; i + 1 < there.size(); ++i) moved += there[i].rank() != 0;
    expect(moved == seen.moved() && there.back().rank() == 1);
    for (int run = 0; run < 2; ++run) ex.run(better).get();
    if (there.back().here()) expect(there.back().result() == "yyy");
  });
  CHECK(wrong == 0);
}
