// The measurements of any peer: the rows, the tasks of each with their predecessors, and the expected results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

enum class row {
  chain,
  tree,
  random,
  fib,
  cholesky,
  heat,
  empty,
  pipeline_4_serial,
  pipeline_4_parallel,
  pipeline_16_serial,
  pipeline_16_parallel,
  coroutine_called,
  coroutine_spawned,
  coroutine_fib,
  coroutine_pairs,
  coroutine_fib_pairs
};

inline constexpr struct {
  row which;
  char const* name;
  char const* unit;
} rows[] = {
    {row::chain, "after: chain", "task"},
    {row::tree, "after: tree", "task"},
    {row::random, "after: random", "task"},
    {row::fib, "after: fib", "task"},
    {row::cholesky, "flow: Cholesky", "task"},
    {row::heat, "flow: heat", "task"},
    {row::empty, "flow: empty tasks", "task"},
    {row::pipeline_4_serial, "pipeline: 4 serial", "token"},
    {row::pipeline_4_parallel, "pipeline: 4 parallel", "token"},
    {row::pipeline_16_serial, "pipeline: 16 serial", "token"},
    {row::pipeline_16_parallel, "pipeline: 16 parallel", "token"},
    {row::coroutine_called, "co_await: called", "await"},
    {row::coroutine_spawned, "co_await: spawned", "await"},
    {row::coroutine_fib, "co_await: fib, called", "call"},
    {row::coroutine_pairs, "co_await: two at once", "pair"},
    {row::coroutine_fib_pairs, "co_await: fib, two at once", "call"},
};

/// How many tasks, tokens or awaits a row has.
struct sizes {
  std::size_t tasks = 100'000;  ///< of chain and random, leaves of the tree
  std::size_t empty = 1'000'000;
  std::size_t tokens = 20'000;
  std::size_t awaits = 200'000;
  std::size_t tiles = 16, tile = 16;         ///< Cholesky: tiles in a row, and rows of a tile
  std::size_t row_blocks = 32, steps = 500;  ///< heat
  std::size_t strip = 64;                    ///< points of a strip
  long fib = 22;                             ///< of dependent tasks
  long fib_called = 25;
  static constexpr std::size_t lines = 8;    ///< tokens at a time
  static constexpr std::size_t chains = 64;  ///< data that empty tasks update in turn
};

/// The predecessors of each task, in the order of the program, for peers that need them beforehand.
struct task_list {
  std::vector<std::uint32_t> before;  ///< numbers of tasks, those of task i from begin[i] to begin[i + 1]
  std::vector<std::uint32_t> begin{0};

  std::size_t size() const noexcept { return begin.size() - 1; }
  void add(std::initializer_list<std::uint32_t> of) {
    before.insert(before.end(), of);
    begin.push_back(static_cast<std::uint32_t>(before.size()));
  }
  std::uint32_t const* first(std::size_t i) const noexcept { return before.data() + begin[i]; }
  std::size_t count(std::size_t i) const noexcept { return begin[i + 1] - begin[i]; }
};

/// Three of the 64 tasks before task i, which is not the first.
inline std::array<std::uint32_t, 3> random_before(std::uint32_t i) noexcept {
  std::uint32_t const span = i < 64 ? i : 64;
  std::array<std::uint32_t, 3> b{};
  std::uint32_t x = i * 2654435761u;
  for (auto& one : b) {
    x = x * 1664525u + 1013904223u;
    one = i - 1 - (x >> 8) % span;
  }
  return b;
}
/// Distinct ones first; how many.
inline std::size_t distinct(std::array<std::uint32_t, 3>& b) noexcept {
  std::size_t n = 1;
  if (b[1] != b[0]) b[n++] = b[1];
  if (b[2] != b[0] && (n == 1 || b[2] != b[1])) b[n++] = b[2];
  return n;
}

/// A symmetric matrix in tiles of doubles, factorised in place; its lower half.
struct tiled {
  explicit tiled(sizes const& s);
  std::vector<double>& at(std::size_t i, std::size_t j) noexcept { return of[i * tiles + j]; }
  double sum() const;

  std::size_t tiles, side;
  std::vector<std::vector<double>> of;
};
void potrf(std::vector<double>& a, std::size_t n);
void trsm(std::vector<double> const& a, std::vector<double>& b, std::size_t n);
void gemm(std::vector<double> const& a, std::vector<double> const& b, std::vector<double>& c, std::size_t n);

/// Calls potrf(k), trsm(i, k), gemm(i, j, k) in the order of the program.
template <class Potrf, class Trsm, class Gemm>
void cholesky_program(std::size_t tiles, Potrf potrf_at, Trsm trsm_at, Gemm gemm_at) {
  for (std::size_t k = 0; k != tiles; ++k) {
    potrf_at(k);
    for (std::size_t i = k + 1; i != tiles; ++i) trsm_at(i, k);
    for (std::size_t i = k + 1; i != tiles; ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) gemm_at(i, j, k);
    }
  }
}
std::size_t cholesky_tasks(std::size_t tiles);

/// A rod in strips, twice: each step reads one and writes the other.
using strip = std::vector<double>;
/// `left` and `right`: of its neighbours, null at the ends.
void heat_step(strip const* left, strip const& mine, strip const* right, strip& to);
struct rod {
  explicit rod(sizes const& s);
  /// Writes strip `i` of step `t`, from step t - 1.
  void step(std::size_t t, std::size_t i);
  double sum(std::size_t t) const;

  std::array<std::vector<strip>, 2> of;
};

/// The tasks of a row, for peers that want to be told by number what each comes after.
task_list tasks_of(row which, sizes const& s);

inline constexpr bool is_numbered(row which) noexcept {
  return which <= row::empty;
}

/// Such a row with its data: run(i) does what task i does.
struct numbered {
  numbered(row which, sizes const& s);
  void run(std::size_t i);
  double result() const;

  row which;
  task_list tasks;
  std::vector<std::uint32_t> value;  ///< of each task that has one; at first of those that come after nothing
  tiled matrix;
  rod row_blocks;

 private:
  struct tile_task {
    std::size_t i, j, k;
  };
  void run_tile(tile_task const& t);

  std::vector<tile_task> tile_tasks_;
  std::size_t row_blocks_, steps_;
};

/// The work of a stage of a pipeline: next to nothing.
inline std::uint64_t stage_work(std::uint64_t x) noexcept {
  return x * 3 + 1;
}
std::uint64_t pipeline_sum(std::size_t stages, std::size_t tokens);

/// How many operations the time of a row is divided by.
std::size_t operations(row which, sizes const& s);
/// The expected return value of run().
double expected(row which, sizes const& s);

/// A library. One worker, or several; run() is called by the main thread.
struct runner {
  runner() = default;
  runner(runner const&) = delete;
  runner& operator=(runner const&) = delete;
  virtual ~runner() = default;
  virtual bool has(row which) const = 0;
  /// Before run(), and not measured: the numbered tasks.
  void prepare(row which, sizes const& s) { all = std::make_unique<numbered>(which, s); }
  /// Runs it once, and returns a sum by which its result is checked.
  virtual double run(row which, sizes const& s) = 0;

  std::unique_ptr<numbered> all;
};

/// Calls f<serial>(std::index_sequence of the stages between the first and the last) for a row of pipelines; nothing
/// for another row.
template <class F>
std::optional<double> pipeline_of(row which, F f) {
  switch (which) {
    case row::pipeline_4_serial:
      return f.template operator()<true>(std::make_index_sequence<2>{});
    case row::pipeline_4_parallel:
      return f.template operator()<false>(std::make_index_sequence<2>{});
    case row::pipeline_16_serial:
      return f.template operator()<true>(std::make_index_sequence<14>{});
    case row::pipeline_16_parallel:
      return f.template operator()<false>(std::make_index_sequence<14>{});
    default:
      return {};
  }
}

}  // namespace bench

std::unique_ptr<bench::runner> make_heist(std::size_t workers);
std::unique_ptr<bench::runner> make_dispenso(std::size_t workers);
std::unique_ptr<bench::runner> make_tbb(std::size_t workers);
std::unique_ptr<bench::runner> make_taskflow(std::size_t workers);
std::unique_ptr<bench::runner> make_openmp(std::size_t workers);
std::unique_ptr<bench::runner> make_toomanycooks(std::size_t workers);
std::unique_ptr<bench::runner> make_libfork(std::size_t workers);
