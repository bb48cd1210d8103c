// The fork/join benchmarks on libfork: the kernels as its coroutines, all children forked but the last, which is
// called.
#include <algorithm>  // lower_bound, merge, sort
#include <array>
#include <cmath>  // abs
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "fft_division.hpp"
#include "suite.hpp"

#include <libfork.hpp>

namespace {

/// The context for which the kernels' own recursions are specialised, below: a pool of either kind.
class libfork_context {
 public:
  explicit libfork_context(lf::busy_pool& p) : busy_{&p} {}
  explicit libfork_context(lf::lazy_pool& p) : lazy_{&p} {}

  template <class F, class... A>
  auto wait(F f, A... arguments) const {
    return busy_ ? lf::sync_wait(*busy_, f, arguments...) : lf::sync_wait(*lazy_, f, arguments...);
  }

 private:
  lf::busy_pool* busy_ = nullptr;
  lf::lazy_pool* lazy_ = nullptr;
};

constexpr auto fib = [](auto fib, long n) LF_STATIC_CALL -> lf::task<long> {
  if (n < 2) co_return n;
  long a, b;
  co_await lf::fork(&a, fib)(n - 1);
  co_await lf::call(&b, fib)(n - 2);
  co_await lf::join;
  co_return a + b;
};

constexpr auto skynet = [](auto skynet, std::uint64_t first, std::uint64_t leaves)
                            LF_STATIC_CALL -> lf::task<std::uint64_t> {
  if (leaves == 1) co_return first;
  std::uint64_t const part = leaves / 10;
  std::array<std::uint64_t, 10> sums;
  for (std::uint64_t i = 0; i < 9; ++i) co_await lf::fork(&sums[i], skynet)(first + i * part, part);
  co_await lf::call(&sums[9], skynet)(first + 9 * part, part);
  co_await lf::join;
  std::uint64_t sum = 0;
  for (std::uint64_t const s : sums) sum += s;
  co_return sum;
};

using board = kernels::nqueens::board;

constexpr auto nqueens = [](auto nqueens, int n, int columns, board queens) LF_STATIC_CALL -> lf::task<long> {
  if (columns == n) co_return 1;
  std::array<long, std::tuple_size_v<board>> sums;
  std::size_t forked = 0;
  bool found = false;
  for (int row = 0; row < n; ++row) {
    if (!kernels::nqueens::legal(queens, columns, row)) continue;
    // The row found before is not the last.
    if (found) co_await lf::fork(&sums[forked++], nqueens)(n, columns + 1, queens);
    queens[static_cast<std::size_t>(columns)] = static_cast<char>(row);
    found = true;
  }
  if (!found) co_return 0;
  co_await lf::call(&sums[forked], nqueens)(n, columns + 1, queens);
  co_await lf::join;
  long sum = 0;
  for (std::size_t i = 0; i <= forked; ++i) sum += sums[i];
  co_return sum;
};

constexpr auto matmul = [](auto matmul, int const* a, int const* b, int* c, std::size_t n, std::size_t stride)
                            LF_STATIC_CALL -> lf::task<void> {
  if (n <= kernels::matmul::leaf_size) {
    kernels::matmul::leaf(a, b, c, n, stride);
    co_return;
  }
  std::size_t const half = n / 2;
  std::size_t const down = half * stride;
  for (int i = 0; i < 2; ++i) {
    co_await lf::fork(matmul)(a, b, c, half, stride);
    co_await lf::fork(matmul)(a, b + half, c + half, half, stride);
    co_await lf::fork(matmul)(a + down, b, c + down, half, stride);
    co_await lf::call(matmul)(a + down, b + half, c + down + half, half, stride);
    co_await lf::join;
    a += half;
    b += down;
  }
};

/// The sums of the children live on the coroutine's stack: only the node itself knows how many they are.
template <class Kernel>
constexpr auto uts =
    [](auto uts, Kernel const* tree, typename Kernel::node from) LF_STATIC_CALL -> lf::task<std::uint64_t> {
  auto const count = static_cast<std::uint32_t>(tree->children(from));
  if (count == 0) co_return 1;
  auto [sums] = co_await lf::co_new<std::uint64_t>(count);
  for (std::uint32_t i = 0; i + 1 < count; ++i) co_await lf::fork(&sums[i], uts)(tree, tree->child(from, i));
  co_await lf::call(&sums[count - 1], uts)(tree, tree->child(from, count - 1));
  co_await lf::join;
  std::uint64_t nodes = 1;
  for (std::uint64_t const s : sums) nodes += s;
  co_return nodes;
};

constexpr auto integrate = [](auto integrate, double x1, double y1, double x2, double y2, double area)
                               LF_STATIC_CALL -> lf::task<double> {
  double const half = (x2 - x1) / 2;
  double const x0 = x1 + half;
  double const y0 = kernels::integrate::f(x0);
  double const left = (y1 + y0) / 2 * half;
  double const right = (y0 + y2) / 2 * half;
  double const refined = left + right;
  if (std::abs(refined - area) < kernels::integrate::tolerance) co_return refined;
  double a, b;
  co_await lf::fork(&a, integrate)(x1, y1, x0, y0, left);
  co_await lf::call(&b, integrate)(x0, y0, x2, y2, right);
  co_await lf::join;
  co_return a + b;
};

constexpr auto merge = [](auto merge, std::span<int const> a, std::span<int const> b, int* to)
                           LF_STATIC_CALL -> lf::task<void> {
  if (a.size() < b.size()) std::swap(a, b);
  if (b.size() < kernels::multisort::serial_merge) {
    std::merge(a.begin(), a.end(), b.begin(), b.end(), to);
    co_return;
  }
  std::size_t const of_a = a.size() / 2;
  auto const of_b = static_cast<std::size_t>(std::lower_bound(b.begin(), b.end(), a[of_a]) - b.begin());
  co_await lf::fork(merge)(a.first(of_a), b.first(of_b), to);
  co_await lf::call(merge)(a.subspan(of_a), b.subspan(of_b), to + of_a + of_b);
  co_await lf::join;
};

constexpr auto multisort = [](auto multisort, std::span<int> values, std::span<int> scratch)
                               LF_STATIC_CALL -> lf::task<void> {
  if (values.size() < kernels::multisort::serial_sort) {
    std::sort(values.begin(), values.end());
    co_return;
  }
  std::size_t const quarter = values.size() / 4;
  std::size_t const rest = 3 * quarter;
  for (std::size_t i = 0; i < 3; ++i) {
    co_await lf::fork(multisort)(values.subspan(i * quarter, quarter), scratch.subspan(i * quarter, quarter));
  }
  co_await lf::call(multisort)(values.subspan(rest), scratch.subspan(rest));
  co_await lf::join;
  auto const low = scratch.first(2 * quarter), high = scratch.subspan(2 * quarter);
  co_await lf::fork(merge)(values.first(quarter), values.subspan(quarter, quarter), low.data());
  co_await lf::call(merge)(values.subspan(2 * quarter, quarter), values.subspan(rest), high.data());
  co_await lf::join;
  co_await lf::call(merge)(low, high, values.data());
  co_await lf::join;
};

constexpr auto stress_tree = [](auto stress_tree, std::size_t depth, std::uint64_t first)
                                 LF_STATIC_CALL -> lf::task<std::uint64_t> {
  if (depth == 0) co_return kernels::stress::leaf(first);
  std::uint64_t a, b;
  co_await lf::fork(&a, stress_tree)(depth - 1, first);
  co_await lf::call(&b, stress_tree)(depth - 1, first + (std::uint64_t{1} << (depth - 1)));
  co_await lf::join;
  co_return a + b;
};

constexpr auto stress = [](auto, std::size_t depth) LF_STATIC_CALL -> lf::task<std::uint64_t> {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kernels::stress::all_leaves >> depth; ++i) {
    std::uint64_t of_tree;
    co_await lf::call(&of_tree, stress_tree)(depth, i << depth);
    co_await lf::join;
    sum += of_tree;
  }
  co_return sum;
};

template <class Partition>
constexpr auto quicksort =
    [](auto quicksort, std::span<int> values, Partition partition) LF_STATIC_CALL -> lf::task<void> {
  if (values.size() < 2) co_return;
  auto const parts = partition(values);
  co_await lf::fork(quicksort)(parts.low, partition);
  co_await lf::call(quicksort)(parts.high, partition);
  co_await lf::join;
};

template <class F>
constexpr auto for_range = [](auto for_range, std::size_t first, std::size_t last, std::size_t grain,
                              F const* f) LF_STATIC_CALL -> lf::task<void> {
  if (last - first <= grain) {
    for (; first != last; ++first) (*f)(first);
    co_return;
  }
  std::size_t const middle = first + (last - first) / 2;
  co_await lf::fork(for_range)(first, middle, grain, f);
  co_await lf::call(for_range)(middle, last, grain, f);
  co_await lf::join;
};

using bench::division;
using kernels::fft;
using complex = fft::complex;

struct transform_task {
  template <class Self>
  lf::task<void> operator()(Self, fft const* kernel, std::size_t n, complex* in, complex* out, complex const* roots,
                            std::size_t step) const;
};

template <std::size_t R>
constexpr auto divide = [](auto, fft const* kernel, division<R> d) LF_STATIC_CALL -> lf::task<void> {
  auto const unshuffle = [d](std::size_t i) { d.unshuffle(i); };
  co_await lf::call(for_range<decltype(unshuffle)>)(0, d.m, fft::unshuffle_grain, &unshuffle);
  co_await lf::join;
  for (std::size_t j = 0; j + 1 < R; ++j) {
    co_await lf::fork(transform_task{})(kernel, d.m, d.out + j * d.m, d.in + j * d.m, d.roots, d.step * R);
  }
  std::size_t const last = d.n - d.m;
  co_await lf::call(transform_task{})(kernel, d.m, d.out + last, d.in + last, d.roots, d.step * R);
  co_await lf::join;
  auto const put_together = [d](std::size_t i) { d.put_together(i); };
  co_await lf::call(for_range<decltype(put_together)>)(0, d.m, fft::twiddle_grain, &put_together);
  co_await lf::join;
};

template <class Self>
lf::task<void> transform_task::operator()(Self, fft const* kernel, std::size_t n, complex* in, complex* out,
                                          complex const* roots, std::size_t step) const {
  if (n <= 32) {
    kernel->transform(kernels::serial_context{}, n, in, out);
  } else if (fft::radix(n) == 16) {
    co_await lf::call(divide<16>)(kernel, division<16>{.n = n, .in = in, .out = out, .roots = roots, .step = step});
    co_await lf::join;
  } else {
    co_await lf::call(divide<8>)(kernel, division<8>{.n = n, .in = in, .out = out, .roots = roots, .step = step});
    co_await lf::join;
  }
}

}  // namespace

namespace kernels {

template <>
long fib::forked(libfork_context c, long n) {
  return c.wait(::fib, n);
}
template <>
std::uint64_t skynet::forked(libfork_context c, std::uint64_t first, std::uint64_t leaves) {
  return c.wait(::skynet, first, leaves);
}
template <>
long nqueens::forked(libfork_context c, int n, int columns, board const& queens) {
  return c.wait(::nqueens, n, columns, queens);
}
template <>
void matmul::forked(libfork_context c, int const* a, int const* b, int* to, std::size_t n, std::size_t stride) {
  c.wait(::matmul, a, b, to, n, stride);
}
template <>
template <>
std::uint64_t uts_t1::forked(libfork_context c, node const& from) const {
  return c.wait(::uts<uts_t1>, this, from);
}
template <>
template <>
std::uint64_t uts_t3::forked(libfork_context c, node const& from) const {
  return c.wait(::uts<uts_t3>, this, from);
}
template <>
template <>
std::uint64_t uts_t3l::forked(libfork_context c, node const& from) const {
  return c.wait(::uts<uts_t3l>, this, from);
}
template <>
double integrate::forked(libfork_context c, double x1, double y1, double x2, double y2, double area) {
  return c.wait(::integrate, x1, y1, x2, y2, area);
}
template <>
void multisort::sort(libfork_context c, std::span<int> values, std::span<int> scratch) {
  c.wait(::multisort, values, scratch);
}
template <>
void stress::parallel(libfork_context c) {
  result_ = c.wait(::stress, depth_);
}
template <>
void fft::parallel(libfork_context c) {
  std::size_t const n = in_.size();
  auto const set_root = [this, n](std::size_t i) { roots_[i] = root(i, n); };
  c.wait(::for_range<decltype(set_root)>, std::size_t{0}, n, root_grain, &set_root);
  c.wait(transform_task{}, this, n, in_.data(), out_.data(), roots_.data(), std::size_t{1});
}
template <>
void quicksort::forked(libfork_context c, std::span<int> values) {
  auto const divide = [](std::span<int> part) { return partition(part); };
  c.wait(::quicksort<decltype(divide)>, values, divide);
}

}  // namespace kernels

namespace {

/// Idle workers of a busy pool spin, those of a lazy pool sleep.
template <class Pool>
struct libfork_library {
  static constexpr std::string_view name = std::is_same_v<Pool, lf::busy_pool> ? "" : "@lazy_pool";
  using kernels = std::tuple<kernels::fib, kernels::skynet, kernels::nqueens, kernels::matmul, kernels::uts_t1,
                             kernels::uts_t3, kernels::uts_t3l, kernels::integrate, kernels::multisort, kernels::stress,
                             kernels::quicksort, kernels::fft>;

  /// Coroutines live on stacks that grow as needed: there is no size to choose.
  class executor {
   public:
    executor(std::size_t workers, std::size_t) : workers_{workers} {}

    template <class F>
    void run(F f) {
      f(libfork_context{workers_});
    }

   private:
    Pool workers_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run_suite<libfork_library<lf::busy_pool>, libfork_library<lf::lazy_pool>>(argc, argv);
}
