// The same tasks on pinned threads. Each thread has a fixed set of tasks and runs them in the order of their numbers.
// There is a flag for each task, on which threads spin.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "problem.hpp"

namespace graph_locality {

class team_by_hand {
 public:
  team_by_hand(problem& p, unsigned n) : problem_{p}, done_(p.tasks()) {
    before_.resize(p.tasks());
    mine_.resize(n);
    for (std::size_t i = 0; i != p.tasks(); ++i) {
      mine_[p.owner(i, n)].push_back(i);
      for (std::size_t const b : p.before(i)) {
        if (p.owner(b, n) != p.owner(i, n)) before_[i].push_back(b);
      }
    }
    for (unsigned t = 0; t != n; ++t) threads_.emplace_back([this, t] { work(t); });
  }
  ~team_by_hand() {
    stop_ = true;
    ++round_;
    round_.notify_all();
    for (auto& t : threads_) t.join();
  }
  void run() {
    ended_ = 0;
    ++round_;
    round_.notify_all();
    while (ended_.load() != threads_.size()) pause();
  }

 private:
  static void pause() { ::sched_yield(); }
  void work(unsigned me) {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(me, &here);
    ::pthread_setaffinity_np(::pthread_self(), sizeof here, &here);
    for (std::size_t round = 1;; ++round) {
      for (int i = 0; i != 2000 && round_.load() < round; ++i) pause();
      while (round_.load() < round) round_.wait(round - 1);  // others are measured meanwhile
      if (stop_) return;
      for (std::size_t const i : mine_[me]) {
        for (std::size_t const b : before_[i]) {
          while (done_[b].load(std::memory_order_acquire) < round) pause();
        }
        problem_.do_task(i);
        done_[i].store(round, std::memory_order_release);
      }
      ++ended_;
    }
  }

  problem& problem_;
  std::vector<std::vector<std::size_t>> mine_, before_;
  std::vector<std::atomic<std::size_t>> done_;
  std::atomic<std::size_t> round_{0}, ended_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

inline std::function<void()> by_hand(problem& p, unsigned n) {
  auto const team = std::make_shared<team_by_hand>(p, n);
  return [team] { team->run(); };
}

}  // namespace graph_locality
