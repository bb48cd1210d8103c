// The program of fork_heist.cpp.
#include <cstdio>
#include <libfork.hpp>

inline constexpr auto fib = [](auto fib, long n) -> lf::task<long> {
  if (n < 2) co_return n;
  long a, b;
  co_await lf::fork(&a, fib)(n - 1);
  co_await lf::call(&b, fib)(n - 2);
  co_await lf::join;
  co_return a + b;
};

int main() {
  lf::lazy_pool pool;
  std::printf("%ld\n", lf::sync_wait(pool, fib, 20));
}
