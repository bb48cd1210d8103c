// Steal trees: read, written, read again, cut, pruned, and asked for every entry.
#include <algorithm>  // reverse

#include "all_targets.hpp"
#include "heist/locality/policy/steal_tree.hpp"

namespace fuzz {
namespace {

using heist::steal_tree;
using heist::steal_tree_error;

outcome run(std::string_view input) {
  auto const t = attempt<steal_tree_error>(input.size(), {4096, 400}, [&] { return steal_tree::from_json(input); });
  if (!t) return {};
  std::uint32_t round_trips = 1;
  require(steal_tree::from_json(t->to_json()) == *t, "the tree changes when written and read");
  require(rejects_call<steal_tree_error>([&] { return steal_tree::from_json(cut(input)); }), "a cut file is accepted");

  auto steals = t->steals();
  require(steals.size() == t->steal_count() + t->join_count(), "the tree does not know how many entries it has");
  for (auto const& s : steals) {
    auto const* const found = t->find(s.place);
    require(found != nullptr && found->worker == s.worker && found->victim == s.victim &&
                found->sequence == s.sequence && found->after_join == s.after_join,
            "an entry is not found at its place");
  }
  require(heist::difference(*t, *t).empty(), "a tree differs from itself");
  static_cast<void>(t->to_dot());
  if (t->empty()) return {true, round_trips};

  auto pruned = *t;
  int const percent = static_cast<int>(digest(input) % 101);
  pruned.prune(percent);
  require(pruned.steal_count() == t->steal_count() - t->steal_count() * static_cast<std::size_t>(percent) / 100,
          "pruning drops another share");
  require(steal_tree::from_json(pruned.to_json()) == pruned, "a pruned tree changes when written and read");
  ++round_trips;
  std::reverse(steals.begin(), steals.end());
  require(steal_tree(t->worker_count(), t->body_worker(), std::move(steals)) == *t, "the order of the entries matters");
  ++round_trips;
  return {true, round_trips};
}

}  // namespace

target const steal_tree_target{"steal_tree", 4096, 10000, true, run};

}  // namespace fuzz
