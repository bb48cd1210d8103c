// Bodies that wait for each other: they end only if all of them run at the same time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

#include "heist/executor.hpp"
#include "heist/topology.hpp"

namespace heist_test {

inline std::vector<std::size_t> const worker_counts =
    slow ? std::vector<std::size_t>{2, 5} : std::vector<std::size_t>{2, 3, 5, 16, 64};

/// Two squads, so that one has to take tasks of the other.
template <class Policy>
heist::executor<Policy> executor_of(std::size_t workers) {
  heist::options o;
  o.workers = workers;
  if (workers >= 4)
    o.machine = heist::topology::parse("package:2 l3:1 core:" + std::to_string((workers + 1) / 2) + " pu:1");
  return heist::executor<Policy>{o};
}

/// Groups of n bodies that meet: the first n, then the next n.
class meet_point {
 public:
  explicit meet_point(std::size_t n) : n_{n} {}
  void operator()() {
    std::unique_lock lock{mutex_};
    std::size_t const group = met_++ / n_;
    if (met_ % n_ == 0) complete_.notify_all();
    complete_.wait(lock, [&] { return met_ >= (group + 1) * n_; });
  }
  std::size_t met() const {
    std::scoped_lock const lock{mutex_};
    return met_;
  }

 private:
  std::size_t const n_;
  mutable std::mutex mutex_;
  std::condition_variable complete_;
  std::size_t met_ = 0;
};

/// n bodies that meet, by forks of halves.
template <class Context>
void halves(Context ctx, std::size_t n, meet_point& m) {
  if (n == 1) return m();
  ctx.fork_join([=, &m](Context c) { halves(c, n / 2, m); }, [=, &m](Context c) { halves(c, n - n / 2, m); });
}

/// run(executor, n, meeting) with as many workers as bodies that meet.
template <class Policy, class Run>
void meets(char const* what, Run run) {
  for (std::size_t const n : worker_counts) {
    INFO(what << " of " << n);
    auto ex = executor_of<Policy>(n);
    watchdog guard{what, std::chrono::seconds{120}, [&] { return ex.state_text(); }};
    for (int round = 0; round != 3; ++round) {
      meet_point m{n};
      run(ex, n, m);
      CHECK(m.met() == n);
    }
  }
}

}  // namespace heist_test
