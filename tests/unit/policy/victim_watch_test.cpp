// Debug builds notice a victim policy that breaks V2, and notice nothing else.
#include "heist/core/policy/victim_watch.hpp"

#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/slow.hpp"
#include "unit/policy/victim_conformance.hpp"

using namespace heist_test;
using heist::victim::watch;

namespace {
constexpr auto all_of_them = [](std::uint32_t) { return true; };

/// At which attempt the watch complains; 0: not within three times as many as it waits.
template <class Named, class HasWork>
std::uint64_t complains(thief_view const& me, Named named, HasWork has_work) {
  watch w;
  for (std::uint64_t i = 1; i <= 3 * watch::enough(me.workers); ++i) {
    if (!w.includes_all(me, named(i), has_work)) return i;
  }
  return 0;
}
}  // namespace

TEST_CASE("victim watch: a policy that names only itself, or only an idle worker", "[policy]") {
  thief_view const me{0, 4};
  auto const only_2_works = [](std::uint32_t v) { return v == 2; };
  CHECK(complains(
            me, [](std::uint64_t) { return 0u; }, only_2_works) == 2 * watch::enough(4) + 2);
  CHECK(complains(
            me, [](std::uint64_t) { return 1u; }, only_2_works) != 0);
  CHECK(complains(
            me, [](std::uint64_t) { return 1u; }, [](std::uint32_t v) { return v == 0; }) != 0);  // the queue
}

TEST_CASE("victim watch: nothing to say where nobody else has work, or not for long, or it is named", "[policy]") {
  thief_view const me{0, 4};
  CHECK(complains(
            me, [](std::uint64_t) { return 1u; }, [](std::uint32_t) { return false; }) == 0);
  CHECK(complains(
            me, [](std::uint64_t) { return 1u; }, [](std::uint32_t v) { return v == 1; }) == 0);
  CHECK(complains(
            {0, 1}, [](std::uint64_t) { return 0u; }, all_of_them) == 0);
  bool now = false;
  auto const comes_and_goes = [&](std::uint32_t v) { return v == 2 && (now = !now); };
  CHECK(complains(
            me, [](std::uint64_t) { return 1u; }, comes_and_goes) == 0);
  auto const now_and_then = [](std::uint64_t i) { return i % 50'000 == 0 ? 2u : 1u; };
  CHECK(complains(me, now_and_then, [](std::uint32_t v) { return v == 2; }) == 0);
}

TEMPLATE_LIST_TEST_CASE("victim watch: no policy of ours is complained about", "[policy]", every_victim) {
  for (std::uint32_t const workers : {2u, slow ? 6u : 16u}) {
    for (auto const where : {places::untold, places::three_packages}) {
      for (driver const& d :
           {driver{begins::every_seventh, shows::nothing, outcome::empty, true, true, where},
            driver{begins::never, shows::less_the_higher_its_number, outcome::stolen, true, true, where}}) {
        thief<TestType> t{workers - 1, workers, 5, where};
        CHECK(complains(
                  {workers - 1, workers}, [&](std::uint64_t) { return t.attempt(d); }, all_of_them) == 0);
      }
    }
  }
}

TEST_CASE("victim watch: a complaint has the policy's name", "[policy]") {
  std::string const text = heist::victim::complaint<heist::victim::random>("is late");
  CHECK(text.find("the victim policy ") == 0);
  CHECK(text.find("random is late") != std::string::npos);  // compilers differ in how much of its namespace they say
}
