// The loop over simulated time.
#pragma once

#include "heist/core/policy/policies.hpp"
#include "heist/tools/simulate/broken_promise.hpp"
#include "heist/tools/simulate/searching.hpp"

namespace heist::sim {

/// One simulation. Throws sim_error for a policy that breaks a promise.
template <policy::executor_policy Policy>
class engine : searcher<Policy> {
  using base = searcher<Policy>;
  using base::account;
  using base::act;
  using base::acting_;
  using base::advance_to;
  using base::begin_all;
  using base::count_;
  using base::due_;
  using base::finish;
  using base::finished_;
  using base::give_up_order;
  using base::has_next_step_;
  using base::now_;
  using base::queue_;
  using base::return_to_callers;
  using base::submit_next_run;
  using base::workers_;

 public:
  engine(program const& p, options const& wanted) : base{p, wanted} {}

  report run() {
    begin_all();
    while (!finished_) {
      if (queue_.empty() && !give_up_order()) detail::reject_endless_sleep(now_);
      auto const e = queue_.take();
      advance_to(e.time);
      if (e.id == count_) {
        submit_next_run();
        continue;
      }
      turn(workers_[e.id]);
    }
    return finish();
  }

 private:
  /// Runs `w` until another worker acts.
  void turn(worker& w) {
    acting_ = &w;
    for (;;) {
      has_next_step_ = false;
      account(w);
      act(w);
      return_to_callers(w);
      if (!has_next_step_ || finished_) break;
      if (!queue_.would_be_next(due_)) {
        queue_.add(due_, w.number);
        break;
      }
      advance_to(due_);
    }
    acting_ = nullptr;
  }
};

}  // namespace heist::sim
