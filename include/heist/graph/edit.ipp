// Bodies of edit.hpp.
#pragma once

#include "heist/graph/edit.hpp"

#include <utility>

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

HEIST_COLD_BODY void reject_moved_from() {
  throw graph_error{
      "this task_graph was moved from and holds nothing; fix it by using the graph it was moved to, or by assigning a "
      "new one."};
}

HEIST_COLD_BODY void reject_result(std::string const& task) {
  throw graph_error{
      format_text("{} has no result: it has not run, was skipped, or its value was taken; fix it by waiting for a run "
                  "that ends without an exception or a stop, or by reading it without heist::take.",
                  {task})};
}

HEIST_COLD_BODY void reject_other_work(std::string const& task) {
  throw graph_error{format_text(
      "{} is a condition, a composed graph, or a task whose value others may take: it keeps its work. Fix it "
      "by erasing the task and adding another.",
      {task})};
}

HEIST_COLD_BODY limited_task& limits_to_edit(graph_data& g, std::uint32_t index, limiter& l, std::size_t count) {
  g.about_to_change("limit a task");
  if (count == 0 || count > l.max()) {
    throw graph_error{
        format_text("{} wants {} of a limiter that has {} in all, so it could never run; fix it by asking for "
                    "1 to {}.",
                    {g.task_name(index), count, l.max(), l.max()})};
  }
  node& n = *g.nodes[index];
  if (n.limits == 0) {
    auto made = make_unique<limited_task>();
    if (g.free_limits.empty()) {
      g.limits.push_back(std::move(made));
      n.limits = static_cast<std::uint32_t>(g.limits.size());
    } else {
      n.limits = g.free_limits.back() + 1;
      g.free_limits.pop_back();
      g.limits[n.limits - 1] = std::move(made);
    }
  }
  return *g.limits[n.limits - 1];
}

HEIST_COLD_BODY void add_acquire(graph_data& g, std::uint32_t index, limiter& l, std::size_t count) {
  auto& list = limits_to_edit(g, index, l, count).acquires;
  auto at = list.begin();
  while (at != list.end() && reinterpret_cast<std::uintptr_t>(at->from) < reinterpret_cast<std::uintptr_t>(&l)) ++at;
  if (at != list.end() && at->from == &l) {
    if (at->count + count > l.max()) limits_to_edit(g, index, l, at->count + count);  // throws, and says why
    at->count += static_cast<std::uint32_t>(count);
  } else {
    list.insert(at, {&l, static_cast<std::uint32_t>(count)});
  }
}

HEIST_COLD_BODY void add_release(graph_data& g, std::uint32_t index, limiter& l, std::size_t count) {
  limits_to_edit(g, index, l, count).releases.push_back({&l, static_cast<std::uint32_t>(count)});
}

HEIST_COLD_BODY void add_limit(graph_data& g, std::uint32_t index, limiter& l, std::size_t count) {
  make_room(limits_to_edit(g, index, l, count).releases, 1);
  add_acquire(g, index, l, count);
  add_release(g, index, l, count);
}

}  // namespace heist::detail
