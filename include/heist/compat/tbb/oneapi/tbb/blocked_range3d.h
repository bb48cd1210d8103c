// blocked_range3d: pages, rows and columns that can be divided.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"

namespace tbb {

template <class Page, class Row = Page, class Column = Row>
class blocked_range3d {
 public:
  using page_range_type = blocked_range<Page>;
  using row_range_type = blocked_range<Row>;
  using col_range_type = blocked_range<Column>;

  blocked_range3d(Page page_begin, Page page_end, Row row_begin, Row row_end, Column col_begin, Column col_end)
      : pages_(page_begin, page_end), rows_(row_begin, row_end), cols_(col_begin, col_end) {}
  blocked_range3d(Page page_begin, Page page_end, std::size_t page_grain, Row row_begin, Row row_end,
                  std::size_t row_grain, Column col_begin, Column col_end, std::size_t col_grain)
      : pages_(page_begin, page_end, page_grain),
        rows_(row_begin, row_end, row_grain),
        cols_(col_begin, col_end, col_grain) {}
  blocked_range3d(page_range_type const& pages, row_range_type const& rows, col_range_type const& cols)
      : pages_(pages), rows_(rows), cols_(cols) {}
  blocked_range3d(blocked_range3d& r, split s) : blocked_range3d(r) { divide(r, s); }
  blocked_range3d(blocked_range3d& r, proportional_split& p) : blocked_range3d(r) { divide(r, p); }

  page_range_type const& pages() const { return pages_; }
  row_range_type const& rows() const { return rows_; }
  col_range_type const& cols() const { return cols_; }
  bool empty() const { return pages_.empty() || rows_.empty() || cols_.empty(); }
  bool is_divisible() const { return pages_.is_divisible() || rows_.is_divisible() || cols_.is_divisible(); }

 private:
  template <class Split>
  void divide(blocked_range3d& r, Split& how) {
    double const pages = detail::grains(pages_), rows = detail::grains(rows_), cols = detail::grains(cols_);
    if (pages < rows || pages < cols) {
      if (rows < cols) {
        cols_ = col_range_type(r.cols_, how);
      } else {
        rows_ = row_range_type(r.rows_, how);
      }
    } else {
      pages_ = page_range_type(r.pages_, how);
    }
  }

  page_range_type pages_;
  row_range_type rows_;
  col_range_type cols_;
};

}  // namespace tbb
