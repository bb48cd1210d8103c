// stress and UTS as programs for the simulator. They have the same trees of tasks as the kernels that run on the real
// executor (examples/kernels).
#pragma once

#include <heist/simulate.hpp>

#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "../../examples/kernels/stress.hpp"
#include "../../examples/kernels/uts.hpp"

namespace papers {

/// The trees of kernels::stress. `leaf`: the time of a leaf.
inline heist::sim::program stress_for_simulator(std::size_t depth, heist::sim::ticks leaf) {
  return heist::sim::balanced_tree({.depth = static_cast<std::uint32_t>(depth),
                                    .leaf = heist::sim::fixed(leaf),
                                    .rounds = static_cast<std::uint32_t>(kernels::stress::all_leaves >> depth)},
                                   "stress");
}

/// The tree of tasks of a kernels::uts, with the same halving of children. `node`: the time of a node.
template <class Kernel>
class uts_tree {
 public:
  uts_tree(std::size_t size, heist::sim::ticks node) : kernel_{size}, node_{node} {}

  heist::sim::program make() {
    builder_.begin(builder_.add_tree(), 1);
    visit(Kernel::root());
    while (!todo_.empty()) {
      open const next = todo_.back();
      todo_.pop_back();
      builder_.begin(next.task, 1);
      children(next.parent, next.first, next.last);
    }
    return builder_.finish();
  }

 private:
  using node = typename Kernel::node;

  struct open {
    std::uint32_t task;
    node parent;
    std::uint32_t first, last;  ///< of the parent's children
  };

  /// Adds a node and its children to the current task.
  void visit(node const& n) {
    builder_.work(node_);
    if (auto const count = static_cast<std::uint32_t>(kernel_.children(n)); count != 0) children(n, 0, count);
  }
  void children(node const& parent, std::uint32_t first, std::uint32_t last) {
    if (last - first == 1) return visit(Kernel::child(parent, first));
    std::uint32_t const halves = builder_.fork(2), middle = first + (last - first) / 2;
    todo_.push_back({halves + 1, parent, middle, last});
    todo_.push_back({halves, parent, first, middle});
  }

  Kernel kernel_;
  heist::sim::ticks node_;
  heist::sim::program_builder builder_{"uts"};
  std::vector<open> todo_;
};

template <class Kernel>
heist::sim::program uts_for_simulator(std::size_t size, heist::sim::ticks node) {
  return uts_tree<Kernel>{size, node}.make();
}

}  // namespace papers
