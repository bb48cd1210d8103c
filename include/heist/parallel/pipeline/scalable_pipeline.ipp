// Bodies of scalable_pipeline.hpp. The steps are those of pipeline, with the number of the stage in the line.
#pragma once

#include "heist/parallel/pipeline/scalable_pipeline.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/scheduler/told_part.hpp"

namespace heist {

HEIST_COLD_BODY scalable_pipeline::scalable_pipeline(std::size_t tokens_at_a_time)
    : core_{tokens_at_a_time, 0}, lines_{detail::make_unique<line[]>(tokens_at_a_time)} {
  for (std::size_t i = 0; i != tokens_at_a_time; ++i) {
    lines_[i].of = &core_;
    lines_[i].in = this;
    lines_[i].index = i;
    lines_[i].run = &run_line;
  }
}

HEIST_COLD_BODY scalable_pipeline::~scalable_pipeline() {
  core_.wait();
}

HEIST_COLD_BODY void scalable_pipeline::reject_while_running(char const* what) const {
  if (!core_.running.load(std::memory_order_acquire)) return;  // acquire: pairs with finish()
  throw executor_error{detail::format_text(
      "a scalable_pipeline is changed by {}() while it runs; fix it by get() on the run before.", {what})};
}

HEIST_COLD_BODY void scalable_pipeline::add_stage(stage_mode mode, char const* name, stage_function f) {
  reject_while_running("add");
  if (stages_.empty() && mode != stage_mode::serial) {
    throw executor_error{
        "the first stage of a scalable_pipeline says when there are no more tokens, so it is serial; fix it by "
        "heist::stage_mode::serial."};
  }
  stages_.push_back({std::move(f), name, mode == stage_mode::serial});
  changed_ = true;
}

HEIST_COLD_BODY void scalable_pipeline::clear() {
  reject_while_running("clear");
  stages_.clear();
  changed_ = true;
}

HEIST_COLD_BODY void scalable_pipeline::prepare() {
  if (stages_.empty()) {
    throw executor_error{
        "a scalable_pipeline without a stage does nothing; fix it by add() of a first, serial stage before the run."};
  }
  if (changed_) {
    core_.set_stages(stages_.size());
    for (std::size_t s = stages_.size(), row_end = s; s-- != 0;) {
      stages_[s].row_end = row_end;
      if (stages_[s].serial) row_end = s + 1;
    }
    changed_ = false;
  }
  core_.arm_turns(stages_.size());
  for (std::size_t i = 0; i != core_.lines; ++i) lines_[i].stage = 0;
}

HEIST_COLD_BODY future<void> scalable_pipeline::start(detail::core& scheduler, std::size_t passes, with how) {
  core_.claim(scheduler, passes, how);
  try {
    prepare();
  } catch (...) {
    core_.running.store(false, std::memory_order_release);  // release: pairs with claim()
    throw;
  }
  return core_.start(scheduler, lines_[0], std::move(how));
}

HEIST_BODY detail::runnable* scalable_pipeline::run_line(detail::runnable& task, detail::fiber& self) {
  line& l = static_cast<line&>(static_cast<detail::pipeline_line&>(static_cast<detail::queued_runnable&>(task)));
  self.worker->report_pending_count();
  detail::kept_line kept{self};
  return l.in->go_on(l, self, kept);
}

/// Runs the stage of `l`, and those after it for as long as it may.
HEIST_BODY detail::runnable* scalable_pipeline::go_on(line& l, detail::fiber& self, detail::kept_line& kept) {
  for (std::size_t s = l.stage;; ++s) {
    std::uint64_t const start_time =
        detail::stage_times::times(s == 0 ? core_.next_number : l.number) ? os_env::ticks() : 0;
    line& following = lines_[core_.after(l.index)];
    auto const begin = [&following, s] { following.stage = s; };
    if (s != 0) {
      call(l, s, self);
    } else if (!begin_token(l, self)) {
      return core_.pass_end(following, begin, self);
    }
    if (start_time != 0) core_.times.ran(s, os_env::ticks() - start_time);
    if (stages_[s].serial) {
      if (core_.lines != 1) {
        core_.pass_turn(s, stages_[s].row_end, following, begin, self, kept);
      } else if (s != 0) {
        static_cast<void>(core_.turn(s, 0).arrive());  // for the next token of this line
      }
    }
    if (s + 1 == stages_.size()) {
      l.stage = 0;
      return core_.free_line(l, self, kept);
    }
    if (stages_[s + 1].serial && !core_.turn(s + 1, l.index).arrive()) return kept.take();
  }
}

/// As pipeline::begin_token().
HEIST_BODY bool scalable_pipeline::begin_token(line& l, detail::fiber& self) {
  while (core_.ended == 0 && !core_.over() && core_.next_token(l)) {
    stage& first = stages_[0];
    detail::told_part const told{self, &first, detail::name_of_stage(first.name, 0)};
    token t = core_.first_token(l);
    auto outcome = detail::pipeline_core::outcome::leaves;
    l.alive = true;
    try {
      detail::interrupted_by const stop{self, core_.interrupt};
      first.function(self, core_.interrupt, t);
      outcome = core_.finish_first_stage(t);
    } catch (...) {
      core_.fail();
      l.alive = false;
    }
    if (outcome == detail::pipeline_core::outcome::leaves) return true;
    if (outcome == detail::pipeline_core::outcome::ends_input) return false;
  }
  return false;
}

HEIST_BODY void scalable_pipeline::call(line& l, std::size_t s, detail::fiber& self) {
  if (!l.alive || core_.failed.load(std::memory_order_relaxed)) {  // relaxed: advice
    l.alive = false;
    return;
  }
  stage& now = stages_[s];
  detail::told_part const told{self, &now, detail::name_of_stage(now.name, s)};
  token t = detail::pipeline_core::later_token(l);
  try {
    detail::interrupted_by const stop{self, core_.interrupt};
    now.function(self, core_.interrupt, t);
    detail::pipeline_core::check_later(t);
  } catch (...) {
    core_.fail();
    l.alive = false;
  }
}

}  // namespace heist
