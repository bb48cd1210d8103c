// A watchdog for tests that could hang: it prints what the workers do and ends the program.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>   // fprintf
#include <cstdlib>  // abort
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>  // move

#include "heist/core/base/config.hpp"

namespace heist_test {

/// Ends the program with SIGABRT if a section takes longer than the limit. Before that it prints the section's name,
/// the text of `state` and the state of the watched executors. The given limit is for a quiet machine. The real limit
/// is five times as long, and ten times under sanitizers, so that other work on the machine fails no test. One thread
/// watches any number of sections.
///
/// Threads  every member may be called by any thread. A watched executor outlives the watchdog, or is unwatched.
/// Example  watchdog guard{"posts", std::chrono::seconds{20}, [&] { return ex.state_text(); }};
///          watchdog guard{ex, std::chrono::seconds{20}};
class watchdog {
 public:
  explicit watchdog(std::string section, std::chrono::seconds limit, std::function<std::string()> state = {})
      : limit_{limit * (heist::under_tsan || heist::under_asan ? 10 : 5)}, section_{std::move(section)} {
    if (state) watched_[nullptr] = std::move(state);
    thread_ = std::thread{[this] { guard(); }};
  }
  template <class Executor>
  requires requires(Executor const& ex) { ex.state_text(); }
  watchdog(Executor const& ex, std::chrono::seconds limit, std::string section = "test")
      : watchdog{std::move(section), limit} {
    watch(ex);
  }
  watchdog(watchdog const&) = delete;
  watchdog& operator=(watchdog const&) = delete;
  ~watchdog() {
    {
      std::lock_guard const lock{mutex_};
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  template <class Executor>
  void watch(Executor const& ex) {
    std::lock_guard const lock{mutex_};
    watched_[&ex] = [&ex] { return ex.state_text(); };
  }
  template <class Executor>
  void unwatch(Executor const& ex) {
    std::lock_guard const lock{mutex_};
    watched_.erase(&ex);
  }
  /// The section before has ended; another begins now.
  void section(std::string text) {
    std::lock_guard const lock{mutex_};
    section_ = std::move(text);
    begun_ = clock::now();
  }

 private:
  using clock = std::chrono::steady_clock;

  void guard() {
    std::unique_lock lock{mutex_};
    while (!over_) {
      auto const late = begun_ + limit_;  // a copy: section() may move it
      if (clock::now() >= late) bark();
      changed_.wait_until(lock, late);
    }
  }

  [[noreturn]] void bark() {
    std::fprintf(stderr, "\nwatchdog: '%s' takes longer than %lld s\n", section_.c_str(),
                 static_cast<long long>(limit_.count()));
    for (auto const& [key, state] : watched_) {
      try {
        std::fprintf(stderr, "%s", state().c_str());
      } catch (std::exception const& e) {
        std::fprintf(stderr, "its state cannot be read: %s\n", e.what());
      }
    }
    std::fflush(stderr);
    std::abort();
  }

  std::chrono::seconds const limit_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::string section_;
  clock::time_point begun_ = clock::now();
  std::map<void const*, std::function<std::string()>> watched_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace heist_test
