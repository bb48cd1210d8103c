// Heat in a plate of n x n cells, as a distributed graph and by hand in plain MPI: the same steps in the same memory.
#pragma once

#include <heist/distributed.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

using cells = std::vector<double>;

inline cells first_rows(std::size_t n, std::size_t first, std::size_t rows) {
  cells made(rows * n);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<double>((first * n + i) * 2'654'435'761u % 1000);
  return made;
}

/// One step in place. `above` and `below` are the adjacent rows; null at the plate's sides, whose rows stay.
inline void relax(cells& x, std::size_t n, double const* above, double const* below) {
  std::size_t const rows = x.size() / n;
  thread_local cells before, now;
  before.resize(n), now.resize(n);
  for (std::size_t r = 0; r < rows; ++r) {
    double* const row = &x[r * n];
    double const* const up = r > 0 ? before.data() : above;
    double const* const down = r + 1 < rows ? row + n : below;
    std::copy(row, row + n, now.begin());
    if (up != nullptr && down != nullptr) {
      for (std::size_t c = 1; c + 1 < n; ++c) row[c] = 0.25 * (up[c] + down[c] + now[c - 1] + now[c + 1]);
    }
    before.swap(now);
  }
}

inline double sum_of(cells const& x) {
  double sum = 0;
  for (double const c : x) sum += c;
  return sum;
}

/// Four strips for each rank. The task that it returns has the sum of all cells after `steps` steps.
inline heist::placed<double> add_heat(heist::distributed_graph& g, int ranks, std::size_t n, std::size_t steps) {
  using strip = heist::placed<cells>;
  std::size_t const count = 4 * static_cast<std::size_t>(ranks);
  heist::place::block const block{count, ranks};
  auto const first_row = [&](std::size_t i) { return i * n / count; };
  auto const row = static_cast<std::ptrdiff_t>(n);
  std::vector<strip> now;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const first = first_row(i), rows = first_row(i + 1) - first;
    now.push_back(g.emplace(heist::on(block(i)), [=] { return first_rows(n, first, rows); }));
  }
  for (std::size_t s = 0; s < steps; ++s) {
    std::vector<strip> tops(count), bottoms(count), next;
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) tops[i] = g.emplace([row](cells const& x) { return cells(x.begin(), x.begin() + row); }, now[i]);
      if (i + 1 < count)
        bottoms[i] = g.emplace([row](cells const& x) { return cells(x.end() - row, x.end()); }, now[i]);
    }
    auto const step = [n](cells&& x, double const* above, double const* below) {
      relax(x, n, above, below);
      return std::move(x);
    };
    for (std::size_t i = 0; i < count; ++i) {
      auto const mine = heist::take(now[i]);
      if (i == 0) {
        next.push_back(
            g.emplace([step](cells&& x, cells const& below) { return step(std::move(x), nullptr, below.data()); }, mine,
                      tops[1]));
      } else if (i + 1 == count) {
        next.push_back(
            g.emplace([step](cells&& x, cells const& above) { return step(std::move(x), above.data(), nullptr); }, mine,
                      bottoms[i - 1]));
      } else {
        next.push_back(g.emplace([step](cells&& x, cells const& above,
                                        cells const& below) { return step(std::move(x), above.data(), below.data()); },
                                 mine, bottoms[i - 1], tops[i + 1]));
      }
    }
    now = std::move(next);
  }
  std::vector<heist::placed<double>> sums;
  for (strip const& x : now) sums.push_back(g.emplace([](cells const& c) { return sum_of(c); }, x));
  return g.emplace(
      heist::on(0),
      [](heist::values<double> all) {
        double sum = 0;
        for (double const s : all) sum += s;
        return sum;
      },
      heist::each(sums));
}

/// The same in plain MPI: one strip for each rank. Returns the sum on rank 0.
inline double heat_by_hand(MPI_Comm comm, std::size_t n, std::size_t steps) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  auto const me = static_cast<std::size_t>(rank), all = static_cast<std::size_t>(size);
  std::size_t const first = n * me / all, rows = n * (me + 1) / all - first;
  cells x = first_rows(n, first, rows), above(n), below(n), top(n), bottom(n);
  int const width = static_cast<int>(n);
  for (std::size_t s = 0; s < steps; ++s) {
    std::copy_n(x.begin(), n, top.begin());
    std::copy_n(x.end() - static_cast<std::ptrdiff_t>(n), n, bottom.begin());
    MPI_Request requests[4];
    int open = 0;
    if (rank > 0) {
      MPI_Irecv(above.data(), width, MPI_DOUBLE, rank - 1, 0, comm, &requests[open++]);
      MPI_Isend(top.data(), width, MPI_DOUBLE, rank - 1, 0, comm, &requests[open++]);
    }
    if (rank + 1 < size) {
      MPI_Irecv(below.data(), width, MPI_DOUBLE, rank + 1, 0, comm, &requests[open++]);
      MPI_Isend(bottom.data(), width, MPI_DOUBLE, rank + 1, 0, comm, &requests[open++]);
    }
    MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
    relax(x, n, rank > 0 ? above.data() : nullptr, rank + 1 < size ? below.data() : nullptr);
  }
  double const mine = sum_of(x);
  double sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  return sum;
}

}  // namespace bench
