// Random programs of nested forks, scopes, graphs and waits, from a seed. A program is plain data: many executors can
// run it, one thread can judge it (program_judge.hpp) and a shrinker can cut it.
#pragma once

#include <algorithm>  // max, min, sort, unique
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/random_graph.hpp"

namespace heist_test {

/// How a node runs its children.
enum class way : std::uint8_t {
  leaf,       ///< it has none
  fork,       ///< fork_join, one after the other, each of `group` children
  inter,      ///< the same by inter_fork
  free_fork,  ///< fork_join without a context; its children are leaves
  scope,      ///< the children of one scope, joined after each `group`
  submit,     ///< asyncs, waited for after each `group`
  any,        ///< the same; when_any() says which of a group to wait for next
  coroutine,  ///< is a coroutine that awaits its children: each alone if `group` is 1, else each `group` by when_all()
  run,        ///< the tasks of a graph, which the node runs and waits for
  region      ///< runs of regions, one after the other
};
inline constexpr std::array<std::string_view, 10> way_names{"leaf",   "fork", "inter",     "free_fork", "scope",
                                                            "submit", "any",  "coroutine", "run",       "region"};

/// The other actions of a node, as bits.
enum trait : std::uint32_t {
  throws_before = 1u << 0,  ///< before its children
  throws_within = 1u << 1,  ///< of a scope: when half of the children are forked
  throws_after = 1u << 2,
  catches = 1u << 3,    ///< the exceptions of its children, group by group
  stops = 1u << 4,      ///< requests the program's stop before its children
  stoppable = 1u << 5,  ///< submits, run: its asyncs or tasks get the program's stop_token
  yields = 1u << 6,
  allocates = 1u << 7,
  spins = 1u << 8,
  stays = 1u << 9,           ///< is not to migrate while it runs
  coarsens = 1u << 10,       ///< runs its children one by one if nothing below can be stolen
  designates = 1u << 11,     ///< gives the rest of its first fork away, where that may be
  by_destructor = 1u << 12,  ///< of a scope: the last join is the destructor's
  gives = 1u << 13,          ///< of a graph's task: leaves its value for other tasks
  takes = 1u << 14,          ///< of a graph's task: takes the value of a predecessor, if there is one that gives
  wrapped = 1u << 15,        ///< of a graph's task: a composed graph of three, of which it is the middle
  limited = 1u << 16,        ///< of a graph's task: not beside the other limited ones of the same graph
  loops = 1u << 17,          ///< also runs a graph with a condition, three times round
  ends_waiting = 1u << 18    ///< its callable holds an object that waits when it is destroyed; so does its exception
};
inline constexpr std::array<std::string_view, 19> trait_names{
    "throws_before", "throws_within", "throws_after", "catches",  "stops",       "stoppable",     "yields",
    "allocates",     "spins",         "stays",        "coarsens", "designates",  "by_destructor", "gives",
    "takes",         "wrapped",       "limited",      "loops",    "ends_waiting"};
inline constexpr std::uint32_t all_throws = throws_before | throws_within | throws_after;
/// A node that catches notes the exceptions of its first groups only.
inline constexpr std::uint32_t most_noted = 4;
inline constexpr std::uint32_t no_node = ~std::uint32_t{0};

struct program_node {
  way how = way::leaf;
  std::uint8_t group = 2;  ///< 1 to 4; any other number counts as the nearest of them
  std::uint32_t traits = 0;
  std::uint32_t parent = no_node;
  std::uint32_t place = 0;              ///< among the parent's children
  std::vector<std::uint32_t> children;  ///< nodes
  std::vector<std::uint32_t> after;     ///< of a graph's task: the siblings before it, as their places

  bool is(std::uint32_t bits) const noexcept { return (traits & bits) != 0; }
  /// Are its children asyncs? Those of a coroutine may be coroutines that it awaits.
  bool submits() const noexcept { return how == way::submit || how == way::any || how == way::coroutine; }
  /// How many children a group has.
  std::uint32_t group_size() const noexcept {
    if (how == way::region) return 1;
    if (how == way::run) return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(children.size()));
    std::uint32_t const wanted = group < 1 ? 1 : group;
    return how == way::scope || submits() ? wanted : std::min(wanted, how == way::free_fork ? 3u : 4u);
  }
  friend bool operator==(program_node const&, program_node const&) = default;
};

/// A tree of nodes; node 0 is the root, each comes before its children.
struct random_program {
  std::vector<program_node> nodes;

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(nodes.size()); }
  /// Is the root a graph that is run from outside of all tasks?
  bool is_graph() const noexcept { return !nodes.empty() && nodes[0].how == way::run; }
  bool has(std::uint32_t traits) const noexcept {
    for (auto const& n : nodes) {
      if (n.is(traits)) return true;
    }
    return false;
  }
  std::uint32_t add(std::uint32_t parent, way how) {
    std::uint32_t const made = size();
    program_node n;
    n.how = how;
    n.parent = parent;
    if (parent != no_node) {
      n.place = static_cast<std::uint32_t>(nodes[parent].children.size());
      nodes[parent].children.push_back(made);
    }
    nodes.push_back(std::move(n));
    return made;
  }
  friend bool operator==(random_program const&, random_program const&) = default;
};

/// The program with `chosen` as its root, without the subtrees of the nodes in `gone`; each subtree has its numbers in
/// a row.
inline random_program part_of(random_program const& p, std::uint32_t chosen, std::vector<bool> const& gone) {
  random_program out;
  struct copy {
    random_program const& p;
    std::vector<bool> const& gone;
    random_program& out;
    void operator()(std::uint32_t n, std::uint32_t parent) {
      std::uint32_t const made = out.add(parent, p.nodes[n].how);
      out.nodes[made].group = p.nodes[n].group;
      out.nodes[made].traits = p.nodes[n].traits;
      if (parent != no_node && out.nodes[parent].how == way::free_fork) {
        out.nodes[made].how = way::leaf;  // it has no context to fork by
        return;
      }
      std::vector<std::uint32_t> place(p.nodes[n].children.size(), no_node);
      std::uint32_t next = 0;
      for (std::uint32_t i = 0; i != place.size(); ++i) {
        if (!gone[p.nodes[n].children[i]]) place[i] = next++;
      }
      for (std::uint32_t i = 0; i != place.size(); ++i) {
        if (place[i] == no_node) continue;
        std::uint32_t const child = p.nodes[n].children[i];
        std::uint32_t const to = out.size();
        (*this)(child, made);
        for (std::uint32_t const before : p.nodes[child].after) {
          if (place[before] != no_node) out.nodes[to].after.push_back(place[before]);
        }
      }
    }
  };
  copy{p, gone, out}(chosen, no_node);
  return out;
}

/// The limits of the executor under test.
struct program_limits {
  bool may_wait = true;         ///< also for futures, runs and limiters
  std::uint32_t largest = 256;  ///< about so many nodes
  std::uint32_t deepest = 250;  ///< levels, each of which takes stack
};

/// Makes programs. Small ones are much more frequent than large ones.
class program_generator {
 public:
  program_generator(random_engine& random, program_limits const& limits) : random_{random}, limits_{limits} {}

  random_program operator()() {
    program_ = {};
    lively_ = std::array{0.0, 0.05, 0.3}[any_of(random_, 0, 2)];
    auto const size = 2 * any_size(random_, std::max<std::uint32_t>(1, limits_.largest / 2));
    if (chance(random_, 0.45)) {
      static_cast<void>(program_.add(no_node, way::run));
      tasks_of_graph(0, size);
    } else {
      static_cast<void>(program_.add(no_node, way::leaf));
      grow(0, size - 1, 0);
    }
    plant();
    return part_of(program_, 0, std::vector<bool>(program_.size()));
  }

 private:
  bool maybe(double p) { return chance(random_, p); }

  /// Gives node `n` about `budget` descendants.
  void grow(std::uint32_t n, std::uint32_t budget, std::uint32_t level) {
    give_traits(n);
    if (budget == 0) return;
    bool const deep_enough = level + 2 >= limits_.deepest;
    switch (any_of(random_, 0, 21)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        return branches(n, way::fork, budget, level, deep_enough);
      case 9:
      case 10:
        return branches(n, way::inter, budget, level, deep_enough);
      case 11:
        return branches(n, way::free_fork, std::min(budget, 6u), level, true);
      case 12:
      case 13:
      case 14:
      case 15:
        return branches(n, way::scope, budget, level, deep_enough);
      case 16:
        return branches(n, way::region, std::min(budget, 8u), level, deep_enough);
      case 17:
        return branches(n, limits_.may_wait ? way::submit : way::fork, budget, level, deep_enough);
      case 18:
        return branches(n, limits_.may_wait ? way::any : way::fork, budget, level, deep_enough);
      case 19:
        return branches(n, limits_.may_wait ? way::coroutine : way::fork, budget, level, deep_enough);
      default:
        if (!limits_.may_wait || deep_enough) return branches(n, way::fork, budget, level, deep_enough);
        program_.nodes[n].how = way::run;
        tasks_of_graph(n, std::min(budget, 24u));
    }
  }

  /// `budget` nodes below `n`, divided in one of several ways.
  void branches(std::uint32_t n, way how, std::uint32_t budget, std::uint32_t level, bool flat) {
    program_.nodes[n].how = how;
    bool const wide_groups = how == way::scope || program_.nodes[n].submits();
    program_.nodes[n].group = static_cast<std::uint8_t>(wide_groups  ? any_of(random_, 1, 40)
                                                        : maybe(0.6) ? 2
                                                                     : any_of(random_, 1, 4));
    if (how == way::coroutine && maybe(0.5)) program_.nodes[n].group = 1;
    enum {
      wide,
      spine,
      even
    } const division = flat ? wide
                            : static_cast<decltype(wide)>(maybe(0.2)   ? wide
                                                          : maybe(0.3) ? spine
                                                                       : even);
    std::uint32_t const most = how == way::region ? 2 : how == way::scope ? 12 : 5;
    std::uint32_t const count = division == wide ? budget : std::min(budget, any_of(random_, 1, most));
    std::uint32_t left = budget - count;
    std::uint32_t const heir = any_of(random_, 0, count - 1);
    for (std::uint32_t i = 0; i != count; ++i) {
      std::uint32_t share = 0;
      if (division == spine) share = i == heir ? left : 0;
      if (division == even) share = i + 1 == count ? left : any_of(random_, 0, 2 * left / (count - i));
      share = std::min(share, left);
      left -= share;
      std::uint32_t const child = program_.add(n, way::leaf);
      grow(child, share, level + 1);
    }
  }

  /// A graph of about `size` tasks, most of which are leaves.
  void tasks_of_graph(std::uint32_t n, std::uint32_t size) {
    shape const s = all_shapes[any_of(random_, 1, all_shapes.size() - 1)];
    plain_graph const g = make_graph(maybe(0.01) ? shape::empty : s, size, random_);
    std::uint32_t const first = program_.size();
    bool const values = maybe(0.3), limits = limits_.may_wait && maybe(0.15);
    std::vector<std::uint32_t> tasks;
    for (std::uint32_t i = 0; i != g.size; ++i) {
      tasks.push_back(program_.add(n, way::leaf));
      std::uint32_t more = 0;
      if (values) more |= (maybe(0.5) ? gives : 0u) | (maybe(0.5) ? takes : 0u);
      if (limits && maybe(0.3)) more |= limited;
      if (maybe(0.03)) more |= wrapped;
      program_.nodes[tasks.back()].traits = more;
    }
    for (auto const& [from, to] : g.edges) program_.nodes[first + to].after.push_back(from);
    for (std::uint32_t const t : tasks) grow(t, maybe(0.05) ? any_of(random_, 1, 8) : 0, 2 + limits_.deepest / 2);
  }

  void give_traits(std::uint32_t n) {
    if (!maybe(lively_)) return;
    constexpr std::array choices{yields,     allocates,     spins, stays,       coarsens,
                                 designates, by_destructor, loops, ends_waiting};
    program_node& node = program_.nodes[n];
    trait const t = choices[any_of(random_, 0, choices.size() - (limits_.may_wait ? 1 : 3))];
    node.traits |= t == stays && !limits_.may_wait ? spins : t;
    if (maybe(0.3)) node.traits |= stoppable;
  }

  /// Throws, catches and stops in some of the programs.
  void plant() {
    auto const any = [&]() -> program_node& { return program_.nodes[any_of(random_, 0, program_.size() - 1)]; };
    if (program_.size() > 1 && maybe(0.3)) {
      for (std::uint32_t i = any_of(random_, 1, 4); i != 0; --i) {
        any().traits |= std::array{throws_before, throws_after, throws_within}[any_of(random_, 0, 2)];
      }
      for (std::uint32_t i = any_of(random_, 0, 3); i != 0; --i) any().traits |= catches;
      if (limits_.may_wait && maybe(0.2)) {
        for (auto& n : program_.nodes) n.traits |= n.is(all_throws) ? ends_waiting : 0u;
      }
    }
    if (maybe(0.12)) {
      for (std::uint32_t i = any_of(random_, 1, 2); i != 0; --i) any().traits |= stops;
    }
  }

  random_engine& random_;
  program_limits limits_;
  random_program program_;
  double lively_ = 0;
};

}  // namespace heist_test
