// Bodies of steal_tree.hpp.
#pragma once

#include "heist/locality/policy/steal_tree.hpp"

#include <fmt/core.h>

#include <algorithm>  // adjacent_find, max, min, sort

#include "heist/core/base/json.hpp"

namespace heist {

HEIST_COLD_BODY std::size_t steal_tree::depth() const {
  std::size_t deepest = 0;
  visit([&](std::size_t depth, node const&) { deepest = std::max(deepest, depth); });
  return deepest;
}

HEIST_COLD_BODY std::uint32_t steal_tree::child(std::uint32_t parent, std::uint32_t branch) const noexcept {
  std::uint32_t i = parent + 1;
  while (i < nodes_[parent].end && nodes_[i].branch < branch) i = nodes_[i].end;
  return i < nodes_[parent].end && nodes_[i].branch == branch ? i : none;
}

HEIST_COLD_BODY steal_tree::node const* steal_tree::find(std::span<std::uint32_t const> place) const noexcept {
  if (empty() || place.empty()) return nullptr;
  std::uint32_t at = 0;
  for (std::uint32_t const branch : place) {
    at = child(at, branch);
    if (at == none) return nullptr;
  }
  return nodes_[at].entry() ? &nodes_[at] : nullptr;
}

HEIST_COLD_BODY std::vector<steal_tree::steal> steal_tree::steals() const {
  return steals_if([](std::size_t, node const& n) { return n.entry(); });
}

}  // namespace heist

namespace heist::detail {

inline constexpr std::uint64_t steal_tree_version = 2;

/// "body.0.1, after child 2".
HEIST_COLD_BODY std::string text_of_place(std::span<std::uint32_t const> place) {
  std::string text = "body";
  for (std::uint32_t const branch : place.first(place.size() - 1)) text += fmt::format(".{}", branch);
  return text + fmt::format(", after child {}", place.back());
}

HEIST_COLD_BODY std::string text_of_steal(steal_tree::steal const& s) {
  if (!s.after_join) return fmt::format("worker {} from {}, its number {}", s.worker, s.victim, s.sequence);
  return fmt::format("worker {} goes on after its children, left by {}, its number {}", s.worker, s.victim, s.sequence);
}

[[noreturn]] HEIST_COLD_BODY void reject_steal_tree(std::string_view what) {
  throw steal_tree_error(fmt::format("this is no steal tree: {}", what));
}

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY steal_tree::builder::builder(steal_tree& tree, std::size_t workers, std::uint32_t body) : tree_{tree} {
  if (workers >= none) detail::reject_steal_tree(fmt::format("{} workers are too many", workers));
  if (body >= workers) detail::reject_steal_tree(fmt::format("worker {} began it, but there are {}", body, workers));
  tree_.workers_ = workers;
  tree_.body_ = body;
  tree_.nodes_.emplace_back();
}

HEIST_COLD_BODY void steal_tree::builder::add(std::size_t common, std::span<std::uint32_t const> branches,
                                              steal const& e) {
  if (common + branches.size() == 0) detail::reject_steal_tree("a steal has no place");
  auto& nodes = tree_.nodes_;
  auto const last_branch = [&](std::size_t i) { return nodes[open_[i + 1]].branch; };
  std::size_t same = 0;
  while (same < branches.size() && common + same < depth() && last_branch(common + same) == branches[same]) ++same;
  std::size_t const fork = common + same;  // here the ways part
  if (same == branches.size() && nodes[open_[fork]].entry())
    detail::reject_steal_tree(detail::text_of_place(place(common, branches)) + " has two entries");
  if (same == branches.size() || (fork < depth() && branches[same] < last_branch(fork))) {
    detail::reject_steal_tree(detail::text_of_place(place(common, branches)) +
                              " does not stand where the serial program comes to it");
  }
  check(common, branches, e);
  close(fork + 1);
  for (std::uint32_t const branch : branches.subspan(same)) {
    if (nodes.size() == none) detail::reject_steal_tree("it is too large");
    open_.push_back(static_cast<std::uint32_t>(nodes.size()));
    nodes.emplace_back().branch = branch;
  }
  node const way = nodes.back();
  nodes.back() = {way.branch, way.end, e.worker, e.victim, e.sequence, e.after_join};
  numbers_.emplace_back(e.worker, e.sequence);
  ++(e.after_join ? tree_.joins_ : tree_.steals_);
}

HEIST_COLD_BODY void steal_tree::builder::finish() {
  close(0);
  std::sort(numbers_.begin(), numbers_.end());
  if (auto const twice = std::adjacent_find(numbers_.begin(), numbers_.end()); twice != numbers_.end()) {
    detail::reject_steal_tree(fmt::format("worker {} has two entries with number {}", twice->first, twice->second));
  }
  tree_.nodes_.shrink_to_fit();
}

HEIST_COLD_BODY std::vector<std::uint32_t> steal_tree::builder::place(std::size_t common,
                                                                      std::span<std::uint32_t const> branches) const {
  std::vector<std::uint32_t> whole;
  for (std::size_t i = 0; i != common; ++i) whole.push_back(tree_.nodes_[open_[i + 1]].branch);
  whole.insert(whole.end(), branches.begin(), branches.end());
  return whole;
}

HEIST_COLD_BODY void steal_tree::builder::check(std::size_t common, std::span<std::uint32_t const> branches,
                                                steal const& e) const {
  if (e.worker >= tree_.workers_ || e.victim >= tree_.workers_) {
    detail::reject_steal_tree(fmt::format("{}: {}, but there are {} workers",
                                          detail::text_of_place(place(common, branches)), detail::text_of_steal(e),
                                          tree_.workers_));
  }
  if (e.worker == e.victim && !e.after_join) detail::reject_steal_tree(fmt::format("worker {} robs itself", e.worker));
}

HEIST_COLD_BODY void steal_tree::builder::close(std::size_t left) {
  for (; open_.size() > left; open_.pop_back())
    tree_.nodes_[open_.back()].end = static_cast<std::uint32_t>(tree_.nodes_.size());
}

HEIST_COLD_BODY steal_tree::steal_tree(std::size_t workers, std::uint32_t body, std::vector<steal> steals) {
  builder build{*this, workers, body};
  std::sort(steals.begin(), steals.end(), [](steal const& a, steal const& b) { return a.place < b.place; });
  for (steal const& s : steals) build.add(0, s.place, s);
  build.finish();
}

HEIST_COLD_BODY void steal_tree::prune(int percent) {
  if (percent < 0 || percent > 100) {
    throw steal_tree_error(
        fmt::format("a steal tree cannot be pruned by {} %: that is no part of its steals; give 0 to 100", percent));
  }
  if (empty()) return;
  std::vector<std::size_t> on_level;
  visit([&](std::size_t depth, node const& n) {
    if (on_level.size() <= depth) on_level.resize(depth + 1);
    if (n.stolen()) ++on_level[depth];
  });
  std::size_t left = steals_ - steals_ * static_cast<std::size_t>(percent) / 100;
  for (std::size_t& on_this : on_level) {  // from now on: how many may stay
    on_this = std::min(on_this, left);
    left -= on_this;
  }

  std::vector<bool> frame_stolen(on_level.size());  // by frame on the way: whether a steal in it has stayed
  auto kept = steals_if([&](std::size_t depth, node const& n) {
    frame_stolen[depth] = false;
    if (n.after_join) return static_cast<bool>(frame_stolen[depth - 1]);
    if (!n.stolen() || on_level[depth] == 0) return false;
    --on_level[depth];
    frame_stolen[depth - 1] = true;
    return true;
  });
  *this = steal_tree{workers_, body_, std::move(kept)};
}

HEIST_COLD_BODY std::string steal_tree::to_json() const {
  auto text = fmt::format(
      "{{\"heist\": \"steal tree\", \"version\": {}, \"workers\": {}, \"body\": {},\n"
      " \"fields\": [\"branches as in the line above\", \"further branches\", \"worker\", \"victim\", \"sequence\",\n"
      "  \"goes on after its children: no steal\"],\n"
      " \"steals\": [",
      detail::steal_tree_version, workers_, body_);
  std::vector<std::uint32_t> place;
  std::size_t common = 0;  // branches that this place and that of the entry before share
  bool first = true;
  visit([&](std::size_t depth, node const& n) {
    if (depth == 0) return;
    place.resize(depth - 1);
    place.push_back(n.branch);
    common = std::min(common, depth - 1);
    if (!n.entry()) return;
    std::string branches;
    for (std::size_t i = common; i < place.size(); ++i)
      branches += fmt::format("{}{}", i == common ? "" : ", ", place[i]);
    text += fmt::format("{}  [{}, [{}], {}, {}, {}, {}]", first ? "\n" : ",\n", common, branches, n.worker, n.victim,
                        n.sequence, n.after_join);
    common = depth;
    first = false;
  });
  return text + "]}\n";
}

HEIST_COLD_BODY steal_tree steal_tree::from_json(std::string_view text) {
  auto const number = [](json::value const& v) {
    std::uint64_t const n = v.as_unsigned();
    if (n >= none) throw json_error(fmt::format("JSON: {} is too large", n));
    return static_cast<std::uint32_t>(n);
  };
  try {
    auto const v = json::parse(text);
    if (v.at("heist").as_string() != "steal tree") throw json_error("JSON: it describes something else");
    if (auto const version = v.at("version").as_unsigned(); version != detail::steal_tree_version) {
      throw json_error(
          fmt::format("its version is {}, this heist reads version {}", version, detail::steal_tree_version));
    }
    std::uint32_t const workers = number(v.at("workers")), body = number(v.at("body"));
    auto const& lines = v.at("steals").as_array();
    steal_tree tree;
    if (workers == 0 && body == 0 && lines.empty()) return tree;
    builder build{tree, workers, body};
    std::vector<std::uint32_t> branches;
    for (auto const& line : lines) {
      auto const& fields = line.as_array();
      if (fields.size() != 6)
        throw json_error(fmt::format("JSON: a steal has 6 fields, but {} stand there", fields.size()));
      std::uint64_t const common = fields[0].as_unsigned();
      if (common > build.depth()) {
        throw json_error(fmt::format("JSON: steal {} has {} branches in common with the one above, which has {}",
                                     &line - lines.data(), common, build.depth()));
      }
      branches.clear();
      for (auto const& branch : fields[1].as_array()) branches.push_back(number(branch));
      build.add(static_cast<std::size_t>(common), branches,
                {{}, number(fields[2]), number(fields[3]), number(fields[4]), fields[5].as_bool()});
    }
    build.finish();
    return tree;
  } catch (json_error const& e) {
    throw steal_tree_error(fmt::format("this is no steal tree: {}; record the region again", e.what()));
  }
}

HEIST_COLD_BODY std::string steal_tree::to_dot() const {
  auto const color = [&](std::uint32_t worker) {
    return fmt::format("{:.3f} 0.45 0.95", static_cast<double>(worker) / static_cast<double>(workers_));
  };
  std::string text = "digraph steal_tree {\n  node [shape=box, style=filled];\n";
  std::vector<std::size_t> above;  // the nodes on the way
  std::size_t i = 0;
  visit([&](std::size_t depth, node const& n) {
    if (depth == 0) {
      text += fmt::format("  n0 [label=\"body\\nworker {}\", fillcolor=\"{}\"];\n", body_, color(body_));
    } else if (n.entry()) {
      text += fmt::format("  n{} [label=\"worker {} {} {}\\nits number {}\", {}fillcolor=\"{}\"];\n", i, n.worker,
                          n.after_join ? "goes on, left by" : "from", n.victim, n.sequence,
                          n.after_join ? "style=\"filled,dashed\", " : "", color(n.worker));
    } else {
      text += fmt::format("  n{} [label=\"\", shape=point];\n", i);
    }
    above.resize(depth);
    if (depth != 0) text += fmt::format("  n{} -> n{} [label=\"{}\"];\n", above.back(), i, n.branch);
    above.push_back(i++);
  });
  return text + "}\n";
}

HEIST_COLD_BODY std::string difference(steal_tree const& before, steal_tree const& after) {
  std::string text;
  if (before.worker_count() != after.worker_count())
    text += fmt::format("workers: {} -> {}\n", before.worker_count(), after.worker_count());
  if (before.body_worker() != after.body_worker())
    text += fmt::format("body: worker {} -> worker {}\n", before.body_worker(), after.body_worker());
  auto const a = before.steals(), b = after.steals();
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->place < j->place)) {
      text += fmt::format("- {}: {}\n", detail::text_of_place(i->place), detail::text_of_steal(*i));
      ++i;
    } else if (i == a.end() || j->place < i->place) {
      text += fmt::format("+ {}: {}\n", detail::text_of_place(j->place), detail::text_of_steal(*j));
      ++j;
    } else {
      if (!(*i == *j)) {
        text += fmt::format("  {}: {} -> {}\n", detail::text_of_place(i->place), detail::text_of_steal(*i),
                            detail::text_of_steal(*j));
      }
      ++i, ++j;
    }
  }
  return text;
}

}  // namespace heist
