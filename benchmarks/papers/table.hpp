// Markdown tables with columns of equal width.
#pragma once

#include <fmt/format.h>

#include <algorithm>  // max
#include <cstddef>    // size_t
#include <string>
#include <utility>  // move
#include <vector>

namespace papers {

/// The first column is text and left-aligned. The other columns are numbers and right-aligned.
class table {
 public:
  explicit table(std::vector<std::string> heads) { add(std::move(heads)); }

  /// Missing cells at the end of a row stay empty.
  void add(std::vector<std::string> cells) {
    if (!rows_.empty()) cells.resize(rows_[0].size());
    widths_.resize(std::max(widths_.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
    rows_.push_back(std::move(cells));
  }

  std::string text() const {
    std::string out = line(rows_[0]) + "|";
    for (std::size_t i = 0; i < widths_.size(); ++i)
      out += fmt::format("{:-<{}}{}|", "", widths_[i] + 1, i == 0 ? "-" : ":");
    out += '\n';
    for (std::size_t r = 1; r < rows_.size(); ++r) out += line(rows_[r]);
    return out;
  }

 private:
  std::string line(std::vector<std::string> const& cells) const {
    std::string out = "|";
    for (std::size_t i = 0; i < cells.size(); ++i)
      out += i == 0 ? fmt::format(" {:<{}} |", cells[i], widths_[i]) : fmt::format(" {:>{}} |", cells[i], widths_[i]);
    return out + '\n';
  }

  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> widths_;
};

/// 0.123 as "12.3 %".
inline std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// The share of `more` that `less` saves. 0 if `more` is 0.
inline double saved(double more, double less) {
  return more == 0 ? 0 : 1 - less / more;
}

}  // namespace papers
