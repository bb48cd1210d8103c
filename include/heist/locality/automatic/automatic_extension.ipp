// Bodies of automatic_extension.hpp.
#pragma once

#include "heist/locality/automatic/automatic_extension.hpp"

#include <algorithm>  // find
#include <optional>
#include <utility>  // move

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/executor/future.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/locality/automatic/graph_trials.hpp"
#include "heist/locality/automatic/region_trials.hpp"
#include "heist/locality/region/region_entry.hpp"

namespace heist::detail {

HEIST_COLD_BODY automatic_extension::automatic_extension(core& scheduler, counter_operations const* counters,
                                                         squad_hook hook, others::make_function make)
    : squad_extension{scheduler, tier_mode::by_level, true, counters, hook}, all{make} {
  graphs = nullptr;  // another executor runs those that remember
  executors = this;
}
HEIST_COLD_BODY automatic_extension::~automatic_extension() = default;

/// Outside of the tiers a frame is resumed by any worker.
HEIST_COLD_BODY bool automatic_extension::may_leave_worker(fiber const& f) const noexcept {
  return f.rule_of_task() == nullptr;
}

HEIST_COLD_BODY void automatic_extension::begins(interrupt_state const& run) {
  spin_guard guard{lock_};
  runs_.push_back(&run);
}

HEIST_COLD_BODY void automatic_extension::ends(interrupt_state const& run) noexcept {
  spin_guard guard{lock_};
  runs_.erase(std::find(runs_.begin(), runs_.end(), &run));
}

HEIST_COLD_BODY bool automatic_extension::is_in_run(fiber const& f) const noexcept {
  spin_guard guard{lock_};
  for (interrupt_state const* of = f.interrupt; of != nullptr && !runs_.empty(); of = of->outer) {
    if (std::find(runs_.begin(), runs_.end(), of) != runs_.end()) return true;
  }
  return false;
}

/// One run of a region: here, as its squads divide it or undivided, or by another executor while the caller waits.
class chosen_visit final : public region_visit {
 public:
  chosen_visit(region& r, automatic_extension& extension, fiber& self, fork_slot* position)
      : in_use_{r}, extension_{extension}, outer_{self.interrupt} {
    auto& known = in_use_.trials();
    trials_ = static_cast<region_trials*>(known.get());
    if (trials_ == nullptr || trials_->executor() != self.scheduler.serial()) {
      auto made = std::make_shared<region_trials>(self.scheduler, extension.all);
      trials_ = made.get();
      known = std::move(made);
    }
    trials_->begin(r);
    start_time_ = os_env::nanoseconds();
    if (trials_->there() != nullptr) return;
    if (trials_->tiers() != tier_mode::none)
      here_ = extension.enter_by(trials_->tiers(), trials_->memory(), self, position);
    extension.begins(mark_);
    mark_.outer = outer_;
    marked_.emplace(self, &mark_);
  }

  region_way how() const noexcept override {
    if (here_ != nullptr) return here_->how();
    return marked_ ? region_way::sequential : region_way::by_extension;
  }
  fork_slot* position(void const* identity) noexcept override { return here_->position(identity); }

  void run(erased_child& body) override {
    if (here_ != nullptr) {
      here_->run(body);
    } else {
      run_remote(body);
    }
  }

  void finish(bool failed) noexcept override {
    std::int64_t const time = os_env::nanoseconds() - start_time_;
    if (here_ != nullptr) here_->finish(failed);
    here_.reset();  // the way's memory is no longer in use
    if (marked_) {
      marked_.reset();
      extension_.ends(mark_);
    }
    if (failed || (outer_ != nullptr && outer_->any())) return;
    try {
      trials_->ran(time);
      trials_->note(in_use_);
    } catch (...) {  // no memory: it has learnt nothing
    }
  }

 private:
  void run_remote(erased_child& body) {
    region& memory = trials_->memory();
    interrupt_state const* const outer = outer_;
    extension_.all.begins();
    future_access::take_at_the_end(submit_task<context>(*trials_->there(), [&](context c) {
      interrupted_by const part_of{context_access::fiber_of(c), outer};
      c.invoke(memory,
               [&body](context in) { body.call(context_access::fiber_of(in), context_access::position_of(in)); });
    }));
  }

  region_access const in_use_;
  automatic_extension& extension_;
  interrupt_state const* const outer_;
  region_trials* trials_ = nullptr;
  unique_ptr<region_visit> here_;
  interrupt_state mark_;
  std::optional<interrupted_above> marked_;
  std::int64_t start_time_ = 0;
};

HEIST_COLD_BODY unique_ptr<region_visit> automatic_extension::enter(region& r, fiber& self, fork_slot* position) {
  if (is_in_tier(self, position) || is_in_run(self)) return nullptr;
  return make_unique<chosen_visit>(r, *this, self, position);
}

HEIST_COLD_BODY graph_tuner* automatic_extension::tuner_of(graph_data& g) {
  graph_tuner* known = g.tuner();
  if (known != nullptr) return known;
  auto made = make_unique<graph_trials>(scheduler_, all);
  // acq_rel: a thread that sees the pointer sees the object
  if (g.extended().tuner.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel,
                                                 std::memory_order_acquire))
    return made.release();
  return known;
}

HEIST_COLD_BODY others& others_of(core& scheduler) noexcept {
  return static_cast<automatic_extension&>(*scheduler.extension).all;
}

HEIST_COLD_BODY std::size_t automatic_extension::workers_remote() const noexcept {
  return all.workers();
}

HEIST_COLD_BODY std::size_t automatic_extension::number_remote(worker const& w) const noexcept {
  return all.number_of(w);
}

HEIST_COLD_BODY bool automatic_extension::wait_remote(std::uint64_t& seen) {
  return all.wait_for_all(seen, scheduler_.unobserved());
}

HEIST_COLD_BODY std::string automatic_extension::state_text() const {
  return all.state_text() + squad_extension::state_text();
}

}  // namespace heist::detail
