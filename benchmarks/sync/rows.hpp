// The rows of bench_sync, for any library's primitives. A World has the types mutex, condition_variable, latch,
// barrier, channel (of ints) and shared_mutex, which is void where there is none. Its run(n, f, meanwhile) begins f(0)
// to f(n - 1) as tasks, calls meanwhile(), and waits for the tasks.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>  // abort
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;

inline double ns_since(clock::time_point begin, clock::time_point end) {
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

/// The work under a lock: so many multiplications, each of which waits for the one before.
inline std::uint64_t multiply(std::uint64_t x, int times) {
  for (int i = 0; i != times; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));  // the compiler leaves the loop as it is
  }
  return x;
}
/// How many multiplications a section has.
inline int& section_length() {
  static int length = 14;
  return length;
}
/// Makes sections about `ns` long. Returns how long they are.
inline double fit_section(double ns) {
  auto const measured = [](int times) {
    double best = 1e9;
    for (int round = 0; round != 20; ++round) {
      auto const begin = clock::now();
      std::uint64_t x = 1;
      for (int i = 0; i != 10'000; ++i) x = multiply(x, times);
      best = std::min(best, ns_since(begin, clock::now()) / 10'000);
    }
    return best;
  };
  while (section_length() > 1 && measured(section_length()) > ns) --section_length();
  while (measured(section_length() + 1) <= ns) ++section_length();
  return measured(section_length());
}

/// The data that a mutex guards.
struct guarded {
  std::uint64_t value = 1, changes = 0;
  void change() {
    value = multiply(value, section_length());
    ++changes;
  }
};

inline void expect(bool right, char const* what) {
  if (!right) throw std::logic_error{std::string{"wrong result: "} + what};
}

/// ns from the moment that all `n` tasks have begun until the last one has ended.
template <class World, class F>
double together(World& world, std::size_t n, F f) {
  typename World::latch ready(static_cast<std::ptrdiff_t>(n)), go(1);
  std::atomic<std::size_t> left{n};
  clock::time_point begin, end;
  world.run(
      n,
      [&](std::size_t i) {
        ready.count_down();
        go.wait();
        f(i);
        if (left.fetch_sub(1) == 1) end = clock::now();
      },
      [&] {
        ready.wait();
        begin = clock::now();
        go.count_down();
      });
  return ns_since(begin, end);
}

template <class World>
double uncontended(World& world, std::size_t operations) {
  typename World::mutex m;
  std::size_t sum = 0;
  double const ns = together(world, 1, [&](std::size_t) {
    for (std::size_t i = 0; i != operations; ++i) {
      m.lock();
      ++sum;
      m.unlock();
    }
  });
  expect(sum == operations, "lock and unlock");
  return ns / static_cast<double>(operations);
}

template <class World>
double contended(World& world, std::size_t tasks, std::size_t operations) {
  typename World::mutex m;
  guarded data;
  std::size_t const each = operations / tasks;
  double const ns = together(world, tasks, [&](std::size_t) {
    for (std::size_t i = 0; i != each; ++i) {
      std::scoped_lock lock{m};
      data.change();
    }
  });
  expect(data.changes == each * tasks, "tasks that lock");
  return ns / static_cast<double>(data.changes);
}

/// Microseconds: of all waits of all tasks, the longest one.
template <class World>
double longest_wait(World& world, std::size_t tasks, std::size_t operations) {
  typename World::mutex m;
  guarded data;
  std::size_t const each = operations / tasks;
  double longest = 0;  // under the mutex
  together(world, tasks, [&](std::size_t) {
    for (std::size_t i = 0; i != each; ++i) {
      auto const begin = clock::now();
      std::scoped_lock lock{m};
      longest = std::max(longest, ns_since(begin, clock::now()));
      data.change();
    }
  });
  expect(data.changes == each * tasks, "tasks that lock and look at the time");
  return longest / 1000;
}

/// `pairs` tasks push, and as many pop.
template <class World>
double channel_of_64(World& world, std::size_t pairs, std::size_t operations) {
  typename World::channel values(64);
  std::size_t const each = operations / pairs;
  std::atomic<std::uint64_t> sum{0};
  double const ns = together(world, 2 * pairs, [&](std::size_t task) {
    if (task % 2 == 0) {
      for (std::size_t i = 0; i != each; ++i) values.push(static_cast<int>(i));
      return;
    }
    std::uint64_t mine = 0;
    for (std::size_t i = 0; i != each; ++i) mine += static_cast<std::uint64_t>(values.pop());
    sum += mine;
  });
  expect(sum == pairs * (each * (each - 1) / 2), "a channel");
  return ns / static_cast<double>(each * pairs);
}

template <class World>
double round_trip(World& world, std::size_t operations) {
  typename World::mutex m;
  typename World::condition_variable changed[2];
  std::size_t turn = 0;
  double const ns = together(world, 2, [&](std::size_t me) {
    for (std::size_t i = 0; i != operations; ++i) {
      std::unique_lock<typename World::mutex> lock{m};
      while (turn % 2 != me) changed[me].wait(lock);
      ++turn;
      lock.unlock();
      changed[1 - me].notify_one();
    }
  });
  expect(turn == 2 * operations, "a condition variable");
  return ns / static_cast<double>(operations);
}

template <class World>
double barrier_of(World& world, std::size_t tasks, std::size_t rounds) {
  typename World::barrier all(static_cast<std::ptrdiff_t>(tasks));
  std::atomic<std::size_t> arrivals{0};
  double const ns = together(world, tasks, [&](std::size_t) {
    for (std::size_t i = 0; i != rounds; ++i) {
      arrivals.fetch_add(1, std::memory_order_relaxed);  // relaxed: the barrier orders
      all.arrive_and_wait();
      if (arrivals.load(std::memory_order_relaxed) < (i + 1) * tasks) std::abort();  // relaxed: as above
    }
  });
  expect(arrivals == tasks * rounds, "a barrier");
  return ns / static_cast<double>(rounds);
}

/// Each of `n` tasks takes two of `n` mutexes, always that of the lower number first.
template <class World>
double philosophers(World& world, std::size_t n, std::size_t meals) {
  struct fork {
    typename World::mutex m;
    guarded data;
  };
  std::vector<fork> forks(n);
  std::size_t const each = meals / n;
  double const ns = together(world, n, [&](std::size_t i) {
    std::size_t const next = (i + 1) % n;
    fork& first = forks[std::min(i, next)];
    fork& second = forks[std::max(i, next)];
    for (std::size_t k = 0; k != each; ++k) {
      std::scoped_lock one{first.m};
      std::scoped_lock two{second.m};
      first.data.change();
      ++second.data.changes;
    }
  });
  std::size_t changes = 0;
  for (auto const& f : forks) changes += f.data.changes;
  expect(changes == 2 * n * each, "philosophers");
  return ns / static_cast<double>(n * each);
}

/// 16 tasks: nine operations in ten read, the tenth writes.
template <class World>
double readers(World& world, std::size_t operations) {
  constexpr std::size_t tasks = 16;
  typename World::shared_mutex m;
  guarded data;
  std::size_t const each = operations / tasks / 10 * 10;
  std::atomic<std::uint64_t> seen{0};
  double const ns = together(world, tasks, [&](std::size_t task) {
    std::uint64_t mine = 0;
    for (std::size_t i = 0; i != each; ++i) {
      if ((i + task) % 10 == 0) {
        std::unique_lock<typename World::shared_mutex> lock{m};
        data.change();
      } else {
        std::shared_lock<typename World::shared_mutex> lock{m};
        mine ^= multiply(data.value, section_length());
      }
    }
    seen ^= mine;
  });
  expect(data.changes == tasks * each / 10, "readers and writers");
  return ns / static_cast<double>(tasks * each);
}

struct row {
  char const* name;
  char const* unit;
  std::size_t operations;  ///< of a whole round
};
inline constexpr row rows[] = {
    {"lock and unlock, uncontended", "ns", 1'000'000},
    {"2 tasks, section of 18 ns", "ns", 400'000},
    {"16 tasks, section of 18 ns", "ns", 400'000},
    {"1,000 tasks, section of 18 ns", "ns", 400'000},
    {"longest wait of 1,000 tasks", "us", 200'000},
    {"channel of 64, 1 to 1", "ns", 300'000},
    {"channel of 64, 4 to 4", "ns", 300'000},
    {"condition variable, round trip", "ns", 20'000},
    {"barrier of 8", "ns", 5'000},
    {"5 philosophers", "ns", 200'000},
    {"1,000 philosophers", "ns", 200'000},
    {"shared_mutex, 16 tasks, 90 % read", "ns", 200'000},
};

/// A library: a function for each row, empty where it has none. They take the number of operations.
struct peer {
  std::vector<std::function<double(std::size_t)>> rows;
};

template <class World>
peer peer_of(std::shared_ptr<World> w) {
  peer p;
  auto const add = [&](auto f) { p.rows.emplace_back([w, f](std::size_t operations) { return f(*w, operations); }); };
  add([](World& in, std::size_t n) { return uncontended(in, n); });
  add([](World& in, std::size_t n) { return contended(in, 2, n); });
  add([](World& in, std::size_t n) { return contended(in, 16, n); });
  add([](World& in, std::size_t n) { return contended(in, 1000, n); });
  add([](World& in, std::size_t n) { return longest_wait(in, 1000, n); });
  add([](World& in, std::size_t n) { return channel_of_64(in, 1, n); });
  add([](World& in, std::size_t n) { return channel_of_64(in, 4, n); });
  add([](World& in, std::size_t n) { return round_trip(in, n); });
  add([](World& in, std::size_t n) { return barrier_of(in, 8, n); });
  add([](World& in, std::size_t n) { return philosophers(in, 5, n); });
  add([](World& in, std::size_t n) { return philosophers(in, 1000, n); });
  if constexpr (std::is_void_v<typename World::shared_mutex>) {
    p.rows.emplace_back();
  } else {
    add([](World& in, std::size_t n) { return readers(in, n); });
  }
  return p;
}

/// Those that were found when this was built, each for so many workers. std has a thread for each task.
peer make_heist(std::size_t workers);
peer make_std();
enum class idle_threads { spin, sleep };
peer make_boost_fiber(std::size_t workers, idle_threads);  ///< once in a process
peer make_toomanycooks(std::size_t workers);

}  // namespace bench
