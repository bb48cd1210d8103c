// Bodies of recording.hpp.
#pragma once

#include "heist/tools/simulate/recording.hpp"

namespace heist::sim {

HEIST_BODY void recording::worked(std::uint32_t worker, std::uint32_t task, std::uint64_t from, std::uint64_t to) {
  recorded_event e;
  e.ns = static_cast<std::int64_t>(from);
  e.id = name_of(task);
  e.kind = task_kind::task;
  e.what = event_kind::task_begin;
  events_[worker].push_back(e);
  e.ns = static_cast<std::int64_t>(to);
  e.what = event_kind::task_end;
  events_[worker].push_back(e);
}

HEIST_BODY void recording::stole(std::uint32_t worker, std::uint32_t victim, std::uint64_t when) {
  recorded_event e;
  e.ns = static_cast<std::int64_t>(when);
  e.what = event_kind::steal;
  e.victim = victim;
  events_[worker].push_back(e);
}

HEIST_BODY void recording::slept(std::uint32_t worker, bool begins, std::uint64_t when) {
  recorded_event e;
  e.ns = static_cast<std::int64_t>(when);
  e.what = begins ? event_kind::sleep : event_kind::wake;
  events_[worker].push_back(e);
}

}  // namespace heist::sim
