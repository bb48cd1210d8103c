// Bodies of graph_data.hpp.
#pragma once

#include "heist/graph/graph_data.hpp"
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
