// Bodies of recall.hpp, and how a graph comes to its memory.
#pragma once

#include "heist/graph/recall.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/graph/graph_data.hpp"

namespace heist::detail {

HEIST_COLD_BODY graph_extension_data::~graph_extension_data() {
  delete recall.load(std::memory_order_relaxed);  // relaxed: the caller is the last owner
  delete tuner.load(std::memory_order_relaxed);   // relaxed: as above
}

HEIST_COLD_BODY graph_extension_data& graph_data::extended() {
  graph_extension_data* known = extension_data.load(std::memory_order_acquire);  // acquire: see the exchange
  if (known != nullptr) return *known;
  auto made = make_unique<graph_extension_data>();
  // acq_rel: a thread that sees the pointer sees the object
  if (extension_data.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    return *made.release();
  return *known;
}

HEIST_COLD_BODY task_hints& hints_of(graph_data& g) {
  unique_ptr<task_hints>& hints = g.extended().hints;
  if (hints == nullptr) hints = make_unique<task_hints>();
  return *hints;
}

HEIST_COLD_BODY task_hint& hint_of(graph_data& g, std::uint32_t index) {
  g.reject_while_running("wish something for a task");
  task_hints& w = hints_of(g);
  if (w.all.size() <= index) w.all.resize(g.nodes.size());
  ++w.changes;
  task_hint& hint = w.all[index];
  if (hint.created != g.nodes[index]->created) hint = {.created = g.nodes[index]->created};
  return hint;
}

HEIST_COLD_BODY std::uint32_t reject_number(graph_data const& g, std::uint32_t index, char const* of,
                                            std::size_t number) {
  if (number < 1u << 16) return static_cast<std::uint32_t>(number);
  throw graph_error{
      format_text("{} is wished to run on {} {}, and no executor has so many; fix it by a number below "
                  "that of the executor's.",
                  {g.task_name(index), of, number})};
}

HEIST_COLD_BODY void hint_worker(graph_data& g, std::uint32_t index, std::size_t number) {
  std::uint32_t const to = reject_number(g, index, "worker", number);
  hint_of(g, index).worker = to;
}

HEIST_COLD_BODY void hint_squad(graph_data& g, std::uint32_t index, std::size_t number) {
  std::uint32_t const to = reject_number(g, index, "squad", number);
  hint_of(g, index).squad = to;
}

/// Before a run by an executor that has an extension: is there memory for it, and may the run begin?
HEIST_COLD_BODY void graph_data::prepare_recall(core& scheduler) {
  if (scheduler.extension->graphs == nullptr) return;
  if (recall() == nullptr) keep_recall(scheduler.extension->graphs->make_recall());
  for (;;) {
    {
      spin_guard guard{lock};
      if (layout_valid) break;
      if (changed_by_run())
        throw graph_error{
            "a run under a policy with memory (cab, cats, replay) cannot be started while a run in progress has "
            "changed the graph between two passes; fix it by waiting for that run first."};
    }
    lay_out_once(scheduler);
  }
  recall()->check(*this, scheduler);
}

/// Takes over `made`, or destroys it if another thread was faster.
HEIST_COLD_BODY graph_recall& graph_data::keep_recall(unique_ptr<graph_recall> made) {
  os_env::atomic<graph_recall*>& at = extended().recall;
  graph_recall* known = nullptr;
  // acq_rel: a thread that sees the pointer sees the object
  if (at.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    return *made.release();
  return *known;
}

/// True if the pass that is about to begin remembers.
HEIST_COLD_BODY bool graph_data::recall_pass(core& scheduler) noexcept {
  graph_recall* const known = recall();
  if (known == nullptr) return false;
  if (scheduler.extension == nullptr || scheduler.extension->graphs == nullptr ||
      !known->pass_begins(*this, scheduler)) {
    known->detach(*this);
    return false;
  }
  extended().recalled = known;
  has_slow_finish = true;
  return true;
}

}  // namespace heist::detail
