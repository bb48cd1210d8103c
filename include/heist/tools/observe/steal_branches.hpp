// Which worker took work from which in a recording, as a tree, and that tree in lines for people. For the bodies of
// trace_report.hpp.
#pragma once

#include <algorithm>  // sort
#include <cstddef>    // size_t
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>  // move
#include <vector>

#include "heist/tools/observe/trace_summary.hpp"

namespace heist::detail {

/// Makes trace_summary::steal_tree, told of events in the order of time.
class steal_branches {
 public:
  explicit steal_branches(std::size_t workers) : now_(workers, none), first_(workers, none) {}

  /// The present branch of worker `w`.
  trace_summary::branch& of(std::size_t w) {
    if (now_[w] == none) now_[w] = start_of(w);
    return all_[now_[w]];
  }
  void steal(std::size_t thief, std::size_t victim) {
    of(victim);
    auto const [at, is_new] = taken_.try_emplace(now_[victim] * now_.size() + thief, all_.size());
    if (is_new) all_.push_back({thief, now_[victim]});
    now_[thief] = at->second;
    ++all_[now_[thief]].times;
  }
  /// `w` has slept: no worker has given it its next work, unless it steals.
  void end(std::size_t w) noexcept { now_[w] = none; }

  std::vector<trace_summary::branch> all() { return std::move(all_); }

 private:
  static constexpr std::size_t none = trace_summary::branch::none;

  std::size_t start_of(std::size_t w) {
    if (first_[w] == none) {
      first_[w] = all_.size();
      all_.push_back({w});
    }
    return first_[w];
  }

  std::vector<trace_summary::branch> all_;
  std::vector<std::size_t> now_;                        ///< by worker
  std::vector<std::size_t> first_;                      ///< by worker: the branch of work that was not stolen
  std::unordered_map<std::size_t, std::size_t> taken_;  ///< branch and thief
};

/// One line of a tree: a branch, or the number of branches left out.
struct steal_line {
  std::size_t depth;
  std::size_t branch;  ///< none: `times` steals more
  std::size_t times = 0;
  std::int64_t busy_ns = 0;  ///< of those
};

/// For people.
std::string text_of(std::vector<trace_summary::branch> const& tree, steal_line const& l);

/// The busiest branches first, at most about so many lines, and not those deeper than `depth`.
class steal_lines {
 public:
  steal_lines(std::vector<trace_summary::branch> const& tree, std::size_t lines, std::size_t depth)
      : most_lines_{lines}, most_depth_{depth}, whole_(tree), children_(tree.size()) {
    std::vector<std::size_t> starts;
    for (std::size_t i = tree.size(); i-- != 0;) {  // a branch stands after the one that it was taken from
      std::size_t const from = tree[i].from;
      if (from == trace_summary::branch::none) {
        starts.push_back(i);
        continue;
      }
      children_[from].push_back(i);
      whole_[from].times += whole_[i].times;
      whole_[from].busy_ns += whole_[i].busy_ns;
    }
    add(starts, 0);
  }
  std::vector<steal_line> all() { return std::move(lines_); }  ///< once

 private:
  void add(std::vector<std::size_t>& branches, std::size_t depth) {
    std::sort(branches.begin(), branches.end(), [this](std::size_t a, std::size_t b) {
      return whole_[a].busy_ns != whole_[b].busy_ns ? whole_[a].busy_ns > whole_[b].busy_ns : a < b;
    });
    steal_line rest{depth, trace_summary::branch::none};
    for (std::size_t const i : branches) {
      if (depth > most_depth_ || lines_.size() >= most_lines_) {
        rest.times += whole_[i].times;
        rest.busy_ns += whole_[i].busy_ns;
        continue;
      }
      lines_.push_back({depth, i});
      add(children_[i], depth + 1);
    }
    if (rest.times != 0) lines_.push_back(rest);
  }

  std::size_t most_lines_, most_depth_;
  std::vector<trace_summary::branch> whole_;  ///< each with all work stolen from it
  std::vector<std::vector<std::size_t>> children_;
  std::vector<steal_line> lines_;
};

}  // namespace heist::detail
