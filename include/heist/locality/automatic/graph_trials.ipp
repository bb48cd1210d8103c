// Bodies of graph_trials.hpp.
#pragma once

#include "heist/locality/automatic/graph_trials.hpp"

#include <exception>
#include <utility>  // exchange, move

#include "heist/graph/access.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/locality/history/graph_memory.hpp"

namespace heist::detail {

HEIST_COLD_BODY graph_trials::graph_trials(core& scheduler, others& by)
    : others_{&by},
      scheduler_{&scheduler},
      executor_{scheduler.serial()},
      tuner_{tuner_for(ways_for_graphs, scheduler, by)},
      there_{&scheduler} {}

HEIST_COLD_BODY graph_trials::~graph_trials() = default;

/// Another executor than before has the graph.
HEIST_COLD_BODY void graph_trials::start_anew(core& scheduler, others& by) {
  tuner_ = tuner_for(ways_for_graphs, scheduler, by);
  others_ = &by;
  scheduler_ = there_ = &scheduler;
  executor_ = scheduler.serial();
  follows_ = {};
  stale_.fill(true);  // the histories know the workers of the previous executor
}

HEIST_COLD_BODY core& graph_trials::run_starts(graph_data& g, core& asked, std::size_t passes) {
  for (;;) {
    std::size_t wanted = 0;
    {
      spin_guard guard{lock_};
      if (running_ == 0 && executor_ != asked.serial()) start_anew(asked, others_of(asked));
      wanted = executor_ != asked.serial() || running_ != 0 ? 0 : tuner_.next(passes == 0 ? 1 : passes);
      bool const ready =
          wanted == 0 || tuner_.ruled_out(wanted) || others_->made(*ways_for_graphs[wanted].by) != nullptr;
      if (ready) {
        shows_ = running_ == 0 && passes != 0;
        passes_ = passes;
        if (running_ == 0) choose(g, passes);
        core& there = executor_ == asked.serial() ? *there_ : asked;
        others_->begins();
        ++running_;
        start_time_ = os_env::nanoseconds();
        return there;
      }
    }
    // Threads are started: not under the lock.
    if (others_->get(*ways_for_graphs[wanted].by) != nullptr) continue;
    spin_guard guard{lock_};
    tuner_.rule_out(wanted);
  }
}

HEIST_COLD_BODY void graph_trials::choose(graph_data& g, std::size_t passes) {
  bool changed = false, in_use = false;
  {
    spin_guard guard{g.lock};
    // Another executor may have laid the changed graph out already.
    changed = !g.layout_valid || g.layout_count != layout_count_;
    layout_count_ = g.layout_count + (g.layout_valid ? 0 : 1);
    in_use = g.current != nullptr;
  }
  for (std::size_t i = 1; changed && i != tuner_.ways(); ++i) {
    follows_[i] = false;
    graph_recall* const known = i == installed_ ? g.recall() : histories_[i].get();
    if (known == nullptr) continue;
    if (ways_for_graphs[i].by == other_policy::replay) known->forget();
    tuner_.learns_again(i);
  }
  for (;;) {
    way_ = in_use ? 0 : passes == 0 ? tuner_.best() : tuner_.next(passes);
    if (way_ == 0) break;
    readiness const how = make_ready(way_, g);
    if (how == readiness::ready) break;
    if (how == readiness::not_now) {
      in_use = true;
    } else {
      tuner_.rule_out(way_);
    }
  }
  if (in_use) shows_ = false;
  there_ = way_ == 0 ? scheduler_ : others_->made(*ways_for_graphs[way_].by);
}

HEIST_COLD_BODY graph_trials::readiness graph_trials::make_ready(std::size_t which, graph_data& g) {
  way_to_run const& way = ways_for_graphs[which];
  core* const there = others_->made(*way.by);
  if (there == nullptr) return readiness::not_now;
  try {
    if (which != installed_ && histories_[which] == nullptr) {
      histories_[which] = there->extension->graphs->make_recall();
      made_by(tuner_, ways_for_graphs, *way.by);
    }
    if (!install(which, g)) return readiness::not_now;
    if (std::exchange(stale_[which], false)) g.recall()->forget();
    if (way.by != other_policy::replay || follows_[which]) return readiness::ready;
    graph_memory const recorded = graph_memory_access::of<graph_memory>(g);
    if (recorded.tasks() == 0) return readiness::ready;
    // The graph does not follow it on another executor yet.
    graph_memory_access::follow(g, recorded, way.mode, there->serial());
    follows_[which] = true;
    return readiness::ready;
  } catch (std::exception const&) {
    return readiness::impossible;  // no memory, or it cannot be followed
  }
}

/// The memory of that way becomes the graph's. False if another thread runs the graph now.
HEIST_COLD_BODY bool graph_trials::install(std::size_t which, graph_data& g) {
  if (which == installed_) return true;
  spin_guard guard{g.lock};
  if (g.current != nullptr) return false;
  graph_recall* const before = g.recall();
  if (before != nullptr) before->detach(g);
  // acq_rel: a thread that sees the pointer sees the object
  histories_[installed_].reset(g.extended().recall.exchange(histories_[which].release(), std::memory_order_acq_rel));
  installed_ = which;
  return true;
}

HEIST_COLD_BODY void graph_trials::run_ends(run_state const* r) noexcept {
  std::int64_t const now = os_env::nanoseconds();
  spin_guard guard{lock_};
  --running_;
  if (!shows_) return;
  shows_ = false;
  if (r == nullptr || r->interrupted() || r->exception) return;
  auto const time = static_cast<double>(now > start_time_ ? now - start_time_ : 1);
  try {
    tuner_.ran(way_, time / static_cast<double>(passes_), passes_);
  } catch (...) {  // no memory: it has learnt nothing
  }
}

HEIST_COLD_BODY void graph_trials::detach(graph_data& g) noexcept {
  spin_guard guard{lock_};
  if (running_ == 0) install(ways, g);
}

HEIST_COLD_BODY void graph_trials::forget() noexcept {
  spin_guard guard{lock_};
  for (std::size_t i = 0; i != histories_.size(); ++i) {
    if (histories_[i] != nullptr) histories_[i]->forget();
    if (i < ways) follows_[i] = false;
  }
  for (std::size_t i = 1; i < tuner_.ways(); ++i) tuner_.learns_again(i);
}

HEIST_COLD_BODY std::string graph_trials::explain() const {
  spin_guard guard{lock_};
  return note_on(tuner_, ways_for_graphs[tuner_.best()].name);
}

}  // namespace heist::detail
