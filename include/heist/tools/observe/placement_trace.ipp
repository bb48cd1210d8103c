// Bodies of placement_trace.hpp.
#pragma once

#include "heist/tools/observe/placement_trace.hpp"

#include <algorithm>  // sort

namespace heist {

HEIST_COLD_BODY void placement_trace::start(std::size_t workers) {
  lists_.clear();
  for (std::size_t i = 0; i < workers; ++i) lists_.push_back(std::make_unique<list>());
}

HEIST_COLD_BODY void placement_trace::inter_begin(std::size_t worker, std::size_t squad, void const* task,
                                                  std::uint32_t level) noexcept {
  add(worker, squad, task, level, placement_kind::inter_begin);
}

HEIST_COLD_BODY void placement_trace::inter_end(std::size_t worker, std::size_t squad, void const* task) noexcept {
  add(worker, squad, task, 0, placement_kind::inter_end);
}

HEIST_COLD_BODY void placement_trace::intra_begin(std::size_t worker, std::size_t squad, void const* task) noexcept {
  add(worker, squad, task, 0, placement_kind::intra_begin);
}

HEIST_COLD_BODY std::vector<placement_event> placement_trace::events() const {
  std::vector<placement_event> all;
  for (auto const& l : lists_) all.insert(all.end(), l->events.begin(), l->events.end());
  std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.order < b.order; });
  return all;
}

HEIST_COLD_BODY std::size_t placement_trace::released() const noexcept {
  std::size_t n = 0;
  for (auto const& l : lists_) n += l->released;
  return n;
}

HEIST_COLD_BODY void placement_trace::clear() noexcept {
  for (auto const& l : lists_) {
    l->events.clear();
    l->released = 0;
  }
}

HEIST_COLD_BODY void placement_trace::add(std::size_t worker, std::size_t squad, void const* task, std::uint32_t level,
                                          placement_kind what) noexcept {
  // relaxed: of two additions to one counter the one that happens before has the smaller number
  std::uint64_t const order = next_.fetch_add(1, std::memory_order_relaxed);
  list& mine = *lists_[worker];
  try {
    mine.events.push_back(
        {order, task, static_cast<std::uint32_t>(worker), static_cast<std::uint32_t>(squad), level, what});
  } catch (...) {
    ++mine.released;
  }
}

HEIST_COLD_BODY std::string placement_report::text(std::size_t most) const {
  std::string all =
      fmt::format("{} inter-squad begins on {} squads down to level {}, {} intra-squad begins, {} violations\n",
                  inter_begins, squads_used, deepest, intra_begins, violations.size());
  for (std::size_t i = 0; i < violations.size() && i < most; ++i) all += "  " + violations[i] + '\n';
  return all;
}

}  // namespace heist

namespace heist::detail {

HEIST_COLD_BODY void placement_checker::look_at(placement_event const& e) {
  if (any_ && e.order <= last_) wrong(e, "it has number {}, and the event before {}", e.order, last_);
  any_ = true;
  last_ = e.order;
  if (e.worker >= squad_of_.size() || e.squad >= running_.size()) {
    wrong(e, "there are {} workers and {} squads", squad_of_.size(), running_.size());
    return;
  }
  if (squad_of_[e.worker] != e.squad) wrong(e, "that worker is in squad {}", squad_of_[e.worker]);
  switch (e.what) {
    case placement_kind::inter_begin:
      begins(e);
      break;
    case placement_kind::inter_end:
      ends(e);
      break;
    case placement_kind::intra_begin:
      intra_begin(e);
      break;
  }
}

HEIST_COLD_BODY placement_report placement_checker::finish() {
  for (auto const& [task, e] : open_) wrong(e, "it has no end");
  return std::move(report_);
}

HEIST_COLD_BODY void placement_checker::begins(placement_event const& e) {
  ++report_.inter_begins;
  report_.squads_used += !used_[e.squad];
  used_[e.squad] = true;
  if (head_[e.squad] != e.worker) wrong(e, "the squad's head is worker {}", head_[e.squad]);
  check_level(e);
  if (auto const at = open_.find(e.task); at != open_.end()) {
    wrong(e, "it has begun in squad {} and not ended", at->second.squad);
    if (running_[at->second.squad] == e.task) running_[at->second.squad] = nullptr;
  }
  if (void const* const other = running_[e.squad]; other != nullptr) {
    wrong(e, "the squad is busy with task {}", other);
  }
  open_[e.task] = e;
  running_[e.squad] = e.task;
}

HEIST_COLD_BODY void placement_checker::check_level(placement_event const& e) {
  if (e.level == 0) wrong(e, "level 0 is no task's: a region's body is level 1");
  if (e.level > 1 && !levels_.contains(e.level - 1)) wrong(e, "no task of level {} has begun before", e.level - 1);
  if (deepest_allowed_ && e.level > *deepest_allowed_) wrong(e, "the boundary level is {}", *deepest_allowed_);
  levels_.insert(e.level);
  report_.deepest = e.level > report_.deepest ? e.level : report_.deepest;
}

HEIST_COLD_BODY void placement_checker::ends(placement_event const& e) {
  auto const at = open_.find(e.task);
  if (at == open_.end()) {
    wrong(e, "it has not begun");
    return;
  }
  std::uint32_t const in = at->second.squad;
  if (in != e.squad) wrong(e, "it has begun in squad {}", in);
  if (running_[in] == e.task) running_[in] = nullptr;
  open_.erase(at);
}

HEIST_COLD_BODY void placement_checker::intra_begin(placement_event const& e) {
  ++report_.intra_begins;
  auto const at = open_.find(e.task);
  if (at == open_.end()) {
    wrong(e, "that inter-squad task does not run");
  } else if (at->second.squad != e.squad) {
    wrong(e, "that inter-squad task runs in squad {}", at->second.squad);
  }
}

}  // namespace heist::detail
