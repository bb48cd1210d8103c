// Tokens that wait until other tokens have passed the first pipe.
#pragma once

#include <algorithm>  // find
#include <cstddef>
#include <deque>
#include <map>
#include <vector>

#include "heist/compat/taskflow/taskflow/algorithm/pipe.hpp"

namespace tf::detail {

/// Used in the first pipe only, which is serial.
class deferrals {
 public:
  void clear() { *this = {}; }
  /// Gives `pf` a token that may go on. False: there is none.
  bool next(Pipeflow& pf) {
    if (ready_.empty()) return false;
    pf.token_ = ready_.front();
    pf.deferred_ = counts_[pf.token_];
    ready_.pop_front();
    return true;
  }
  /// The token of `pf` wants to wait for pf.after_. False: those have passed, of `started` tokens.
  bool hold(Pipeflow& pf, std::size_t started) {
    std::size_t waits = 0;
    counts_[pf.token_] = ++pf.deferred_;
    for (std::size_t const other : pf.after_) {
      if (other < started && counts_.find(other) == counts_.end()) continue;
      awaited_[other].push_back(pf.token_);
      ++waits;
    }
    pf.after_.clear();
    if (waits == 0) return false;
    missing_[pf.token_] = waits;
    return true;
  }
  /// The token has passed the first pipe.
  void passed(std::size_t token) {
    if (counts_.empty() && awaited_.empty()) return;
    counts_.erase(token);
    auto const those = awaited_.find(token);
    if (those == awaited_.end()) return;
    for (std::size_t const t : those->second) {
      if (--missing_[t] != 0) continue;
      missing_.erase(t);
      ready_.push_back(t);
    }
    awaited_.erase(those);
  }

 private:
  std::map<std::size_t, std::size_t> counts_;                // of each token that has been deferred and has not passed
  std::map<std::size_t, std::size_t> missing_;               // how many it waits for
  std::map<std::size_t, std::vector<std::size_t>> awaited_;  // by which tokens
  std::deque<std::size_t> ready_;
};

}  // namespace tf::detail
