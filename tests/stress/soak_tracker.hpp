// The measurements that a soak makes of its own process, and the moments at which no task is in flight.
#pragma once

#include <dirent.h>  // opendir
#include <malloc.h>  // mallinfo2, malloc_trim, mallopt
#include <unistd.h>  // sysconf

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>  // fopen
#include <mutex>
#include <thread>
#include <vector>

namespace heist_test {

/// The resources of the system that a process holds.
struct process_state {
  double resident = 0;  ///< MiB
  double heap = 0;      ///< MiB handed out by malloc; 0 where an allocator of its own hides it
  long mappings = 0, descriptors = 0, threads = 0;
};

inline long entries_of(char const* folder) {
  long n = 0;
  if (DIR* const d = ::opendir(folder)) {
    while (::readdir(d) != nullptr) ++n;
    ::closedir(d);
  }
  return n;
}

/// For measure_process(): one heap for all threads. The heaps that glibc makes for threads come to hold some more free
/// pages for hours, whichever thread allocates.
inline void keep_one_heap() {
  ::mallopt(M_ARENA_MAX, 1);
}

/// Measures after malloc has given back its reserve, which grows and shrinks as threads come and go.
inline process_state measure_process() {
  ::malloc_trim(0);
  process_state now;
  constexpr double mebi = 1 << 20;
  long pages = 0;
  if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  now.resident = static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / mebi;
  auto const heap = ::mallinfo2();
  now.heap = static_cast<double>(heap.uordblks + heap.hblkhd) / mebi;
  if (std::FILE* const f = std::fopen("/proc/self/maps", "r")) {
    for (int c = std::fgetc(f); c != EOF; c = std::fgetc(f)) now.mappings += c == '\n';
    std::fclose(f);
  }
  now.descriptors = entries_of("/proc/self/fd") - 3;  // "." and "..", and the folder itself
  now.threads = entries_of("/proc/self/task") - 2;
  return now;
}

/// The same, when the kernel no longer lists threads that have been joined: `threads` are left. Gives up after a while.
inline process_state settled(long threads) {
  process_state now = measure_process();
  for (int i = 0; i != 10'000 && threads != 0 && now.threads != threads; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    now = measure_process();
  }
  return now;
}

/// By how much `values`, taken at equal distances, grow from the first to the last, by their line of least squares.
inline double growth(std::vector<double> const& values) {
  if (values.size() < 2) return 0;
  double const n = static_cast<double>(values.size());
  double const middle = (n - 1) / 2;
  double mean = 0, above = 0, below = 0;
  for (double v : values) mean += v / n;
  for (std::size_t i = 0; i < values.size(); ++i) {
    double const x = static_cast<double>(i) - middle;
    above += x * (values[i] - mean);
    below += x * x;
  }
  return above / below * (n - 1);
}

/// Threads pass through it between two pieces of work; while it is closed, none of them is at work.
class gate {
 public:
  class pass {
   public:
    explicit pass(gate& g) : gate_{g} {
      std::unique_lock lock{gate_.mutex_};
      gate_.opened_.wait(lock, [&] { return !gate_.closed_; });
      ++gate_.inside_;
    }
    pass(pass const&) = delete;
    pass& operator=(pass const&) = delete;
    ~pass() {
      std::lock_guard const lock{gate_.mutex_};
      if (--gate_.inside_ == 0) gate_.emptied_.notify_one();
    }

   private:
    gate& gate_;
  };

  /// Returns when all threads that were inside have left.
  void close() {
    std::unique_lock lock{mutex_};
    closed_ = true;
    emptied_.wait(lock, [&] { return inside_ == 0; });
  }
  void open() {
    {
      std::lock_guard const lock{mutex_};
      closed_ = false;
    }
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;  // guards the rest
  std::condition_variable opened_, emptied_;
  bool closed_ = false;
  int inside_ = 0;
};

}  // namespace heist_test
