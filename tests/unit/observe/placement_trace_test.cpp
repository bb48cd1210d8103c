// heist/tools/observe/placement_trace.hpp: the checker passes a right trace and finds the errors in wrong ones.
#include "heist/tools/observe/placement_trace.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heist/core/topology/squads.hpp"
#include "heist/core/topology/synthetic.hpp"
#include "support/catch.hpp"

using heist::placement_event;
using heist::placement_kind;

namespace {

constexpr auto begin = placement_kind::inter_begin;
constexpr auto end = placement_kind::inter_end;
constexpr auto goes_on = placement_kind::intra_begin;

/// Two squads: workers 0, 1 with head 0, and 2, 3 with head 2.
heist::topology::squads two_by_two() {
  return heist::topology::make_squads(heist::topology::parse("package:2 core:2 pu:1"), heist::squad_by::package, 4);
}

struct step {
  placement_kind what;
  std::uint32_t worker, squad;
  int task;
  std::uint32_t level = 0;
};

/// A trace of these steps, in this order.
std::vector<placement_event> trace_of(std::vector<step> const& steps) {
  static char const tasks[8] = {};
  std::vector<placement_event> all;
  for (step const& s : steps) all.push_back({all.size(), &tasks[s.task], s.worker, s.squad, s.level, s.what});
  return all;
}

/// Violations of a trace, and the text of the first.
struct decision {
  std::size_t count;
  std::string first;
};
decision check(std::vector<step> const& steps, std::optional<std::uint32_t> deepest = std::nullopt) {
  auto const report = heist::check_placement(trace_of(steps), two_by_two(), deepest);
  return {report.violations.size(), report.ok() ? "" : report.violations.front()};
}
bool says(decision const& v, char const* words) {
  return v.count == 1 && v.first.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("placement checker: a right trace has no violations", "[observe]") {
  std::vector<step> const right{
      {begin, 0, 0, 0, 1}, {end, 0, 0, 0},                           // the body, which waits for its children
      {begin, 0, 0, 1, 2}, {begin, 2, 1, 2, 2}, {goes_on, 1, 0, 1},  // two leaves, one with a thief
      {goes_on, 3, 1, 2},  {end, 3, 1, 2},      {end, 1, 0, 1},      // which end on the thieves
      {begin, 2, 1, 0, 1}, {goes_on, 3, 1, 0},  {goes_on, 2, 1, 0},  // the body resumes in another squad
      {end, 2, 1, 0},      {begin, 2, 1, 1, 1}, {end, 2, 1, 1},      // another task with an old name
  };
  auto const report = heist::check_placement(trace_of(right), two_by_two(), 2);
  INFO(report.text());
  CHECK(report.ok());
  CHECK(report.inter_begins == 5);
  CHECK(report.intra_begins == 4);
  CHECK(report.squads_used == 2);
  CHECK(report.deepest == 2);
  CHECK(heist::check_placement({}, two_by_two()).ok());
}

TEST_CASE("placement checker: finds what is wrong", "[observe]") {
  // Taken by a worker that is no head.
  CHECK(says(check({{begin, 1, 0, 0, 1}, {end, 1, 0, 0}}), "the squad's head is worker 0"));
  // Two at a time.
  CHECK(says(check({{begin, 0, 0, 0, 1}, {begin, 0, 0, 1, 1}, {end, 0, 0, 1}, {end, 0, 0, 0}}), "the squad is busy"));
  // The same with their ends crossed.
  CHECK(says(check({{begin, 0, 0, 0, 1}, {begin, 0, 0, 1, 1}, {end, 0, 0, 0}, {end, 0, 0, 1}}), "the squad is busy"));
  // One task in two squads.
  CHECK(says(check({{begin, 0, 0, 0, 1}, {begin, 2, 1, 0, 1}, {end, 2, 1, 0}}), "it has begun in squad 0"));
  // A frame in another squad than its ancestor.
  CHECK(says(check({{begin, 0, 0, 0, 1}, {goes_on, 2, 1, 0}, {end, 0, 0, 0}}), "runs in squad 0"));
  // A frame whose ancestor has ended: the squad was free too early.
  CHECK(says(check({{begin, 0, 0, 0, 1}, {end, 0, 0, 0}, {goes_on, 1, 0, 0}}), "does not run"));
  // A frame whose ancestor another one has followed.
  CHECK(says(check({{begin, 0, 0, 0, 1}, {end, 0, 0, 0}, {begin, 0, 0, 1, 1}, {goes_on, 1, 0, 0}, {end, 0, 0, 1}}),
             "does not run"));
  // Ends.
  CHECK(says(check({{begin, 0, 0, 0, 1}}), "it has no end"));
  CHECK(says(check({{end, 0, 0, 0}}), "it has not begun"));
  CHECK(says(check({{begin, 0, 0, 0, 1}, {end, 0, 0, 0}, {end, 0, 0, 0}}), "it has not begun"));
  CHECK(says(check({{begin, 0, 0, 0, 1}, {end, 3, 1, 0}}), "it has begun in squad 0"));
  // Levels.
  CHECK(says(check({{begin, 0, 0, 0, 0}, {end, 0, 0, 0}}), "level 0 is no task's"));
  CHECK(says(check({{begin, 0, 0, 0, 2}, {end, 0, 0, 0}}), "no task of level 1"));
  CHECK(says(check({{begin, 0, 0, 0, 1}, {end, 0, 0, 0}, {begin, 0, 0, 1, 3}, {end, 0, 0, 1}}), "no task of level 2"));
  CHECK(says(check({{begin, 0, 0, 0, 1}, {end, 0, 0, 0}, {begin, 0, 0, 1, 2}, {end, 0, 0, 1}}, 1),
             "the boundary level is 1"));
  // A worker that is not where it says, and one that does not exist.
  CHECK(says(check({{begin, 0, 0, 0, 1}, {goes_on, 3, 0, 0}, {end, 0, 0, 0}}), "that worker is in squad 1"));
  CHECK(says(check({{goes_on, 4, 0, 0}}), "there are 4 workers"));
  CHECK(says(check({{goes_on, 0, 2, 0}}), "2 squads"));
}

TEST_CASE("placement checker: wants its events in order", "[observe]") {
  auto events = trace_of({{begin, 0, 0, 0, 1}, {end, 0, 0, 0}});
  events[1].order = 0;
  CHECK_FALSE(heist::check_placement(events, two_by_two()).ok());
}

TEST_CASE("placement trace: merges what workers say, and forgets it", "[observe]") {
  heist::placement_trace trace;
  trace.start(4);
  int a = 0, b = 0;
  trace.inter_begin(0, 0, &a, 1);
  trace.inter_begin(2, 1, &b, 1);
  trace.intra_begin(3, 1, &b);
  trace.inter_end(0, 0, &a);
  trace.inter_end(3, 1, &b);
  auto const events = trace.events();
  REQUIRE(events.size() == 5);
  CHECK(events[0].task == &a);
  CHECK(events[1].task == &b);
  CHECK(events[1].worker == 2);
  CHECK(events[2].what == goes_on);
  CHECK(events[3].worker == 0);
  CHECK(events[4].what == end);
  CHECK(heist::check_placement(events, two_by_two()).ok());
  trace.clear();
  CHECK(trace.events().empty());
  trace.inter_end(3, 1, &b);
  CHECK_FALSE(heist::check_placement(trace.events(), two_by_two()).ok());
}
