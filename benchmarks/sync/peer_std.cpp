// The standard library: each task is a thread.
#include <barrier>
#include <condition_variable>
#include <deque>
#include <latch>

#include "rows.hpp"

namespace {

/// As it is written by hand.
class queue {
 public:
  explicit queue(std::size_t capacity) : capacity_{capacity} {}
  void push(int value) {
    std::unique_lock lock{mutex_};
    not_full_.wait(lock, [&] { return values_.size() < capacity_; });
    values_.push_back(value);
    lock.unlock();
    not_empty_.notify_one();
  }
  int pop() {
    std::unique_lock lock{mutex_};
    not_empty_.wait(lock, [&] { return !values_.empty(); });
    int const value = values_.front();
    values_.pop_front();
    lock.unlock();
    not_full_.notify_one();
    return value;
  }

 private:
  std::size_t const capacity_;
  std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  std::deque<int> values_;
};

struct world {
  using mutex = std::mutex;
  using condition_variable = std::condition_variable;
  using latch = std::latch;
  using barrier = std::barrier<>;
  using shared_mutex = std::shared_mutex;
  using channel = queue;

  template <class F, class Meanwhile>
  void run(std::size_t n, F const& f, Meanwhile const& meanwhile) {
    std::vector<std::jthread> all;
    all.reserve(n);
    for (std::size_t i = 0; i != n; ++i) all.emplace_back([&f, i] { f(i); });
    meanwhile();
  }
};

}  // namespace

bench::peer bench::make_std() {
  return peer_of(std::make_shared<world>());
}
