// parallel_scan.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // invoke
#include <memory>      // make_unique, unique_ptr
#include <utility>     // move
#include <vector>

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"
#include "heist/compat/tbb/oneapi/tbb/detail/division.hpp"
#include "heist/compat/tbb/oneapi/tbb/parallel_for.h"
#include "heist/compat/tbb/oneapi/tbb/partitioner.h"

namespace tbb {

struct pre_scan_tag {
  static constexpr bool is_final_scan() { return false; }
  constexpr operator bool() const { return false; }
};
struct final_scan_tag {
  static constexpr bool is_final_scan() { return true; }
  constexpr operator bool() const { return true; }
};

namespace detail {

template <class Range, class Value, class Scan, class Join>
class scan_body {
 public:
  scan_body(Value const& identity, Scan const& scan, Join const& join)
      : identity_{identity}, scan_{scan}, join_{join}, sum_(identity) {}
  scan_body(scan_body& other, split) : scan_body(other.identity_, other.scan_, other.join_) {}

  template <class Tag>
  void operator()(Range const& r, Tag) {
    sum_ = std::invoke(scan_, r, std::move(sum_), Tag::is_final_scan());
  }
  void reverse_join(scan_body& left) { sum_ = std::invoke(join_, std::as_const(left.sum_), std::move(sum_)); }
  void assign(scan_body& from) { sum_ = std::move(from.sum_); }
  Value&& sum() { return std::move(sum_); }

 private:
  Value const& identity_;
  Scan const& scan_;
  Join const& join_;
  Value sum_;
};

/// `r` in about `n` parts, from left to right.
template <class Range>
void cut(Range& r, std::size_t n, std::vector<Range>& parts) {
  if (n <= 1 || !r.is_divisible()) {
    parts.push_back(r);
    return;
  }
  Range right(r, split{});
  cut(r, n - n / 2, parts);
  cut(right, n / 2, parts);
}

/// The first part is scanned finally at once, the others twice: the sums before them are known after the first time.
template <class Range, class Body>
void scan(task_group_context& group, Range const& range, Body& body) {
  std::size_t const workers = heist::current_executor()->worker_count();
  std::vector<Range> parts;
  Range all(range);
  cut(all, workers == 1 ? 1 : 4 * workers, parts);
  std::size_t const n = parts.size();
  if (n == 1) return body(parts[0], final_scan_tag{});

  std::vector<std::unique_ptr<Body>> own(n);  // the sum of part i, and of all before it in the second half; not of 0
  for (std::size_t i = 1; i + 1 < n; ++i) own[i] = std::make_unique<Body>(body, split{});
  auto const before = [&](std::size_t i) -> Body& { return i == 1 ? body : *own[i - 1]; };
  auto const for_parts = [&](std::size_t first, std::size_t last, auto const& f) {
    blocked_range<std::size_t> indices(first, last);
    divide(group, indices, divide_fully{0}, [&](blocked_range<std::size_t>& r) {
      for (std::size_t i = r.begin(); i != r.end(); ++i) f(i);
    });
  };
  for_parts(0, n - 1, [&](std::size_t i) {
    if (i == 0) {
      body(parts[0], final_scan_tag{});
    } else {
      (*own[i])(parts[i], pre_scan_tag{});
    }
  });
  if (group.is_group_execution_cancelled()) return;
  for (std::size_t i = 1; i + 1 < n; ++i) own[i]->reverse_join(before(i));
  for_parts(1, n, [&](std::size_t i) { before(i)(parts[i], final_scan_tag{}); });
  if (n > 2 && !group.is_group_execution_cancelled()) body.assign(before(n - 1));
}

template <class Range, class Body>
void scan_from_outside(Range const& range, Body& body) {
  if (range.empty()) return;
  task_group_context group;
  run_group(group, [&] { scan(group, range, body); });
}

template <class P>
concept scan_partitioner = std::is_same_v<P, simple_partitioner> || std::is_same_v<P, auto_partitioner>;

}  // namespace detail

/// Body: body(part, tag) adds a part and, with final_scan_tag, writes results; Body(body, split{}); body.reverse_join(left);
/// body.assign(last).
template <class Range, class Body>
void parallel_scan(Range const& range, Body& body) {
  detail::scan_from_outside(range, body);
}
template <class Range, class Body, class P>
requires(detail::scan_partitioner<P>) void parallel_scan(Range const& range, Body& body, P const&) {
  detail::scan_from_outside(range, body);
}
/// scan(part, sum, is_final) returns the sum with the part; join(left, right) adds two sums. Returns the sum of all.
template <class Range, class Value, class Scan, class Join>
Value parallel_scan(Range const& range, Value const& identity, Scan const& scan, Join const& join) {
  detail::scan_body<Range, Value, Scan, Join> body{identity, scan, join};
  detail::scan_from_outside(range, body);
  return body.sum();
}
template <class Range, class Value, class Scan, class Join, class P>
requires(detail::scan_partitioner<P>) Value
    parallel_scan(Range const& range, Value const& identity, Scan const& scan, Join const& join, P const&) {
  return parallel_scan(range, identity, scan, join);
}

}  // namespace tbb
