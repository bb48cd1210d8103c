// Records which squad or worker computed each row in each step, and how often it was the same as in the step before.
#pragma once

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <cstdint>
#include <optional>
#include <span>
#include <utility>  // swap
#include <vector>

namespace heat {

/// The colour of a row shows its squad or its worker.
enum class placed_by { squad, worker };

/// A matrix of squads (or workers) by step and row. It keeps the first `most_kept` steps, but counts over all steps.
///
/// Threads  between begin_step() and end_step() different rows may be written at the same time; else one thread.
class placement_record {
 public:
  using id = std::uint16_t;
  static constexpr id none = 0xffff;

  placement_record(std::size_t rows, std::size_t most_kept)
      : rows_{rows}, most_kept_{most_kept}, before_(rows, none), current_(rows, none) {}

  /// Returns one entry per row. The worker that computes a row writes the entry.
  std::span<id> begin_step() noexcept { return current_; }

  void end_step() {
    for (std::size_t row = 0; row < rows_; ++row) {
      id const who = current_[row];
      if (who >= rows_of_.size()) rows_of_.resize(who + std::size_t{1});
      ++rows_of_[who];
      stayed_ += who == before_[row] ? 1 : 0;
    }
    if (steps_ < most_kept_) kept_.insert(kept_.end(), current_.begin(), current_.end());
    ++steps_;
    std::swap(before_, current_);
  }

  std::size_t rows() const noexcept { return rows_; }
  std::size_t steps() const noexcept { return steps_; }
  std::size_t kept_steps() const noexcept { return std::min(steps_, most_kept_); }
  /// The squad (or worker) that computed `row` in `step`. Both count from 0; step < kept_steps().
  id at(std::size_t step, std::size_t row) const { return kept_[step * rows_ + row]; }

  /// One more than the largest id so far.
  std::size_t id_count() const noexcept { return rows_of_.size(); }
  /// The share of the rows of all steps that `who` computed.
  double share_of(std::size_t who) const {
    return static_cast<double>(rows_of_[who]) / static_cast<double>(steps_ * rows_);
  }
  /// The share of rows that the same squad (or worker) computed in the step before; std::nullopt before the second
  /// step.
  std::optional<double> persistence() const {
    if (steps_ < 2) return std::nullopt;
    return static_cast<double>(stayed_) / static_cast<double>((steps_ - 1) * rows_);
  }
  /// The expected persistence() if each row went to a random squad (or worker), weighted by share_of().
  double persistence_by_chance() const {
    double sum = 0;
    for (std::size_t who = 0; who < id_count(); ++who) sum += share_of(who) * share_of(who);
    return sum;
  }

 private:
  std::size_t rows_, most_kept_, steps_ = 0;
  std::vector<id> before_, current_;
  std::vector<id> kept_;                // step by step
  std::vector<std::uint64_t> rows_of_;  // id -> number of rows
  std::uint64_t stayed_ = 0;
};

}  // namespace heat
