// TooManyCooks: co_await of a coroutine that is called, of one that is spawned, and of two at once.
#include <tmc/ex_cpu.hpp>
#include <tmc/spawn.hpp>
#include <tmc/spawn_tuple.hpp>
#include <tmc/sync.hpp>
#include <tmc/task.hpp>

#include <memory>

#include "workloads.hpp"

namespace {

using bench::row;
using bench::sizes;

tmc::task<std::size_t> one(std::size_t i) {
  co_return i;
}
tmc::task<std::size_t> called(std::size_t n) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) sum += co_await one(i);
  co_return sum;
}
tmc::task<std::size_t> spawned(std::size_t n) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) sum += co_await tmc::spawn(one(i));  // posted to the executor
  co_return sum;
}
tmc::task<long> fib(long n) {
  if (n < 2) co_return n;
  long const a = co_await fib(n - 1);
  co_return a + co_await fib(n - 2);
}

tmc::task<std::size_t> pairs(std::size_t n) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) {
    auto const [a, b] = co_await tmc::spawn_tuple(one(i), one(i));
    sum += a + b;
  }
  co_return sum;
}
tmc::task<long> fib_of_pairs(long n) {
  if (n < 2) co_return n;
  auto const [a, b] = co_await tmc::spawn_tuple(fib_of_pairs(n - 1), fib_of_pairs(n - 2));
  co_return a + b;
}

struct toomanycooks_runner final : bench::runner {
  explicit toomanycooks_runner(std::size_t workers) { ex.set_thread_count(workers).init(); }
  bool has(row which) const override { return which >= row::coroutine_called; }

  double run(row which, sizes const& s) override {
    if (which == row::coroutine_called) return static_cast<double>(tmc::post_waitable(ex, called(s.awaits)).get());
    if (which == row::coroutine_spawned) return static_cast<double>(tmc::post_waitable(ex, spawned(s.awaits)).get());
    if (which == row::coroutine_pairs) return static_cast<double>(tmc::post_waitable(ex, pairs(s.awaits)).get());
    if (which == row::coroutine_fib_pairs)
      return static_cast<double>(tmc::post_waitable(ex, fib_of_pairs(s.fib_called)).get());
    return static_cast<double>(tmc::post_waitable(ex, fib(s.fib_called)).get());
  }

  tmc::ex_cpu ex;
};

}  // namespace

std::unique_ptr<bench::runner> make_toomanycooks(std::size_t workers) {
  return std::make_unique<toomanycooks_runner>(workers);
}
