// A plate in strips of rows, and its steps as a graph: each strip receives the adjacent rows from its neighbours.
#pragma once

#include <cmath>
#include <cstddef>  // ptrdiff_t, size_t
#include <utility>
#include <vector>

#include <heist/graph/input.hpp>

namespace example {

/// A plate with a hot spot inside. Its upper side is kept at 100 degrees, and its other sides at 0.
struct plate {
  std::size_t rows, columns;

  double at_begin(std::size_t row, std::size_t column) const {
    if (row == 0) return 100;
    double const y = (static_cast<double>(row) + 0.5) / static_cast<double>(rows) - 0.65;
    double const x = (static_cast<double>(column) + 0.5) / static_cast<double>(columns) - 0.3;
    return std::sqrt(x * x + y * y) < 0.15 ? 80 : 0;
  }
};

/// The cells of rows [first, first + count), row by row.
using cells = std::vector<double>;

inline cells make_rows(plate const& p, std::size_t first, std::size_t count) {
  cells made(count * p.columns);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = p.at_begin(first + i / p.columns, i % p.columns);
  return made;
}

/// One step: each cell that is not on a side becomes the mean of its four neighbours. `above` and `below` are the
/// adjacent rows. They are empty at the plate's sides, whose rows keep their temperatures.
inline cells relaxed(cells const& now, std::size_t columns, cells const& above, cells const& below) {
  std::size_t const rows = now.size() / columns;
  cells next = now;
  for (std::size_t r = 0; r < rows; ++r) {
    double const* const row = &now[r * columns];
    double const* const up = r > 0 ? row - columns : above.data();
    double const* const down = r + 1 < rows ? row + columns : below.data();
    if ((r == 0 && above.empty()) || (r + 1 == rows && below.empty())) continue;
    for (std::size_t c = 1; c + 1 < columns; ++c)
      next[r * columns + c] = 0.25 * (up[c] + down[c] + row[c - 1] + row[c + 1]);
  }
  return next;
}

struct row_blocks {
  plate of;
  std::size_t count;  ///< at most as many as there are rows

  std::size_t first_row(std::size_t strip) const { return strip * of.rows / count; }
};

/// Adds `steps` steps to a distributed_graph, or to a task_graph in one process. `place(strip)` is the initial place of
/// a strip, and the tasks of its steps follow it. Each step of a strip calls `note()`. After each added step,
/// add_steps() calls `at_step(step, strips)`.
template <class Graph, class Place, class Note, class AtStep>
auto add_steps(Graph& g, row_blocks const& s, std::size_t steps, Place place, Note note, AtStep at_step) {
  plate const p = s.of;
  std::size_t const width = p.columns;
  auto const make = [&](std::size_t i) {
    std::size_t const first = s.first_row(i), rows = s.first_row(i + 1) - first;
    return g.emplace(place(i), [=] { return make_rows(p, first, rows); });
  };
  std::vector<decltype(make(0))> now;
  for (std::size_t i = 0; i < s.count; ++i) now.push_back(make(i));
  for (std::size_t step = 1; step <= steps; ++step) {
    // The first and the last row of each strip, for its neighbours. No task would take the rows at the plate's sides.
    decltype(now) first(s.count), last(s.count), next;
    for (std::size_t i = 0; i < s.count; ++i) {
      auto const row = static_cast<std::ptrdiff_t>(width);
      if (i > 0) first[i] = g.emplace([=](cells const& x) { return cells(x.begin(), x.begin() + row); }, now[i]);
      if (i + 1 < s.count) last[i] = g.emplace([=](cells const& x) { return cells(x.end() - row, x.end()); }, now[i]);
    }
    auto const relax = [=](cells const& x, cells const& above, cells const& below) {
      note();
      return relaxed(x, width, above, below);
    };
    for (std::size_t i = 0; i < s.count; ++i) {
      auto const mine = heist::take(now[i]);
      if (s.count == 1) {
        next.push_back(g.emplace([=](cells&& x) { return relax(x, {}, {}); }, mine));
      } else if (i == 0) {
        next.push_back(g.emplace([=](cells&& x, cells const& below) { return relax(x, {}, below); }, mine, first[1]));
      } else if (i + 1 == s.count) {
        next.push_back(
            g.emplace([=](cells&& x, cells const& above) { return relax(x, above, {}); }, mine, last[i - 1]));
      } else {
        next.push_back(
            g.emplace([=](cells&& x, cells const& above, cells const& below) { return relax(x, above, below); }, mine,
                      last[i - 1], first[i + 1]));
      }
    }
    now = std::move(next);
    at_step(step, now);
  }
  return now;
}

/// Computes the same on one thread, without tasks.
inline cells computed_here(plate const& p, std::size_t steps) {
  cells now = make_rows(p, 0, p.rows);
  for (std::size_t i = 0; i < steps; ++i) now = relaxed(now, p.columns, {}, {});
  return now;
}

}  // namespace example
