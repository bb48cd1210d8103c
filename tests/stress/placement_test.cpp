// Under policies with tiers every task runs in the squad that CAB and CATS prescribe. The tasks themselves check it,
// and so does a trace of each run, on machines of many shapes.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/observe.hpp>
#include <heist/topology.hpp>

#include <algorithm>  // max
#include <chrono>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstdio>  // printf
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "heist/locality/policy/boundary_level.hpp"
#include "stress/placement_kernels.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::region_options;

namespace {

using namespace placement_kernels;

struct shape {
  char const* name;
  char const* machine;
  std::size_t workers;
  heist::squad_by by = heist::squad_by::package;
  std::vector<std::vector<std::uint32_t>> by_hand = {};

  heist::options options() const {
    return {.workers = workers, .machine = heist::topology::parse(machine), .squads = by, .squad_pus = by_hand};
  }
};

std::vector<shape> shapes() {
  using by = heist::squad_by;
  std::vector<shape> all{
      {"2x2", "package:2 l3:1(size=1MiB) core:2 pu:1", 4},
      {"4x4", "package:4 l3:1(size=1MiB) core:4 pu:1", 16},
      {"one worker in each squad", "package:4 l3:1(size=1MiB) core:1 pu:1", 4},
      {"squads of 1, 3 and 4", "package:2 l3:1(size=1MiB) core:4 pu:1", 8, by::package, {{0}, {1, 2, 3}, {4, 5, 6, 7}}},
      {"4x4 of which 5 are used", "package:4 l3:1(size=1MiB) core:4 pu:1", 5},
      {"one squad", "package:1 l3:1(size=1MiB) core:4 pu:1", 4},
      {"squads of cores", "package:1 l3:1(size=1MiB) core:3 pu:2", 6, by::core},
      {"more workers than PUs", "package:2 l3:1(size=1MiB) core:2 pu:1", 13},
      {"8x10", "package:8 l3:1(size=1MiB) core:10 pu:1", 80},
  };
  return all;
}

struct wanted {
  std::string name;
  region_options options;
  std::uint32_t depth_by_hand = 0;
};

std::vector<wanted> wanted_of(bool cats) {
  std::vector<wanted> all;
  if (cats) {
    all.push_back({"by footprint", {}});
    all.push_back({"boundary level 2", {.boundary_level = 2}});
  } else {
    all.push_back({"Eq. 4", {.branching = 2, .bytes = 4 << 20}});
    all.push_back({"no data size", {.branching = 2}});
    for (std::uint32_t level = 0; level <= 5; ++level) {
      all.push_back({"boundary level " + std::to_string(level), {.boundary_level = level}});
    }
  }
  for (std::uint32_t depth = 1; depth <= 3; ++depth) {
    all.push_back({"by hand, " + std::to_string(depth) + " deep", {.tiers_by_hand = true}, depth});
  }
  return all;
}

template <class Policy>
class runs {
 public:
  explicit runs(shape const& s)
      : executor_{s.options()},
        squads_{s.by_hand.empty() ? heist::topology::make_squads(executor_.machine(), s.by, s.workers)
                                  : heist::topology::make_squads(executor_.machine(), s.by_hand, s.workers)},
        cache_{heist::topology::shared_cache_bytes(executor_.machine(), squads_)},
        guard_{executor_, std::chrono::seconds{heist_test::stress_limit(100)}} {
    REQUIRE(executor_.squad_count() == squads_.members.size());
  }

  template <class Kernel>
  void of(std::string const& section, Kernel k, wanted const& w, int rounds) {
    INFO(section << ", " << Kernel::name << ", " << w.name);
    heist::region r{w.options};
    for (int round = 0; round < rounds; ++round) {
      guard_.section(section + ", " + Kernel::name + ", " + w.name);
      k.prepare();
      watch seen{squads_};
      place const body = body_of(r, w, seen);
      executor_.observer().clear();
      long const result = executor_.invoke(r, [&](auto c) {
        place p = body;
        p.arrive(c);
        long const sum = k(c, p);
        p.stay(c);
        return sum;
      });
      check_run(r, body, seen);
      CHECK(result == k.expected());
    }
  }

  std::size_t squad_count() const { return squads_.members.size(); }
  /// The most that a run has used.
  std::size_t squads_used() const { return squads_used_; }
  /// Of all runs.
  std::size_t intra_begins() const { return intra_begins_; }

 private:
  static constexpr bool cats = Policy::tier_type::division == heist::tier_mode::by_profile;

  /// The expected place of the region's next run, by the papers.
  place body_of(heist::region const& r, wanted const& w, watch& seen) const {
    place p{.seen = &seen};
    std::size_t const squads = squads_.members.size();
    if (squads == 1) return p;
    if (w.options.tiers_by_hand) {
      p.how = division::by_hand;
      p.boundary = w.depth_by_hand;
    } else if (w.options.boundary_level) {
      p.boundary = *w.options.boundary_level;
    } else if (cats) {
      if (r.profile().decision() == heist::profile_decision::two_tiers) {
        p.how = division::by_profile;
        p.profile = &r.profile();
      }
    } else if (w.options.bytes != 0) {
      p.boundary = cache_ == 0 ? heist::tier::boundary_level(w.options.branching, squads, 1, 1)
                               : heist::tier::boundary_level(w.options.branching, squads, w.options.bytes, cache_);
    }
    if (p.how == division::flat && p.boundary != 0) p.how = division::by_level;
    return p;
  }

  void check_run(heist::region const& r, place const& body, watch const& seen) {
    INFO("note: " << r.explain());
    auto const events = executor_.observer().events();
    bool const by_level = body.how == division::by_level;
    auto const report = heist::check_placement(events, squads_, by_level ? std::optional{body.boundary} : std::nullopt);
    INFO(report.text());
    CHECK(report.ok());
    CHECK(executor_.observer().released() == 0);
    CHECK(seen.wrong_place == 0);
    intra_begins_ += report.intra_begins;
    squads_used_ = std::max(squads_used_, report.squads_used);
    CHECK((seen.checks != 0) == (body.how != division::flat));
    CHECK((report.inter_begins != 0) == (body.how != division::flat));
    if (by_level) CHECK(r.boundary_level() == body.boundary);
    CHECK(executor_.state_text().find("busy") == std::string::npos);
    CHECK(executor_.state_text().find("not empty") == std::string::npos);
  }

  heist::executor<Policy, heist::placement_trace> executor_;
  heist::topology::squads const squads_;
  std::uint64_t const cache_;
  heist_test::watchdog guard_;
  std::size_t squads_used_ = 0;
  std::size_t intra_begins_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("placement: every task in its squad, one inter-squad task in each at a time", "[stress]",
                   heist::policy::cab, heist::policy::cats) {
  constexpr bool cats = std::is_same_v<TestType, heist::policy::cats>;
  int const rounds = heist_test::stress_rounds(3) + cats;  // the first is profiled
  for (shape const& s : shapes()) {
    if (slow && s.workers > 16) continue;
    runs<TestType> here{s};
    // Until work has got to other squads and other workers: otherwise all this proves little.
    auto const spread = [&] {
      return here.squad_count() == 1 ||
             (here.squads_used() > 1 && (s.workers == here.squad_count() || here.intra_begins() > 0));
    };
    do {
      for (wanted const& w : wanted_of(cats)) {
        here.of(s.name, fib{}, w, rounds);
        here.of(s.name, heat{}, w, rounds);
        here.of(s.name, unbalanced_heat{}, w, rounds);
        here.of(s.name, mergesort{}, w, rounds);
        here.of(s.name, flat_scope{}, w, rounds);
        here.of(s.name, scopes_in_forks{}, w, rounds);
      }
    } while (!spread());
    std::printf("%s: at most %zu of %zu squads in a run, %zu frames went on elsewhere or had waited\n", s.name,
                here.squads_used(), here.squad_count(), here.intra_begins());
  }
}

TEST_CASE("placement: a trace of two runs at a time, of two regions", "[stress]") {
  shape const s{"4x4", "package:4 l3:1(size=1MiB) core:4 pu:1", 16};
  heist::executor<heist::policy::cab, heist::placement_trace> ex{s.options()};
  auto const squads = heist::topology::make_squads(ex.machine(), s.by, s.workers);
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(100)}};
  heist::region first{{.boundary_level = 3}}, second{{.boundary_level = 2}};
  for (int round = 0; round < heist_test::stress_rounds(50); ++round) {
    ex.observer().clear();
    watch seen{squads};
    auto const run = [&](heist::region& r) {
      return ex.submit([&](auto outer) {
        return outer.invoke(r, [&](auto c) {
          place p{.seen = &seen, .how = division::by_level, .boundary = *r.options().boundary_level};
          p.arrive(c);
          return fib{14}(c, p);
        });
      });
    };
    auto a = run(first);
    auto b = run(second);
    CHECK(a.get() == 377);
    CHECK(b.get() == 377);
    auto const report = heist::check_placement(ex.observer().events(), squads, 3);
    INFO(report.text());
    CHECK(report.ok());
    CHECK(report.inter_begins >= 7 + 3);
    CHECK(seen.wrong_place == 0);
  }
}
