// Bodies of counters.hpp.
#pragma once

#include "heist/tools/observe/counters.hpp"

#include <fmt/core.h>

namespace heist {

HEIST_COLD_BODY event_counts& event_counts::operator+=(event_counts const& other) noexcept {
  tasks += other.tasks;
  steals += other.steals;
  sleeps += other.sleeps;
  wakes += other.wakes;
  parks += other.parks;
  resumes += other.resumes;
  return *this;
}

HEIST_COLD_BODY void counters::start(std::size_t workers) {
  lines_ = std::make_unique<line[]>(workers);
  workers_ = workers;
}

HEIST_COLD_BODY event_counts counters::of(std::size_t worker) const noexcept {
  auto const& l = lines_[worker];
  return {read(l.tasks), read(l.robberies), read(l.naps), read(l.alarms), read(l.parkings), read(l.resumptions)};
}

HEIST_COLD_BODY event_counts counters::total() const noexcept {
  event_counts sum;
  for (std::size_t w = 0; w < workers_; ++w) sum += of(w);
  return sum;
}

HEIST_COLD_BODY std::string counters::table() const {
  auto text = fmt::format("{:<8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "worker", "tasks", "steals", "sleeps", "wakes",
                          "parks", "resumes");
  auto const row = [&](std::string const& title, event_counts const& c) {
    text += fmt::format("{:<8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n", title, c.tasks, c.steals, c.sleeps, c.wakes,
                        c.parks, c.resumes);
  };
  for (std::size_t w = 0; w < workers_; ++w) row(fmt::format("{}", w), of(w));
  row("all", total());
  return text;
}

HEIST_COLD_BODY void counters::add(counter& c) noexcept {
  auto const n = c.load(std::memory_order_relaxed);  // relaxed: only this worker writes it
  c.store(n + 1, std::memory_order_relaxed);         // relaxed: a number on its own
}

HEIST_COLD_BODY std::uint64_t counters::read(counter const& c) noexcept {
  return c.load(std::memory_order_relaxed);  // relaxed: a number on its own
}

}  // namespace heist
