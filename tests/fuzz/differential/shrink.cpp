#include <algorithm>  // max
#include <cstddef>    // size_t
#include <cstdint>
#include <functional>
#include <utility>  // move
#include <vector>

#include "fuzz/differential/runner.hpp"

namespace heist_fuzz {

using heist_test::part_of;
using heist_test::random_program;
using heist_test::way;

namespace {

class shrinker {
 public:
  shrinker(fuzz_case c, std::function<bool(fuzz_case const&)> const& fails) : best_{std::move(c)}, fails_{fails} {}

  fuzz_case operator()() {
    std::size_t before = ~std::size_t{0};
    for (int round = 0; round != 20; ++round) {
      std::size_t const now = to_text(best_).size();
      if (now >= before) break;
      before = now;
      as_root();
      without_subtrees();
      without_levels();
      plainer_nodes();
      plainer_runs();
    }
    return best_;
  }

 private:
  bool accept(fuzz_case c) {
    if (c == best_ || !fails_(c)) return false;
    best_ = std::move(c);
    return true;
  }
  bool accept(random_program p) {
    fuzz_case c = best_;
    c.program = std::move(p);
    return accept(std::move(c));
  }
  std::uint32_t size() const noexcept { return best_.program.size(); }

  /// A subtree in the place of all. Graphs become trees that run them, and the other way round.
  void as_root() {
    for (std::uint32_t n = 1; n < size(); ++n) {
      if (accept(part_of(best_.program, n, std::vector<bool>(size())))) n = 0;
    }
  }

  /// Deletes ranges of nodes, with their subtrees: halves, quarters and so on.
  void without_subtrees() {
    for (std::uint32_t length = std::max(1u, size() / 2);; length /= 2) {
      for (std::uint32_t first = 1; first < size();) {
        std::vector<bool> gone(size());
        for (std::uint32_t i = first; i < size() && i - first < length; ++i) gone[i] = true;
        if (!accept(part_of(best_.program, 0, gone))) first += length;
      }
      if (length <= 1) break;
    }
  }

  /// A child in the place of its parent.
  void without_levels() {
    for (std::uint32_t n = 1; n < size(); ++n) {
      std::vector<std::uint32_t> const children = best_.program.nodes[n].children;
      for (std::uint32_t const child : children) {
        random_program p = best_.program;
        std::uint32_t const parent = p.nodes[n].parent, place = p.nodes[n].place;
        p.nodes[child].after = p.nodes[n].after;
        p.nodes[child].place = place;
        p.nodes[child].parent = parent;
        p.nodes[parent].children[place] = child;
        if (accept(part_of(p, 0, std::vector<bool>(p.size())))) break;
      }
    }
  }

  void plainer_nodes() {
    for (std::uint32_t n = 0; n < size(); ++n) {
      for (std::uint32_t bits = best_.program.nodes[n].traits, one = 1; bits != 0; bits &= ~one, one <<= 1) {
        if ((bits & one) == 0) continue;
        random_program p = best_.program;
        p.nodes[n].traits &= ~one;
        accept(std::move(p));
      }
      for (std::size_t e = best_.program.nodes[n].after.size(); e-- > 0;) {
        random_program p = best_.program;
        p.nodes[n].after.erase(p.nodes[n].after.begin() + static_cast<std::ptrdiff_t>(e));
        accept(std::move(p));
      }
      way const how = best_.program.nodes[n].how;
      if (how == way::leaf) continue;
      random_program p = best_.program;
      p.nodes[n].how = p.nodes[n].children.empty() ? way::leaf : way::fork;
      for (std::uint32_t const child : p.nodes[n].children) p.nodes[child].after.clear();
      if (how != p.nodes[n].how) accept(p);
      p = best_.program;
      if (p.nodes[n].group != 2) p.nodes[n].group = 2, accept(std::move(p));
    }
  }

  template <class F>
  void try_with(F change) {
    fuzz_case c = best_;
    change(c);
    accept(std::move(c));
  }

  void plainer_runs() {
    try_with([](fuzz_case& c) { c.follow = schedule::free, c.donor = {}; });
    try_with([](fuzz_case& c) { c.in_region = false, c.follow = schedule::free, c.donor = {}; });
    if (best_.donor.size() > 1) {
      for (std::uint32_t n = 1; n < best_.donor.size();) {
        std::vector<bool> gone(best_.donor.size());
        gone[n] = true;
        fuzz_case c = best_;
        c.donor = part_of(best_.donor, 0, gone);
        if (!accept(std::move(c))) ++n;
      }
    }
    fuzz_case const usual;
    try_with([&](fuzz_case& c) { c.passes = usual.passes; });
    try_with([&](fuzz_case& c) { c.level = usual.level; });
    try_with([&](fuzz_case& c) { c.tiers_by_hand = usual.tiers_by_hand; });
    try_with([&](fuzz_case& c) { c.any_context = usual.any_context; });
    try_with([&](fuzz_case& c) { c.prune = usual.prune; });
    try_with([&](fuzz_case& c) { c.where.machine = 0; });
    try_with([](fuzz_case& c) { c.armed = 0; });
    try_with([](fuzz_case& c) { c.after = graph_end::stays; });
    try_with([](fuzz_case& c) { c.keeps = false; });
    try_with([](fuzz_case& c) { c.clients = 0; });
    try_with([](fuzz_case& c) { c.clients = std::min(c.clients, 1u); });
    for (std::uint32_t rounds = 1; rounds < best_.rounds; ++rounds) {
      try_with([rounds](fuzz_case& c) { c.rounds = rounds, c.armed &= (1u << rounds) - 1; });
      try_with([rounds](fuzz_case& c) { c.armed >>= c.rounds - rounds, c.rounds = rounds; });
    }
    while (best_.tree_steals > 1) {
      std::uint32_t const now = best_.tree_steals;
      try_with([](fuzz_case& c) { --c.tree_steals; });
      if (best_.tree_steals == now) break;
    }
    for (std::uint32_t const workers : worker_counts) {
      if (workers < best_.where.workers) try_with([workers](fuzz_case& c) { c.where.workers = workers; });
    }
  }

  fuzz_case best_;
  std::function<bool(fuzz_case const&)> const& fails_;
};

}  // namespace

fuzz_case shrink(fuzz_case c, std::function<bool(fuzz_case const&)> const& fails) {
  return shrinker{std::move(c), fails}();
}

}  // namespace heist_fuzz
