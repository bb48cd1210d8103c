// Every victim policy holds its promises under every driver. One line in victim_conformance.hpp registers a policy.
#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/slow.hpp"
#include "unit/policy/victim_conformance.hpp"

using namespace heist_test;

namespace {

/// Whether the suite sees a policy that breaks a promise.
struct names_no_other : heist::victim::random {
  std::uint32_t next(thief_view const& me, fast_random&) noexcept { return me.self; }
};
struct never_names_the_last : heist::victim::random {
  std::uint32_t next(thief_view const& me, fast_random& random) noexcept {
    return me.workers == 1 ? 0 : random.below(me.workers - 1);
  }
};
struct one_too_many : heist::victim::random {
  std::uint32_t next(thief_view const& me, fast_random& random) noexcept { return random.below(me.workers + 1); }
};
struct probes_forever : heist::victim::random {
  bool wants_look() const noexcept { return true; }
  void looked(std::uint32_t, offer const&) noexcept {}
};
/// If it gets no feedback, it names one worker for ever.
struct needs_feedback {
  std::uint32_t next(thief_view const& me, fast_random&) noexcept { return now % me.workers; }
  void feedback(std::uint32_t, outcome) noexcept { ++now; }
  std::uint32_t now = 0;
};

template <class Policy>
std::string what_it_breaks(std::uint32_t self, std::uint32_t workers, std::uint64_t seed, driver const& d) {
  char const* const broken = names_everybody<Policy>(self, workers, seed, d);
  return broken == nullptr ? "" : broken;
}
template <class Policy>
std::string first_that_breaks() {
  for (driver const& d : every_driver<Policy>()) {
    if (std::string const broken = what_it_breaks<Policy>(0, 3, 1, d); !broken.empty()) return broken.substr(0, 2);
  }
  return "";
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("victim conformance: V1, V2, V3 and V4, whoever drives the policy", "[policy]", every_victim) {
  for (std::uint32_t const workers : {1u, 2u, 3u, 16u, slow ? 17u : 64u}) {
    for (std::uint32_t const self : {0u, workers - 1}) {
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        for (driver const& d : every_driver<TestType>()) {
          INFO(workers << " workers, thief " << self << ", seed " << seed << ", begin " << static_cast<int>(d.begin)
                       << ", shows " << static_cast<int>(d.show) << ", outcome " << static_cast<int>(d.what)
                       << ", told " << d.feedback << ", place " << static_cast<int>(d.place));
          CHECK(what_it_breaks<TestType>(self, workers, seed, d) == "");
        }
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("victim conformance: V1, V2, V3 and V4 among many workers", "[policy]", every_victim) {
  for (driver const& d : every_driver<TestType>()) {
    // For time's sake.
    if (d.show == shows::nothing || d.show == shows::anything || d.what == outcome::lost) continue;
    if (d.place != places::untold && (d.place != places::rings || d.begin != begins::once)) continue;
    INFO("begin " << static_cast<int>(d.begin) << ", shows " << static_cast<int>(d.show) << ", outcome "
                  << static_cast<int>(d.what) << ", thieves " << d.thieves << ", told " << d.feedback << ", place "
                  << static_cast<int>(d.place));
    CHECK(what_it_breaks<TestType>(slow ? 50 : 500, slow ? 100 : 1024, 7, d) == "");
  }
}

TEST_CASE("victim conformance: a policy that breaks a promise is found out", "[policy]") {
  CHECK(first_that_breaks<heist::victim::random>() == "");
  CHECK(first_that_breaks<names_no_other>() == "V2");
  CHECK(first_that_breaks<never_names_the_last>() == "V2");
  CHECK(first_that_breaks<needs_feedback>() == "V2");
  CHECK(first_that_breaks<one_too_many>() == "V1");
  CHECK(first_that_breaks<probes_forever>() == "V4");
}
