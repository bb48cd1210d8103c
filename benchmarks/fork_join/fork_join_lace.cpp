// The fork/join benchmarks on Lace. Kernels that Lace's own benchmarks have too, and kernels of one task type, are
// written in Lace's macros. They SPAWN all children but the last, CALL the last one, and SYNC in reverse order. The
// other kernels run through a context whose tasks are a function pointer and a closure.
#include <algorithm>  // max
#include <cmath>      // abs
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "children.hpp"
#include "suite.hpp"

// Last: it defines short macros.
#include <lace.h>

namespace {

struct lace_call {
  void (*function)(WorkerP*, Task*, void*);
  void* closure;
};

}  // namespace

VOID_TASK_1(bench_lace_call, lace_call, call) {
  call.function(__lace_worker, __lace_dq_head, call.closure);
}

namespace {

/// Closures stay with the caller of fork_join, which waits for them.
class lace_context {
 public:
  lace_context(WorkerP* worker, Task* head) : worker_{worker}, head_{head} {}

  WorkerP* worker() const { return worker_; }
  Task* head() const { return head_; }

  template <class... F>
  auto fork_join(F&&... f) const {
    std::tuple<job<F>...> jobs{job<F>{{f, {}}}...};
    run(jobs, std::make_index_sequence<sizeof...(F) - 1>{});
    return bench::results(jobs);
  }

  class scope {
   public:
    explicit scope(lace_context ctx) : worker_{ctx.worker_}, head_{ctx.head_} {}

    template <class F>
    void fork(F f) {
      auto* closure = new auto(std::move(f));
      WorkerP* __lace_worker = worker_;
      Task* __lace_dq_head = head_ + count_;
      SPAWN(bench_lace_call, lace_call{[](WorkerP* w, Task* head, void* p) {
                                         auto* own = static_cast<F*>(p);
                                         (*own)(lace_context{w, head});
                                         delete own;
                                       },
                                       closure});
      ++count_;
    }

    void join() {
      WorkerP* __lace_worker = worker_;
      Task* __lace_dq_head = head_ + count_;
      for (; count_ != 0; --count_) SYNC(bench_lace_call);
    }

   private:
    WorkerP* worker_;
    Task* head_;
    std::size_t count_ = 0;
  };

 private:
  template <class F>
  struct job : bench::child<F, lace_context> {
    static void call(WorkerP* w, Task* head, void* self) { static_cast<job*>(self)->run(lace_context{w, head}); }
  };

  template <class Jobs, std::size_t... I>
  void run(Jobs& jobs, std::index_sequence<I...>) const {
    WorkerP* __lace_worker = worker_;
    Task* __lace_dq_head = head_;
    ((void)SPAWN(bench_lace_call, lace_call{&std::tuple_element_t<I, Jobs>::call, &std::get<I>(jobs)}), ...);
    std::get<sizeof...(I)>(jobs).run(lace_context{__lace_worker, __lace_dq_head});
    (((void)I, SYNC(bench_lace_call)), ...);
  }

  WorkerP* worker_;
  Task* head_;
};

}  // namespace

using kernels::matmul;
using board = kernels::nqueens::board;

TASK_1(long, bench_lace_fib, long, n) {
  if (n < 2) return n;
  SPAWN(bench_lace_fib, n - 1);
  long const b = CALL(bench_lace_fib, n - 2);
  long const a = SYNC(bench_lace_fib);
  return a + b;
}

TASK_2(std::uint64_t, bench_lace_skynet, std::uint64_t, first, std::uint64_t, leaves) {
  if (leaves == 1) return first;
  std::uint64_t const part = leaves / 10;
  for (std::uint64_t i = 0; i < 9; ++i) SPAWN(bench_lace_skynet, first + i * part, part);
  std::uint64_t sum = CALL(bench_lace_skynet, first + 9 * part, part);
  for (int i = 0; i < 9; ++i) sum += SYNC(bench_lace_skynet);
  return sum;
}

TASK_3(long, bench_lace_nqueens, int, n, int, columns, board, queens) {
  if (columns == n) return 1;
  int forked = -1;
  for (int row = 0; row < n; ++row) {
    if (!kernels::nqueens::legal(queens, columns, row)) continue;
    // The row found before is not the last.
    if (forked >= 0) SPAWN(bench_lace_nqueens, n, columns + 1, queens);
    queens[static_cast<std::size_t>(columns)] = static_cast<char>(row);
    ++forked;
  }
  if (forked < 0) return 0;
  long sum = CALL(bench_lace_nqueens, n, columns + 1, queens);
  for (; forked != 0; --forked) sum += SYNC(bench_lace_nqueens);
  return sum;
}

VOID_TASK_5(bench_lace_matmul, int const*, a, int const*, b, int*, c, std::size_t, n, std::size_t, stride) {
  if (n <= matmul::leaf_size) {
    matmul::leaf(a, b, c, n, stride);
    return;
  }
  std::size_t const half = n / 2;
  std::size_t const down = half * stride;
  SPAWN(bench_lace_matmul, a, b, c, half, stride);
  SPAWN(bench_lace_matmul, a, b + half, c + half, half, stride);
  SPAWN(bench_lace_matmul, a + down, b, c + down, half, stride);
  CALL(bench_lace_matmul, a + down, b + half, c + down + half, half, stride);
  for (int i = 0; i < 3; ++i) SYNC(bench_lace_matmul);
  a += half;
  b += down;
  SPAWN(bench_lace_matmul, a, b, c, half, stride);
  SPAWN(bench_lace_matmul, a, b + half, c + half, half, stride);
  SPAWN(bench_lace_matmul, a + down, b, c + down, half, stride);
  CALL(bench_lace_matmul, a + down, b + half, c + down + half, half, stride);
  for (int i = 0; i < 3; ++i) SYNC(bench_lace_matmul);
}

/// A task type cannot be a template: one for each tree.
#define BENCH_LACE_UTS(tree)                                                                          \
  TASK_2(std::uint64_t, bench_lace_##tree, kernels::tree const*, all, kernels::tree::node, from) {    \
    auto const count = static_cast<std::uint32_t>(all->children(from));                               \
    if (count == 0) return 1;                                                                         \
    for (std::uint32_t i = 0; i + 1 < count; ++i) SPAWN(bench_lace_##tree, all, all->child(from, i)); \
    std::uint64_t nodes = 1 + CALL(bench_lace_##tree, all, all->child(from, count - 1));              \
    for (std::uint32_t i = 0; i + 1 < count; ++i) nodes += SYNC(bench_lace_##tree);                   \
    return nodes;                                                                                     \
  }
BENCH_LACE_UTS(uts_t1)
BENCH_LACE_UTS(uts_t3)
BENCH_LACE_UTS(uts_t3l)
#undef BENCH_LACE_UTS

TASK_5(double, bench_lace_integrate, double, x1, double, y1, double, x2, double, y2, double, area) {
  double const half = (x2 - x1) / 2;
  double const x0 = x1 + half;
  double const y0 = kernels::integrate::f(x0);
  double const left = (y1 + y0) / 2 * half;
  double const right = (y0 + y2) / 2 * half;
  double const refined = left + right;
  if (std::abs(refined - area) < kernels::integrate::tolerance) return refined;
  SPAWN(bench_lace_integrate, x1, y1, x0, y0, left);
  double const b = CALL(bench_lace_integrate, x0, y0, x2, y2, right);
  double const a = SYNC(bench_lace_integrate);
  return a + b;
}

namespace kernels {

template <>
long fib::forked(lace_context c, long n) {
  return bench_lace_fib_CALL(c.worker(), c.head(), n);
}
template <>
std::uint64_t skynet::forked(lace_context c, std::uint64_t first, std::uint64_t leaves) {
  return bench_lace_skynet_CALL(c.worker(), c.head(), first, leaves);
}
template <>
long nqueens::forked(lace_context c, int n, int columns, board const& queens) {
  return bench_lace_nqueens_CALL(c.worker(), c.head(), n, columns, queens);
}
template <>
void matmul::forked(lace_context c, int const* a, int const* b, int* to, std::size_t n, std::size_t stride) {
  bench_lace_matmul_CALL(c.worker(), c.head(), a, b, to, n, stride);
}
template <>
template <>
std::uint64_t uts_t1::forked(lace_context c, node const& from) const {
  return bench_lace_uts_t1_CALL(c.worker(), c.head(), this, from);
}
template <>
template <>
std::uint64_t uts_t3::forked(lace_context c, node const& from) const {
  return bench_lace_uts_t3_CALL(c.worker(), c.head(), this, from);
}
template <>
template <>
std::uint64_t uts_t3l::forked(lace_context c, node const& from) const {
  return bench_lace_uts_t3l_CALL(c.worker(), c.head(), this, from);
}
template <>
double integrate::forked(lace_context c, double x1, double y1, double x2, double y2, double area) {
  return bench_lace_integrate_CALL(c.worker(), c.head(), x1, y1, x2, y2, area);
}

}  // namespace kernels

namespace {

struct lace_library {
  static constexpr std::string_view name = "";

  class executor {
   public:
    executor(std::size_t workers, std::size_t stack) {
      constexpr std::size_t tasks = std::size_t{1} << 22;  // address space; memory only as far as it is used
      lace_set_stacksize(std::max(stack, std::size_t{16} << 20));
      lace_start(static_cast<unsigned>(workers), tasks);
    }
    ~executor() { lace_stop(); }

    template <class F>
    void run(F f) {
      RUN(bench_lace_call, lace_call{[](WorkerP* w, Task* head, void* p) {
                                       (*static_cast<F*>(p))(lace_context{w, head});
                                     },
                                     &f});
    }
  };
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run_suite<lace_library>(argc, argv);
}
