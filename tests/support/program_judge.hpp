// Judges, alone and afterwards, whether the traces of a random program's run are as the contract promises.
#pragma once

#include <algorithm>  // find
#include <cstddef>    // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "support/program_memory.hpp"

namespace heist_test {

/// The faults that a run can have.
enum class fault : std::uint8_t { none, lost, doubled, order, value, exception, placed, leak };
inline constexpr std::array<std::string_view, 8> fault_names{"none",  "lost",      "doubled", "order",
                                                             "value", "exception", "placed",  "leak"};

struct decision {
  fault what = fault::none;
  std::string text;
  std::uint64_t tasks = 0;                               ///< that ran
  std::uint64_t thrown = 0, delivered = 0, counted = 0;  ///< counted: beside one that was delivered
};

/// The rules, for each node that ran:
///   * Each of its groups of children ran completely and exactly once, if the group before did. In a graph that was cut
///     by an exception or a stop, each task ran at most once, after predecessors that have ended.
///   * It ended with the value that follows from its number and from the nodes below and before it. Or an exception
///     left it: its own, or that of the first child that failed (scopes and graphs: that of any child that failed).
///   * A node whose parent has not called it has not run.
class program_evaluate {
 public:
  /// `times`: how often each node was to run; more than once in programs that nothing cuts.
  program_evaluate(program_memory const& m, program_outcome const& o, std::uint32_t times)
      : m_{m}, p_{*m.program}, o_{o}, times_{times}, stop_{m.stop.stop_requested()} {}

  decision operator()() {
    if (p_.size() == 0) return result_;
    if (o_.threw_other) say(fault::exception, 0, "an exception of no node arrived: " + o_.text);
    status const root = check(0, true);
    if (root.failed != (o_.delivered != no_node)) {
      say(fault::exception, 0, root.failed ? "an exception was lost" : "an exception from nowhere");
    } else if (root.failed) {
      ++result_.delivered;
      if (!among(root.origins, o_.delivered)) say(fault::exception, o_.delivered, "another one's exception arrived");
    } else if (!p_.is_graph() && o_.value != m_.cells[0].value * times_) {
      say(fault::value, 0, "the result is not what the root has left");
    }
    if (p_.is_graph() && o_.stopped != stop_)
      say(fault::value, 0, "stopped() does not say whether a stop was requested");
    if (result_.what == fault::none && result_.thrown != result_.delivered + result_.counted)
      say(fault::exception, 0, "exceptions do not add up");
    return result_;
  }

 private:
  using nodes = std::vector<std::uint32_t>;
  struct status {
    bool ran = false, failed = false;
    nodes origins;            ///< the nodes whose exception may leave it
    std::uint64_t value = 0;  ///< the value that it was to leave
  };

  static bool among(nodes const& some, std::uint32_t n) { return std::find(some.begin(), some.end(), n) != some.end(); }

  void say(fault f, std::uint32_t n, std::string const& what) {
    if (result_.what != fault::none) return;  // the first is told
    result_.what = f;
    result_.text = "node " + std::to_string(n) + ": " + what;
  }

  void check_idle(std::uint32_t n) {
    if (m_.cells[n].start_time != 0) say(fault::order, n, "ran, though nothing was to call it");
    for (std::uint32_t const child : p_.nodes[n].children) check_idle(child);
  }

  void check_cell(std::uint32_t n, program_cell const& c) {
    if (c.start_time > times_) say(fault::doubled, n, "ran " + std::to_string(c.start_time) + " times");
    if (c.start_time < times_) say(fault::lost, n, "ran " + std::to_string(c.start_time) + " times only");
    if (c.ended + c.failed < c.start_time) say(fault::lost, n, "began and did not end");
    if (c.ended + c.failed > c.start_time) say(fault::doubled, n, "ended twice");
    if ((c.sights & (early | crowded)) != 0) say(fault::order, n, "saw something that should have been over");
    if ((c.sights & other_value) != 0) say(fault::value, n, "got another value than was left");
    if ((c.sights & untold) != 0) say(fault::value, n, "was not told of a stop");
    if ((c.sights & (moved | no_worker)) != 0) say(fault::placed, n, "was on another worker than it should");
  }

  status check(std::uint32_t n, bool must_run) {
    program_node const& d = p_.nodes[n];
    program_cell const& c = m_.cells[n];
    if (c.start_time == 0) {
      if (must_run) say(fault::lost, n, "did not run");
      check_idle(n);
      return {};
    }
    check_cell(n, c);
    result_.tasks += c.start_time;
    result_.thrown += c.threw;
    status s{.ran = true, .failed = false, .origins = {}, .value = sum_before(n)};
    if (m_.armed && d.is(throws_before) && n_is_called(n)) {
      fail_itself(s, n);
      for (std::uint32_t const child : d.children) check_idle(child);
    } else {
      check_children(n, s);
      if (!s.failed && m_.armed && d.is(throws_after) && n_is_called(n)) fail_itself(s, n);
    }
    if (s.failed != (c.failed != 0))
      say(fault::exception, n, s.failed ? "an exception was lost" : "left by an exception");
    s.value = node_value(n, s.value);
    if (c.ended != 0 && c.value != s.value && n_is_called(n)) say(fault::value, n, "left a wrong value");
    return s;
  }

  /// The root of a graph is no task.
  bool n_is_called(std::uint32_t n) const noexcept { return n != 0 || !p_.is_graph(); }
  void fail_itself(status& s, std::uint32_t n) {
    s.failed = true;
    s.origins = {n};
    if (m_.cells[n].threw == 0) say(fault::exception, n, "threw, and went on");
  }

  std::uint64_t sum_before(std::uint32_t n) const {
    program_node const& d = p_.nodes[n];
    std::uint64_t sum = 0;
    for (std::uint32_t const place : d.after) sum += weighed(m_.cells[p_.nodes[d.parent].children[place]].value, place);
    return sum;
  }

  void check_children(std::uint32_t n, status& s) {
    program_node const& d = p_.nodes[n];
    if (d.how == way::run) return check_graph(n, s);
    auto const count = static_cast<std::uint32_t>(d.children.size());
    bool const thrown_within = m_.armed && d.is(throws_within) && d.how == way::scope && count != 0;
    std::uint32_t const size = d.group_size();
    for (std::uint32_t first = 0; first < count; first += size) {
      std::uint32_t last = std::min(first + size, count);
      if (s.failed) {
        for (std::uint32_t i = first; i != last; ++i) check_idle(d.children[i]);
        continue;
      }
      // The scope's body ends in the middle of this group.
      bool const ends_here = thrown_within && count / 2 >= first && count / 2 < last;
      for (std::uint32_t i = count / 2; ends_here && i != last; ++i) check_idle(d.children[i]);
      if (ends_here) last = count / 2;
      check_group(n, s, first, last, first / size, ends_here);
      if (ends_here) fail_itself(s, n);
    }
  }

  void check_group(std::uint32_t n, status& s, std::uint32_t first, std::uint32_t last, std::uint32_t group,
                   bool superseded) {
    program_node const& d = p_.nodes[n];
    bool const may_skip = d.submits() && ((d.is(stoppable) && stop_) || is_stopped(n));
    std::uint64_t sum = 0;
    std::uint32_t failing = 0;
    nodes origins;
    for (std::uint32_t i = first; i != last; ++i) {
      status const child = check(d.children[i], !may_skip);
      sum += weighed(child.ran ? child.value : value_of_skipped, i);
      if (!child.failed) continue;
      if (++failing == 1 || d.how == way::scope)
        origins.insert(origins.end(), child.origins.begin(), child.origins.end());
    }
    bool const cut = m_.cells[d.children[first]].group_cut;
    if (cut && !may_skip) say(fault::value, n, "a group of it was stopped by nobody");
    if (superseded) {
      result_.counted += failing;
    } else if (cut) {
      result_.counted += failing;
      s.value += value_of_skipped;
    } else if (failing == 0) {
      s.value += sum;
    } else {
      end_of_failed(n, s, origins, failing, group);
    }
  }

  /// `failing` children of a group were left by exceptions, of which one goes on.
  void end_of_failed(std::uint32_t n, status& s, nodes const& origins, std::uint32_t failing, std::uint32_t group) {
    result_.counted += failing - 1;
    if (!p_.nodes[n].is(catches) || !n_is_called(n)) {
      s.failed = true;
      s.origins = origins;
      return;
    }
    ++result_.delivered;
    s.value += value_of_caught;
    if (group >= most_noted) return;
    std::uint32_t const noted = m_.cells[n].caught[group];
    if (noted == 0)
      say(fault::exception, n, "an exception of its children was lost");
    else if (!among(origins, noted - 1))
      say(fault::exception, n, "caught another one's exception");
  }

  /// May a stop have reached the task of that node? By a token, or because a task of a graph above has thrown.
  bool is_stopped(std::uint32_t n) const {
    if (stop_) return true;
    for (n = p_.nodes[n].parent; n != no_node; n = p_.nodes[n].parent) {
      program_node const& above = p_.nodes[n];
      if (above.how != way::run) continue;
      for (std::uint32_t const child : above.children) {
        if (m_.cells[child].failed != 0) return true;
      }
    }
    return false;
  }

  void check_graph(std::uint32_t n, status& s) {
    program_node const& d = p_.nodes[n];
    program_cell const& c = m_.cells[n];
    bool const outside = !n_is_called(n);
    bool const cut = outside ? o_.stopped : c.cut != 0;
    if (cut && !(stop_ && (outside || d.is(stoppable))) && !(c.cut == 2 && is_stopped(n)))
      say(fault::value, n, "its run was stopped by nobody");
    bool may_skip = cut;
    for (std::uint32_t const child : d.children) may_skip |= m_.cells[child].failed != 0;
    std::uint64_t sum = 0;
    std::uint32_t failing = 0, limited_ones = 0;
    nodes origins;
    for (std::uint32_t i = 0; i != d.children.size(); ++i) {
      std::uint32_t const at = d.children[i];
      status const child = check(at, !may_skip);
      sum += weighed(child.value, i);
      if (child.ran && p_.nodes[at].is(limited)) limited_ones += m_.cells[at].start_time;
      for (std::uint32_t const place : p_.nodes[at].after) {
        if (child.ran && m_.cells[d.children[place]].ended == 0)
          say(fault::order, at, "ran, its predecessor " + std::to_string(d.children[place]) + " has not ended");
      }
      if (!child.failed) continue;
      ++failing;
      origins.insert(origins.end(), child.origins.begin(), child.origins.end());
    }
    if (c.passed != limited_ones) say(fault::order, n, "its limited tasks were not one after the other");
    if (failing != 0) return end_of_failed(n, s, origins, failing, 0);
    s.value += cut ? value_of_skipped : sum;
  }

  program_memory const& m_;
  random_program const& p_;
  program_outcome const& o_;
  std::uint32_t const times_;
  bool const stop_;
  decision result_;
};

}  // namespace heist_test
