// Bodies of graph_data.hpp.
#pragma once

#include "heist/graph/graph_data.hpp"

namespace heist::detail {

HEIST_BODY graph_data::graph_data() : tally_keeper{&add_tally} {
  starter.graph = ender.graph = this;
  starter.run = &start_pass;
  starter.what = &starter_what;
  ender.run = &end_pass;
  ender.what = &ender_what;
}

HEIST_BODY bool graph_data::describe_starter(runnable const& self, task_view& view) noexcept {
  view = view_of_starter(self);
  return true;
}

HEIST_BODY bool graph_data::describe_ender(runnable const& self, task_view& view) noexcept {
  view = view_of_starter(self);
  return false;
}

HEIST_BODY unsigned graph_data::wave_of_run(runnable const& self) noexcept {
  return static_cast<starter_item const&>(self).graph->current->wave;
}

HEIST_BODY graph_data::~graph_data() {
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
    // acq_rel: the last owner sees what the others did
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
  auto const& names = r.graph->names;
  auto const found = names.empty() ? names.end() : names.find(n.index);
  return {n.type().kind, &n, found == names.end() ? nullptr : found->second.c_str()};
}

HEIST_BODY bool describe_node(runnable const& self, task_view& view) noexcept {
  record const& r = static_cast<record const&>(self);
  view = view_of(r);
  return r.built().limits == 0;
}

HEIST_BODY runnable* finish(record& r, fiber& on) {
  graph_data& g = *r.graph;
  worker* w = on.on;  // kept: none runs here, and push() says where it has ended
  successor const* s = g.successors + r.first_successor;
  successor const* const end = g.successors + (&r)[1].first_successor;
  runnable* next = nullptr;
  if (!g.counts_tokens) [[likely]] {
    w->count_for(g);
    if (!w->alone && end - s > 1) {
      for (successor const* p = s; p != end; ++p) __builtin_prefetch(&g.counters[p->position()], 1);
    }
    for (; s != end; ++s) {
      if (!s->direct() && !g.counters[s->position()].arrive(w->alone)) continue;
      if (next == nullptr) {
        next = &g.records[s->position()];
      } else {
        __builtin_prefetch(&g.records[s->position()]);
        w = &on.home.push(*w, g.records[s->position()]);
      }
    }
  } else {
    for (; s != end; ++s) {
      if (!s->direct() && !g.counters[s->position()].arrive(w->alone)) continue;
      if (next == nullptr) {
        next = &g.records[s->position()];  // takes over this task's token
      } else {
        g.count_one_more();
        w = &on.home.push(*w, g.records[s->position()]);
      }
    }
    if (next == nullptr) w->count_for(g);  // its token is given up
  }
  return next;
}

}  // namespace heist::detail
