// Bodies of steal_log.hpp.
#pragma once

#include "heist/locality/replay/steal_log.hpp"

#include <algorithm>  // equal
#include <utility>    // move

namespace heist::detail {

HEIST_COLD_BODY void steal_log::begin(std::size_t workers) {
  if (of_worker_.size() != workers) of_worker_ = std::vector<own_log>(workers);
  for (own_log& log : of_worker_) {
    log.words.clear();
    log.incomplete = false;
  }
  at_work_.store(0, std::memory_order_relaxed);  // relaxed: the run has not begun
}

HEIST_COLD_BODY bool steal_log::says_same(steal_log const& other) const noexcept {
  return std::equal(of_worker_.begin(), of_worker_.end(), other.of_worker_.begin(), other.of_worker_.end(),
                    [](own_log const& a, own_log const& b) { return a.words == b.words; });
}

HEIST_BODY std::int64_t steal_log::nanoseconds_at_work() const noexcept {
  return at_work_.load(std::memory_order_relaxed);  // relaxed: the run has ended
}

HEIST_BODY bool steal_log::incomplete() const noexcept {
  for (auto const& log : of_worker_)
    if (log.incomplete) return true;
  return false;
}

HEIST_BODY steal_tree steal_log::tree(std::uint32_t body) const {
  std::vector<steal_tree::steal> steals;
  for (std::uint32_t thief = 0; thief != of_worker_.size(); ++thief) {
    std::uint32_t const* from = of_worker_[thief].words.data();
    std::uint32_t const* const end = from + of_worker_[thief].words.size();
    for (std::uint32_t sequence = 0; from != end; ++sequence) {
      std::uint32_t const victim = from[0], length = from[1] >> 1;
      bool const after_join = (from[1] & 1) != 0;
      from += 2;
      steals.push_back({{from, from + length}, thief, victim, sequence, after_join});
      from += length;
    }
  }
  return steal_tree{of_worker_.size(), body, std::move(steals)};
}

HEIST_BODY void steal_log::add(std::int64_t nanoseconds) noexcept {
  at_work_.fetch_add(nanoseconds, std::memory_order_relaxed);  // relaxed: a sum
}

HEIST_BODY recorded_run::recorded_run(steal_log& into) noexcept
    : followed_record{nullptr, mark, nullptr, {}}, log{&into} {
  forks = 0;
}

HEIST_BODY recorded_run const* recorded_run::of(frame_record const* r) noexcept {
  if (r == nullptr) return nullptr;
  while (r->parent != nullptr) r = r->parent;
  return r->index == mark ? static_cast<recorded_run const*>(r) : nullptr;
}

HEIST_BODY void steal_log::note(frame_record const* parent, std::uint32_t branch, std::uint32_t now,
                                std::uint32_t before, bool after_join) noexcept {
  recorded_run const* const run = recorded_run::of(parent);
  if (run == nullptr) return;
  run->log->begins();
  own_log& log = run->log->of_worker_[now];
  if (log.incomplete) return;
  std::uint32_t length = 1;
  for (frame_record const* r = parent; r != run; r = r->parent) ++length;
  try {
    log.words.resize(log.words.size() + 2 + length);
  } catch (...) {
    log.incomplete = true;
    return;
  }
  std::uint32_t* to = log.words.data() + log.words.size();
  *--to = branch;
  for (frame_record const* r = parent; r != run; r = r->parent) *--to = r->index;
  *--to = length << 1 | static_cast<std::uint32_t>(after_join);
  *--to = before;
}

HEIST_BODY void begin_of_work(frame_record const* parent) noexcept {
  if (recorded_run const* const run = recorded_run::of(parent); run != nullptr) run->log->begins();
}

HEIST_BODY void end_of_work(frame_record const* parent) noexcept {
  if (recorded_run const* const run = recorded_run::of(parent); run != nullptr) run->log->ends();
}

}  // namespace heist::detail
