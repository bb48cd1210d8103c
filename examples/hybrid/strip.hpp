// The rows of one rank, and a task graph that computes one step of them.
#pragma once

#include <heist/heist.hpp>

#include <algorithm>  // copy, max, min
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "../heat_distributed/row_blocks.hpp"
#include "halo.hpp"

namespace hybrid {

/// Rank `rank` of `ranks` has the same number of blocks of rows as any other rank. The graph has a task for each block.
/// The tasks of the outermost blocks wait for the neighbours' rows, as events. All other blocks run meanwhile.
class strip {
 public:
  strip(example::row_blocks const& blocks, MPI_Comm comm, int rank, int ranks)
      : blocks_{blocks}, columns_{blocks.of.columns}, halo_{comm, columns_} {
    std::size_t const each = blocks.count / static_cast<std::size_t>(ranks);
    std::size_t const first_block = each * static_cast<std::size_t>(rank);
    first_ = blocks.first_row(first_block);
    count_ = blocks.first_row(first_block + each) - first_;
    now_.resize((count_ + 2) * columns_);
    auto const begin = example::make_rows(blocks.of, first_, count_);
    std::copy(begin.begin(), begin.end(), now_.begin() + static_cast<std::ptrdiff_t>(columns_));
    next_ = now_;
    for (side const s : {above, below}) {
      if (halo_.has_neighbour(s)) came_[s] = graph_.emplace_event<void>();
    }
    for (std::size_t i = 0; i != each; ++i) add_block(first_block + i, i == 0, i + 1 == each);
  }

  /// One step. Called by the thread that has initialized MPI; only this thread calls MPI.
  void step(heist::executor<>& ex) {
    halo_.start(now_.data(), count_);
    auto const run = ex.run(graph_);  // the inner blocks run while the rows are on their way
    halo_.finish([this](side s) { came_[s]->set_value(); });
    run.get();
    now_.swap(next_);
  }

  std::size_t first_row() const { return first_; }
  std::size_t count() const { return count_; }
  /// The rows of this rank, one after the other.
  double const* rows() const { return now_.data() + columns_; }

 private:
  void add_block(std::size_t block, bool is_first, bool is_last) {
    std::size_t const begin = blocks_.first_row(block), end = blocks_.first_row(block + 1);
    auto const task = graph_.emplace([this, begin, end] { relax(begin, end); });
    if (is_first && came_[above]) came_[above]->precede(task);
    if (is_last && came_[below]) came_[below]->precede(task);
  }
  /// Each cell that is not on a side of the plate becomes the mean of its four neighbours.
  void relax(std::size_t begin, std::size_t end) {
    for (std::size_t row = std::max<std::size_t>(begin, 1); row < std::min(end, blocks_.of.rows - 1); ++row) {
      double const* const here = now_.data() + (row - first_ + 1) * columns_;
      double* const to = next_.data() + (row - first_ + 1) * columns_;
      for (std::size_t c = 1; c + 1 < columns_; ++c)
        to[c] = 0.25 * (here[c - columns_] + here[c + columns_] + here[c - 1] + here[c + 1]);
    }
  }

  example::row_blocks blocks_;
  std::size_t columns_, first_ = 0, count_ = 0;
  halo halo_;
  std::vector<double> now_, next_;  ///< with a row before and after, for the neighbours' rows
  heist::task_graph graph_;
  std::array<std::optional<heist::event<void>>, 2> came_;
};

}  // namespace hybrid
