// The serial parts of the measurements, and their expected results.
#include "workloads.hpp"

#include <algorithm>
#include <cmath>

namespace bench {

tiled::tiled(sizes const& s) : tiles{s.tiles}, side{s.tile}, of(tiles * tiles, std::vector<double>(side * side)) {
  for (std::size_t i = 0; i != tiles; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t r = 0; r != side; ++r) {
        for (std::size_t c = 0; c != side; ++c) {
          bool const diagonal = i == j && r == c;
          at(i, j)[r * side + c] = diagonal ? 2.0 * static_cast<double>(tiles * side) : 1.0;
        }
      }
    }
  }
}

double tiled::sum() const {
  double all = 0;
  for (std::size_t i = 0; i != tiles; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (double x : of[i * tiles + j]) all += x;
    }
  }
  return all;
}

void potrf(std::vector<double>& a, std::size_t n) {
  for (std::size_t k = 0; k != n; ++k) {
    double const d = std::sqrt(a[k * n + k]);
    a[k * n + k] = d;
    for (std::size_t i = k + 1; i != n; ++i) a[i * n + k] /= d;
    for (std::size_t i = k + 1; i != n; ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) a[i * n + j] -= a[i * n + k] * a[j * n + k];
    }
  }
}

void trsm(std::vector<double> const& a, std::vector<double>& b, std::size_t n) {
  for (std::size_t r = 0; r != n; ++r) {
    for (std::size_t c = 0; c != n; ++c) {
      double x = b[r * n + c];
      for (std::size_t k = 0; k != c; ++k) x -= b[r * n + k] * a[c * n + k];
      b[r * n + c] = x / a[c * n + c];
    }
  }
}

void gemm(std::vector<double> const& a, std::vector<double> const& b, std::vector<double>& c, std::size_t n) {
  for (std::size_t r = 0; r != n; ++r) {
    for (std::size_t col = 0; col != n; ++col) {
      double x = c[r * n + col];
      for (std::size_t k = 0; k != n; ++k) x -= a[r * n + k] * b[col * n + k];
      c[r * n + col] = x;
    }
  }
}

std::size_t cholesky_tasks(std::size_t tiles) {
  std::size_t n = 0;
  auto const one = [&n](auto...) { ++n; };
  cholesky_program(tiles, one, one, one);
  return n;
}

void heat_step(strip const* left, strip const& mine, strip const* right, strip& to) {
  for (std::size_t x = 0; x != mine.size(); ++x) {
    double const l = x != 0 ? mine[x - 1] : left != nullptr ? left->back() : 0.0;
    double const r = x + 1 != mine.size() ? mine[x + 1] : right != nullptr ? right->front() : 0.0;
    to[x] = 0.25 * l + 0.5 * mine[x] + 0.25 * r;
  }
}

rod::rod(sizes const& s)
    : of{std::vector<strip>(s.row_blocks, strip(s.strip)), std::vector<strip>(s.row_blocks, strip(s.strip))} {
  for (std::size_t i = 0; i != s.row_blocks; ++i) {
    for (std::size_t x = 0; x != s.strip; ++x) of[0][i][x] = static_cast<double>((i * s.strip + x) % 17);
  }
}

void rod::step(std::size_t t, std::size_t i) {
  auto const& from = of[(t + 1) % 2];
  heat_step(i != 0 ? &from[i - 1] : nullptr, from[i], i + 1 != from.size() ? &from[i + 1] : nullptr, of[t % 2][i]);
}

double rod::sum(std::size_t t) const {
  double all = 0;
  for (strip const& one : of[t % 2]) {
    for (double x : one) all += x;
  }
  return all;
}

namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

task_list tasks_of_cholesky(std::size_t n) {
  task_list all;
  std::vector<std::uint32_t> writer(n * n, none);
  std::uint32_t next = 0;
  auto const add = [&](std::size_t written, std::initializer_list<std::size_t> tiles) {
    std::vector<std::uint32_t> from;
    for (std::size_t t : tiles) {
      if (writer[t] != none && std::find(from.begin(), from.end(), writer[t]) == from.end()) from.push_back(writer[t]);
    }
    all.before.insert(all.before.end(), from.begin(), from.end());
    all.add({});
    writer[written] = next++;
  };
  cholesky_program(
      n, [&](std::size_t k) { add(k * n + k, {k * n + k}); },
      [&](std::size_t i, std::size_t k) {
        add(i * n + k, {k * n + k, i * n + k});
      },
      [&](std::size_t i, std::size_t j, std::size_t k) {
        add(i * n + j, {i * n + k, j * n + k, i * n + j});
      });
  return all;
}

task_list tasks_of_heat(sizes const& s) {
  task_list all;
  for (std::size_t t = 0; t != s.steps; ++t) {
    for (std::size_t i = 0; i != s.row_blocks; ++i) {
      if (t == 0) {
        all.add({});
        continue;
      }
      auto const mine = static_cast<std::uint32_t>((t - 1) * s.row_blocks + i);
      if (i != 0) all.before.push_back(mine - 1);
      if (i + 1 != s.row_blocks) all.before.push_back(mine + 1);
      all.add({mine});
    }
  }
  return all;
}

/// Of fib(n): its number. Small ones are tasks after nothing.
std::uint32_t add_fib(task_list& all, long n) {
  if (n < 2) {
    all.add({});
  } else {
    std::uint32_t const a = add_fib(all, n - 1), b = add_fib(all, n - 2);
    all.add({a, b});
  }
  return static_cast<std::uint32_t>(all.size() - 1);
}

long fib(long n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
std::size_t fib_calls(long n) {
  return n < 2 ? 1 : 1 + fib_calls(n - 1) + fib_calls(n - 2);
}

double cholesky_sum(sizes const& s) {
  tiled a{s};
  cholesky_program(
      s.tiles, [&](std::size_t k) { potrf(a.at(k, k), s.tile); },
      [&](std::size_t i, std::size_t k) { trsm(a.at(k, k), a.at(i, k), s.tile); },
      [&](std::size_t i, std::size_t j, std::size_t k) { gemm(a.at(i, k), a.at(j, k), a.at(i, j), s.tile); });
  return a.sum();
}

double heat_sum(sizes const& s) {
  rod r{s};
  for (std::size_t t = 1; t <= s.steps; ++t) {
    for (std::size_t i = 0; i != s.row_blocks; ++i) r.step(t, i);
  }
  return r.sum(s.steps);
}

}  // namespace

task_list tasks_of(row which, sizes const& s) {
  task_list all;
  switch (which) {
    case row::cholesky:
      return tasks_of_cholesky(s.tiles);
    case row::heat:
      return tasks_of_heat(s);
    case row::fib:
      add_fib(all, s.fib);
      return all;
    case row::chain:
      all.add({});
      for (std::uint32_t i = 1; i != s.tasks; ++i) all.add({i - 1});
      return all;
    case row::tree:
      for (std::uint32_t i = 0; i != s.tasks; ++i) all.add({});
      for (std::uint32_t i = 0; i + 1 != s.tasks; ++i) all.add({2 * i, 2 * i + 1});
      return all;
    case row::empty:
      for (std::uint32_t i = 0; i != s.empty; ++i)
        i < sizes::chains ? all.add({}) : all.add({i - static_cast<std::uint32_t>(sizes::chains)});
      return all;
    default:
      all.add({});
      for (std::uint32_t i = 1; i != s.tasks; ++i) {
        auto b = random_before(i);
        std::size_t const n = distinct(b);
        all.before.insert(all.before.end(), b.begin(), b.begin() + static_cast<std::ptrdiff_t>(n));
        all.add({});
      }
      return all;
  }
}

numbered::numbered(row of, sizes const& s)
    : which{of},
      tasks{is_numbered(of) ? tasks_of(of, s) : task_list{}},
      matrix{s},
      row_blocks{s},
      row_blocks_{s.row_blocks},
      steps_{s.steps} {
  value.assign(tasks.size(), 0);
  if (which == row::fib) {
    std::size_t next = 0;
    auto const leaves = [&](auto self, long n) -> void {
      if (n >= 2) self(self, n - 1), self(self, n - 2);
      value[next++] = n < 2 ? static_cast<std::uint32_t>(n) : 0;
    };
    leaves(leaves, s.fib);
  }
  if (which == row::tree) std::fill_n(value.begin(), s.tasks, 1u);
  if (which == row::cholesky) {
    cholesky_program(
        s.tiles,
        [&](std::size_t k) {
          tile_tasks_.push_back({k, k, k});
        },
        [&](std::size_t i, std::size_t k) {
          tile_tasks_.push_back({i, k, k});
        },
        [&](std::size_t i, std::size_t j, std::size_t k) {
          tile_tasks_.push_back({i, j, k});
        });
  }
}

void numbered::run_tile(tile_task const& t) {
  std::size_t const n = matrix.side;
  if (t.i == t.k) {
    potrf(matrix.at(t.k, t.k), n);
  } else if (t.j == t.k) {
    trsm(matrix.at(t.k, t.k), matrix.at(t.i, t.k), n);
  } else {
    gemm(matrix.at(t.i, t.k), matrix.at(t.j, t.k), matrix.at(t.i, t.j), n);
  }
}

void numbered::run(std::size_t i) {
  std::size_t const count = tasks.count(i);
  std::uint32_t const* const from = tasks.first(i);
  switch (which) {
    case row::cholesky:
      return run_tile(tile_tasks_[i]);
    case row::heat:
      return row_blocks.step(1 + i / row_blocks_, i % row_blocks_);
    case row::tree:
    case row::fib:
      if (count != 0) value[i] = value[from[0]] + value[from[1]];
      return;
    default:
      for (std::size_t k = 0; k != count; ++k) {
        if (value[from[k]] == 0) return;
      }
      value[i] = 1;
  }
}

double numbered::result() const {
  if (which == row::cholesky) return matrix.sum();
  if (which == row::heat) return row_blocks.sum(steps_);
  if (which == row::tree || which == row::fib) return value.back();
  double all = 0;
  for (std::uint32_t v : value) all += v;
  return all;
}

std::uint64_t pipeline_sum(std::size_t stages, std::size_t tokens) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != tokens; ++i) {
    std::uint64_t x = i;
    for (std::size_t k = 2; k < stages; ++k) x = stage_work(x);
    sum += x % 1024;
  }
  return sum;
}

std::size_t operations(row which, sizes const& s) {
  switch (which) {
    case row::tree:
      return 2 * s.tasks - 1;
    case row::cholesky:
      return cholesky_tasks(s.tiles);
    case row::heat:
      return s.row_blocks * s.steps;
    case row::fib:
      return fib_calls(s.fib);
    case row::coroutine_fib:
    case row::coroutine_fib_pairs:
      return fib_calls(s.fib_called);
    case row::empty:
      return s.empty;
    case row::chain:
    case row::random:
      return s.tasks;
    case row::coroutine_called:
    case row::coroutine_spawned:
    case row::coroutine_pairs:
      return s.awaits;
    default:
      return s.tokens;
  }
}

double expected(row which, sizes const& s) {
  switch (which) {
    case row::chain:
    case row::random:
    case row::tree:
      return static_cast<double>(s.tasks);
    case row::fib:
      return static_cast<double>(fib(s.fib));
    case row::coroutine_fib:
    case row::coroutine_fib_pairs:
      return static_cast<double>(fib(s.fib_called));
    case row::cholesky:
      return cholesky_sum(s);
    case row::heat:
      return heat_sum(s);
    case row::empty:
      return static_cast<double>(s.empty);
    case row::coroutine_called:
    case row::coroutine_spawned:
      return static_cast<double>(s.awaits * (s.awaits - 1) / 2);
    case row::coroutine_pairs:
      return static_cast<double>(s.awaits * (s.awaits - 1));
    case row::pipeline_16_serial:
    case row::pipeline_16_parallel:
      return static_cast<double>(pipeline_sum(16, s.tokens));
    default:
      return static_cast<double>(pipeline_sum(4, s.tokens));
  }
}

}  // namespace bench
