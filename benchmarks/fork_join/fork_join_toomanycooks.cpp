// The fork/join benchmarks on TooManyCooks: the kernels as its coroutines; children are started together, those of
// one type by spawn_many, others by spawn_tuple.
#include <algorithm>  // lower_bound, merge, sort
#include <array>
#include <cmath>  // abs
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fft_division.hpp"
#include "suite.hpp"

#include <tmc/ex_cpu.hpp>
#include <tmc/spawn_many.hpp>
#include <tmc/spawn_tuple.hpp>
#include <tmc/sync.hpp>
#include <tmc/task.hpp>

namespace {

/// The context for which the kernels' own recursions are specialised, below.
class tmc_context {
 public:
  explicit tmc_context(tmc::ex_cpu& executor) : executor_{&executor} {}

  template <class R>
  R wait(tmc::task<R> task) const {
    return tmc::post_waitable(*executor_, std::move(task)).get();
  }

 private:
  tmc::ex_cpu* executor_;
};

/// The iterator from which spawn_many reads the tasks make(0), make(1), ...
template <class F>
class tasks {
 public:
  using value_type = std::invoke_result_t<F const&, std::uint32_t>;
  using difference_type = std::ptrdiff_t;

  explicit tasks(F make) : make_{std::move(make)} {}
  value_type operator*() const { return make_(number_); }
  tasks& operator++() {
    ++number_;
    return *this;
  }

 private:
  F make_;
  std::uint32_t number_ = 0;
};

tmc::task<long> fib(long n) {
  if (n < 2) co_return n;
  auto const [a, b] = co_await tmc::spawn_tuple(fib(n - 1), fib(n - 2));
  co_return a + b;
}

tmc::task<std::uint64_t> skynet(std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1) co_return first;
  std::uint64_t const part = leaves / 10;
  std::array<std::uint64_t, 10> const sums =
      co_await tmc::spawn_many<10>(tasks([=](std::uint32_t i) { return skynet(first + i * part, part); }));
  std::uint64_t sum = 0;
  for (std::uint64_t const s : sums) sum += s;
  co_return sum;
}

using board = kernels::nqueens::board;

tmc::task<long> nqueens(int n, int columns, board queens) {
  if (columns == n) co_return 1;
  constexpr std::size_t most = std::tuple_size_v<board>;
  std::size_t count = 0;
  auto children = std::views::iota(0, n) |
                  std::views::filter([&](int row) { return kernels::nqueens::legal(queens, columns, row); }) |
                  std::views::transform([&](int row) {
                    ++count;
                    queens[static_cast<std::size_t>(columns)] = static_cast<char>(row);
                    return nqueens(n, columns + 1, queens);
                  });
  std::array<long, most> const sums = co_await tmc::spawn_many<most>(children.begin(), children.end());
  long sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += sums[i];
  co_return sum;
}

tmc::task<void> matmul(int const* a, int const* b, int* c, std::size_t n, std::size_t stride) {
  if (n <= kernels::matmul::leaf_size) {
    kernels::matmul::leaf(a, b, c, n, stride);
    co_return;
  }
  std::size_t const half = n / 2;
  std::size_t const down = half * stride;
  for (int i = 0; i < 2; ++i) {
    co_await tmc::spawn_tuple(matmul(a, b, c, half, stride), matmul(a, b + half, c + half, half, stride),
                              matmul(a + down, b, c + down, half, stride),
                              matmul(a + down, b + half, c + down + half, half, stride));
    a += half;
    b += down;
  }
}

/// Up to eight children need no allocation for their results.
template <class Kernel>
tmc::task<std::uint64_t> uts(Kernel const* tree, typename Kernel::node from) {
  constexpr std::uint32_t few = 8;
  auto const count = static_cast<std::uint32_t>(tree->children(from));
  if (count == 0) co_return 1;
  auto const child = [tree, &from](std::uint32_t i) { return uts(tree, tree->child(from, i)); };
  std::uint64_t nodes = 1;
  if (count <= few) {
    auto children = std::views::iota(std::uint32_t{0}, count) | std::views::transform(child);
    auto const sums = co_await tmc::spawn_many<few>(children.begin(), children.end());
    for (std::uint32_t i = 0; i < count; ++i) nodes += sums[i];
  } else {
    auto const sums = co_await tmc::spawn_many(tasks(child), std::size_t{count});
    for (std::uint64_t const s : sums) nodes += s;
  }
  co_return nodes;
}

tmc::task<double> integrate(double x1, double y1, double x2, double y2, double area) {
  double const half = (x2 - x1) / 2;
  double const x0 = x1 + half;
  double const y0 = kernels::integrate::f(x0);
  double const left = (y1 + y0) / 2 * half;
  double const right = (y0 + y2) / 2 * half;
  double const refined = left + right;
  if (std::abs(refined - area) < kernels::integrate::tolerance) co_return refined;
  auto const [a, b] = co_await tmc::spawn_tuple(integrate(x1, y1, x0, y0, left), integrate(x0, y0, x2, y2, right));
  co_return a + b;
}

tmc::task<void> merge(std::span<int const> a, std::span<int const> b, int* to) {
  if (a.size() < b.size()) std::swap(a, b);
  if (b.size() < kernels::multisort::serial_merge) {
    std::merge(a.begin(), a.end(), b.begin(), b.end(), to);
    co_return;
  }
  std::size_t const of_a = a.size() / 2;
  auto const of_b = static_cast<std::size_t>(std::lower_bound(b.begin(), b.end(), a[of_a]) - b.begin());
  co_await tmc::spawn_tuple(merge(a.first(of_a), b.first(of_b), to),
                            merge(a.subspan(of_a), b.subspan(of_b), to + of_a + of_b));
}

tmc::task<void> multisort(std::span<int> values, std::span<int> scratch) {
  if (values.size() < kernels::multisort::serial_sort) {
    std::sort(values.begin(), values.end());
    co_return;
  }
  std::size_t const quarter = values.size() / 4;
  std::size_t const rest = 3 * quarter;
  co_await tmc::spawn_tuple(multisort(values.first(quarter), scratch.first(quarter)),
                            multisort(values.subspan(quarter, quarter), scratch.subspan(quarter, quarter)),
                            multisort(values.subspan(2 * quarter, quarter), scratch.subspan(2 * quarter, quarter)),
                            multisort(values.subspan(rest), scratch.subspan(rest)));
  auto const low = scratch.first(2 * quarter), high = scratch.subspan(2 * quarter);
  co_await tmc::spawn_tuple(merge(values.first(quarter), values.subspan(quarter, quarter), low.data()),
                            merge(values.subspan(2 * quarter, quarter), values.subspan(rest), high.data()));
  co_await merge(low, high, values.data());
}

tmc::task<std::uint64_t> stress_tree(std::size_t depth, std::uint64_t first) {
  if (depth == 0) co_return kernels::stress::leaf(first);
  auto const [a, b] = co_await tmc::spawn_tuple(stress_tree(depth - 1, first),
                                                stress_tree(depth - 1, first + (std::uint64_t{1} << (depth - 1))));
  co_return a + b;
}

tmc::task<std::uint64_t> stress(std::size_t depth) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kernels::stress::all_leaves >> depth; ++i) {
    sum += co_await stress_tree(depth, i << depth);
  }
  co_return sum;
}

using bench::division;
using kernels::fft;
using complex = fft::complex;

template <class F>
tmc::task<void> for_range(std::size_t first, std::size_t last, std::size_t grain, F const* f) {
  if (last - first <= grain) {
    for (; first != last; ++first) (*f)(first);
    co_return;
  }
  std::size_t const middle = first + (last - first) / 2;
  co_await tmc::spawn_tuple(for_range(first, middle, grain, f), for_range(middle, last, grain, f));
}

tmc::task<void> transform(fft const* kernel, std::size_t n, complex* in, complex* out, complex const* roots,
                          std::size_t step);

template <std::size_t R>
tmc::task<void> divide(fft const* kernel, division<R> d) {
  auto const unshuffle = [d](std::size_t i) { d.unshuffle(i); };
  co_await for_range(0, d.m, fft::unshuffle_grain, &unshuffle);
  co_await tmc::spawn_many<R>(tasks([kernel, d](std::uint32_t j) {
    return transform(kernel, d.m, d.out + j * d.m, d.in + j * d.m, d.roots, d.step * R);
  }));
  auto const put_together = [d](std::size_t i) { d.put_together(i); };
  co_await for_range(0, d.m, fft::twiddle_grain, &put_together);
}

tmc::task<void> transform(fft const* kernel, std::size_t n, complex* in, complex* out, complex const* roots,
                          std::size_t step) {
  if (n <= 32) {
    kernel->transform(kernels::serial_context{}, n, in, out);
  } else if (fft::radix(n) == 16) {
    co_await divide(kernel, division<16>{.n = n, .in = in, .out = out, .roots = roots, .step = step});
  } else {
    co_await divide(kernel, division<8>{.n = n, .in = in, .out = out, .roots = roots, .step = step});
  }
}

template <class Partition>
tmc::task<void> quicksort(std::span<int> values, Partition partition) {
  if (values.size() < 2) co_return;
  auto const parts = partition(values);
  co_await tmc::spawn_tuple(quicksort(parts.low, partition), quicksort(parts.high, partition));
}

}  // namespace

namespace kernels {

template <>
long fib::forked(tmc_context c, long n) {
  return c.wait(::fib(n));
}
template <>
std::uint64_t skynet::forked(tmc_context c, std::uint64_t first, std::uint64_t leaves) {
  return c.wait(::skynet(first, leaves));
}
template <>
long nqueens::forked(tmc_context c, int n, int columns, board const& queens) {
  return c.wait(::nqueens(n, columns, queens));
}
template <>
void matmul::forked(tmc_context c, int const* a, int const* b, int* to, std::size_t n, std::size_t stride) {
  c.wait(::matmul(a, b, to, n, stride));
}
template <>
template <>
std::uint64_t uts_t1::forked(tmc_context c, node const& from) const {
  return c.wait(::uts(this, from));
}
template <>
template <>
std::uint64_t uts_t3::forked(tmc_context c, node const& from) const {
  return c.wait(::uts(this, from));
}
template <>
template <>
std::uint64_t uts_t3l::forked(tmc_context c, node const& from) const {
  return c.wait(::uts(this, from));
}
template <>
double integrate::forked(tmc_context c, double x1, double y1, double x2, double y2, double area) {
  return c.wait(::integrate(x1, y1, x2, y2, area));
}
template <>
void multisort::sort(tmc_context c, std::span<int> values, std::span<int> scratch) {
  c.wait(::multisort(values, scratch));
}
template <>
void stress::parallel(tmc_context c) {
  result_ = c.wait(::stress(depth_));
}
template <>
void fft::parallel(tmc_context c) {
  std::size_t const n = in_.size();
  auto const set_root = [this, n](std::size_t i) { roots_[i] = root(i, n); };
  c.wait(::for_range(0, n, root_grain, &set_root));
  c.wait(::transform(this, n, in_.data(), out_.data(), roots_.data(), 1));
}
template <>
void quicksort::forked(tmc_context c, std::span<int> values) {
  c.wait(::quicksort(values, [](std::span<int> part) { return partition(part); }));
}

}  // namespace kernels

namespace {

struct tmc_library {
  static constexpr std::string_view name = "";
  using kernels = std::tuple<kernels::fib, kernels::skynet, kernels::nqueens, kernels::matmul, kernels::uts_t1,
                             kernels::uts_t3, kernels::uts_t3l, kernels::integrate, kernels::multisort, kernels::stress,
                             kernels::quicksort, kernels::fft>;

  /// Coroutines live on the heap: there is no stack to choose.
  class executor {
   public:
    executor(std::size_t workers, std::size_t) {
      executor_.set_thread_count(workers)
          .set_thread_pinning_level(tmc::topology::thread_pinning_level::CORE)
          .set_work_stealing_strategy(tmc::work_stealing_strategy::LATTICE_MATRIX)
          .init();
    }

    template <class F>
    void run(F f) {
      f(tmc_context{executor_});
    }

   private:
    tmc::ex_cpu executor_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run_suite<tmc_library>(argc, argv);
}
