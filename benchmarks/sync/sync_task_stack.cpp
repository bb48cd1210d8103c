// Measures the cost of forks, joins and steals with each way to synchronise a direct task stack (task_stacks.hpp). The
// counter `value` is, in ns:
//
//   unstolen/STACK   a naive Fibonacci recursion of one thread; for each fork, call and join
//   public/STACK     64 forks, all made public, then 64 joins; no thief steals: for each
//   steal/STACK      one task at a time, which the other thread steals, runs and finishes: for each
//   heels/STACK      the same recursion with a thief that takes any task it can get: for each fork;
//                    `steals` for each run of it
//
// STACK: heist, one_word, two_words, with _public where every task is public at once; serial: plain calls.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "task_stacks.hpp"

namespace {

constexpr std::uint64_t fib_size = 22, fib_result = 17711, fib_forks = 28656;

template <class Stack>
struct worker {
  Stack stack;
  std::uint64_t steals = 0;
};

template <class Stack>
std::uint64_t fib_of_thief(void* thief, std::uint64_t n);

template <class Stack>
HEIST_NOINLINE std::uint64_t fib(worker<Stack>& w, typename Stack::slot* at, std::uint64_t n) {
  if (n < 2) return n;
  w.stack.spawn(at, &fib_of_thief<Stack>, n - 2);
  std::uint64_t const a = fib(w, at + 1, n - 1);
  return a + w.stack.join(at, [&w, at](std::uint64_t m) { return fib(w, at, m); });
}

template <class Stack>
std::uint64_t fib_of_thief(void* thief, std::uint64_t n) {
  auto& w = *static_cast<worker<Stack>*>(thief);
  return fib(w, w.stack.first(), n);
}

HEIST_NOINLINE std::uint64_t serial_fib(std::uint64_t n) {
  if (n < 2) return n;
  std::uint64_t const a = serial_fib(n - 1);
  return a + serial_fib(n - 2);
}

/// Gives the calling thread the `n`-th CPU that the process may use, for itself. Two threads that wait for each other
/// on one CPU would measure the kernel. (The mask is that of the process before the first call.)
void move_to_cpu(int n) {
  static cpu_set_t const allowed = [] {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    return mine;
  }();
  n %= std::max(CPU_COUNT(&allowed), 1);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || n-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
}

/// Takes tasks from `victim` on a thread of its own until it is destroyed.
template <class Stack>
class thief {
 public:
  explicit thief(worker<Stack>& victim)
      : thread_{[this, &victim] {
          move_to_cpu(1);
          while (!over_.load(std::memory_order_relaxed)) {  // relaxed: the end of the thread is waited for
            bench::spin_until([&] {
              bool const got = victim.stack.steal_and_run(&self_);
              if (got) ++self_.steals;
              return got || over_.load(std::memory_order_relaxed);  // relaxed: as above
            });
          }
        }} {}
  ~thief() { end(); }
  std::uint64_t end() {
    over_.store(true, std::memory_order_relaxed);  // relaxed: as above
    if (thread_.joinable()) thread_.join();
    return self_.steals;
  }

 private:
  worker<Stack> self_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// Times `run()` as often as asked; the counter is ns for each of its `tasks`.
template <class F>
void measure(benchmark::State& state, std::uint64_t tasks, F run) {
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  for (auto _ : state) {
    if (!run()) state.SkipWithError("wrong result");
  }
  double const ns = std::chrono::duration<double, std::nano>(clock::now() - begin).count();
  state.counters["value"] = ns / static_cast<double>(tasks) / static_cast<double>(state.iterations());
}

void serial(benchmark::State& state) {
  measure(state, fib_forks, [] {
    std::uint64_t n = fib_size;
    benchmark::DoNotOptimize(n);
    return serial_fib(n) == fib_result;
  });
}

template <class Stack>
void unstolen(benchmark::State& state) {
  worker<Stack> w;
  measure(state, fib_forks, [&] { return fib(w, w.stack.first(), fib_size) == fib_result; });
}

template <class Stack>
void all_public(benchmark::State& state) {
  constexpr std::uint64_t tasks = 64;
  worker<Stack> w;
  auto* const first = w.stack.first();
  measure(state, tasks, [&] {
    for (std::uint64_t i = 0; i < tasks; ++i) w.stack.spawn(first + i, &fib_of_thief<Stack>, i);
    w.stack.publish_all(first + tasks);
    std::uint64_t sum = 0;
    for (std::uint64_t i = tasks; i-- > 0;) sum += w.stack.join(first + i, [](std::uint64_t n) { return n; });
    return sum == tasks * (tasks - 1) / 2;
  });
}

std::atomic<std::uint64_t> last_run{0};

template <class Stack>
void steal(benchmark::State& state) {
  worker<Stack> w;
  thief<Stack> other{w};
  auto* const at = w.stack.first();
  std::uint64_t n = 0;
  last_run.store(0, std::memory_order_relaxed);  // relaxed: nothing is forked yet
  auto const say = [](void*, std::uint64_t i) {
    last_run.store(i, std::memory_order_relaxed);  // relaxed: says only that it is stolen
    return i;
  };
  measure(state, 1, [&] {
    w.stack.spawn(at, say, ++n);
    bench::spin_until([&] { return last_run.load(std::memory_order_relaxed) == n; });  // relaxed: as above
    return w.stack.join(at, [](std::uint64_t) { return std::uint64_t{0}; }) == n;
  });
}

template <class Stack>
void heels(benchmark::State& state) {
  worker<Stack> w;
  thief<Stack> other{w};
  measure(state, fib_forks, [&] { return fib(w, w.stack.first(), fib_size) == fib_result; });
  state.counters["steals"] = static_cast<double>(other.end()) / static_cast<double>(state.iterations());
}

template <class Stack>
void add(std::string const& name) {
  benchmark::RegisterBenchmark(("unstolen/" + name).c_str(), &unstolen<Stack>)->UseRealTime();
  benchmark::RegisterBenchmark(("public/" + name).c_str(), &all_public<Stack>)->UseRealTime();
  benchmark::RegisterBenchmark(("steal/" + name).c_str(), &steal<Stack>)->UseRealTime();
  benchmark::RegisterBenchmark(("heels/" + name).c_str(), &heels<Stack>)->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  move_to_cpu(0);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RegisterBenchmark("unstolen/serial", &serial)->UseRealTime();
  add<bench::shipped_stack<true>>("heist");
  add<bench::shipped_stack<false>>("heist_public");
  add<bench::direct_stack<bench::one_word, true>>("one_word");
  add<bench::direct_stack<bench::one_word, false>>("one_word_public");
  add<bench::direct_stack<bench::two_words, true>>("two_words");
  add<bench::direct_stack<bench::two_words, false>>("two_words_public");
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
