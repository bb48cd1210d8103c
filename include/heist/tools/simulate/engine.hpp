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
  using base::begin_all;
  using base::count_;
  using base::due_;
  using base::finish;
  using base::finished_;
  using base::follow_no_further;
  using base::goes_on_;
  using base::now_;
  using base::queue_;
  using base::reach;
  using base::return_to_callers;
  using base::submit_next_run;
  using base::workers_;

 public:
  engine(program const& p, options const& wanted) : base{p, wanted} {}

  report run() {
    begin_all();
    while (!finished_) {
      if (queue_.empty() && !follow_no_further()) detail::reject_endless_sleep(now_);
      auto const e = queue_.take();
      reach(e.time);
      if (e.who == count_) {
        submit_next_run();
        continue;
      }
      turn(workers_[e.who]);
    }
    return finish();
  }

 private:
  /// Runs `w` until another worker acts.
  void turn(worker& w) {
    acting_ = &w;
    for (;;) {
      goes_on_ = false;
      account(w);
      act(w);
      return_to_callers(w);
      if (!goes_on_ || finished_) break;
      if (!queue_.would_be_next(due_)) {
        queue_.add(due_, w.number);
        break;
      }
      reach(due_);
    }
    acting_ = nullptr;
  }
};

}  // namespace heist::sim
