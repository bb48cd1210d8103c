// blocked_range2d: rows and columns that can be divided.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"

namespace tbb {

template <class Row, class Column = Row>
class blocked_range2d {
 public:
  using row_range_type = blocked_range<Row>;
  using col_range_type = blocked_range<Column>;

  blocked_range2d(Row row_begin, Row row_end, std::size_t row_grain, Column col_begin, Column col_end,
                  std::size_t col_grain)
      : rows_(row_begin, row_end, row_grain), cols_(col_begin, col_end, col_grain) {}
  blocked_range2d(Row row_begin, Row row_end, Column col_begin, Column col_end)
      : rows_(row_begin, row_end), cols_(col_begin, col_end) {}
  blocked_range2d(row_range_type const& rows, col_range_type const& cols) : rows_(rows), cols_(cols) {}
  blocked_range2d(blocked_range2d& r, split s) : blocked_range2d(r) { divide(r, s); }
  blocked_range2d(blocked_range2d& r, proportional_split& p) : blocked_range2d(r) { divide(r, p); }

  row_range_type const& rows() const { return rows_; }
  col_range_type const& cols() const { return cols_; }
  bool empty() const { return rows_.empty() || cols_.empty(); }
  bool is_divisible() const { return rows_.is_divisible() || cols_.is_divisible(); }

 private:
  template <class Split>
  void divide(blocked_range2d& r, Split& how) {
    if (detail::grains(rows_) < detail::grains(cols_)) {
      cols_ = col_range_type(r.cols_, how);
    } else {
      rows_ = row_range_type(r.rows_, how);
    }
  }

  row_range_type rows_;
  col_range_type cols_;
};

}  // namespace tbb
