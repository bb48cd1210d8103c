// Planted faults of every kind are noticed, and cut down to a handful of nodes.
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "fuzz/differential/runner.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace heist_fuzz;
using heist_test::fault;
using heist_test::sabotage;

namespace {

setting const flat{"random_parent_first", 2, 0};

/// The first case that fails when broken so, cut down.
fuzz_case smallest(sabotage broken, fault expected) {
  heist_test::watchdog const guard{"a broken executor", std::chrono::seconds{120}};
  abilities const can = type_named(flat.policy).can;
  for (std::uint64_t seed = 1; seed != 3000; ++seed) {
    fuzz_case const c = generate(seed, flat, can, true);
    auto const fails = [&](fuzz_case const& candidate) { return run_alone(candidate, 1, broken).what == expected; };
    if (c.program.size() < 20 || !fails(c)) continue;
    REQUIRE(run_alone(c, 1).what == fault::none);
    return shrink(c, fails);
  }
  FAIL("no case failed");
  return {};
}

void check(sabotage broken, fault expected, std::uint32_t most) {
  fuzz_case const c = smallest(broken, expected);
  INFO(to_text(c));
  CHECK(c.program.size() <= most);
  CHECK(c.rounds == 1);
  CHECK(c.where.workers == 1);
  CHECK((c.after == graph_end::stays && !c.keeps && c.clients == 0));
  CHECK(run_alone(c, 1).what == fault::none);
  // The text is enough to see it again.
  CHECK(parse_case(to_text(c)) == c);
  CHECK(run_alone(parse_case(to_text(c)), 1, broken).what == expected);
}

}  // namespace

TEST_CASE("a lost node is noticed", "[fuzz]") {
  check(sabotage::loses, fault::lost, 4);  // the third child of a scope
}
TEST_CASE("a node that runs twice is noticed", "[fuzz]") {
  check(sabotage::doubles, fault::doubled, 3);  // a leaf of a fork within something
}
TEST_CASE("a node that runs before its predecessor is noticed", "[fuzz]") {
  check(sabotage::swaps, fault::order, 3);  // two tasks of a graph
}
TEST_CASE("a wrong value is noticed", "[fuzz]") {
  check(sabotage::spoils, fault::value, 4);  // a node with three children
}
TEST_CASE("an exception that is swallowed is noticed", "[fuzz]") {
  check(sabotage::swallows, fault::exception, 2);  // a node below another
}
TEST_CASE("a capture that is not destroyed is noticed", "[fuzz]") {
  check(sabotage::forgets, fault::leak, 2);  // a task, an async or a scope's child
}

TEST_CASE("the text of a case says all of it", "[fuzz]") {
  for (subject_type const& t : all_subjects()) {
    for (std::uint64_t seed = 1; seed != 200; ++seed) {
      fuzz_case const c = generate(seed, {t.name, 3, 1}, t.can, true);
      CHECK(parse_case(to_text(c)) == c);
    }
  }
  for (char const* const text :
       {"", "policy", "policy=cab", "policy=cab program=tree", "policy=cab program=fork2(leaf",
        "policy=cab program=run2(leaf<1)", "policy=cab program=leaf more", "policy=cab after=never program=leaf"})
    CHECK_THROWS_AS(parse_case(text), std::runtime_error);
}

TEST_CASE("cases that found something in the library", "[fuzz]") {
  constexpr char const* texts[] = {// Forks without a context in a strict run were stolen: two turns of one worker.
                                   "policy=replay workers=2 rounds=2 in_region=1 follow=own "
                                   "program=fork2(fork2!loops(free_fork2(leaf!yields leaf)) leaf!yields)",
                                   // A designated frame in an ordered run gave back a turn that it did not have.
                                   "policy=replay workers=2 in_region=1 tree_seed=48358 tree_steals=7 follow=invented "
                                   "program=scope2(fork2!designates(leaf leaf))"};
  for (char const* const text : texts) {
    heist_test::watchdog const guard{text, std::chrono::seconds{120}};
    INFO(text);
    CHECK(run_alone(parse_case(text), heist::under_tsan || heist::under_asan ? 100 : 2000).text.empty());
  }
}
