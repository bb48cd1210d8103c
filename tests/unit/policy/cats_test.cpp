// heist/locality/policy/cats.hpp: the source, Eq. 1, the three cases of Fig. 6, CMPI and the programs that get no
// tiers. The trees are those of the papers, and random ones that are compared with a naive oracle.
#include "heist/locality/policy/cats.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/core/base/random.hpp"
#include "heist/locality/policy/path.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace heist;
using heist::tier::make_profile;
using heist::tier::profile_info;
using heist_test::has;
using heist_test::kib;
using heist_test::mib;

namespace {

constexpr std::uint32_t none = region_profile::no_entry;
constexpr int body_code = 0, heat_code = 0, heat2_code = 0;  // their addresses are identities of functions

/// Tasks as a scheduler would record them.
struct recording {
  std::vector<profiled_task> tasks;
  std::map<std::uint32_t, std::uint32_t> spawned;

  std::uint32_t add(std::uint32_t parent, void const* function, task_counts own = {}) {
    auto const index = parent == none ? 0 : spawned[parent]++;
    tasks.push_back({parent, index, function, own});
    return static_cast<std::uint32_t>(tasks.size() - 1);
  }
};

/// Memory-bound work on so many bytes, as every source would see it.
task_counts touches(std::uint64_t bytes) {
  return {.private_misses = bytes / 64,
          .l1_misses = bytes / 64,
          .instructions = bytes,
          .ticks = bytes,
          .declared_bytes = bytes};
}

/// heat of both papers: halves until a task has at most `cutoff` bytes.
void heat(recording& r, std::uint32_t parent, std::uint64_t bytes, std::uint64_t cutoff) {
  auto const self = r.add(parent, &heat_code, bytes <= cutoff ? touches(bytes) : task_counts{});
  if (bytes <= cutoff) return;
  heat(r, self, bytes / 2, cutoff);
  heat(r, self, bytes - bytes / 2, cutoff);
}
recording heat(std::uint64_t bytes, std::uint64_t cutoff) {
  recording r;
  heat(r, r.add(none, &body_code), bytes, cutoff);
  return r;
}

/// Heat-ub, Algorithm 1 of the CATS paper, on bytes.
void heat_ub(recording& r, std::uint32_t parent, std::uint64_t bytes, std::uint64_t cutoff, bool second = false) {
  auto const self = r.add(parent, second ? &heat2_code : &heat_code, bytes <= cutoff ? touches(bytes) : task_counts{});
  if (bytes <= cutoff) return;
  if (!second) {
    heat_ub(r, self, bytes / 2, cutoff, true);
    heat_ub(r, self, bytes - bytes / 2, cutoff, false);
  } else {
    for (int i = 0; i < 4; ++i) heat_ub(r, self, bytes / 4, cutoff, i == 2);
  }
}

profile_info opteron() {  // four squads of 6 MiB, as in section 4
  profile_info f;
  f.squads = 4;
  f.shared_cache_bytes = 6 * mib;
  f.hardware_available = true;
  return f;
}

std::string path_of(region_profile const& p, std::uint32_t i) {
  return i == region_profile::root ? "" : path_of(p, p[i].parent) + "." + std::to_string(p[i].index);
}

/// SOID by path, computed from the recording alone.
struct oracle {
  recording const& r;

  std::uint64_t soid(std::uint32_t task) const {
    auto sum = r.tasks[task].own.private_misses * 64;
    for (std::uint32_t i = 0; i < r.tasks.size(); ++i)
      if (r.tasks[i].parent == task) sum += soid(i);
    return sum;
  }
  std::string path(std::uint32_t task) const {
    auto const& t = r.tasks[task];
    return t.parent == none ? "" : path(t.parent) + "." + std::to_string(t.index);
  }
  bool children_touch_data(std::uint32_t task, std::vector<std::uint64_t> const& soids) const {
    for (std::uint32_t i = 0; i < r.tasks.size(); ++i)
      if (r.tasks[i].parent == task && soids[i] > 0) return true;
    return false;
  }
  /// Fig. 6, read from the task up to the root.
  task_tier tier(std::uint32_t task, std::uint64_t limit, std::vector<std::uint64_t> const& soids) const {
    auto const split_range = [&](std::uint32_t t) { return soids[t] > limit && children_touch_data(t, soids); };
    for (auto t = r.tasks[task].parent; t != none; t = r.tasks[t].parent)
      if (!split_range(t)) return task_tier::intra;
    return split_range(task) ? task_tier::inter : task_tier::leaf_inter;
  }
  std::size_t leaves(std::uint64_t limit, std::vector<std::uint64_t> const& soids) const {
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < r.tasks.size(); ++i)
      n += tier(i, limit, soids) == task_tier::leaf_inter && soids[i] > 0;
    return n;
  }
};

void check_tiers(region_profile const& p) {
  REQUIRE(p.decision() == profile_decision::two_tiers);
  for (std::uint32_t i = 1; i < p.size(); ++i) {
    auto const above = p[p[i].parent].tier;
    REQUIRE((p[i].tier == task_tier::intra) == (above != task_tier::inter));
    REQUIRE(p.lookup(p[i].parent, p[i].index) == i);
    if (p[i].tier == task_tier::inter) REQUIRE(p[i].soid_bytes > p.data().limit_bytes);
  }
}

std::string error_text(std::vector<profiled_task> const& tasks) {
  try {
    make_profile(tasks, opteron());
  } catch (region_error const& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("cats: heat with 16 MiB on four squads of 6 MiB is cut at 4 MiB, as in Fig. 8", "[policy]") {
  auto const r = heat(16 * mib, 128 * kib);
  auto const p = make_profile(r.tasks, opteron());
  check_tiers(p);
  CHECK(p.source() == profile_source::hardware);
  CHECK(p.size() == r.tasks.size());
  CHECK(p.data().limit_bytes == 6 * mib);
  CHECK(p.count(task_tier::leaf_inter) == 4);
  CHECK(p.count(task_tier::inter) == 4);  // the body, 16, 8, 8
  for (auto const& e : p.data().entries)
    if (e.tier == task_tier::leaf_inter) CHECK(e.soid_bytes == 4 * mib);
  CHECK(has(p.explain(), "4 leaf inter-squad tasks below tasks with more than 6 MiB"));
}

TEST_CASE("cats: the three cases of Fig. 6, and a task that fits exactly", "[policy]") {
  recording r;
  auto const root = r.add(none, &heat_code);
  auto const big = r.add(root, &heat_code), fits = r.add(root, &heat_code), small = r.add(root, &heat_code);
  r.add(big, &heat_code, touches(5 * mib));  // 3
  r.add(big, &heat_code, touches(5 * mib));
  r.add(fits, &heat_code, touches(3 * mib));  // the parent has 6 MiB exactly
  r.add(fits, &heat_code, touches(3 * mib));
  r.add(small, &heat_code, touches(1 * mib));
  auto const p = make_profile(r.tasks, opteron());
  check_tiers(p);
  auto const at = [&](std::vector<std::uint32_t> const& path) {
    std::uint32_t e = region_profile::root;
    for (auto const index : path) e = p.lookup(e, index);
    REQUIRE(e != none);
    return p[e].tier;
  };
  CHECK(at({}) == task_tier::inter);
  CHECK(at({0}) == task_tier::inter);          // (a): both larger
  CHECK(at({0, 0}) == task_tier::leaf_inter);  // (b): the parent larger
  CHECK(at({0, 1}) == task_tier::leaf_inter);
  CHECK(at({1}) == task_tier::leaf_inter);
  CHECK(at({2}) == task_tier::leaf_inter);
  CHECK(at({1, 0}) == task_tier::intra);  // (c): both smaller
  CHECK(at({2, 0}) == task_tier::intra);
}

TEST_CASE("cats: Heat-ub, the unbalanced tree of Algorithm 1", "[policy]") {
  recording r;
  heat_ub(r, r.add(none, &body_code), 64 * mib, 128 * kib);
  auto const p = make_profile(r.tasks, opteron());
  check_tiers(p);
  std::uint64_t in_leaves = 0;
  std::vector<std::size_t> depths;
  for (std::uint32_t i = 0; i < p.size(); ++i) {
    if (p[i].tier != task_tier::leaf_inter) continue;
    in_leaves += p[i].soid_bytes;
    auto const path = path_of(p, i);
    depths.push_back(static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')));
    CHECK(p[i].soid_bytes <= 6 * mib);
    CHECK(p[p[i].parent].soid_bytes > 6 * mib);
  }
  CHECK(in_leaves == 64 * mib);
  CHECK(*std::min_element(depths.begin(), depths.end()) < *std::max_element(depths.begin(), depths.end()));
}

TEST_CASE("cats: data that fits into fewer caches than there are is divided all the same", "[policy]") {
  for (std::uint64_t const squads : {2u, 3u, 4u, 8u, 9u, 16u, 64u}) {
    auto info = opteron();
    info.squads = squads;
    auto const p = make_profile(heat(4 * mib, 16 * kib).tasks, info);
    check_tiers(p);
    auto const leaves = p.count(task_tier::leaf_inter);
    CHECK(leaves >= squads);
    CHECK(leaves < 2 * squads);
    CHECK(has(p.explain(), "so that each of"));
  }
}

TEST_CASE("cats: a little inequality is let pass, more is divided once more", "[policy]") {
  profile_info info = opteron();
  info.squads = 2;
  for (auto const& [left, leaves] : std::map<std::uint64_t, std::size_t>{{512, 2}, {560, 2}, {600, 3}, {700, 3}}) {
    recording r;
    auto const root = r.add(none, &heat_code);
    heat(r, root, left * kib, 64 * kib);
    heat(r, root, (1024 - left) * kib, 64 * kib);
    auto const p = make_profile(r.tasks, info);
    check_tiers(p);
    CHECK(p.count(task_tier::leaf_inter) == leaves);
  }
}

TEST_CASE("cats: fewer leaves than squads, if the tree has no more", "[policy]") {
  recording r;
  auto const root = r.add(none, &heat_code);
  r.add(root, &heat_code, touches(mib));
  r.add(root, &heat_code, touches(mib));
  auto const p = make_profile(r.tasks, opteron());
  check_tiers(p);
  CHECK(p.count(task_tier::leaf_inter) == 2);
  CHECK(has(p.explain(), "2 leaf inter-squad tasks, fewer than the 4 squads,"));
}

TEST_CASE("cats: a task whose children touch nothing is a leaf inter-squad task, however large", "[policy]") {
  recording r;
  auto const root = r.add(none, &heat_code);
  auto const large = r.add(root, &heat_code, touches(100 * mib));
  for (int i = 0; i < 3; ++i) r.add(large, &heat_code);
  auto const larger = r.add(root, &heat_code, touches(100 * mib));
  for (int i = 0; i < 4; ++i) r.add(larger, &heat_code, touches(i == 0 ? 64 : 0));
  auto info = opteron();
  info.squads = 2;
  auto const p = make_profile(r.tasks, info);
  check_tiers(p);
  CHECK(p[p.lookup(0, 0)].tier == task_tier::leaf_inter);
  CHECK(p[p.lookup(0, 1)].tier == task_tier::inter);
}

TEST_CASE("cats: all data in one task cannot be divided", "[policy]") {
  for (bool const in_root : {true, false}) {
    recording r;
    auto const root = r.add(none, &heat_code, touches(in_root ? 100 * mib : 64));
    auto const child = r.add(root, &heat_code, touches(in_root ? 0 : 100 * mib));
    r.add(child, &heat_code);
    r.add(child, &heat_code);
    auto const p = make_profile(r.tasks, opteron());
    CHECK(p.decision() == profile_decision::nothing_measured);
    CHECK(p.source() == profile_source::hardware);
    CHECK(has(p.explain(), "all data belongs to one task"));
    CHECK(p.count(task_tier::intra) == p.size());
  }
}

TEST_CASE("cats: random trees in random order against the definitions", "[policy]") {
  fast_random random(5);
  for (int round = 0; round < 400; ++round) {
    recording r;
    auto const n = 2 + random.below(60);
    r.add(none, &heat_code, {.private_misses = random.below(3), .l1_misses = 1000, .instructions = 1});
    auto const reach = 1 + random.below(8);  // deep or flat
    for (std::uint32_t i = 1; i < n; ++i) {
      auto const parent = i - 1 - random.below(i < reach ? i : reach);
      auto const misses = random.below(3) == 0 ? 0 : random.below(1000);
      r.add(parent, &heat_code, {.private_misses = misses, .l1_misses = 1000, .instructions = 1});
    }
    // A scheduler numbers tasks as it likes.
    std::vector<std::uint32_t> number(n);
    std::iota(number.begin(), number.end(), 0u);
    for (std::uint32_t i = n; i > 1; --i) std::swap(number[i - 1], number[random.below(i)]);
    std::vector<profiled_task> shuffled(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      shuffled[number[i]] = r.tasks[i];
      if (i > 0) shuffled[number[i]].parent = number[r.tasks[i].parent];
    }
    profile_info info = opteron();
    info.squads = 2 + random.below(6);
    info.shared_cache_bytes = random.below(4) == 0 ? 0 : 64 * random.below(20000);
    auto const p = make_profile(shuffled, info);

    oracle const o{r};
    std::vector<std::uint64_t> soids(n);
    std::map<std::string, std::uint32_t> task_at;
    for (std::uint32_t i = 0; i < n; ++i) soids[i] = o.soid(i), task_at[o.path(i)] = i;
    REQUIRE(p.size() == n);
    REQUIRE(task_at.size() == n);
    bool good = true;
    for (std::uint32_t i = 0; i < n; ++i) {
      auto const task = task_at.at(path_of(p, i));
      good = good && p[i].soid_bytes == soids[task] && p[i].own_bytes == 64 * r.tasks[task].own.private_misses;
    }
    REQUIRE(good);
    if (p.decision() != profile_decision::two_tiers) {
      REQUIRE(p.decision() == profile_decision::nothing_measured);
      REQUIRE((soids[0] == 0 || o.leaves(0, soids) < 2));
      continue;
    }
    check_tiers(p);
    for (std::uint32_t i = 0; i < n; ++i)
      good = good && p[i].tier == o.tier(task_at.at(path_of(p, i)), p.data().limit_bytes, soids);
    REQUIRE(good);

    // The limit: the cache, or a share and an eighth, or the largest that gives as many leaves as there are squads.
    std::vector<std::uint64_t> candidates;
    if (info.shared_cache_bytes != 0) candidates.push_back(info.shared_cache_bytes);
    candidates.push_back(soids[0] / info.squads + soids[0] / info.squads / 8);
    auto cuts = soids;
    std::sort(cuts.rbegin(), cuts.rend());
    for (auto const s : cuts)
      if (s > 0 && s <= candidates.back()) candidates.push_back(s - 1);
    std::size_t most = 0;
    for (auto const c : candidates) most = std::max(most, o.leaves(c, soids));
    auto const wanted = std::min<std::size_t>(most, info.squads);
    auto const expected = std::find_if(candidates.begin(), candidates.end(),
                                       [&](std::uint64_t c) { return o.leaves(c, soids) >= wanted; });
    REQUIRE(o.leaves(p.data().limit_bytes, soids) == o.leaves(*expected, soids));
  }
}

TEST_CASE("cats: the source is hardware, then footprints, then time, and says why", "[policy]") {
  auto const full = heat(16 * mib, 128 * kib);
  auto const only = [&](auto keep) {
    auto tasks = full.tasks;
    for (auto& t : tasks) t.own = keep(t.own);
    return tasks;
  };
  auto const declared =
      only([](task_counts c) { return task_counts{.ticks = c.ticks, .declared_bytes = c.declared_bytes}; });
  auto const timed = only([](task_counts c) { return task_counts{.ticks = 3 * c.ticks}; });
  auto const nothing = only([](task_counts) { return task_counts{}; });

  auto info = opteron();
  auto const by_hardware = make_profile(full.tasks, info);
  CHECK(by_hardware.source_note() == "misses of the last private cache, times 64 bytes");

  auto p = make_profile(declared, info);  // counters that stand at zero, as in many virtual machines
  CHECK(p.source() == profile_source::footprint);
  CHECK(has(p.source_note(), "the hardware counted nothing (misses of the last private cache)"));
  CHECK(p.data().entries == by_hardware.data().entries);

  info.hardware_available = false;
  info.hardware_why_not = "perf_event_open was refused";
  p = make_profile(full.tasks, info);
  CHECK(p.source() == profile_source::footprint);
  CHECK(p.source_note() ==
        "hardware counters are not available: perf_event_open was refused; the tasks declared what they touch");

  info.region_bytes = 16 * mib;
  p = make_profile(timed, info);
  CHECK(p.source() == profile_source::time);
  CHECK(p.data().entries == by_hardware.data().entries);  // time in proportion to data: the same bytes, exactly
  CHECK(has(p.source_note(), "no task declared what it touches; the region's data is spread"));

  p = make_profile(nothing, info);
  CHECK(p.decision() == profile_decision::nothing_measured);
  CHECK(p.source() == profile_source::none);
  CHECK(has(p.explain(), "time was not measured"));

  info.region_bytes = 0;
  p = make_profile(timed, info);
  CHECK(p.decision() == profile_decision::nothing_measured);
  CHECK(has(p.explain(), "traditional stealing because nothing could be measured"));
  CHECK(has(p.explain(), "perf_event_open was refused"));
  CHECK(has(p.explain(), "ctx.footprint(bytes)"));
  CHECK(p.count(task_tier::intra) == p.size());
}

TEST_CASE("cats: bytes spread by time add up exactly, whatever the numbers", "[policy]") {
  fast_random random(6);
  constexpr auto huge = ~std::uint64_t{0};
  for (int round = 0; round < 200; ++round) {
    recording r;
    auto const root = r.add(none, &heat_code, {.ticks = random.below(100)});
    for (int i = 0; i < 20; ++i)
      r.add(root, &heat_code, {.ticks = round % 3 == 0 ? huge - random.below(9) : random.below(1000)});
    auto info = opteron();
    info.hardware_available = false;
    info.region_bytes = round % 2 == 0 ? huge : 1 + random.below(5000);
    auto const p = make_profile(r.tasks, info);
    REQUIRE(p.source() == profile_source::time);
    REQUIRE(p[0].soid_bytes == info.region_bytes);
  }
}

TEST_CASE("cats: absurd counts saturate", "[policy]") {
  recording r;
  auto const root = r.add(none, &heat_code);
  for (int i = 0; i < 3; ++i) r.add(root, &heat_code, {.private_misses = ~std::uint64_t{0}, .instructions = 1});
  auto const p = make_profile(r.tasks, opteron());
  check_tiers(p);
  CHECK(p[0].soid_bytes == ~std::uint64_t{0});
}

TEST_CASE("cats: divide-and-conquer is a task that runs an ancestor's function", "[policy]") {
  auto const decision = [](auto... functions) {  // each below the one before, beside the last another of no function
    recording r;
    std::uint32_t parent = none;
    for (void const* f : {static_cast<void const*>(functions)...}) parent = r.add(parent, f, touches(mib));
    r.add(r.tasks[parent].parent == none ? parent : r.tasks[parent].parent, nullptr, touches(mib));
    return make_profile(r.tasks, opteron()).decision();
  };
  int const *a = &body_code, *b = &heat_code, *c = &heat2_code;
  CHECK(decision(a, b, b) == profile_decision::two_tiers);
  CHECK(decision(a, b, c, b) == profile_decision::two_tiers);  // as heat and heat2
  CHECK(decision(a, a) == profile_decision::two_tiers);
  CHECK(decision(a, b, c) == profile_decision::not_divide_and_conquer);
  CHECK(decision(a) == profile_decision::not_divide_and_conquer);
  int const* const unknown = nullptr;
  CHECK(decision(unknown, unknown, unknown) == profile_decision::not_divide_and_conquer);

  recording flat;  // siblings of the same function are a loop
  auto const root = flat.add(none, a);
  for (int i = 0; i < 100; ++i) flat.add(root, b, touches(mib));
  auto const p = make_profile(flat.tasks, opteron());
  CHECK(p.decision() == profile_decision::not_divide_and_conquer);
  CHECK(has(p.explain(), "none of 101 tasks"));
  CHECK(p.count(task_tier::intra) == 101);
}

TEST_CASE("cats: CMPI decides by most of the tasks that have no children", "[policy]") {
  auto const cpu =
      task_counts{.private_misses = 1, .l1_misses = 10, .instructions = 1000000, .ticks = 400000, .declared_bytes = 64};
  auto const decision = [&](int cpu_bound, int memory_bound, int idle, bool hardware) {
    recording r;
    auto const root = r.add(none, &heat_code, touches(mib));  // tasks with children do not vote
    for (int i = 0; i < cpu_bound; ++i) r.add(root, &heat_code, cpu);
    for (int i = 0; i < memory_bound; ++i) r.add(root, &heat_code, touches(mib));
    for (int i = 0; i < idle; ++i) r.add(root, &heat_code);
    auto info = opteron();
    info.hardware_available = hardware;
    return make_profile(r.tasks, info).decision();
  };
  for (bool const hardware : {true, false}) {
    CHECK(decision(5, 4, 0, hardware) == profile_decision::cpu_bound);
    CHECK(decision(5, 5, 0, hardware) == profile_decision::two_tiers);
    CHECK(decision(5, 6, 0, hardware) == profile_decision::two_tiers);
    CHECK(decision(3, 2, 100, hardware) == profile_decision::cpu_bound);  // those that did nothing do not vote
    CHECK(decision(2, 3, 100, hardware) == profile_decision::two_tiers);
  }
}

TEST_CASE("cats: CMPI weighs misses by their penalties and compares with the thresholds", "[policy]") {
  recording r;
  auto const root = r.add(none, &heat_code);
  r.add(root, &heat_code,
        {.private_misses = 6, .l1_misses = 10, .instructions = 1000, .ticks = 100000, .declared_bytes = 640});
  r.add(root, &heat_code,
        {.private_misses = 6, .l1_misses = 10, .instructions = 1000, .ticks = 100000, .declared_bytes = 640});
  auto info = opteron();
  info.l1_penalty = 10;
  info.private_penalty = 40;  // CMPI = (10 + 6 * 4) / 1000
  info.cpu_bound_misses_per_instruction = 0.0339;
  CHECK(make_profile(r.tasks, info).decision() == profile_decision::two_tiers);
  info.cpu_bound_misses_per_instruction = 0.0341;
  auto const p = make_profile(r.tasks, info);
  CHECK(p.decision() == profile_decision::cpu_bound);
  CHECK(has(p.explain(), "2 of 2 tasks"));

  info.hardware_available = false;  // 10 lines, each a miss of both: 10 * (1 + 4) / 100000
  info.cpu_bound_misses_per_tick = 0.00049;
  CHECK(make_profile(r.tasks, info).decision() == profile_decision::two_tiers);
  info.cpu_bound_misses_per_tick = 0.00051;
  CHECK(make_profile(r.tasks, info).decision() == profile_decision::cpu_bound);
}

TEST_CASE("cats: one squad means traditional stealing", "[policy]") {
  for (std::uint64_t const squads : {0u, 1u}) {
    auto info = opteron();
    info.squads = squads;
    auto const p = make_profile(heat(16 * mib, mib).tasks, info);
    CHECK(p.decision() == profile_decision::one_squad);
    CHECK(p[0].soid_bytes == 16 * mib);  // measured all the same
    CHECK(p.count(task_tier::intra) == p.size());
  }
}

TEST_CASE("cats: a profile comes back from JSON and knows its machine", "[policy]") {
  auto const p = make_profile(heat(16 * mib, 128 * kib).tasks, opteron());
  CHECK(region_profile::from_json(p.to_json()) == p);
  CHECK(p.made_for(4, 6 * mib));
  CHECK_FALSE(p.made_for(2, 6 * mib));
}

TEST_CASE("cats: recordings that are no tree are refused", "[policy]") {
  auto const task = [](std::uint32_t parent, std::uint32_t index) { return profiled_task{parent, index, nullptr, {}}; };
  CHECK(error_text({task(none, 0), task(0, 0), task(1, 0)}) == "accepted");
  CHECK(has(error_text({task(0, 0)}), "no root or more than one"));
  CHECK(has(error_text({task(none, 0), task(none, 1)}), "no root or more than one"));
  CHECK(has(error_text({task(none, 0), task(7, 0)}), "task 1 was spawned by task 7 of 2"));
  CHECK(has(error_text({task(none, 0), task(0, 3), task(0, 3)}), "have the same path"));
  CHECK(has(error_text({task(none, 0), task(2, 0), task(1, 0)}), "2 of its 3 tasks do not descend from the root"));
  CHECK(has(error_text({task(none, 0), task(1, 0)}), "1 of its 2 tasks do not descend from the root"));
  CHECK(make_profile({}, opteron()).empty());
}

TEST_CASE("cats: a task of the inter tier gets the squad that ran most of its data in the first run", "[policy]") {
  constexpr std::size_t squads = 4;
  fast_random random{7};
  for (int round = 0; round != 50; ++round) {
    auto r = heat(16 * mib, 256 * kib);
    for (auto& t : r.tasks) t.squad = static_cast<std::uint32_t>(random.next() % squads);
    auto const p = make_profile(r.tasks, opteron());
    REQUIRE(p.decision() == profile_decision::two_tiers);
    std::vector<std::vector<std::uint64_t>> bytes(r.tasks.size(), std::vector<std::uint64_t>(squads));
    std::vector<std::uint64_t> paths(r.tasks.size());
    std::map<std::uint64_t, std::uint32_t> expected;
    for (std::size_t i = 1; i != r.tasks.size(); ++i)
      paths[i] = tier::path_of_child(paths[r.tasks[i].parent], r.tasks[i].index);
    for (std::size_t i = r.tasks.size(); i-- != 0;) {
      auto const& t = r.tasks[i];
      bytes[i][t.squad] += t.own.private_misses * 64;
      for (std::size_t s = 0; s != squads && t.parent != none; ++s) bytes[t.parent][s] += bytes[i][s];
      auto const most = std::max_element(bytes[i].begin(), bytes[i].end()) - bytes[i].begin();
      expected[paths[i]] = static_cast<std::uint32_t>(most);
    }
    auto const found = tier::squads_of_first_run(r.tasks, p, squads);
    CHECK(found.size() == p.size() - p.count(task_tier::intra));
    for (auto const& t : found) CHECK(expected.at(t.path) == t.squad);
  }
}

TEST_CASE("cats: a task without data gets no squad from the first run", "[policy]") {
  auto r = heat(16 * mib, mib);
  auto const idle = r.add(0, &heat_code);
  r.tasks[idle].squad = 3;
  auto const p = make_profile(r.tasks, opteron());
  auto const found = tier::squads_of_first_run(r.tasks, p, 4);
  CHECK(found.size() + 1 == p.size() - p.count(task_tier::intra));
  for (auto const& t : found) CHECK(t.path != tier::path_of_child(0, 1));
}

TEST_CASE("cats: without tiers no task has a squad from the first run", "[policy]") {
  auto const r = heat(16 * mib, 256 * kib);
  auto one = opteron();
  one.squads = 1;
  CHECK(tier::squads_of_first_run(r.tasks, make_profile(r.tasks, one), 1).empty());
  CHECK(tier::squads_of_first_run({}, region_profile{}, 4).empty());
}

TEST_CASE("cats: a chain of a hundred thousand tasks takes no recursion", "[policy]") {
  recording r;
  std::uint32_t parent = none;
  for (int i = 0; i < 100000; ++i) parent = r.add(parent, i == 0 ? &body_code : &heat_code, touches(64));
  auto const p = make_profile(r.tasks, opteron());
  CHECK(p.size() == 100000);
  CHECK(p[0].soid_bytes == 6400000);
}
