// heist/locality/policy/profile.hpp: lookup by path, what a consistent profile is, text and JSON.
#include "heist/locality/policy/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/core/base/random.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace heist;
using heist_test::error_text_of;
using heist_test::has;
using heist_test::mib;
using heist_test::replaced;

namespace {

constexpr std::uint32_t no_entry = region_profile::no_entry;

/// Two squads of 6 MiB: the root, two tasks of 8 MiB, two leaf inter-squad tasks in each, and one task below the first.
profile_data example() {
  profile_data d;
  d.squads = 2;
  d.shared_cache_bytes = d.limit_bytes = 6 * mib;
  d.source = profile_source::footprint;
  d.source_note = "no \"PMU\" here";
  d.decision = profile_decision::two_tiers;
  d.note = "two tiers";
  d.entries = {{no_entry, 0, 0, 16 * mib, task_tier::inter},
               {0, 0, 0, 8 * mib, task_tier::inter},
               {0, 1, 0, 8 * mib, task_tier::inter},
               {1, 0, mib, 4 * mib, task_tier::leaf_inter},
               {1, 1, 4 * mib, 4 * mib, task_tier::leaf_inter},
               {2, 0, 4 * mib, 4 * mib, task_tier::leaf_inter},
               {2, 7, 4 * mib, 4 * mib, task_tier::leaf_inter},
               {3, 0, 3 * mib, 3 * mib, task_tier::intra}};
  return d;
}

std::string error_text(profile_data d) {
  return error_text_of<region_error>([&] { region_profile{std::move(d)}; });
}

std::string error_text(std::string const& text) {
  return error_text_of<region_error>([&] { region_profile::from_json(text); });
}

/// A random tree without tiers; spawn indices have gaps.
profile_data random_tree(std::size_t tasks, fast_random& random) {
  profile_data d;
  d.decision = profile_decision::cpu_bound;
  d.squads = 2;
  std::vector<std::uint32_t> next_index(tasks);
  for (std::uint32_t i = 0; i < tasks; ++i) {
    auto const parent = i == 0 ? no_entry : random.below(i);
    auto const index = i == 0 ? 0 : next_index[parent] += 1 + random.below(3) * random.below(1000);
    d.entries.push_back({parent, index, random.below(1000), 0, task_tier::intra});
  }
  for (std::size_t i = tasks; i-- > 0;) {
    d.entries[i].soid_bytes += d.entries[i].own_bytes;
    if (i > 0) d.entries[d.entries[i].parent].soid_bytes += d.entries[i].soid_bytes;
  }
  return d;
}

}  // namespace

TEST_CASE("profile: an empty one knows nothing", "[policy]") {
  region_profile const p;
  CHECK(p.empty());
  CHECK(p.decision() == profile_decision::nothing_measured);
  CHECK(p.lookup(region_profile::root, 0) == no_entry);
  CHECK(p.lookup(no_entry, 0) == no_entry);
  CHECK(has(p.text(), "no run has been profiled"));
  CHECK(region_profile::from_json(p.to_json()) == p);
}

TEST_CASE("profile: lookup goes down the path of spawn indices", "[policy]") {
  region_profile const p(example());
  auto const first = p.lookup(region_profile::root, 0);
  REQUIRE(first == 1);
  CHECK(p[p.lookup(first, 1)].soid_bytes == 4 * mib);
  CHECK(p[p.lookup(p.lookup(first, 0), 0)].tier == task_tier::intra);
  CHECK(p.lookup(p.lookup(region_profile::root, 1), 7) == 6);
  CHECK(p.lookup(first, 2) == no_entry);
  CHECK(p.lookup(p.lookup(first, 2), 0) == no_entry);  // no children of a task that was not there
  CHECK(p.lookup(7, 0) == no_entry);
  CHECK(p.count(task_tier::inter) == 3);
  CHECK(p.count(task_tier::leaf_inter) == 4);
  CHECK(p.count(task_tier::intra) == 1);
}

TEST_CASE("profile: paths that a string of digits would confuse are different tasks", "[policy]") {
  profile_data d;
  d.squads = 2;
  d.entries = {{no_entry, 0, 0, 10, task_tier::intra},
               {0, 1, 0, 1, task_tier::intra},
               {0, 11, 0, 9, task_tier::intra},
               {1, 11, 1, 1, task_tier::intra},
               {2, 1, 9, 9, task_tier::intra}};
  region_profile const p(d);
  CHECK(p.lookup(p.lookup(0, 1), 11) == 3);
  CHECK(p.lookup(p.lookup(0, 11), 1) == 4);
}

TEST_CASE("profile: lookup against a map, with so many keys that many share a slot", "[policy]") {
  fast_random random(3);
  for (std::size_t const tasks : {1u, 2u, 3u, 17u, 1000u, 30000u}) {
    auto const d = random_tree(tasks, random);
    region_profile const p(d);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> oracle;
    for (std::uint32_t i = 1; i < tasks; ++i) oracle[{d.entries[i].parent, d.entries[i].index}] = i;
    bool good = true;
    for (auto const& [key, entry] : oracle) good = good && p.lookup(key.first, key.second) == entry;
    for (std::size_t i = 0; i < 2 * tasks; ++i) {
      auto const parent = random.below(static_cast<std::uint32_t>(tasks)), index = random.below(50);
      auto const found = oracle.find({parent, index});
      good = good && p.lookup(parent, index) == (found == oracle.end() ? no_entry : found->second);
    }
    CHECK(good);
  }
}

TEST_CASE("profile: what is inconsistent is refused with a sentence", "[policy]") {
  CHECK(error_text(example()) == "accepted");
  auto const with = [](auto change) {
    auto d = example();
    change(d);
    return error_text(std::move(d));
  };
  CHECK(has(with([](auto& d) { d.entries.clear(); }), "it has no tasks"));
  CHECK(has(with([](auto& d) { d.entries[0].parent = 0; }), "its first task is not the root"));
  CHECK(has(with([](auto& d) { d.entries[3].parent = 3; }), "task 3 does not stand behind its parent"));
  CHECK(has(with([](auto& d) { d.entries[3].parent = no_entry; }), "task 3 does not stand behind its parent"));
  CHECK(has(with([](auto& d) { d.entries[4].index = 0; }), "tasks 3 and 4 have the same path"));
  CHECK(has(with([](auto& d) { d.entries[7].own_bytes = 1; }), "not 3145728"));
  CHECK(has(with([](auto& d) { d.entries[0].soid_bytes = 1; }), "the data of task 0 and its children is 16777216"));
  CHECK(has(with([](auto& d) { d.squads = 1; }), "two tiers for 1 squads"));
  CHECK(has(with([](auto& d) { d.entries[0].tier = task_tier::leaf_inter; }), "root is not in the inter tier"));
  CHECK(
      has(with([](auto& d) { d.entries[3].tier = task_tier::intra; }), "task 3 is intra below a parent that is inter"));
  CHECK(has(with([](auto& d) { d.entries[7].tier = task_tier::leaf_inter; }), "below a parent that is leaf_inter"));
  CHECK(has(with([](auto& d) { d.entries[6].tier = task_tier::inter; }), "task 6 is inter, but has no children"));
  CHECK(has(with([](auto& d) { d.decision = profile_decision::cpu_bound; }), "task 0 is inter without two tiers"));
}

TEST_CASE("profile: sums beyond 64 bits stay at the largest number", "[policy]") {
  profile_data d;
  constexpr auto huge = ~std::uint64_t{0};
  d.entries = {{no_entry, 0, 0, huge, task_tier::intra},
               {0, 0, huge - 1, huge - 1, task_tier::intra},
               {0, 1, huge - 1, huge - 1, task_tier::intra}};
  CHECK(error_text(d) == "accepted");
  region_profile const p(d);
  CHECK(region_profile::from_json(p.to_json()) == p);
}

TEST_CASE("profile: the table shows the inter tier and counts what is below", "[policy]") {
  auto const text = region_profile(example()).text();
  CHECK(has(text, "two tiers\nsquads: 2, shared cache of each: 6 MiB, tasks: 8, data: 16 MiB, limit: 6 MiB\n"));
  CHECK(has(text, "source: footprint (no \"PMU\" here)\n"));
  CHECK(has(text, "\nregion                                                16 MiB         0 B  inter\n"));
  CHECK(has(text,
            "\n    0                                                  4 MiB       1 MiB  leaf inter-squad, 1 "
            "intra-squad below\n"));
  CHECK(has(text, "\n    7                                                  4 MiB       4 MiB  leaf inter-squad, 0 "));
  CHECK_FALSE(has(text, "more"));
  auto const part = region_profile(example()).text(2);
  CHECK(has(part, "... and 5 more inter-squad tasks\n"));
}

TEST_CASE("profile: sizes for people", "[policy]") {
  CHECK(detail::short_bytes(0) == "0 B");
  CHECK(detail::short_bytes(1023) == "1023 B");
  CHECK(detail::short_bytes(1024) == "1 KiB");
  CHECK(detail::short_bytes(1536) == "1.5 KiB");
  CHECK(detail::short_bytes(mib - 1) == "1023.9 KiB");
  CHECK(detail::short_bytes(mib) == "1 MiB");
  CHECK(detail::short_bytes(~std::uint64_t{0}) == "17592186044415.9 MiB");
}

TEST_CASE("profile: a very deep tree is written without recursion", "[policy]") {
  constexpr std::uint32_t depth = 100000;
  profile_data d;
  d.squads = 2;
  d.decision = profile_decision::two_tiers;
  for (std::uint32_t i = 0; i < depth; ++i)
    d.entries.push_back({i - 1, 0, 1, depth - i, i + 1 < depth ? task_tier::inter : task_tier::leaf_inter});
  region_profile const p(d);
  CHECK(has(p.text(depth), "leaf inter-squad"));
  CHECK(region_profile::from_json(p.to_json()) == p);
}

TEST_CASE("profile: JSON that others can read and that comes back the same", "[policy]") {
  region_profile const p(example());
  auto const text = p.to_json();
  CHECK(region_profile::from_json(text) == p);
  auto const j = nlohmann::json::parse(text);
  CHECK(j.at("version") == 1);
  CHECK(j.at("verdict") == "two_tiers");
  CHECK(j.at("source_note") == "no \"PMU\" here");
  REQUIRE(j.at("tasks").size() == 8);
  CHECK(j.at("tasks")[0] == nlohmann::json::parse(R"([null, 0, 0, 16777216, "inter"])"));
  CHECK(j.at("tasks")[3] == nlohmann::json::parse(R"([1, 0, 1048576, 4194304, "leaf_inter"])"));

  fast_random random(4);
  for (int i = 0; i < 20; ++i) {
    region_profile const q(random_tree(1 + random.below(300), random));
    REQUIRE(region_profile::from_json(q.to_json()) == q);
  }
}

TEST_CASE("profile: JSON that is cut anywhere is refused", "[policy]") {
  auto const text = region_profile(example()).to_json();
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {  // the last character is a line's end
    auto const what = error_text(text.substr(0, length));
    REQUIRE(has(what, "this is no profile of a region: "));
    REQUIRE(has(what, "; profile the region again"));
  }
}

TEST_CASE("profile: JSON of another version, of something else, or changed by hand is refused", "[policy]") {
  auto const text = region_profile(example()).to_json();
  CHECK(has(error_text(replaced(text, "\"version\": 1", "\"version\": 2")),
            "its version is 2, this heist reads version 1"));
  CHECK(has(error_text(replaced(text, "region profile", "steal tree")), "it describes something else"));
  CHECK(has(error_text(replaced(text, "\"squads\"", "\"squad\"")), "no member \"squads\""));
  CHECK(has(error_text(replaced(text, "\"squads\": 2", "\"squads\": -2")), "a whole number"));
  CHECK(has(error_text(replaced(text, "\"footprint\"", "\"guess\"")), "\"guess\" is no hardware, footprint, ..."));
  CHECK(has(error_text(replaced(text, "\"footprint\"", "\"\\u001b[2J\"")), "\"\\u001b[2J\" is no hardware"));
  CHECK(error_text(replaced(text, "\"footprint\"", '"' + std::string(10'000, 'x') + '"')).size() < 300);
  CHECK(has(error_text(replaced(text, "\"two_tiers\"", "\"cpu_bound\"")), "inconsistent"));
  CHECK(has(error_text(replaced(text, "[1, 0, 1048576", "[1, 0, 1048577")), "inconsistent"));
  CHECK(has(error_text(replaced(text, "[null, 0, 0", "[null, 0")), "a task has 5 fields, but 4 stand there"));
  CHECK(has(error_text(replaced(text, "[1, 0,", "[4294967295, 0,")), "too large to number a task"));
  CHECK(has(error_text(replaced(text, "[1, 0,", "[null, 0,")), "does not stand behind its parent"));
  CHECK(has(error_text("[]"), "an object is needed"));
  CHECK(has(error_text(text + "x"), "something follows"));
}

TEST_CASE("profile: a loader can tell the machine", "[policy]") {
  region_profile const p(example());
  CHECK(p.made_for(2, 6 * mib));
  CHECK_FALSE(p.made_for(4, 6 * mib));
  CHECK_FALSE(p.made_for(2, 6 * mib + 1));
}
