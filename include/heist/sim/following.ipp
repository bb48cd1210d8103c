// Bodies of following.hpp.
#pragma once

#include "heist/sim/following.hpp"

#include <algorithm>  // sort
#include <utility>    // exchange, pair

#include "heist/sim/fail.hpp"

namespace heist::sim {

HEIST_BODY following::following(options const& wanted, std::uint32_t workers)
    : tree_{wanted.follow}, mode_{wanted.mode}, workers_{workers}, given_(active() ? workers : 0) {
  if (!active()) return;
  if (tree_->empty())
    detail::fail("options::follow is the tree of no run; fix it by one of report::trees or region::tree()");
  if (tree_->worker_count() > workers && mode_ == replay_mode::strict_ordered) {
    mode_ = replay_mode::strict_unordered;
    folded_ = true;
  }
  if (ordered()) number();
}

HEIST_BODY void following::begin_run() {
  for (auto& s : slots_) {
    s.items.assign(s.items.size(), item{});
    s.next = 0;
  }
}

HEIST_BODY void following::give_in_order(std::uint32_t to, std::uint32_t place, item i) {
  if (ordered()) {
    slots_[to].items[number_[place]] = i;
  } else {
    give(to, i);
  }
}

HEIST_BODY bool following::has(std::uint32_t w) const noexcept {
  if (!active()) return false;
  if (!given_[w].empty()) return true;
  return ordered() && slots_[w].next != slots_[w].items.size() && slots_[w].items[slots_[w].next];
}

HEIST_BODY item following::take(std::uint32_t w) noexcept {
  if (!has(w)) return {};
  if (!given_[w].empty()) return given_[w].take_oldest();
  return std::exchange(slots_[w].items[slots_[w].next++], item{});
}

HEIST_BODY void following::relax() {
  for (std::uint32_t w = 0; w != slots_.size(); ++w) {
    for (item& i : slots_[w].items)
      if (i) given_[w].push(std::exchange(i, item{}));
  }
  mode_ = replay_mode::relaxed;
}

HEIST_BODY void following::number() {
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> of_worker(workers_);  // sequence, node
  auto const& nodes = tree_->nodes();
  for (std::uint32_t i = 0; i != nodes.size(); ++i)
    if (nodes[i].stolen()) of_worker[nodes[i].worker].emplace_back(nodes[i].sequence, i);
  number_.assign(nodes.size(), 0);
  slots_.resize(workers_);
  for (std::uint32_t w = 0; w != workers_; ++w) {
    std::sort(of_worker[w].begin(), of_worker[w].end());
    for (std::uint32_t k = 0; k != of_worker[w].size(); ++k) number_[of_worker[w][k].second] = k;
    slots_[w].items.resize(of_worker[w].size());
  }
}

}  // namespace heist::sim
