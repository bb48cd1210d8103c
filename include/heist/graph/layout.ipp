// From tasks as they were built to records as they run: order, successors, counters, sources; cycles are found here.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <utility>  // exchange

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/observe/graph_listener.hpp"
#include "heist/core/scheduler/wait.hpp"
#include "heist/graph/adjacency.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/limited.hpp"
#include "heist/graph/value_consumers.hpp"

namespace heist::detail {

static vector<std::uint32_t> room_for(graph_data const& g) {
  vector<std::uint32_t> room;
  room.reserve(5 * g.nodes.size() + 2 + g.edges.size());
  return room;
}

HEIST_BODY adjacency::adjacency(graph_data const& g)
    : memory{room_for(g)},
      first{memory.data()},
      strong{first + g.nodes.size() + 2},
      left{strong + g.nodes.size()},
      order{left + g.nodes.size()},
      position{order + g.nodes.size()},
      to{position + g.nodes.size()} {
  std::size_t const count = g.nodes.size();
  if (g.has_conditions) {
    for (node const* n : g.nodes) {
      if (n != nullptr && (n->type().kind == task_kind::condition || n->type().kind == task_kind::multi_condition)) {
        if (!weak_any) weak.resize(count), chosen.resize(count);
        weak_any = true;
        weak[n->index] = 1;
      }
    }
  }
  // first[i + 2] counts the successors of i, then first[i + 1] is where they begin, and the next one goes there.
  first[0] = first[1] = 0;
  if (g.counts != nullptr && !weak_any && g.consumers == nullptr) {  // the counts lack edges to consumers
    for (std::size_t i = 0; i != count; ++i) strong[i] = g.counts->in[i];
    for (std::size_t i = 0; i != count; ++i) first[i + 2] = g.counts->out[i];
  } else {
    for (std::size_t i = 0; i != count; ++i) strong[i] = first[i + 2] = 0;
    for (edge const& e : g.edges) {
      ++first[e.from() + 2];
      if (is_weak(e.from())) {
        chosen[e.to] = 1;
      } else {
        ++strong[e.to];
      }
    }
  }
  for (std::size_t i = 2; i < count + 2; ++i) first[i] += first[i - 1];
  for (edge const& e : g.edges) {
    to[first[e.from() + 1]++] = e.to;
    ascending &= e.from() < e.to;
  }
}

/// Names a path of tasks that wait for each other in a circle, among those with `left` predecessors outstanding.
HEIST_COLD_BODY std::string cycle_text(graph_data const& g, vector<std::uint32_t> const& left, adjacency const& a) {
  vector<std::uint32_t> before(g.nodes.size(), ~0u);  // some predecessor that never finishes
  std::uint32_t at = 0;
  for (std::uint32_t from = 0; from < g.nodes.size(); ++from) {
    if (g.nodes[from] == nullptr || left[from] == 0 || a.is_weak(from)) continue;
    for (std::uint32_t i = a.first[from]; i != a.first[from + 1]; ++i) before[a.to[i]] = from, at = a.to[i];
  }
  vector<char> seen(g.nodes.size());
  while (seen[at] == 0) seen[at] = 1, at = before[at];
  std::string text = g.task_name(at);
  std::size_t visible = 0;
  for (std::uint32_t i = before[at];; i = before[i]) {
    if (visible++ < 32 || i == at) {
      text = g.task_name(i) + " -> " + text;
    } else if (visible == 33) {
      text = "... -> " + text;
    }
    if (i == at) return text;
  }
}

/// Throws if tasks wait for each other in a circle, where no condition breaks it.
HEIST_COLD_BODY void reject_cycles(graph_data const& g, adjacency const& a) {
  vector<std::uint32_t> left(a.strong, a.strong + g.nodes.size());
  vector<std::uint32_t> ready;
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
  // A condition releases the tasks that only its successors could release: they are no part of a circle of waiting.
  if (done == g.nodes.size() - g.erased) return;
  throw graph_error{
      format_text("the graph has a cycle: {}; none of these tasks can ever start. Fix it by removing one of the "
                  "edges, or make the "
                  "loop explicit with a condition task (emplace_condition).",
                  {cycle_text(g, left, a)})};
}

/// Puts tasks in order of their ways, the longest first, and where these are equal as they were.
/// By merging: std::stable_sort is twelve functions in each program.
HEIST_COLD_BODY void sort_by_way(std::uint32_t* begin, std::uint32_t* end, std::uint32_t const* way) {
  auto const n = static_cast<std::size_t>(end - begin);
  vector<std::uint32_t> memory(n);
  std::uint32_t *from = begin, *to = memory.data();
  for (std::size_t width = 1; width < n; width *= 2) {
    for (std::size_t at = 0; at != n;) {
      std::size_t left = at, right = at + width < n ? at + width : n;
      std::size_t const middle = right, last = right + width < n ? right + width : n;
      for (; at != last; ++at) {
        bool const takes_left = left != middle && (right == last || way[from[left]] >= way[from[right]]);
        to[at] = from[takes_left ? left++ : right++];
      }
    }
    from = std::exchange(to, from);
  }
  for (std::size_t i = 0; from != begin && i != n; ++i) begin[i] = from[i];
}

/// The way of a task: how many tasks the longest path from it to the end has, in a.left; its successors are put in order
/// of theirs, the longest first, and where these are equal as they were. Those of its successors are known.
HEIST_ALWAYS_INLINE void order_successors(adjacency const& a, std::uint32_t i) {
  std::uint32_t* const way = a.left;
  std::uint32_t* const begin = a.to + a.first[i];
  std::uint32_t* const end = a.to + a.first[i + 1];
  if (end - begin > 16) {
    sort_by_way(begin, end, way);
  } else {
    for (std::uint32_t* e = begin; e < end - 1; ++e) {
      std::uint32_t const moved = e[1];
      std::uint32_t* at = e + 1;
      for (; at != begin && way[at[-1]] < way[moved]; --at) *at = at[-1];
      *at = moved;
    }
  }
  way[i] = begin == end ? 1 : way[*begin] + 1;
}

/// Fills a.order with the order in which one worker runs the tasks: the first successor that becomes ready runs next,
/// the others wait on a stack. Returns how many they are; fewer than there are: the others are in cycles.
HEIST_BODY std::size_t order_of_one_worker(vector<std::uint32_t> const& sources, std::size_t count,
                                           adjacency const& a) {
  std::uint32_t* ordered = a.order;
  std::uint32_t* const bottom = a.position;
  std::uint32_t* top = bottom;
  for (std::size_t i = 0; i != count; ++i) a.left[i] = a.strong[i];
  for (std::uint32_t const source : sources) {
    *top++ = source;
    while (top != bottom) {
      std::uint32_t const i = *--top;
      *ordered++ = i;
      for (std::uint32_t e = a.first[i + 1]; e-- != a.first[i];) {
        if (--a.left[a.to[e]] == 0) *top++ = a.to[e];
      }
    }
  }
  return static_cast<std::size_t>(ordered - a.order);
}

/// As above; the task with the longest way to the end comes first. `sources`: tasks without predecessors, which are put
/// in that order, too.
HEIST_BODY std::size_t order_by_way(graph_data const& g, vector<std::uint32_t>& sources, adjacency const& a) {
  std::size_t const count = g.nodes.size();
  if (a.ascending) {
    for (std::size_t i = count; i-- != 0;) order_successors(a, static_cast<std::uint32_t>(i));
  } else {
    std::size_t const ordered = order_of_one_worker(sources, count, a);
    if (ordered != count - g.erased) return ordered;
    for (std::size_t i = ordered; i-- != 0;) order_successors(a, a.order[i]);
  }
  bool in_order = true;
  for (std::size_t i = 1; i < sources.size(); ++i) in_order &= a.left[sources[i]] <= a.left[sources[i - 1]];
  if (!in_order) sort_by_way(sources.data(), sources.data() + sources.size(), a.left);
  return order_of_one_worker(sources, count, a);
}

/// For a graph with tasks of different priorities, or with known ways: ready_offer has to know this of each.
HEIST_COLD_BODY void graph_data::find_urgency(adjacency const& a) {
  urgency.reset();
  bool differ = known_ways != nullptr;
  for (std::uint32_t p = 1; p < record_count; ++p) differ |= priority_of(a.order[p]) != priority_of(a.order[0]);
  if (!differ) return;
  constexpr std::uint64_t most = (std::uint64_t{1} << 28) - 1;
  auto made = make_unique<std::uint64_t[]>(record_count);
  for (std::uint32_t p = record_count; p-- != 0;) {
    std::uint32_t const i = a.order[p];
    if (!a.weak_any) order_successors(a, i);  // for its way: they are in order
    std::uint64_t way = a.weak_any ? 0 : a.left[i];
    if (known_ways != nullptr && i < known_ways->size()) way = (*known_ways)[i];
    auto const level = static_cast<std::uint64_t>(127 - static_cast<int>(priority_of(i)));
    made[p] = level << 56 | (way < most ? most - way : 0) << 28 | (p < most ? p : most);
  }
  urgency = std::move(made);
}

template <class T>
void renew(vector<T>& room, std::size_t count) {
  room = {};
  if constexpr (std::is_trivially_default_constructible_v<T>) {
    room.reserve(count);
  } else {
    room.resize(count);
  }
}

/// Uses the old room again, unless it is much too large.
HEIST_BODY void graph_data::make_room_for_records(std::size_t tasks, std::size_t links) {
  if (tasks + 1 > record_room || record_room / 8 > tasks + 128) {
    record_room = 0;
    renew(owned_records, tasks + 1);
    renew(owned_counters, tasks + 1);
    record_room = tasks + 1;
  }
  if (links > successor_room || successor_room / 8 > links + 128) {
    successor_room = 0;
    renew(owned_successors, links);
    successor_room = links;
  }
}

/// While a graph is laid out: edges from the readers of a value to the task that takes it.
class edges_to_consumers {
 public:
  explicit edges_to_consumers(graph_data& g) noexcept : edges_{g.edges}, built_{g.edges.size()} {}
  edges_to_consumers(edges_to_consumers const&) = delete;
  edges_to_consumers& operator=(edges_to_consumers const&) = delete;
  ~edges_to_consumers() { edges_.erase(edges_.begin() + static_cast<std::ptrdiff_t>(built_), edges_.end()); }

 private:
  vector<edge>& edges_;
  std::size_t built_;
};

HEIST_COLD_BODY void graph_data::order_consumers() {
  std::size_t const built = edges.size();
  for (node const* n : nodes) {
    if (n == nullptr || (n->type().kind != task_kind::condition && n->type().kind != task_kind::multi_condition))
      continue;
    throw graph_error{
        format_text("{} is a condition, and a task of the same graph takes a value (heist::take) that conditions might "
                    "lead around, or to a second time; fix it by taking no values in graphs with conditions.",
                    {task_name(n->index)})};
  }
  for (std::size_t i = 0; i != built; ++i) {
    edge const e = edges[i];
    if (!e.is_value_edge()) continue;
    std::uint64_t const* const consumer = consumers->find(e.from());
    if (consumer != nullptr && *consumer != e.to) edges.push_back({e.to, static_cast<std::uint32_t>(*consumer)});
  }
}

/// The function of a record in a graph without a history.
HEIST_BODY runnable::run_function graph_data::run_of(node const& n) const noexcept {
  if (n.limits != 0) return &run_limited;
  if (urgency != nullptr && n.type().kind == task_kind::condition) [[unlikely]]
    return &run_condition_in_order;
  return n.type().run;
}

/// The records of `count` tasks in their order, their counters, the lists of their successors, and the tasks that start.
HEIST_BODY void graph_data::write_records(adjacency const& a, std::size_t count) {
  make_room_for_records(count, edges.size());
  record_count = static_cast<std::uint32_t>(count);
  records = owned_records.data();
  counters = owned_counters.data();
  successors = owned_successors.data();
  counts_tokens = a.weak_any;
  ++layout_count;
  urgency.reset();
  if (priorities != nullptr || known_ways != nullptr) find_urgency(a);
  has_slow_finish = counts_tokens || urgency != nullptr;
  for (std::uint32_t p = 0; p < record_count; ++p) a.position[a.order[p]] = p;
  for (std::uint32_t& source : sources) source = a.position[source];
  std::uint32_t filled = 0;
  for (std::uint32_t p = 0; p < record_count; ++p) {
    std::uint32_t const i = a.order[p];
    node& n = *nodes[i];
    record& r = records[p];
    r.run = run_of(n);
    r.what = &n;
    r.graph = this;
    r.first_successor = filled;
    r.predecessors = a.strong[i];
    counters[p].reset(r.predecessors);
    for (std::uint32_t e = a.first[i]; e != a.first[i + 1]; ++e) {
      std::uint32_t const to = a.to[e];
      owned_successors.data()[filled++] = successor{a.position[to], a.strong[to] == 1};
    }
  }
  records[record_count].first_successor = filled;
}

HEIST_BODY void graph_data::lay_out() {
  edges_to_consumers const until_layout{*this};
  if (consumers != nullptr) order_consumers();
  adjacency const a{*this};
  std::size_t const count = nodes.size() - erased;
  sources.clear();
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] != nullptr && a.strong[i] == 0 && !(a.weak_any && a.chosen[i] != 0)) sources.push_back(i);
  }
  if (a.weak_any || order_by_way(*this, sources, a) != count) {
    reject_cycles(*this, a);
    std::uint32_t* ordered = a.order;  // chosen by conditions: no order is the order, so that of creation will do
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] != nullptr) *ordered++ = i;
    }
  }

  write_records(a, count);
  if (sources.empty() && count != 0) {
    throw graph_error{
        format_text("no task of the graph can start: every one has a predecessor (all loops go through condition "
                    "tasks, such as {}). "
                    "Fix it by adding a task that nothing precedes and that leads into the loop.",
                    {task_name(a.order[0])})};
  }
  if (may_have_events) find_events();
  balance_limits();
#if HEIST_CHECKED
  warn_of_dead_tasks(a);
#endif
#ifndef NDEBUG
  warn_of_numbers();
#endif
}

/// For traces.
HEIST_COLD_BODY void graph_data::tell_edges(graph_listener& told) const noexcept {
  told.graph_begins();
  for (node const* n : nodes) {
    if (n != nullptr) told.has_task(n);
  }
  for (edge const& e : edges) told.has_edge(nodes[e.from()], nodes[e.to]);
  told.graph_ends();
}

struct graph_data::layout_end {
  completion end;
  std::size_t users = 0;  ///< under the lock: the thread that lays it out, and those that wait for it
};

/// The last user deletes it.
struct graph_data::release_layout_end {
  spin_lock<>& lock;

  void operator()(layout_end* end) const noexcept {
    {
      spin_guard guard{lock};
      if (--end->users != 0) return;
    }
    delete end;
  }
};

HEIST_BODY void graph_data::lay_out_once(core& scheduler) {
  auto made = make_unique<layout_end>();
  unique_ptr<layout_end, release_layout_end> end{nullptr, release_layout_end{lock}};
  bool mine = false;
  {
    spin_guard guard{lock};
    if (layout_valid) return;
    mine = layout == nullptr;
    if (mine) layout = made.release();
    ++layout->users;
    end.reset(layout);
  }
  if (!mine) return wait_for(end->end, scheduler.generation(), {"the layout of a graph"});
  auto const over = [&](bool well) {
    {
      spin_guard guard{lock};
      layout_valid = well;
      layout = nullptr;
    }
    end->end.complete();
  };
  try {
    lay_out();
    if (scheduler.on_graph != nullptr) tell_edges(*scheduler.on_graph);
  } catch (...) {
    over(false);
    throw;
  }
  over(true);
}

}  // namespace heist::detail
