// heist/locality/policy/steal_tree.hpp: what a consistent tree is, places, pruning, text for people, JSON.
#include "heist/locality/policy/steal_tree.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "heist/core/base/random.hpp"
#include "support/catch.hpp"
#include "support/texts.hpp"

using namespace heist;
using steal = steal_tree::steal;
using heist_test::error_text_of;
using heist_test::has;
using heist_test::replaced;

namespace {

/// Body on worker 1 of 3; from its frame, from its first child, and from the second child of its third.
std::vector<steal> example() {
  return {{{0}, 0, 1, 0}, {{0, 0}, 2, 1, 0}, {{2, 1, 4}, 0, 2, 1}, {{2}, 2, 0, 1}};
}

/// The same; the body resumes after its fourth child on worker 1, which never left it, the third's frame on worker 2.
std::vector<steal> joined_example() {
  auto all = example();
  all.push_back({{3}, 1, 1, 0, true});
  all.push_back({{2, 1, 5}, 2, 0, 2, true});
  return all;
}

/// Six steals and three entries after a join on three levels:
///   0    0.0  0.1(join)    1   1.2   1.2.0   1.2.1(join)   2(join)   3   3.0
std::vector<steal> levels() {
  return {{{0}, 1, 0, 0},       {{0, 0}, 2, 0, 0},          {{0, 1}, 0, 2, 0, true}, {{1}, 2, 1, 1}, {{1, 2}, 0, 1, 1},
          {{1, 2, 0}, 1, 0, 1}, {{1, 2, 1}, 0, 1, 2, true}, {{2}, 1, 2, 2, true},    {{3}, 0, 1, 3}, {{3, 0}, 2, 1, 2}};
}

/// The places of what stays, with a j after those of entries after a join.
std::vector<std::string> places_after_prune(int percent, std::vector<steal> all) {
  steal_tree t{3, 0, std::move(all)};
  t.prune(percent);
  std::vector<std::string> places;
  for (steal const& s : t.steals()) {
    places.emplace_back();
    for (auto const branch : s.place) places.back() += std::to_string(branch);
    if (s.after_join) places.back() += 'j';
  }
  return places;
}

std::string prune_error(steal_tree& t, int percent) {
  return error_text_of<steal_tree_error>([&] { t.prune(percent); });
}

std::string error_text(std::size_t workers, std::uint32_t body, std::vector<steal> steals) {
  return error_text_of<steal_tree_error>([&] { steal_tree{workers, body, std::move(steals)}; });
}

std::string error_text(std::string const& text) {
  return error_text_of<region_error>([&] { steal_tree::from_json(text); });
}

/// Consistent, with places of all lengths below each other and beside each other.
std::vector<steal> random_steals(fast_random& random, std::size_t workers, std::size_t wanted) {
  std::vector<steal> all;
  std::vector<std::uint32_t> next(workers);
  while (all.size() < wanted) {
    steal s;
    for (std::size_t n = 1 + random.next() % 6; n != 0; --n)
      s.place.push_back(static_cast<std::uint32_t>(random.next() % 4));
    bool const there = std::any_of(all.begin(), all.end(), [&](steal const& other) { return other.place == s.place; });
    if (there) continue;
    s.worker = static_cast<std::uint32_t>(random.next() % workers);
    s.after_join = random.next() % 4 == 0;
    s.victim = static_cast<std::uint32_t>((s.worker + !s.after_join + random.next() % (workers - 1)) % workers);
    s.sequence = next[s.worker]++;
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace

TEST_CASE("steal_tree: of no run", "[observe]") {
  steal_tree const t;
  CHECK(t.empty());
  CHECK(t.worker_count() == 0);
  CHECK(t.steal_count() == 0);
  CHECK(t.join_count() == 0);
  CHECK(t.depth() == 0);
  CHECK(t.steals().empty());
  CHECK(t.bytes() == sizeof t);
  CHECK(t.find(std::vector<std::uint32_t>{0}) == nullptr);
  CHECK(steal_tree::from_json(t.to_json()) == t);
  CHECK(has(t.to_dot(), "digraph"));
}

TEST_CASE("steal_tree: a run without steals is a run", "[observe]") {
  steal_tree const t{4, 3, {}};
  CHECK_FALSE(t.empty());
  CHECK(t.worker_count() == 4);
  CHECK(t.body_worker() == 3);
  CHECK(t.depth() == 0);
  CHECK(t.nodes().size() == 1);
  CHECK(steal_tree::from_json(t.to_json()) == t);
  CHECK_FALSE(t == steal_tree{});
  CHECK_FALSE(t == steal_tree{4, 2, {}});
}

TEST_CASE("steal_tree: places", "[observe]") {
  steal_tree const t{3, 1, example()};
  CHECK(t.steal_count() == 4);
  CHECK(t.depth() == 3);
  CHECK(t.nodes().size() == 6);  // body, 0, 0.0, 2, 2.1, 2.1.4
  CHECK(t.bytes() == sizeof t + 6 * sizeof(steal_tree::node));

  auto wanted = example();
  std::swap(wanted[2], wanted[3]);  // the order of the serial program
  CHECK(t.steals() == wanted);
  for (steal const& s : wanted) {
    auto const* const n = t.find(s.place);
    REQUIRE(n != nullptr);
    CHECK(n->worker == s.worker);
    CHECK(n->victim == s.victim);
    CHECK(n->sequence == s.sequence);
  }
  for (auto const& place : std::vector<std::vector<std::uint32_t>>{{}, {1}, {2, 1}, {0, 1}, {0, 0, 0}, {3}})
    CHECK(t.find(place) == nullptr);
  CHECK(t.child(0, 0) == 1);
  CHECK(t.child(0, 1) == steal_tree::none);
  CHECK(t.child(0, 2) == 3);
  CHECK_FALSE(t.nodes()[t.child(3, 1)].stolen());
}

TEST_CASE("steal_tree: entries after a join are no steals", "[observe]") {
  steal_tree const t{3, 1, joined_example()};
  CHECK(t.steal_count() == 4);
  CHECK(t.join_count() == 2);
  CHECK(t.steals().size() == 6);
  CHECK(t.bytes() == sizeof t + 8 * sizeof(steal_tree::node));
  STATIC_REQUIRE(sizeof(steal_tree::node) <= 24);
  auto const* const n = t.find(std::vector<std::uint32_t>{3});
  REQUIRE(n != nullptr);
  CHECK(n->entry());
  CHECK(n->after_join);
  CHECK_FALSE(n->stolen());
  CHECK(n->worker == 1);
  CHECK(n->victim == 1);
  CHECK(t.find(std::vector<std::uint32_t>{2})->stolen());
  CHECK_FALSE(t.nodes()[0].entry());

  auto other = joined_example();
  other.back().after_join = false;
  CHECK_FALSE(steal_tree{3, 1, other} == t);
  CHECK(steal_tree::from_json(t.to_json()) == t);
  CHECK(steal_tree::from_json(t.to_json()).to_json() == t.to_json());
}

TEST_CASE("steal_tree: pruning goes level by level from below", "[observe]") {
  using places = std::vector<std::string>;
  places const all{"0", "00", "01j", "1", "12", "120", "121j", "2j", "3", "30"};
  CHECK(places_after_prune(0, levels()) == all);
  CHECK(places_after_prune(14, levels()) == all);  // 14 % of 7 steals is none
  CHECK(places_after_prune(15, levels()) == places{"0", "00", "01j", "1", "12", "2j", "3", "30"});
  CHECK(places_after_prune(30, levels()) == places{"0", "00", "01j", "1", "12", "2j", "3"});  // ties: the first stay
  CHECK(places_after_prune(43, levels()) == places{"0", "00", "01j", "1", "2j", "3"});
  CHECK(places_after_prune(58, levels()) == places{"0", "1", "2j", "3"});  // 0.1 has no steal before it any more
  CHECK(places_after_prune(72, levels()) == places{"0", "1", "2j"});
  CHECK(places_after_prune(99, levels()) == places{"0", "2j"});
  CHECK(places_after_prune(100, levels()).empty());
}

TEST_CASE("steal_tree: an entry after a join stays with a steal before it in its own frame only", "[observe]") {
  using places = std::vector<std::string>;
  // In frame 0 the steal comes after; in frame 1 it was in another child's frame.
  std::vector<steal> const all{{{0}, 1, 0, 0},          {{0, 0}, 0, 1, 0, true}, {{0, 1}, 2, 1, 0},
                               {{0, 2}, 1, 2, 1, true}, {{1, 0, 0}, 2, 1, 1},    {{1, 1}, 0, 1, 1, true}};
  CHECK(places_after_prune(0, all) == places{"0", "01", "02j", "100"});
  CHECK(places_after_prune(50, all) == places{"0", "01", "02j"});
}

TEST_CASE("steal_tree: what stays when pruned is as it was, and no node leads to nothing", "[observe]") {
  steal_tree t{3, 0, levels()};
  auto const before = t.bytes();
  t.prune(72);
  CHECK(t.steals() == std::vector<steal>{{{0}, 1, 0, 0}, {{1}, 2, 1, 1}, {{2}, 1, 2, 2, true}});
  CHECK(t.steal_count() == 2);
  CHECK(t.join_count() == 1);
  CHECK(t.depth() == 1);
  CHECK(t.nodes().size() == 4);
  CHECK(t.bytes() == sizeof t + 4 * sizeof(steal_tree::node));
  CHECK(t.bytes() < before);
  CHECK(t.worker_count() == 3);
  CHECK(steal_tree::from_json(t.to_json()) == t);
  t.prune(100);
  CHECK(t == steal_tree{3, 0, {}});
  t.prune(50);
  CHECK(t == steal_tree{3, 0, {}});

  steal_tree of_no_run;
  of_no_run.prune(85);
  CHECK(of_no_run.empty());

  fast_random random{2};
  for (int round = 0; round < 200; ++round) {
    steal_tree pruned{8, 0, random_steals(random, 2 + random.next() % 5, random.next() % 60)};
    steal_tree const whole = pruned;
    int const percent = static_cast<int>(random.next() % 101);
    pruned.prune(percent);
    auto const count = whole.steal_count();
    CHECK(pruned.steal_count() == count - count * static_cast<std::size_t>(percent) / 100);
    std::size_t deepest = 0;
    for (steal const& s : pruned.steals()) {
      auto const* const n = whole.find(s.place);
      REQUIRE(n != nullptr);
      CHECK(*pruned.find(s.place) ==
            steal_tree::node{n->branch, pruned.find(s.place)->end, n->worker, n->victim, n->sequence, n->after_join});
      if (!s.after_join) deepest = std::max(deepest, s.place.size());
    }
    for (steal const& s : whole.steals())  // every steal above the last level is there
      if (!s.after_join && s.place.size() < deepest) CHECK(pruned.find(s.place) != nullptr);
    for (std::uint32_t i = 1; i < pruned.nodes().size(); ++i)
      if (pruned.nodes()[i].end == i + 1) CHECK(pruned.nodes()[i].entry());
    auto again = pruned;
    again.prune(0);
    CHECK(again == pruned);
  }
}

TEST_CASE("steal_tree: only a percentage can be pruned", "[observe]") {
  steal_tree t{3, 0, levels()};
  steal_tree const before = t;
  CHECK(prune_error(t, -1) == "a steal tree cannot be pruned by -1 %: that is no part of its steals; give 0 to 100");
  CHECK(has(prune_error(t, 101), "by 101 %"));
  CHECK(t == before);
  steal_tree of_no_run;
  CHECK(has(prune_error(of_no_run, 101), "by 101 %"));
  CHECK(prune_error(t, 0) == "accepted");
  CHECK(prune_error(t, 100) == "accepted");
}

TEST_CASE("steal_tree: the order of the steals given does not matter", "[observe]") {
  fast_random random{1};
  for (int round = 0; round < 50; ++round) {
    auto all = random_steals(random, 2 + random.next() % 5, random.next() % 60);
    steal_tree const t{8, 0, all};
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.next() % i]);
    CHECK(steal_tree{8, 0, all} == t);
    std::sort(all.begin(), all.end(), [](steal const& a, steal const& b) { return a.place < b.place; });
    CHECK(t.steals() == all);
    CHECK(steal_tree::from_json(t.to_json()) == t);
    CHECK(steal_tree::from_json(t.to_json()).to_json() == t.to_json());
    std::size_t longest = 0;
    for (steal const& s : all) {
      longest = std::max(longest, s.place.size());
      CHECK(t.find(s.place) != nullptr);
    }
    CHECK(t.depth() == longest);
  }
}

TEST_CASE("steal_tree: contradictions are refused with a sentence", "[observe]") {
  CHECK(has(error_text(3, 3, {}), "worker 3 began it, but there are 3"));
  CHECK(has(error_text(0, 0, {}), "worker 0 began it, but there are 0"));
  CHECK(has(error_text(std::size_t{1} << 32, 0, {}), "too many"));
  CHECK(has(error_text(2, 0, {{{0}, 2, 0, 0}}), "body, after child 0: worker 2 from 0, its number 0, but there are 2"));
  CHECK(has(error_text(2, 0, {{{0}, 0, 2, 0}}), "there are 2 workers"));
  CHECK(has(error_text(2, 0, {{{0}, 1, 1, 0}}), "worker 1 robs itself"));
  CHECK(has(error_text(2, 0, {{{}, 1, 0, 0}}), "no place"));
  CHECK(has(error_text(2, 0, {{{0}, 1, 0, 5}, {{1}, 1, 0, 5}}), "two entries with number 5"));
  CHECK(has(error_text(2, 0, {{{0}, 1, 0, 5}, {{1}, 1, 1, 5, true}}), "two entries with number 5"));
  CHECK(has(error_text(3, 0, {{{4, 1}, 1, 0, 0}, {{4, 1}, 2, 0, 0}}), "body.4, after child 1 has two entries"));
  CHECK(has(error_text(3, 0, {{{1}, 1, 0, 0}, {{1}, 1, 0, 1, true}}), "body, after child 1 has two entries"));
  CHECK(has(error_text(2, 0, {{{0}, 2, 2, 0, true}}),
            "worker 2 goes on after its children, left by 2, its number 0, but"));
  CHECK(error_text(2, 0, {{{0}, 1, 1, 0, true}}) == "accepted");
  CHECK(error_text(3, 0, {{{4, 1}, 1, 0, 0}, {{4, 1, 0}, 2, 0, 0}}) == "accepted");
}

TEST_CASE("steal_tree: JSON that others read, too", "[observe]") {
  auto const v = nlohmann::json::parse(steal_tree{3, 1, joined_example()}.to_json());
  CHECK(v["heist"] == "steal tree");
  CHECK(v["version"] == 2);
  CHECK(v["fields"].size() == v["steals"][0].size());
  CHECK(v["workers"] == 3);
  CHECK(v["body"] == 1);
  CHECK(v["steals"] == nlohmann::json::parse("[[0,[0],0,1,0,false],[1,[0],2,1,0,false],[0,[2],2,0,1,false],"
                                             "[1,[1,4],0,2,1,false],[2,[5],2,0,2,true],[0,[3],1,1,0,true]]"));
}

TEST_CASE("steal_tree: files that are cut, of another version or edited are refused", "[observe]") {
  auto const text = steal_tree{3, 1, joined_example()}.to_json();
  for (std::size_t n = 0; n + 2 < text.size(); ++n) {
    CAPTURE(n);
    REQUIRE(has(error_text(text.substr(0, n)), "this is no steal tree"));
  }
  CHECK(has(error_text(replaced(text, "\"version\": 2", "\"version\": 1")),
            "its version is 1, this heist reads version 2"));
  CHECK(has(error_text(replaced(text, "\"version\": 2", "\"version\": 3")),
            "its version is 3, this heist reads version 2"));
  CHECK(has(error_text("{\"heist\": \"steal tree\", \"version\": 1, \"workers\": 2, \"body\": 0,\n"
                       " \"steals\": [[0, [0], 1, 0, 0]]}"),
            "its version is 1"));
  CHECK(has(error_text(replaced(text, "steal tree", "region profile")), "something else"));
  CHECK(has(error_text(replaced(text, "\"workers\": 3", "\"workers\": 2")), "there are 2 workers"));
  CHECK(has(error_text(replaced(text, "\"workers\": 3", "\"workers\": 0")), "worker 1 began it"));
  CHECK(has(error_text(replaced(text, "\"workers\": 3", "\"workers\": -3")), "whole number"));
  CHECK(has(error_text(replaced(text, "\"workers\": 3", "\"workers\": 4294967295")), "too large"));
  CHECK(has(error_text(replaced(text, "\"body\": 1", "\"body\": 7")), "worker 7 began it"));
  CHECK(has(error_text(replaced(text, "\"body\"", "\"bdy\"")), "no member \"body\""));
  CHECK(
      has(error_text(replaced(text, "[1, [0], 2, 1, 0, false]", "[2, [0], 2, 1, 0, false]")), "2 branches in common"));
  CHECK(has(error_text(replaced(text, "[1, [0], 2, 1, 0, false]", "[1, [0], 2, 1, 0]")), "6 fields, but 5"));
  CHECK(has(error_text(replaced(text, "[1, [0], 2, 1, 0, false]", "[1, [], 2, 1, 0, false]")),
            "body, after child 0 has two"));
  CHECK(has(error_text(replaced(text, "[1, [0], 2, 1, 0, false]", "[0, [], 2, 1, 0, false]")), "no place"));
  CHECK(has(error_text(replaced(text, "[1, [0], 2, 1, 0, false]", "[1, [0], 2, 2, 0, false]")), "robs itself"));
  CHECK(has(error_text(replaced(text, "[1, [0], 2, 1, 0, false]", "[1, [0], 3, 1, 0, false]")), "there are 3 workers"));
  CHECK(has(error_text(replaced(text, "[1, [0], 2, 1, 0, false]", "[1, [0], 2, 1, 2, false]")),
            "two entries with number"));
  CHECK(has(error_text(replaced(text, "[1, [0], 2, 1, 0, false]", "[1, [0], 2, 1, 0, 0]")), "true or false"));
  CHECK(has(error_text(replaced(text, "1, 1, 0, true", "1, 1, 0, false")), "worker 1 robs itself"));
  CHECK(has(error_text(replaced(text, "[0, [3], 1,", "[0, [2], 1,")), "body, after child 2 has two entries"));
}

TEST_CASE("steal_tree: a long chain of frames", "[observe]") {
  std::vector<steal> all;
  std::vector<std::uint32_t> place;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    place.push_back(1);
    if (i % 100 == 99) all.push_back({place, i / 100 % 2, 1 - i / 100 % 2, i / 200});
  }
  steal_tree const t{2, 0, all};
  CHECK(t.nodes().size() == 3001);
  CHECK(t.depth() == 3000);
  auto const text = t.to_json();
  CHECK(text.size() < 20'000);  // each branch once
  CHECK(steal_tree::from_json(text) == t);
}

TEST_CASE("steal_tree: pictures have a colour for each worker", "[observe]") {
  auto const dot = steal_tree{3, 1, example()}.to_dot();
  CHECK(has(dot, "n0 [label=\"body\\nworker 1\", fillcolor=\"0.333 0.45 0.95\"]"));
  CHECK(has(dot, "n1 [label=\"worker 0 from 1\\nits number 0\", fillcolor=\"0.000 0.45 0.95\"]"));
  CHECK(has(dot, "n3 [label=\"worker 2 from 0\\nits number 1\", fillcolor=\"0.667 0.45 0.95\"]"));
  CHECK(has(dot, "n4 [label=\"\", shape=point]"));
  CHECK(has(dot, "n0 -> n3 [label=\"2\"]"));
  CHECK(has(dot, "n3 -> n4 [label=\"1\"]"));
  CHECK(has(dot, "n4 -> n5 [label=\"4\"]"));
  CHECK(std::count(dot.begin(), dot.end(), '>') == 5);
}

TEST_CASE("steal_tree: pictures show entries after a join with dashed frames", "[observe]") {
  auto const dot = steal_tree{3, 1, joined_example()}.to_dot();
  CHECK(
      has(dot,
          "n7 [label=\"worker 1 goes on, left by 1\\nits number 0\", style=\"filled,dashed\", fillcolor=\"0.333 0.45"));
  CHECK(has(dot, "n1 [label=\"worker 0 from 1\\nits number 0\", fillcolor"));
}

TEST_CASE("steal_tree: the difference of two trees", "[observe]") {
  steal_tree const a{3, 1, example()};
  CHECK(difference(a, a).empty());
  CHECK(difference({}, {}).empty());

  auto changed = example();
  changed[0].victim = 2;      // {0}
  changed[1].place = {0, 1};  // was {0, 0}
  steal_tree const b{4, 0, changed};
  CHECK(difference(a, b) ==
        "workers: 3 -> 4\n"
        "body: worker 1 -> worker 0\n"
        "  body, after child 0: worker 0 from 1, its number 0 -> worker 0 from 2, its number 0\n"
        "- body.0, after child 0: worker 2 from 1, its number 0\n"
        "+ body.0, after child 1: worker 2 from 1, its number 0\n");
  auto const missing = difference(a, steal_tree{3, 1, {}});
  CHECK(std::count(missing.begin(), missing.end(), '\n') == 4);
  CHECK(missing.rfind("- ", 0) == 0);

  auto joined = example();
  joined[0] = {{0}, 0, 1, 0, true};
  joined.push_back({{3}, 1, 2, 0, true});
  CHECK(difference(a, steal_tree{3, 1, joined}) ==
        "  body, after child 0: worker 0 from 1, its number 0 -> worker 0 goes on after its children, left by 1, its "
        "number 0\n"
        "+ body, after child 3: worker 1 goes on after its children, left by 2, its number 0\n");
}

TEST_CASE("steal_tree: a deep tree is read in proportion to its text", "[observe]") {
  constexpr std::uint32_t entries = 100'000;  // with each place as a whole: 5 * 10^9 branches, 20 GB
  std::string text = R"({"heist": "steal tree", "version": 2, "workers": 2, "body": 0, "steals": [)";
  for (std::uint32_t i = 0; i < entries; ++i)
    text += fmt::format("{}[{}, [1], {}, {}, {}, false]", i == 0 ? "" : ", ", i, i % 2, 1 - i % 2, i / 2);
  auto const t = steal_tree::from_json(text + "]}");
  CHECK(t.steal_count() == entries);
  CHECK(t.depth() == entries);
  CHECK(t.bytes() < 100 * std::size_t{entries});
  CHECK(steal_tree::from_json(t.to_json()) == t);
}

TEST_CASE("steal_tree: a file whose entries are not in the order of the serial program is refused", "[observe]") {
  auto const text = steal_tree{3, 1, joined_example()}.to_json();
  CHECK(has(error_text(replaced(text, "[0, [3], 1,", "[0, [0, 0], 1,")),
            "body.0, after child 0 does not stand where the serial program comes to it"));
  CHECK(has(error_text(replaced(text, "[0, [3], 1,", "[0, [1], 1,")), "body, after child 1 does not stand where"));
}
