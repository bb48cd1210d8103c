// Times a circuit again after changes, and visits only gates whose inputs have changed. From the changes, a wave of
// arrival times runs forward, level by level, and a wave of required times runs backward. A wave ends where values stay
// the same.
#pragma once

#include <heist/heist.hpp>

#include "changes.hpp"
#include "times.hpp"

#include <algorithm>  // max, min
#include <cstddef>
#include <span>
#include <vector>

namespace timing {

/// Gates that wait for a visit, by level.
class gate_queue {
 public:
  explicit gate_queue(netlist const& circuit) : circuit_{&circuit}, waits_(circuit.gates.size(), false) {
    std::uint32_t levels = 0;
    for (auto const level : circuit.level) levels = std::max(levels, level + 1);
    by_level_.resize(levels);
    lowest_ = levels;
  }

  bool empty() const noexcept { return size_ == 0; }

  /// Does nothing if g already waits.
  void insert(gate_id g) {
    if (waits_[g]) return;
    waits_[g] = true;
    ++size_;
    std::size_t const level = circuit_->level[g];
    by_level_[level].push_back(g);
    lowest_ = std::min(lowest_, level);
    highest_ = std::max(highest_, level);
  }

  /// Moves all gates of the lowest (or highest) level that is not empty to `taken`.
  void take_lowest(std::vector<gate_id>& taken) {
    while (by_level_[lowest_].empty()) ++lowest_;
    take(lowest_, taken);
    if (empty()) reset();
  }
  void take_highest(std::vector<gate_id>& taken) {
    while (by_level_[highest_].empty()) --highest_;
    take(highest_, taken);
    if (empty()) reset();
  }

 private:
  void take(std::size_t level, std::vector<gate_id>& taken) {
    taken.clear();
    taken.swap(by_level_[level]);
    for (auto const g : taken) waits_[g] = false;
    size_ -= taken.size();
  }

  void reset() noexcept {
    lowest_ = by_level_.size();
    highest_ = 0;
  }

  netlist const* circuit_;
  std::vector<char> waits_;
  std::vector<std::vector<gate_id>> by_level_;
  std::size_t size_ = 0;
  std::size_t lowest_ = 0;
  std::size_t highest_ = 0;
};

/// Keeps `times` up to date while the circuit changes. The period stays the same. One thread at a time.
class retimer {
 public:
  /// `t` holds the times of `circuit`; both must outlive the retimer.
  retimer(netlist& circuit, times& t) : circuit_{&circuit}, times_{&t}, forward_{circuit}, backward_{circuit} {}

  /// Applies the changes, and updates the times that they affect. Returns the number of visits of gates. Inside a task
  /// of an executor, its workers share the visits of a level if there are more than `grain`.
  std::size_t run(std::span<change const> changes) {
    for (auto const& c : changes) apply(*circuit_, c);
    for (auto const& c : changes) seed(c);
    std::size_t visits = 0;
    for (; !forward_.empty(); visits += level_.size()) step_forward();
    for (; !backward_.empty(); visits += level_.size()) step_backward();
    return visits;
  }

 private:
  /// The most gates that one worker visits without a fork: some 10 microseconds of work.
  static constexpr std::size_t grain = 24;

  /// A change alters the loads of nets, and so makes the gates that drive these nets slower or faster.
  void seed(change const& c) {
    if (c.kind == change_kind::reload) return reload(c.net);
    for (auto const n : circuit_->inputs(c.gate)) reload(n);
    touch(c.gate);
  }

  void reload(net_id n) {
    times_->update_load(n);
    if (circuit_->nets[n].driver != nothing) touch(circuit_->nets[n].driver);
  }

  /// The delay of gate g has changed. This changes arrival times at its outputs and required times at its inputs.
  void touch(gate_id g) {
    forward_.insert(g);
    circuit_->for_each_fan_in(g, [this](gate_id driver) { backward_.insert(driver); });
  }

  void step_forward() {
    forward_.take_lowest(level_);
    visit_level([this](gate_id g) { return times_->update_arrivals(g); });
    for (std::size_t i = 0; i < level_.size(); ++i) {
      if (moved_[i].time || moved_[i].slew) {
        circuit_->for_each_fan_out(level_[i], [this](gate_id next) { forward_.insert(next); });
      }
      if (moved_[i].slew) backward_.insert(level_[i]);  // the delays of the gates that it drives have changed
    }
  }

  void step_backward() {
    backward_.take_highest(level_);
    visit_level([this](gate_id g) { return movement{times_->update_requireds(g), false}; });
    for (std::size_t i = 0; i < level_.size(); ++i) {
      if (moved_[i].time) {
        circuit_->for_each_fan_in(level_[i], [this](gate_id driver) { backward_.insert(driver); });
      }
    }
  }

  template <class Visit>
  void visit_level(Visit const& visit) {
    if (moved_.size() < level_.size()) moved_.resize(level_.size());
    visit_range(visit, 0, level_.size());
  }

  /// Gates of one level do not wait for each other, so halves of a large range may run on other workers.
  template <class Visit>
  void visit_range(Visit const& visit, std::size_t first, std::size_t last) {
    if (last - first <= grain) {
      for (auto i = first; i < last; ++i) moved_[i] = visit(level_[i]);
      return;
    }
    auto const middle = first + (last - first) / 2;
    heist::fork_join([&] { visit_range(visit, first, middle); }, [&] { visit_range(visit, middle, last); });
  }

  netlist* circuit_;
  times* times_;
  gate_queue forward_, backward_;
  std::vector<gate_id> level_;
  std::vector<movement> moved_;  // moved_[i]: of level_[i]
};

}  // namespace timing
