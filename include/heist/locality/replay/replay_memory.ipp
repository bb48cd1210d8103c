// Bodies of replay_memory.hpp.
#pragma once

#include "heist/locality/replay/replay_memory.hpp"

namespace heist::detail {

HEIST_COLD_BODY replay_memory& replay_memory::of(std::shared_ptr<void>& kept) {
  if (kept == nullptr) kept = std::make_shared<replay_memory>();
  return *static_cast<replay_memory*>(kept.get());
}

HEIST_COLD_BODY steal_log& replay_memory::begin(std::size_t workers) {
  logs_[now_].begin(workers);
  return logs_[now_];
}

HEIST_COLD_BODY void replay_memory::take(std::uint32_t body, steal_tree& tree) {
  steal_log const& log = logs_[now_];
  if (!log.says_same(logs_[1 - now_]) || tree.worker_count() != log.worker_count() || tree.body_worker() != body)
    tree = log.tree(body);
  now_ = 1 - now_;
}

HEIST_COLD_BODY followed_tree<queued_runnable>& replay_memory::follow(steal_tree const& tree, replay_mode mode,
                                                                      std::size_t workers) {
  if (followed_ && followed_->is_of(tree, mode, workers)) {
    followed_->begin_again();
  } else {
    followed_.emplace(tree, mode, workers);
  }
  return *followed_;
}

HEIST_COLD_BODY steal_tree const& replay_memory::without_steals(std::size_t workers) {
  if (without_steals_.worker_count() != workers) {
    forget_tree();
    without_steals_ = steal_tree{workers, 0, {}};
  }
  return without_steals_;
}

}  // namespace heist::detail
