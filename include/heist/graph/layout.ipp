// From tasks as they were built to records as they run: order, successors, counters, sources; cycles are found here.
#pragma once

#include <fmt/format.h>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstdio>  // fprintf
#include <memory>
#include <string>
#include <vector>

#include "heist/base/errors.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/limited.hpp"
#include "heist/sched/wait.hpp"

namespace heist::detail {

/// The edges of a graph by predecessor, and each task's number of predecessors that count.
struct adjacency {
  explicit adjacency(graph_data const& g);

  bool is_weak(std::uint32_t from) const noexcept { return weak_any && weak[from]; }

  std::vector<std::uint32_t> first;   ///< by task: where its successors begin; one more at the end
  std::vector<std::uint32_t> to;      ///< successors, in order of creation of the edges
  std::vector<std::uint32_t> strong;  ///< by task: predecessors that must finish first
  std::vector<bool> weak;             ///< by task: is it a condition, whose edges choose instead of count?
  std::vector<bool> chosen;           ///< by task: is there a condition that may choose it?
  bool weak_any = false;
};

HEIST_BODY adjacency::adjacency(graph_data const& g)
    : first(g.nodes.size() + 1), to(g.edges.size()), strong(g.nodes.size()) {
  for (node const* n : g.nodes) {
    if (n != nullptr && (n->type().kind == task_kind::condition || n->type().kind == task_kind::multi_condition)) {
      if (!weak_any) weak.resize(g.nodes.size()), chosen.resize(g.nodes.size());
      weak_any = true;
      weak[n->index] = true;
    }
  }
  for (edge const& e : g.edges) {
    ++first[e.from() + 1];
    if (is_weak(e.from())) {
      chosen[e.to] = true;
    } else {
      ++strong[e.to];
    }
  }
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  // Fill from the front: the cursor of task i ends where i + 1 begins, so the array is shifted by one afterwards.
  std::vector<std::uint32_t> cursor(first.begin(), first.end() - 1);
  for (edge const& e : g.edges) to[cursor[e.from()]++] = e.to;
}

/// Names a path of tasks that wait for each other in a circle, among those with `left` predecessors outstanding.
HEIST_BODY std::string cycle_text(graph_data const& g, std::vector<std::uint32_t> const& left, adjacency const& a) {
  std::vector<std::uint32_t> before(g.nodes.size(), ~0u);  // some predecessor that never finishes
  std::uint32_t at = 0;
  for (std::uint32_t from = 0; from < g.nodes.size(); ++from) {
    if (g.nodes[from] == nullptr || left[from] == 0 || a.is_weak(from)) continue;
    for (std::uint32_t i = a.first[from]; i != a.first[from + 1]; ++i) before[a.to[i]] = from, at = a.to[i];
  }
  std::vector<bool> seen(g.nodes.size());
  while (!seen[at]) seen[at] = true, at = before[at];
  std::string text = g.task_name(at);
  std::size_t shown = 0;
  for (std::uint32_t i = before[at];; i = before[i]) {
    if (shown++ < 32 || i == at) {
      text = g.task_name(i) + " -> " + text;
    } else if (shown == 33) {
      text = "... -> " + text;
    }
    if (i == at) return text;
  }
}

/// Throws if tasks wait for each other in a circle, where no condition breaks it.
HEIST_BODY void refuse_cycles(graph_data const& g, adjacency const& a) {
  std::vector<std::uint32_t> left = a.strong;
  std::vector<std::uint32_t> ready;
  std::size_t done = 0;
  for (std::uint32_t i = 0; i < g.nodes.size(); ++i) {
    if (g.nodes[i] != nullptr && left[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    std::uint32_t const i = ready.back();
    ready.pop_back();
    ++done;
    if (a.is_weak(i)) continue;
    for (std::uint32_t e = a.first[i]; e != a.first[i + 1]; ++e) {
      if (--left[a.to[e]] == 0) ready.push_back(a.to[e]);
    }
  }
  // What only a condition's successors could release is released by the condition: not part of a circle of waiting.
  if (done == g.nodes.size() - g.erased) return;
  throw graph_error{
      fmt::format("the graph has a cycle: {}; none of these tasks can ever start. Mend it by removing one of the "
                  "edges, or make the "
                  "loop explicit with a condition task (emplace_condition).",
                  cycle_text(g, left, a))};
}

/// The order in which one worker runs the tasks: the first successor that becomes ready runs next, the others wait on a
/// stack. Fewer tasks than there are: the others are in cycles.
HEIST_BODY std::vector<std::uint32_t> order_of_one_worker(graph_data const& g, adjacency const& a) {
  std::vector<std::uint32_t> order;
  order.reserve(g.nodes.size());
  std::vector<std::uint32_t> left = a.strong;
  std::vector<std::uint32_t> stack;
  for (std::uint32_t source = 0; source < g.nodes.size(); ++source) {
    if (g.nodes[source] == nullptr || a.strong[source] != 0) continue;
    stack.push_back(source);
    while (!stack.empty()) {
      std::uint32_t i = stack.back();
      stack.pop_back();
      for (;;) {
        order.push_back(i);
        std::uint32_t next = ~0u;
        for (std::uint32_t e = a.first[i]; e != a.first[i + 1]; ++e) {
          if (--left[a.to[e]] != 0) continue;
          if (next == ~0u) {
            next = a.to[e];
          } else {
            stack.push_back(a.to[e]);
          }
        }
        if (next == ~0u) break;
        i = next;
      }
    }
  }
  return order;
}

HEIST_BODY void graph_data::lay_out() {
  adjacency const a{*this};
  std::vector<std::uint32_t> order;
  if (!a.weak_any) order = order_of_one_worker(*this, a);
  std::size_t const count = nodes.size() - erased;
  if (order.size() != count) {
    refuse_cycles(*this, a);
    order.clear();  // chosen by conditions: no order is the order, so that of creation will do
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] != nullptr) order.push_back(i);
    }
  }

  record_count = static_cast<std::uint32_t>(count);
  owned_records = std::make_unique_for_overwrite<record[]>(count + 1);
  owned_counters = std::make_unique_for_overwrite<join_counter[]>(count);
  owned_successors = std::make_unique_for_overwrite<successor[]>(edges.size());
  records = owned_records.get();
  counters = owned_counters.get();
  successors = owned_successors.get();
  counts_tokens = a.weak_any;
  sources.clear();
  for (std::uint32_t p = 0; p < record_count; ++p) nodes[order[p]]->position = p;
  std::uint32_t filled = 0;
  for (std::uint32_t p = 0; p < record_count; ++p) {
    std::uint32_t const i = order[p];
    node& n = *nodes[i];
    record& r = records[p];
    r.run = n.limits == 0 ? n.type().run : &run_limited;
    r.what = &n;
    r.graph = this;
    r.first_successor = filled;
    r.predecessors = a.strong[i];
    counters[p].reset(r.predecessors);
    for (std::uint32_t e = a.first[i]; e != a.first[i + 1]; ++e) {
      std::uint32_t const to = a.to[e];
      owned_successors[filled++] = successor{nodes[to]->position, a.strong[to] == 1};
    }
    if (a.strong[i] == 0 && !(a.weak_any && a.chosen[i])) sources.push_back(p);
  }
  records[record_count].first_successor = filled;
  if (sources.empty() && count != 0) {
    throw graph_error{
        fmt::format("no task of the graph can start: every one has a predecessor (all loops go through condition "
                    "tasks, such as {}). "
                    "Mend it by adding a task that nothing precedes and that leads into the loop.",
                    task_name(order.front()))};
  }
  balance_limits();
#ifndef NDEBUG
  warn_of_numbers();
#endif
}

HEIST_BODY void graph_data::lay_out_once(core& home) {
  auto const mine = std::make_shared<completion>();
  std::shared_ptr<completion> end;
  {
    spin_guard guard{lock};
    if (laid_out) return;
    if (layout_end == nullptr) layout_end = mine;
    end = layout_end;
  }
  if (end != mine) return wait_for(*end, home.generation(), {"the layout of a graph"});
  auto const over = [&](bool well) {
    {
      spin_guard guard{lock};
      laid_out = well;
      layout_end = nullptr;
    }
    mine->complete();
  };
  try {
    lay_out();
  } catch (...) {
    over(false);
    throw;
  }
  over(true);
}

/// Says, once for each graph, what looks like a condition and is none.
HEIST_BODY void graph_data::warn_of_numbers() const {
  if (warned) return;
  std::vector<bool> taken;
  std::vector<std::uint32_t> successors_of;
  for (node const* n : nodes) {
    if (n == nullptr || !n->type().leaves_number) continue;
    if (taken.empty()) {
      taken.resize(nodes.size());
      successors_of.resize(nodes.size());
      for (edge const& e : edges) {
        ++successors_of[e.from()];
        if (e.carries_value()) taken[e.from()] = true;
      }
    }
    if (taken[n->index] || successors_of[n->index] < 2) continue;
    warned = true;
    std::fprintf(
        stderr,
        "heist: %s returns a number that nobody takes, and all of its %u successors will run; if it was to choose "
        "one of them, mend it by emplace_condition.\n",
        task_name(n->index).c_str(), static_cast<unsigned>(successors_of[n->index]));
    return;
  }
}

}  // namespace heist::detail
