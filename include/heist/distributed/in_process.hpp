// Many ranks in one process, for tests. Each rank has threads of its own. Messages may come late, in another order,
// twice, or not at all.
#pragma once

#include <algorithm>  // shuffle
#include <chrono>
#include <condition_variable>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstdio>
#include <cstdlib>  // abort
#include <cstring>  // memcpy
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heist/core/base/env.hpp"
#include "heist/distributed/engine.hpp"

namespace heist::distributed {

/// Faults of messages on their way. The process counts its messages from 1.
struct faults {
  unsigned late = 0;            ///< each comes up to so many microseconds late, in any order
  std::uint64_t lose = 0;       ///< this one is lost
  std::uint64_t twice = 0;      ///< each so-manieth comes twice
  std::uint64_t doubled = 0;    ///< this one comes twice
  std::uint64_t delayed = 0;    ///< this one comes 5 ms late
  std::uint64_t overtaken = 0;  ///< this one comes after the next one to that rank, or 5 ms late
};

class in_process_engine;

/// Connects the ranks of one process; outlives their engines.
class in_process_network {
 public:
  explicit in_process_network(int ranks, faults const& f = {})
      : faults_{f}, engines_(static_cast<std::size_t>(ranks)) {}
  int size() const noexcept { return static_cast<int>(engines_.size()); }
  /// Of all ranks so far.
  std::uint64_t messages() const noexcept { return sent_.load(std::memory_order_relaxed); }  // relaxed: a count

 private:
  friend in_process_engine;
  faults const faults_;
  os_env::atomic<std::uint64_t> sent_{0};
  std::mutex lock_;  // guards the rest
  std::condition_variable changed_;
  std::vector<in_process_engine*> engines_;  ///< by rank; null before it has started
  int stopped_ = 0;
};

class in_process_engine {
 public:
  in_process_engine(in_process_network& of, int rank) : network_{of}, rank_{rank} {}
  in_process_engine(in_process_engine const&) = delete;
  in_process_engine& operator=(in_process_engine const&) = delete;
  ~in_process_engine() {
    if (thread_.joinable()) stop();
  }

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return network_.size(); }

  void start(receiver r, preparer p) {
    receive_ = std::move(r);
    prepare_ = std::move(p);
    thread_ = std::thread{[this] { run(); }};
    std::unique_lock guard{network_.lock_};
    network_.engines_[static_cast<std::size_t>(rank_)] = this;
    network_.changed_.notify_all();
    network_.changed_.wait(guard, [this] {
      for (auto const* e : network_.engines_) {
        if (e == nullptr) return false;
      }
      return true;
    });
  }

  void send(int to, message&& m) {
    std::uint64_t const n = network_.sent_.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a count
    if (n == network_.faults_.lose) return;
    in_process_engine& there = *network_.engines_[static_cast<std::size_t>(to)];
    faults const& f = network_.faults_;
    if (n == f.doubled || (f.twice != 0 && n % f.twice == 0)) there.put(rank_, message{m});
    if (n == f.delayed || n == f.overtaken) {
      there.hold(rank_, std::move(m), n == f.overtaken);
    } else {
      there.put(rank_, std::move(m));
    }
  }

  void listen(bool) noexcept {}

  void stop() {
    {
      std::unique_lock guard{network_.lock_};
      ++network_.stopped_;
      network_.changed_.notify_all();
      network_.changed_.wait(guard, [this] { return network_.stopped_ >= size(); });
    }
    {
      std::lock_guard const guard{lock_};
      over_ = true;
    }
    come_.notify_one();
    thread_.join();
    std::unique_lock guard{network_.lock_};  // no other engine delivers any more to a destroyed one
    ++network_.stopped_;
    network_.changed_.notify_all();
    network_.changed_.wait(guard, [this] { return network_.stopped_ >= 2 * size(); });
  }

  [[noreturn]] void give_up(std::string const& why) {
    std::fputs(why.c_str(), stderr);
    std::abort();
  }

 private:
  struct letter {
    int from;
    message m;
  };

  void put(int from, message&& m) {
    std::lock_guard const guard{lock_};
    inbox_.push_back({from, std::move(m)});
    if (held_ && held_overtaken_) release();
    come_.notify_one();
  }
  void hold(int from, message&& m, bool overtaken) {
    std::lock_guard const guard{lock_};
    held_.emplace(letter{from, std::move(m)});
    held_overtaken_ = overtaken;
    held_until_ = std::chrono::steady_clock::now() + std::chrono::milliseconds{5};
    come_.notify_one();
  }
  /// Under the lock.
  void release() {
    inbox_.push_back(std::move(*held_));
    held_.reset();
  }

  void run() {
    std::minstd_rand random{static_cast<unsigned>(rank_ + 1)};
    unsigned const late = network_.faults_.late;
    std::unique_lock guard{lock_};
    for (;;) {
      auto const any = [this] { return over_ || !inbox_.empty(); };
      if (!held_) {
        come_.wait(guard, [&] { return held_ || any(); });
      } else if (!come_.wait_until(guard, held_until_, any) || over_) {
        release();
      }
      if (inbox_.empty() && held_) continue;
      if (inbox_.empty()) return;
      if (late != 0) {
        guard.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds{random() % late});
        guard.lock();
      }
      std::vector<letter> now;
      now.swap(inbox_);
      if (late != 0) std::shuffle(now.begin(), now.end(), random);
      guard.unlock();
      for (letter& l : now) receive_(l.from, arrived(std::move(l.m)));
      guard.lock();
    }
  }

  /// The message in memory of this rank.
  message arrived(message&& m) const {
    if (m.data.size() <= small_value) return std::move(m);
    message here = prepare_(m.head, m.data.size());
    std::memcpy(here.data.data(), m.data.data(), m.data.size());
    return here;
  }

  in_process_network& network_;
  int const rank_;
  receiver receive_;
  preparer prepare_;
  std::mutex lock_;  // guards the inbox
  std::condition_variable come_;
  std::vector<letter> inbox_;
  std::optional<letter> held_;
  bool held_overtaken_ = false;
  std::chrono::steady_clock::time_point held_until_;
  bool over_ = false;
  std::thread thread_;
};

static_assert(engine<in_process_engine>);

}  // namespace heist::distributed
