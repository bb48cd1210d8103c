// Bodies of graph_data.hpp.
#pragma once

#include "heist/graph/graph_data.hpp"

#include <string>
#include <utility>  // move

#include "heist/core/base/format.hpp"
#include "heist/core/base/number_map.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/graph/value_consumers.hpp"

namespace heist::detail {

HEIST_BODY graph_data::graph_data() : pending_count_holder{&add_pending_count} {
  starter.graph = epilogue.graph = this;
  starter.run = &start_pass;
  starter.what = &starter_what;
  epilogue.run = &end_pass;
  epilogue.what = &epilogue_what;
}

HEIST_BODY bool graph_data::text_of_starter(runnable const& self, task_view& view) noexcept {
  view = view_of_starter(self);
  return true;
}

HEIST_BODY bool graph_data::text_of_epilogue(runnable const& self, task_view& view) noexcept {
  view = view_of_starter(self);
  return false;
}

HEIST_BODY unsigned graph_data::wave_of_run(runnable const& self) noexcept {
  return static_cast<starter_item const&>(self).graph->current->wave;
}

HEIST_BODY graph_data::~graph_data() {
  delete extension_data.load(std::memory_order_relaxed);  // relaxed: the caller is the last owner
  for (node* n : nodes) {
    if (n != nullptr) n->type().destroy(*n);
  }
  for (run_state* r : states) {
    if (r != nullptr) r->release();
  }
}

HEIST_BODY graph_owner::graph_owner(graph_owner const& other) noexcept : graph_{other.graph_} {
  if (graph_ != nullptr) graph_->retain();
}

HEIST_BODY graph_owner::~graph_owner() {
  if (graph_ != nullptr) graph_data::release(graph_);
}

HEIST_BODY void graph_data::release(graph_data* g) noexcept {
  graph_data* dead = nullptr;
  auto const drop = [&dead](graph_data* owned) {
    // acq_rel: the last owner sees the effects of the other owners
    if (owned == nullptr || owned->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    owned->next_dead = dead;
    dead = owned;
  };
  drop(g);
  while (dead != nullptr) {  // one after the other, not one inside the other: they may be composed in long chains
    graph_data* const now = dead;
    dead = now->next_dead;
    for (part& p : now->parts) drop(p.graph.give_up());
    delete now;
  }
}

// ---- building ----

HEIST_COLD_BODY void reject_change(char const* what) {
  throw graph_error{format_text("cannot {} while the graph runs; fix it by waiting for the run first.", {what})};
}

HEIST_COLD_BODY void reject_change_of_history(char const* what) {
  throw graph_error{format_text(
      "cannot {} between two passes of a run under a policy with memory (cab, cats, replay, automatic), which knows "
      "the tasks of the run by their places; fix it by waiting for the run first, or by policy::random.",
      {what})};
}

HEIST_COLD_BODY void reject_more_tasks() {
  throw graph_error{"a graph holds at most 2^31 tasks; fix it by splitting it and composing the parts."};
}

[[noreturn]] HEIST_COLD_BODY void reject_self() {
  throw graph_error{
      "a graph is composed into itself, directly or through others, and would never end; fix it by composing "
      "a copy, or by a loop with a condition task."};
}

HEIST_COLD_BODY void reject_containing_itself(graph_data const& g, graph_data const& part) {
  if (&g == &part) reject_self();
  // relaxed: set by the building thread; graphs are built in turn
  if (!g.is_a_part.load(std::memory_order_relaxed)) return;
  number_map seen;
  seen.try_emplace(as_key(&part), 0);
  vector<graph_data const*> to_visit{&part};
  while (!to_visit.empty()) {
    graph_data const& now = *to_visit.back();
    to_visit.pop_back();
    for (auto const& inner : now.parts) {
      if (inner.graph.get() == &g) reject_self();
      if (seen.try_emplace(as_key(inner.graph.get()), 0).is_new) to_visit.push_back(inner.graph.get());
    }
  }
}

HEIST_COLD_BODY void graph_data::destroy(node* n) noexcept {
  node_operations const& type = n->type();
  type.destroy(*n);
  memory.give_back(n, type.bytes, type.alignment);
}

HEIST_COLD_BODY void graph_data::set_priority(std::uint32_t task, priority how) {
  about_to_change("give a task a priority");
  if (priority_of(task) == how) return;
  if (priorities == nullptr) priorities = make_unique<vector<priority>>();
  if (priorities->size() < nodes.size()) priorities->resize(nodes.size(), priority::normal);
  (*priorities)[task] = how;
}

/// There is room for it.
HEIST_COLD_BODY void graph_data::add_part(std::uint32_t task, graph_owner const& inner) {
  parts.push_back({task, inner});
  inner->is_a_part.store(true, std::memory_order_relaxed);  // relaxed: as in reject_containing_itself
}

HEIST_COLD_BODY void graph_data::erase_edges(std::uint32_t from, std::uint32_t to) {
  about_to_change("erase an edge");
  for (edge const& e : edges) {
    if (e.from() == from && e.to == to && e.is_value_edge()) {
      throw graph_error{
          format_text("the edge {} -> {} carries a value that {} takes as an argument; fix it by erasing the "
                      "task that takes it.",
                      {task_name(from), task_name(to), task_name(to)})};
    }
  }
  auto const n =
      static_cast<std::uint32_t>(erase_if(edges, [&](edge const& e) { return e.from() == from && e.to == to; }));
  if (counts != nullptr) counts->out[from] -= n, counts->in[to] -= n;
}

HEIST_COLD_BODY void graph_data::erase_node(std::uint32_t index) {
  about_to_change("erase a task");
  for (edge const& e : edges) {
    if (e.from() == index && e.is_value_edge()) {
      throw graph_error{
          format_text("{} takes the value of {}, which therefore cannot be erased; fix it by erasing {} first.",
                      {task_name(e.to), task_name(index), task_name(e.to)})};
    }
  }
  node* const n = nodes[index];
  make_room(free_indices, 1);
  if (n->limits != 0) make_room(free_limits, 1);
  // Nothing is refused from here on.
  erase_if(edges, [&](edge const& e) {
    if (e.from() != index && e.to != index) return false;
    if (counts != nullptr) --counts->out[e.from()], --counts->in[e.to];
    return true;
  });
  names.erase(index);
  if (priority_of(index) != priority::normal) (*priorities)[index] = priority::normal;
  if (n->limits != 0) {
    limits[n->limits - 1].reset();
    free_limits.push_back(n->limits - 1);
  }
  if (consumers != nullptr) consumers->erase_value(index);
  nodes[index] = nullptr;
  ++erased;
  free_indices.push_back(index);
  trim();
  graph_owner inner;  // it owns objects of the user's
  if (n->type().kind == task_kind::module) {
    for (part& p : parts) {
      if (p.task == index) inner = std::move(p.graph);
    }
    erase_if(parts, [&](part const& p) { return p.task == index; });
  }
  destroy(n);
}

/// Tasks at the end that were erased leave nothing behind, so that a graph that has shrunk is a small one.
HEIST_COLD_BODY void graph_data::trim() noexcept {
  while (!nodes.empty() && nodes.back() == nullptr) {
    nodes.pop_back();
    --erased;
    if (counts != nullptr) counts->in.pop_back(), counts->out.pop_back();
  }
  if (nodes.empty()) free_indices.clear();
}

HEIST_COLD_BODY void graph_data::erase_since(std::uint32_t first) noexcept {
  for (node*& n : nodes) {
    if (n == nullptr || n->created - first >= births - first) continue;
    node* const made = n;
    n = nullptr;
    ++erased;
    try {
      free_indices.push_back(made->index);
    } catch (std::bad_alloc const&) {  // then no task uses it again
    }
    destroy(made);
  }
  trim();
}

HEIST_COLD_BODY void graph_data::clear() {
  about_to_change("clear it");
  for (node* n : nodes) {
    if (n != nullptr) n->type().destroy(*n);
  }
  nodes.clear();
  edges.clear();
  names.clear();
  limits.clear();
  parts.clear();
  sources.clear();
  free_indices.clear();
  free_limits.clear();
  consumers.reset();
  if (hints() != nullptr) extended().hints.reset();
  priorities.reset();
  urgency.reset();
  events.clear();
  may_have_events = false;
  known_ways.reset();
  known_counts.store(nullptr, std::memory_order_relaxed);  // relaxed: by the building thread, as all changes
  if (counts != nullptr) cached_counts = std::move(counts);
  balances.clear();
  balance_count = 0;
  memory.clear();
  erased = record_count = 0;
  has_conditions = false;
}

HEIST_COLD_BODY void graph_data::reject_consumers(input_note const* inputs, std::size_t count) const {
  for (std::size_t i = 0; i != count; ++i) {
    if (!inputs[i].is_taken) continue;
    std::uint32_t const from = inputs[i].from;
    if (consumers != nullptr) {
      if (std::uint64_t const* const other = consumers->find(from)) {
        throw graph_error{
            format_text("the value of {} would be taken twice, by {} and by the task that is added; fix it by letting "
                        "one of them read it without heist::take.",
                        {task_name(from), task_name(static_cast<std::uint32_t>(*other))})};
      }
    }
    for (std::size_t k = 0; k != count; ++k) {
      if (k != i && inputs[k].from == from) {
        throw graph_error{format_text(
            "a task takes the value of {} and reads it besides; fix it by one parameter for it.", {task_name(from)})};
      }
    }
  }
}

HEIST_COLD_BODY void graph_data::add_consumers(input_note const* inputs, std::size_t count, std::uint32_t consumer) {
  if (consumers == nullptr) consumers = make_unique<value_consumers>();
  for (std::size_t i = 0; i != count; ++i) {
    if (inputs[i].is_taken) consumers->try_emplace(inputs[i].from, consumer);
  }
}

HEIST_COLD_BODY std::string graph_data::task_name(std::uint32_t index) const {
  std::string const* const found = names.find(index);
  return found != nullptr ? *found : format_text("#{}", {index});
}

HEIST_BODY graph_data::edge_counts const& graph_data::count_edges() {
  unique_ptr<edge_counts> made;
  {
    spin_guard guard{lock};
    if (counts != nullptr) return *counts;
    made = std::move(cached_counts);
  }
  if (made == nullptr) made = make_unique<edge_counts>();
  made->in.assign(nodes.size(), 0);
  made->out.assign(nodes.size(), 0);
  for (edge const& e : edges) ++made->out[e.from()], ++made->in[e.to];
  spin_guard guard{lock};
  if (counts == nullptr) counts.swap(made);
  known_counts.store(counts.get(), std::memory_order_release);  // release: for counted_edges()
  return *counts;
}

// ---- running ----

HEIST_BODY task_view view_of(record const& r) noexcept {
  node const& n = r.built();
  std::string const* const name = r.graph->names.find(n.index);
  return {n.type().kind, &n, name == nullptr ? nullptr : name->c_str()};
}

HEIST_BODY bool text_of_node(runnable const& self, task_view& view) noexcept {
  record const& r = static_cast<record const&>(self);
  view = view_of(r);
  return r.built().limits == 0;
}

HEIST_COLD_BODY completion const* end_of_node(runnable const& self) noexcept {
  run_state const* r = static_cast<record const&>(self).graph->current;
  if (r == nullptr) return nullptr;
  while (r->outer != nullptr) r = r->parent;
  return &r->finished;
}

HEIST_COLD_BODY interrupt_state const* interrupt_of_node(runnable const& self) noexcept {
  run_state const* const r = static_cast<record const&>(self).graph->current;
  return r == nullptr ? nullptr : &r->interrupt;
}

/// In a graph whose tasks have urgencies.
HEIST_BODY runnable* finish_in_order(record& r, fiber& self) {
  graph_data& g = *r.graph;
  ready_offer offer{self};
  if (!g.counts_tokens) self.worker->count_for(g);
  successor const* const end = g.successors + (&r)[1].first_successor;
  for (successor const* s = g.successors + r.first_successor; s != end; ++s) {
    std::uint32_t const p = s->position();
    if (!s->direct() && !g.counters[p].arrive(self.worker->alone)) continue;
    if (g.counts_tokens) g.count_one_more();
    offer.add(g.urgency[p], g.records[p]);
  }
  if (g.counts_tokens) self.worker->count_for(g);  // its token is given up, now that the rest are counted
  return offer.begin();
}

HEIST_BODY runnable* choose_in_order(runnable* chosen, graph_data& g, fiber& self) {
  if (chosen == nullptr || !g.begins_in_order()) return chosen;
  ready_offer offer{self};
  offer.add(g.urgency_of(static_cast<record const&>(*chosen)), *chosen);
  return offer.begin();
}

HEIST_BODY runnable* run_condition_in_order(runnable& task, fiber& self) {
  record& r = static_cast<record&>(task);
  graph_data& g = *r.graph;
  return choose_in_order(r.built().type().run(task, self), g, self);
}

HEIST_BODY runnable* finish(record& r, fiber& self) {
  graph_data& g = *r.graph;
  worker* w = self.worker;  // kept: none runs here, and push() says where it has ended
  // From the last to the first: they stand in the order in which they are wanted, and what is pushed last is run first.
  successor const* const first = g.successors + r.first_successor;
  successor const* s = g.successors + (&r)[1].first_successor;
  record* next = nullptr;
  if (!g.has_slow_finish) [[likely]] {
    w->count_for(g);
    if (!w->alone && s - first > 1) {
      for (successor const* p = first; p != s; ++p) __builtin_prefetch(&g.counters[p->position()], 1);
    }
    while (s != first) {
      --s;
      if (!s->direct() && !g.counters[s->position()].arrive(w->alone)) continue;
      if (next != nullptr) {
        __builtin_prefetch(next);
        w = &self.scheduler.push(*w, *next);
      }
      next = &g.records[s->position()];
    }
  } else {
    if (graph_recall* const recalled = g.recalled(); recalled != nullptr) return recalled->finish(r, self);
    if (g.urgency != nullptr) return finish_in_order(r, self);
    while (s != first) {
      --s;
      if (!s->direct() && !g.counters[s->position()].arrive(w->alone)) continue;
      if (next != nullptr) {  // the last one takes over this task's token
        g.count_one_more();
        w = &self.scheduler.push(*w, *next);
      }
      next = &g.records[s->position()];
    }
    if (next == nullptr) w->count_for(g);  // its token is given up
  }
  return next;
}

}  // namespace heist::detail
