// libfork: co_await of a coroutine that is called, of one that is forked and joined, and of two at once.
#include <libfork.hpp>

#include <memory>

#include "workloads.hpp"

namespace {

using bench::row;
using bench::sizes;

constexpr auto one = [](auto, std::size_t i) -> lf::task<std::size_t> { co_return i; };
constexpr auto called = [](auto, std::size_t n) -> lf::task<std::size_t> {
  std::size_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) {
    std::size_t x = 0;
    co_await lf::call(&x, one)(i);
    co_await lf::join;
    sum += x;
  }
  co_return sum;
};
constexpr auto forked = [](auto, std::size_t n) -> lf::task<std::size_t> {
  std::size_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) {
    std::size_t x = 0;
    co_await lf::fork(&x, one)(i);
    co_await lf::join;
    sum += x;
  }
  co_return sum;
};
constexpr auto fib = [](auto self, long n) -> lf::task<long> {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await lf::call(&a, self)(n - 1);
  co_await lf::call(&b, self)(n - 2);
  co_await lf::join;
  co_return a + b;
};

constexpr auto pairs = [](auto, std::size_t n) -> lf::task<std::size_t> {
  std::size_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) {
    std::size_t a = 0, b = 0;
    co_await lf::fork(&a, one)(i);
    co_await lf::call(&b, one)(i);
    co_await lf::join;
    sum += a + b;
  }
  co_return sum;
};
constexpr auto fib_of_pairs = [](auto self, long n) -> lf::task<long> {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await lf::fork(&a, self)(n - 1);
  co_await lf::call(&b, self)(n - 2);
  co_await lf::join;
  co_return a + b;
};

struct libfork_runner final : bench::runner {
  explicit libfork_runner(std::size_t workers) : pool{workers} {}
  bool has(row which) const override { return which >= row::coroutine_called; }

  double run(row which, sizes const& s) override {
    if (which == row::coroutine_called) return static_cast<double>(lf::sync_wait(pool, called, s.awaits));
    if (which == row::coroutine_spawned) return static_cast<double>(lf::sync_wait(pool, forked, s.awaits));
    if (which == row::coroutine_pairs) return static_cast<double>(lf::sync_wait(pool, pairs, s.awaits));
    if (which == row::coroutine_fib_pairs) return static_cast<double>(lf::sync_wait(pool, fib_of_pairs, s.fib_called));
    return static_cast<double>(lf::sync_wait(pool, fib, s.fib_called));
  }

  lf::lazy_pool pool;
};

}  // namespace

std::unique_ptr<bench::runner> make_libfork(std::size_t workers) {
  return std::make_unique<libfork_runner>(workers);
}
