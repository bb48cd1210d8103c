// Warnings of a graph on stderr, once each: tasks that will not run, and tasks that do not do what they seem to.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <cstdio>  // fprintf
#include <new>     // bad_alloc
#include <string>
#include <utility>  // exchange

#include "heist/core/base/format.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/graph/adjacency.hpp"
#include "heist/graph/graph_data.hpp"

namespace heist::detail {

#if HEIST_CHECKED
/// Names the tasks of a graph with conditions that no choice of the conditions can make ready. Once for each graph.
HEIST_COLD_BODY void graph_data::warn_of_dead_tasks(adjacency const& a) const noexcept {
  if (warned_of_joins || !a.weak_any) return;
  try {
    constexpr std::uint32_t runs = ~std::uint32_t{0};
    vector<std::uint32_t> left(a.strong, a.strong + nodes.size()), ready;
    auto const can_run = [&](std::uint32_t i) {
      if (std::exchange(left[i], runs) != runs) ready.push_back(i);
    };
    for (std::uint32_t i = 0; i != nodes.size(); ++i) {
      if (nodes[i] != nullptr && left[i] == 0 && a.chosen[i] == 0) can_run(i);
    }
    while (!ready.empty()) {
      std::uint32_t const i = ready.back();
      ready.pop_back();
      for (std::uint32_t e = a.first[i]; e != a.first[i + 1]; ++e) {
        std::uint32_t const to = a.to[e];
        if (a.is_weak(i) || (left[to] != runs && --left[to] == 0)) can_run(to);
      }
    }
    std::string text;
    std::size_t count = 0;
    for (std::uint32_t i = 0; i != nodes.size(); ++i) {
      if (nodes[i] == nullptr || left[i] == runs || count++ >= 8) continue;
      text += format_text("{}{}", {text.empty() ? "" : ", ", task_name(i)});
    }
    if (count == 0) return;
    warned_of_joins = true;
    std::fprintf(
        stderr,
        "heist: %zu tasks of a graph can never run, because each waits for another of them: %s; fix it by an edge "
        "into the loop that does not count, which only conditions have (emplace_condition).\n",
        count, text.c_str());
  } catch (std::bad_alloc const&) {  // nothing is said
  }
}

/// Names a task that only some of its predecessors have reached, at the end of a run that was not interrupted. Once for
/// each graph.
HEIST_COLD_BODY void graph_data::warn_of_joins() const noexcept {
  if (warned_of_joins) return;
  for (std::uint32_t p = 0; p != record_count; ++p) {
    std::uint32_t const of = records[p].predecessors, left = counters[p].left();
    if (of < 2 || left == 0 || left >= of) continue;
    warned_of_joins = true;
    try {
      std::fprintf(
          stderr,
          "heist: %s did not run again before its run ended: %u of its %u predecessors ran, and conditions led "
          "around the others; fix it by a condition at the end of each branch that leads to it.\n",
          task_name(records[p].built().index).c_str(), static_cast<unsigned>(of - left), static_cast<unsigned>(of));
    } catch (std::bad_alloc const&) {  // nothing is said
    }
    return;
  }
}
#endif

#ifndef NDEBUG
/// Says, once for each graph, what looks like a condition and is none.
HEIST_BODY void graph_data::warn_of_numbers() const {
  if (warned) return;
  vector<char> taken;
  vector<std::uint32_t> successors_of;
  for (node const* n : nodes) {
    if (n == nullptr || !n->type().leaves_number) continue;
    if (taken.empty()) {
      taken.resize(nodes.size());
      successors_of.resize(nodes.size());
      for (edge const& e : edges) {
        ++successors_of[e.from()];
        if (e.is_value_edge()) taken[e.from()] = 1;
      }
    }
    if (taken[n->index] != 0 || successors_of[n->index] < 2) continue;
    warned = true;
    std::fprintf(
        stderr,
        "heist: %s returns a number that is not used, and all of its %u successors will run; if it was to choose "
        "one of them, fix it by emplace_condition.\n",
        task_name(n->index).c_str(), static_cast<unsigned>(successors_of[n->index]));
    return;
  }
}
#endif

}  // namespace heist::detail
