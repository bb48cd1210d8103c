// The solution equals that of the plainest serial program to the bit, whatever policy, machine and division into tasks.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "examples/heat/policy_table.hpp"
#include "serial_oracle.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heat::plate_description;
using heat_test::serial_oracle;

namespace {

std::vector<plate_description> plates() {
  return {{3, 3, {}, {}},
          {3, 40, {.top = 1, .right = 2, .bottom = 3, .left = 4}, {}},
          {50, 4, {}, {{50, 50, 0, 10}}},
          {61,
           47,
           {.top = -30, .right = 20.5, .bottom = 0, .left = 7},
           {{30, 40, 10, 400}, {35, 45, 5, -50}, {0, 100, 8, 9}}},
          {40, 40, {}, {{50, 50, 100, 77}}}};
}

heat::run_request request(std::size_t workers, std::string_view machine, std::size_t leaf_rows, std::size_t steps) {
  heat::run_request r;
  r.where.workers = workers;
  if (!machine.empty()) r.where.machine = heist::topology::parse(machine);
  r.how.leaf_rows = leaf_rows;
  r.how.most_steps = steps;
  return r;
}

/// True if each cell is the very same number.
bool equals(heat::plate const& p, serial_oracle const& expected) {
  return heat_test::temperatures_of(p) == expected.temperatures();
}

}  // namespace

TEST_CASE("heat: under every policy the plate is that of a serial program, to the bit", "[heat]") {
  heist_test::watchdog guard{"heat", 100s};
  heat::progress silent{heat::show_progress::never};
  for (auto const& what : plates()) {
    constexpr std::size_t steps = 25;
    serial_oracle expected{what};
    double change = 0;
    for (std::size_t i = 0; i < steps; ++i) change = expected.step();
    for (auto const& policy : heat::policies) {
      for (std::string_view const machine : {"core:1 pu:1", "package:2 l3:1 core:2 pu:1", "package:4 core:1 pu:1"}) {
        for (std::size_t const leaf_rows : {1u, 7u, 100u}) {
          INFO(policy.name << " on " << machine << ", " << what.rows << " x " << what.columns << " cells, leaves of "
                           << leaf_rows << " rows");
          heat::plate p{what};
          heat::placement_record record{p.computed_rows(), steps};
          auto const report = policy.run(request(0, machine, leaf_rows, steps), p, record, silent);
          CHECK(report.solved.steps == steps);
          CHECK(report.solved.change == change);
          CHECK_FALSE(report.solved.has_converged);
          CHECK(equals(p, expected));
          CHECK(record.steps() == steps);
          CHECK(record.id_count() <= (report.by == heat::placed_by::squad ? report.squads : report.workers));
        }
      }
    }
  }
}

TEST_CASE("heat: the solution ends at the first look that finds the plate settled", "[heat]") {
  heat::progress silent{heat::show_progress::never};
  plate_description const what{30, 30, {}, {{50, 50, 10, 300}}};
  for (auto const& policy : heat::policies) {
    INFO(policy.name);
    heat::plate p{what};
    heat::placement_record record{p.computed_rows(), 10};
    auto wanted = request(2, "", 4, 100'000);
    wanted.how.tolerance = 0.01;
    auto const solved = policy.run(wanted, p, record, silent).solved;
    CHECK(solved.has_converged);

    serial_oracle expected{what};
    std::size_t steps = 0;
    double change = 0;
    do {
      for (std::size_t i = 0; i < heat::steps_per_look; ++i) change = expected.step();
      steps += heat::steps_per_look;
    } while (change > 0.01);
    CHECK(solved.steps == steps);
    CHECK(solved.change == change);
    CHECK(equals(p, expected));
    CHECK(record.steps() == steps);
    CHECK(record.kept_steps() == 10);
  }
}

TEST_CASE("heat: steps that do not suffice are taken, and the plate is not called settled", "[heat]") {
  heat::progress silent{heat::show_progress::never};
  heat::plate p{{30, 30, {}, {}}};
  heat::placement_record record{p.computed_rows(), 10};
  auto wanted = request(2, "", 4, 13);
  wanted.how.tolerance = 1e-9;
  auto const solved = heat::policy_named("random").run(wanted, p, record, silent).solved;
  CHECK(solved.steps == 13);
  CHECK_FALSE(solved.has_converged);
  CHECK(solved.change > 1e-9);
}

TEST_CASE("heat: one cell between four edges becomes their mean", "[heat]") {
  heat::plate p{{3, 3, {.top = 1, .right = 2, .bottom = 4, .left = 8}, {}}};
  heat::relax_serially(p);
  CHECK(p.now(1)[1] == 3.75);
}

TEST_CASE("heat: the serial steps of the example are those of the plainest serial program", "[heat]") {
  for (auto const& what : plates()) {
    heat::plate p{what};
    serial_oracle expected{what};
    CHECK(equals(p, expected));
    for (int i = 0; i < 10; ++i) heat::relax_serially(p), expected.step();
    CHECK(equals(p, expected));
  }
}

TEST_CASE("heat: the record says who computed each row", "[heat]") {
  heat::progress silent{heat::show_progress::never};
  heat::plate p{{50, 50, {}, {}}};
  for (bool const by_squad : {true, false}) {
    heat::placement_record record{p.computed_rows(), 20};
    auto wanted = request(0, "package:1 core:3 pu:1", 5, 20);
    wanted.by_automatic = false;
    wanted.how.by = by_squad ? heat::placed_by::squad : heat::placed_by::worker;
    auto const report = heat::policy_named("random").run(wanted, p, record, silent);
    CHECK(report.workers == 3);
    CHECK(report.squads == 1);
    CHECK(report.by == wanted.how.by);
    bool is_known = true;
    for (std::size_t step = 0; step < 20; ++step) {
      for (std::size_t row = 0; row < record.rows(); ++row) {
        is_known = is_known && record.at(step, row) < (by_squad ? report.squads : report.workers);
      }
    }
    CHECK(is_known);
    if (by_squad) CHECK(record.persistence() == 1.0);
  }
}

TEST_CASE("heat: under cab each part at the boundary level is computed by one squad", "[heat]") {
  heist_test::watchdog guard{"heat under cab", 100s};
  heat::progress silent{heat::show_progress::never};
  constexpr std::size_t steps = 50;
  for (std::uint32_t const level : {2u, 3u, 4u}) {
    INFO("boundary level " << level);
    heat::plate p{{66, 20, {}, {}}};  // 64 rows are computed
    heat::placement_record record{p.computed_rows(), steps};
    auto wanted = request(0, "package:2 l3:1 core:2 pu:1", 2, steps);
    wanted.boundary_level = level;
    auto const report = heat::policy_named("cab").run(wanted, p, record, silent);
    CHECK(report.squads == 2);
    CHECK(report.by == heat::placed_by::squad);
    CHECK(report.note.find("boundary level " + std::to_string(level)) != std::string::npos);
    std::size_t const part = record.rows() >> (level - 1);
    std::size_t split_range = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t row = 0; row < record.rows(); ++row) {
        split_range += record.at(step, row) != record.at(step, row / part * part) ? 1 : 0;
      }
    }
    CHECK(split_range == 0);
  }
}

TEST_CASE("heat: cats profiles the first step and says so, random does not", "[heat]") {
  heist_test::watchdog guard{"heat under cats", 100s};
  heat::progress silent{heat::show_progress::never};
  for (std::string_view const policy : {"cats", "random"}) {
    INFO(policy);
    heat::plate p{{66, 200, {}, {}}};
    heat::placement_record record{p.computed_rows(), 10};
    auto const report =
        heat::policy_named(policy).run(request(0, "package:2 l3:1 core:2 pu:1", 2, 10), p, record, silent);
    CHECK(report.note.empty() == (policy == "random"));
    CHECK(report.profile.empty() == (policy == "random"));
  }
}

TEST_CASE("heat: rows are coloured by worker where there is but one squad, unless told otherwise", "[heat]") {
  heat::progress silent{heat::show_progress::never};
  heat::plate p{{10, 10, {}, {}}};
  heat::placement_record record{p.computed_rows(), 1};
  auto const& random = heat::policy_named("random");
  CHECK(random.run(request(0, "core:2 pu:1", 5, 1), p, record, silent).by == heat::placed_by::worker);
  CHECK(random.run(request(0, "package:2 core:2 pu:1", 5, 1), p, record, silent).by == heat::placed_by::squad);
  CHECK_THROWS_WITH(heat::policy_named("luck"), "there is no policy of that name; --help lists them");
}
