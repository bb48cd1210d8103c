// Tokens that wait for other tokens before the first stage (README.md, "Deferred tokens"). Templates: programs that
// defer no token compile none of it.
#pragma once

#include <cstddef>  // size_t
#include <utility>  // move

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/parallel/pipeline/pipeline_run.hpp"

namespace heist::detail {

/// The tokens of a run that have been deferred.
///
/// Threads  whose turn the first stage is.
/// Cost     some binary searches for a token that waits or is waited for; a circle is looked for among those that wait.
template <class>
class deferred_tokens final : public deferral {
 public:
  /// Token `number`, which is in the first stage, is to wait for `other`; of the tokens below `next` the others have
  /// left it or wait. Throws executor_error for a circle.
  void ask(std::size_t number, std::size_t other) override;
  bool asked() const noexcept override { return !asked_.empty(); }
  void forget_asked() noexcept override { asked_.clear(); }
  /// Token `number` waits for all tokens that it has named. `next`: the number of the next new token.
  void defer(std::size_t number, std::size_t deferrals, std::size_t next) override;
  /// Token `number` has left the first stage.
  void left(std::size_t number) noexcept override;
  /// It has stopped the input, and does not exist.
  void drop(std::size_t number) noexcept override { dropped_ = number; }

  /// One that waits no longer, those first that are ready first; without a number if there is none.
  token_state take_ready() noexcept override;
  bool empty() const noexcept override { return waiting_.empty(); }
  pair first_pair() const noexcept override { return {awaited_.front().number, awaited_.front().other}; }

 private:
  struct waiting {
    std::size_t number, deferrals, missing;
    vector<std::size_t> others;
    std::size_t search = 0;  ///< the last one that has come by
  };
  /// The first place in `all`, in order of `key`, whose key is not below this one.
  template <class Item>
  static std::size_t place_in(vector<Item> const& all, std::size_t Item::*key, std::size_t least) noexcept;
  std::size_t place_of(std::size_t number) const noexcept { return place_in(waiting_, &waiting::number, number); }
  bool waits(std::size_t number) const noexcept;

  vector<std::size_t> asked_;  ///< by the token in the first stage
  vector<waiting> waiting_;    ///< by number; those without a missing one are ready
  vector<pair> awaited_;       ///< by `other`; those that have not left
  vector<std::size_t> ready_;  ///< numbers, in the order in which they became ready
  std::size_t dropped_ = none;
  std::size_t searches_ = 0;
};

template <class X>
template <class Item>
std::size_t deferred_tokens<X>::place_in(vector<Item> const& all, std::size_t Item::*key, std::size_t least) noexcept {
  std::size_t lo = 0, hi = all.size();
  while (lo != hi) {
    std::size_t const middle = lo + (hi - lo) / 2;
    if (all[middle].*key < least) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

template <class X>
bool deferred_tokens<X>::waits(std::size_t number) const noexcept {
  std::size_t const at = place_of(number);
  return at != waiting_.size() && waiting_[at].number == number;
}

template <class X>
void deferred_tokens<X>::ask(std::size_t number, std::size_t other) {
  ++searches_;
  vector<std::size_t> next{other};
  while (!next.empty()) {
    std::size_t const now = next.back();
    next.pop_back();
    if (now == number) reject_cycle_of_tokens(number, other);
    if (!waits(now)) continue;
    waiting& w = waiting_[place_of(now)];
    if (w.search == searches_) continue;
    w.search = searches_;
    next.append(w.others.begin(), w.others.end());
  }
  asked_.push_back(other);
}

template <class X>
void deferred_tokens<X>::defer(std::size_t number, std::size_t deferrals, std::size_t next) {
  ready_.reserve(waiting_.size() + 1);
  awaited_.reserve(awaited_.size() + asked_.size());
  waiting w{number, deferrals, 0, {}};
  for (std::size_t const other : asked_) {
    if (other < next && other != dropped_ && !waits(other)) continue;  // it has left
    w.others.push_back(other);
  }
  std::size_t const at = place_of(number);
  waiting_.insert(waiting_.begin() + static_cast<std::ptrdiff_t>(at), std::move(w));
  waiting& mine = waiting_[at];
  // Nothing throws from here on.
  mine.missing = mine.others.size();
  for (std::size_t const other : mine.others) {
    std::size_t to = awaited_.size();
    while (to != 0 && awaited_[to - 1].other > other) --to;
    awaited_.insert(awaited_.begin() + static_cast<std::ptrdiff_t>(to), pair{number, other});
  }
  if (mine.missing == 0) ready_.push_back(number);
  asked_.clear();
}

template <class X>
void deferred_tokens<X>::left(std::size_t number) noexcept {
  std::size_t const first = place_in(awaited_, &pair::other, number);
  std::size_t last = first;
  for (; last != awaited_.size() && awaited_[last].other == number; ++last) {
    waiting& w = waiting_[place_of(awaited_[last].number)];
    if (--w.missing == 0) ready_.push_back(w.number);
  }
  awaited_.erase(awaited_.begin() + static_cast<std::ptrdiff_t>(first),
                 awaited_.begin() + static_cast<std::ptrdiff_t>(last));
}

template <class X>
deferral::token_state deferred_tokens<X>::take_ready() noexcept {
  if (ready_.empty()) return {};
  std::size_t const number = ready_.front();
  ready_.erase(ready_.begin());
  std::size_t const at = place_of(number);
  token_state const found{number, waiting_[at].deferrals + 1};
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
  return found;
}

template <class X>
unique_ptr<deferral> make_deferred_tokens() {
  return make_unique<deferred_tokens<X>>();
}

}  // namespace heist::detail

namespace heist {

template <class X>
void token::defer(std::size_t other) {
  detail::pipeline_core::defer(of_, number_, other, &detail::make_deferred_tokens<X>);
}

}  // namespace heist
