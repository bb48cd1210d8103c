// TooManyCooks: coroutines await its primitives, so the rows of rows.hpp are repeated here as coroutines.
#include <tmc/barrier.hpp>
#include <tmc/ex_cpu.hpp>
#include <tmc/latch.hpp>
#include <tmc/mutex.hpp>
#include <tmc/qu_spsc_bounded.hpp>
#include <tmc/rw_lock.hpp>
#include <tmc/sync.hpp>
#include <tmc/task.hpp>
#include <tmc/utils.hpp>

#include <latch>

#include "rows.hpp"

namespace {

using bench::expect;
using bench::guarded;
using bench::ns_since;

/// The state of tasks that begin their work together.
struct start {
  explicit start(std::size_t n) : ready(static_cast<std::ptrdiff_t>(n)), left{n} {}

  std::latch ready;  ///< a std::latch, because the main thread waits for it
  tmc::latch go{1};
  std::atomic<std::size_t> left;
  bench::clock::time_point end;
};

tmc::task<void> after_start(start& s, tmc::task<void> work) {
  s.ready.count_down();
  co_await s.go;
  co_await std::move(work);
  if (s.left.fetch_sub(1) == 1) s.end = bench::clock::now();
}

/// ns from the moment that the tasks of f(0) to f(n - 1) have begun until the last one has ended.
template <class F>
double together(tmc::ex_cpu& ex, std::size_t n, F f) {
  start s(n);
  auto const make = [&](std::size_t i) { return after_start(s, f(i)); };
  auto done = tmc::post_bulk_waitable(ex, tmc::iter_adapter(std::size_t{0}, make), n);
  s.ready.wait();
  auto const begin = bench::clock::now();
  s.go.count_down();
  done.get();
  return ns_since(begin, s.end);
}

double uncontended(tmc::ex_cpu& ex, std::size_t operations) {
  tmc::mutex m;
  std::size_t sum = 0;
  double const ns = together(ex, 1, [&](std::size_t) -> tmc::task<void> {
    for (std::size_t i = 0; i != operations; ++i) {
      co_await m;
      ++sum;
      m.unlock();
    }
  });
  expect(sum == operations, "lock and unlock");
  return ns / static_cast<double>(operations);
}

/// co_unlock() resumes the next task at once, which is faster than lock_scope().
double contended(tmc::ex_cpu& ex, std::size_t tasks, std::size_t operations) {
  tmc::mutex m;
  guarded data;
  std::size_t const each = operations / tasks;
  double const ns = together(ex, tasks, [&](std::size_t) -> tmc::task<void> {
    for (std::size_t i = 0; i != each; ++i) {
      co_await m;
      data.change();
      co_await m.co_unlock();
    }
  });
  expect(data.changes == each * tasks, "tasks that lock");
  return ns / static_cast<double>(data.changes);
}

double longest_wait(tmc::ex_cpu& ex, std::size_t tasks, std::size_t operations) {
  tmc::mutex m;
  guarded data;
  std::size_t const each = operations / tasks;
  double longest = 0;  // under the mutex
  together(ex, tasks, [&](std::size_t) -> tmc::task<void> {
    for (std::size_t i = 0; i != each; ++i) {
      auto const begin = bench::clock::now();
      co_await m;
      longest = std::max(longest, ns_since(begin, bench::clock::now()));
      data.change();
      co_await m.co_unlock();
    }
  });
  expect(data.changes == each * tasks, "tasks that lock and look at the time");
  return longest / 1000;
}

/// One task pushes, and one pops.
double channel_of_64(tmc::ex_cpu& ex, std::size_t operations) {
  tmc::qu_spsc_bounded<int> values(64);
  std::uint64_t sum = 0;
  double const ns = together(ex, 2, [&](std::size_t task) -> tmc::task<void> {
    if (task == 0) {
      for (std::size_t i = 0; i != operations; ++i) co_await values.push(static_cast<int>(i));
      co_return;
    }
    for (std::size_t i = 0; i != operations; ++i) {
      auto value = co_await values.pull();
      sum += static_cast<std::uint64_t>(*value);
    }
  });
  expect(sum == operations * (operations - 1) / 2, "a channel");
  return ns / static_cast<double>(operations);
}

double barrier_of(tmc::ex_cpu& ex, std::size_t tasks, std::size_t rounds) {
  tmc::barrier all(tasks);
  std::atomic<std::size_t> arrivals{0};
  double const ns = together(ex, tasks, [&](std::size_t) -> tmc::task<void> {
    for (std::size_t i = 0; i != rounds; ++i) {
      arrivals.fetch_add(1, std::memory_order_relaxed);  // relaxed: the barrier orders
      co_await all;
      if (arrivals.load(std::memory_order_relaxed) < (i + 1) * tasks) std::abort();  // relaxed: as above
    }
  });
  expect(arrivals == tasks * rounds, "a barrier");
  return ns / static_cast<double>(rounds);
}

double philosophers(tmc::ex_cpu& ex, std::size_t n, std::size_t meals) {
  struct fork {
    tmc::mutex m;
    guarded data;
  };
  std::vector<fork> forks(n);
  std::size_t const each = meals / n;
  double const ns = together(ex, n, [&](std::size_t i) -> tmc::task<void> {
    std::size_t const next = (i + 1) % n;
    fork& first = forks[std::min(i, next)];
    fork& second = forks[std::max(i, next)];
    for (std::size_t k = 0; k != each; ++k) {
      co_await first.m;
      co_await second.m;
      first.data.change();
      ++second.data.changes;
      co_await second.m.co_unlock();
      co_await first.m.co_unlock();
    }
  });
  std::size_t changes = 0;
  for (auto const& f : forks) changes += f.data.changes;
  expect(changes == 2 * n * each, "philosophers");
  return ns / static_cast<double>(n * each);
}

double readers(tmc::ex_cpu& ex, std::size_t operations) {
  constexpr std::size_t tasks = 16;
  tmc::rw_lock m;
  guarded data;
  std::size_t const each = operations / tasks / 10 * 10;
  std::atomic<std::uint64_t> seen{0};
  double const ns = together(ex, tasks, [&](std::size_t task) -> tmc::task<void> {
    std::uint64_t mine = 0;
    for (std::size_t i = 0; i != each; ++i) {
      if ((i + task) % 10 == 0) {
        auto const lock = co_await m.lock_write_scope();
        data.change();
      } else {
        auto const lock = co_await m.lock_read_scope();
        mine ^= bench::multiply(data.value, bench::section_length());
      }
    }
    seen ^= mine;
  });
  expect(data.changes == tasks * each / 10, "readers and writers");
  return ns / static_cast<double>(tasks * each);
}

bench::peer rows_of(std::shared_ptr<tmc::ex_cpu> ex) {
  bench::peer p;
  auto const add = [&](auto f) { p.rows.emplace_back([ex, f](std::size_t operations) { return f(*ex, operations); }); };
  add([](tmc::ex_cpu& in, std::size_t n) { return uncontended(in, n); });
  add([](tmc::ex_cpu& in, std::size_t n) { return contended(in, 2, n); });
  add([](tmc::ex_cpu& in, std::size_t n) { return contended(in, 16, n); });
  add([](tmc::ex_cpu& in, std::size_t n) { return contended(in, 1000, n); });
  add([](tmc::ex_cpu& in, std::size_t n) { return longest_wait(in, 1000, n); });
  add([](tmc::ex_cpu& in, std::size_t n) { return channel_of_64(in, n); });
  p.rows.emplace_back();  // no channel of 64, 4 to 4: its bounded queues have one consumer
  p.rows.emplace_back();  // no condition variable: atomic_condvar waits for a new value and releases no mutex
  add([](tmc::ex_cpu& in, std::size_t n) { return barrier_of(in, 8, n); });
  add([](tmc::ex_cpu& in, std::size_t n) { return philosophers(in, 5, n); });
  add([](tmc::ex_cpu& in, std::size_t n) { return philosophers(in, 1000, n); });
  add([](tmc::ex_cpu& in, std::size_t n) { return readers(in, n); });
  return p;
}

}  // namespace

bench::peer bench::make_toomanycooks(std::size_t workers) {
  auto ex = std::make_shared<tmc::ex_cpu>();
  ex->set_thread_count(workers).init();
  return rows_of(std::move(ex));
}
