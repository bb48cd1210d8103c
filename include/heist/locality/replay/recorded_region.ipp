// Bodies of recorded_region.hpp.
#pragma once

#include "heist/locality/replay/recorded_region.hpp"

#include <fmt/core.h>

#include <exception>
#include <new>      // bad_alloc
#include <utility>  // move

#include "heist/core/base/unique_ptr.hpp"
#include "heist/locality/replay/recorded_places.hpp"
#include "heist/locality/replay/replay_extension.hpp"

namespace heist::detail {

HEIST_COLD_BODY recorded_region_run::recorded_region_run(region& r, fiber& self)
    : memory_{r},
      scheduler_{self.scheduler},
      kept_{replay_memory::of(memory_.recorded())},
      log_{kept_.begin(self.scheduler.worker_count)},
      run_{log_},
      body_{self.worker->number} {
  switch (memory_.following()) {
    case following::nothing:
      break;
    case following::tree:
      follow(memory_.followed(), memory_.mode());
      break;
    case following::designations:
      follow(kept_.without_steals(scheduler_.worker_count), replay_mode::strict_unordered, true);
      break;
    case following::itself:
      follow(memory_.adapted());
      break;
  }
}

HEIST_COLD_BODY frame_record& recorded_region_run::body_record() noexcept {
  // There is nothing to decide if there are no steals and no designations.
  return replay_ && replay_->strict() && !replay_->by_hand() && run_.part.empty() ? replay_->serial() : run_;
}

HEIST_COLD_BODY void recorded_region_run::begin() noexcept {
  start_time_ = os_env::nanoseconds();
  log_.begins(start_time_);
}

HEIST_COLD_BODY void recorded_region_run::end() noexcept {
  std::int64_t const now = os_env::nanoseconds();
  elapsed_ = now - start_time_;
  log_.ends(now);
  if (replay_) replay_->body_ended();
}

HEIST_COLD_BODY void recorded_region_run::finish(bool failed) noexcept {
  if (replay_) replay_->finish();
  if (failed) return;
  try {
    if (log_.incomplete()) throw std::bad_alloc{};
    kept_.take(body_, memory_.tree());
    auto const all = elapsed_ * static_cast<std::int64_t>(scheduler_.worker_count);
    run_times const times{elapsed_, log_.nanoseconds_at_work(), all - log_.nanoseconds_at_work()};
    memory_.explanation() = explain();
    memory_.times() = times;
    if (memory_.following() == following::itself) {
      if (!memory_.adapted().settled()) kept_.forget_tree();  // the next may follow another one
      memory_.adapted().ran(memory_.tree(), times);
    }
  } catch (steal_tree_error const&) {
    memory_.tree() = {};
    memory_.explanation() = "steals that fit into no tree: two tasks forked at the same time with one context";
  } catch (std::exception const&) {
    memory_.tree() = {};
    memory_.explanation() = "no memory";
  }
}

HEIST_COLD_BODY void recorded_region_run::follow(adaptation const& adapted) {
  switch (adapted.next()) {
    case adaptation::phase::free:
      return;
    case adaptation::phase::relaxed:
      return follow(adapted.tree(), replay_mode::relaxed);
    case adaptation::phase::settling:
      return follow(adapted.tree(), replay_mode::strict_unordered);
    case adaptation::phase::settled:
      return follow(adapted.tree(), replay_mode::strict_ordered);
  }
}

HEIST_COLD_BODY void recorded_region_run::follow(steal_tree const& tree, replay_mode mode, bool by_hand) {
  recorded_with_ = tree.worker_count();
  keeps_order_ = mode == replay_mode::strict_ordered;
  replay_.emplace(scheduler_, run_, kept_.follow(tree, mode, scheduler_.worker_count), by_hand);
  body_ = tree.body_worker() % static_cast<std::uint32_t>(scheduler_.worker_count);
  replay_->begin(body_);
}

HEIST_COLD_BODY std::string recorded_region_run::explain() const {
  if (!replay_) return {};
  std::string text;
  if (keeps_order_ && recorded_with_ > scheduler_.worker_count) {
    text += fmt::format("the tree is of {} workers and there are {}: followed without its order; ", recorded_with_,
                        scheduler_.worker_count);
  }
  if (replay_->order_given_up()) text += "the order of the tree cannot be kept by this program, so it was given up; ";
  if (std::uint32_t const n = replay_->not_made(); n != 0)
    text += fmt::format("{} steals of the tree could not be made; ", n);
  if (!text.empty()) text.resize(text.size() - 2);
  return text;
}

/// The body of a run that follows, as something for its worker to run.
class followed_body : public queued_runnable {
 public:
  followed_body(erased_child& body, recorded_region_run& of, interrupt_state const* outer) noexcept
      : queued_runnable{{&run_here, &fork_what}, nullptr}, body_{body}, run_{of} {
    of.interrupt().outer = outer;
  }
  completion ended;

 private:
  static runnable* run_here(runnable& task, fiber& self) {
    self.worker->report_pending_count();
    auto& body = static_cast<followed_body&>(task);
    {
      std::uint64_t const below = self.extension_word;  // of a frame that waits there, without memory for a stack
      interrupted_by const interrupt{self, &body.run_.interrupt()};
      body.run_.begin();
      room_bits{self.extension_word}.set_turn_of(self.worker->number);
      body.body_.call(self, recorded_places::position_of(body.run_.body_record()));
      self.extension_word = below;
    }
    body.run_.end();
    body.ended.complete();
    return nullptr;
  }

  erased_child& body_;
  recorded_region_run& run_;
};

/// A run whose steals are noted.
class recorded_visit final : public region_visit {
 public:
  recorded_visit(region& r, fiber& self) : run_{r, self}, on_{self} {}

  region_way how() const noexcept override { return run_.follows() ? region_way::by_extension : region_way::here; }
  fork_slot* position(void const*) noexcept override {
    run_.begin();
    return recorded_places::position_of(run_.body_record());
  }
  void run(erased_child& child) override {
    followed_body body{child, run_, on_.interrupt};
    on_.scheduler.make_runnable_on(*on_.scheduler.workers[run_.body_worker()], body);
    on_.wait_for(body.ended);
  }
  void finish(bool failed) noexcept override {
    if (!run_.follows()) run_.end();
    run_.finish(failed);
  }

 private:
  recorded_region_run run_;
  fiber& on_;
};

/// Inside another run it is a part of that.
class inner_visit final : public region_visit {
 public:
  explicit inner_visit(region& r) : memory_{r} {
    memory_.tree() = {};
    memory_.explanation() = "a part of another region's run, whose steal tree has what was stolen";
  }
  region_way how() const noexcept override { return region_way::sequential; }
  void finish(bool) noexcept override {}

 private:
  region_access const memory_;
};

HEIST_COLD_BODY unique_ptr<region_visit> replay_extension::enter(region& r, fiber& self, fork_slot* position) {
  if (recorded_places::has_record(position) && recorded_run::of(recorded_places::record_of(position)) != nullptr)
    return make_unique<inner_visit>(r);
  return make_unique<recorded_visit>(r, self);
}

}  // namespace heist::detail
