// Reductions, in no order: each task folds its parts, and then adds its sum to the result.
#pragma once

#include <mutex>
#include <optional>

#include "heist/compat/taskflow/taskflow/algorithm/for_each.hpp"

namespace tf {

namespace detail {

/// A task of a reduction folds two elements before it takes parts, as in Taskflow. A program whose operation depends on the
/// order of equal values then sees the order that it sees with Taskflow, where there are few elements.
struct folds_pairs {
  static constexpr std::size_t first_part = 2;
};

/// op(a, b), of a sum that is given up. Operations may want references to what stays.
template <class O, class T, class V>
decltype(auto) combine(O& op, T& a, V&& b) {
  if constexpr (std::is_invocable_v<O&, T&&, V&&>) {
    return op(std::move(a), std::forward<V>(b));
  } else {
    return op(a, b);
  }
}

/// A sum of one task: none where the task is copied.
template <class T>
class own_sum : public std::optional<T> {
 public:
  own_sum() = default;
  own_sum(own_sum const&) noexcept : std::optional<T>{} {}
  own_sum& operator=(own_sum const&) = delete;
  using std::optional<T>::operator=;
};

/// The result, and the lock under which tasks add to it.
template <class T, class O>
struct total {
  total(T& of, O with) : value{of}, op(std::move(with)) {}
  T& value;
  O op;
  std::mutex lock;
  template <class V>
  void add(V&& more) {
    std::lock_guard const guard{lock};
    value = combine(op, value, std::forward<V>(more));
  }
};
template <class T, class O>
auto make_total(T& value, O op) {
  return std::make_shared<total<T, O>>(value, std::move(op));
}

/// Folds what `get()` returns. `get` moves on with each call.
template <class T, class O>
class partial_sum {
 public:
  explicit partial_sum(std::shared_ptr<total<T, O>> all) : all_{std::move(all)} {}
  template <class V>
  void add(V&& value) {
    if (sum_) {
      *sum_ = combine(all_->op, *sum_, std::forward<V>(value));
    } else {
      sum_.emplace(std::forward<V>(value));
    }
  }
  void end() {
    if (sum_) all_->add(std::move(*sum_));
  }

 private:
  std::shared_ptr<total<T, O>> all_;
  own_sum<T> sum_;
};

/// Of elements, which may be no T: the first two are combined.
template <class I, class T, class O>
struct reduce_body : folds_pairs {
  cursor<I> in;
  std::shared_ptr<total<T, O>> all;
  std::optional<I> one = {};
  own_sum<T> sum = {};
  void operator()(std::size_t from, std::size_t to) {
    I& i = in.at(from);
    for (std::size_t n = from; n != to; ++n, void(++i)) {
      if (sum) {
        *sum = combine(all->op, *sum, *i);
      } else if (one) {
        sum.emplace(all->op(**one, *i));
      } else {
        one.emplace(i);
      }
    }
    in.passed(to);
  }
  void end() {
    if (sum) {
      all->add(std::move(*sum));
    } else if (one) {
      all->add(**one);
    }
  }
};

template <class I, class T, class O, class U>
struct transform_reduce_body : folds_pairs {
  cursor<I> in;
  U unary;
  partial_sum<T, O> sum;
  void operator()(std::size_t from, std::size_t to) {
    I& i = in.at(from);
    for (std::size_t n = from; n != to; ++n, void(++i)) sum.add(unary(*i));
    in.passed(to);
  }
  void end() { sum.end(); }
};
template <class I, class J, class T, class O, class C>
struct pair_reduce_body : folds_pairs {
  cursor<I> in1;
  cursor<J> in2;
  C both;
  partial_sum<T, O> sum;
  void operator()(std::size_t from, std::size_t to) {
    I& i = in1.at(from);
    J& j = in2.at(from);
    for (std::size_t n = from; n != to; ++n, void(++i), void(++j)) sum.add(both(*i, *j));
    in1.passed(to);
    in2.passed(to);
  }
  void end() { sum.end(); }
};
template <class R, class T, class G, class L>
struct box_reduce_body {
  R range;
  L local;
  std::shared_ptr<total<T, G>> all;
  own_sum<T> sum = {};
  void operator()(std::size_t from, std::size_t to) {
    auto const add = [&](R const& box) { sum = local(box, static_cast<std::optional<T>&&>(sum)); };
    IndexRangesPartitioner(range).for_each_box(from, to, add);
  }
  void end() {
    if (sum) all->add(std::move(*sum));
  }
};

}  // namespace detail

template <InputIteratorLike B, InputIteratorLike E, class T, class O, PartitionerLike P = DefaultPartitioner>
auto make_reduce_task(B first, E last, T& init, O op, P part = P()) {
  return detail::later(
      [op, part, &init](Runtime& runtime, auto b, auto e) {
        detail::run_parts(runtime, detail::length(b, e), part,
                          detail::reduce_body<decltype(b), T, O>{{}, detail::cursor(b), detail::make_total(init, op)});
      },
      first, last);
}
template <InputIteratorLike B, InputIteratorLike E, class T, class O, class U, PartitionerLike P = DefaultPartitioner>
auto make_transform_reduce_task(B first, E last, T& init, O op, U unary, P part = P()) {
  return detail::later(
      [op, unary, part, &init](Runtime& runtime, auto b, auto e) {
        detail::run_parts(runtime, detail::length(b, e), part,
                          detail::transform_reduce_body<decltype(b), T, O, U>{
                              {}, detail::cursor(b), unary, detail::partial_sum<T, O>{detail::make_total(init, op)}});
      },
      first, last);
}
template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, class T, class O, class C,
          PartitionerLike P = DefaultPartitioner>
requires detail::BinaryOperation<C, B1, B2>
auto make_transform_reduce_task(B1 first1, E1 last1, B2 first2, T& init, O op, C both, P part = P()) {
  return detail::later(
      [op, both, part, &init](Runtime& runtime, auto b1, auto e1, auto b2) {
        detail::run_parts(runtime, detail::length(b1, e1), part,
                          detail::pair_reduce_body<decltype(b1), decltype(b2), T, O, C>{
                              {},
                              detail::cursor(b1),
                              detail::cursor(b2),
                              both,
                              detail::partial_sum<T, O>{detail::make_total(init, op)}});
      },
      first1, last1, first2);
}
/// local(box, sum) folds a box of indices into a partial sum, a std::optional; global(a, b) adds two sums.
template <IndexRangesLike R, class T, class L, class G, PartitionerLike P = DefaultPartitioner>
auto make_reduce_by_index_task(R range, T& init, L local, G global, P part = P()) {
  return detail::later(
      [local, global, part, &init](Runtime& runtime, auto r) {
        if (detail::is_unusable(r)) return;
        detail::run_parts(runtime, r.size(), part,
                          detail::box_reduce_body<decltype(r), T, G, L>{r, local, detail::make_total(init, global)});
      },
      range);
}

template <InputIteratorLike B, InputIteratorLike E, class T, class O, PartitionerLike P>
Task FlowBuilder::reduce(B first, E last, T& init, O op, P part) {
  return emplace(make_reduce_task(first, last, init, op, part));
}
template <InputIteratorLike B, InputIteratorLike E, class T, class O, class U, PartitionerLike P>
Task FlowBuilder::transform_reduce(B first, E last, T& init, O op, U unary, P part) {
  return emplace(make_transform_reduce_task(first, last, init, op, unary, part));
}
template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, class T, class O, class C,
          PartitionerLike P>
requires detail::BinaryOperation<C, B1, B2> Task FlowBuilder::transform_reduce(B1 first1, E1 last1, B2 first2, T& init,
                                                                               O op, C both, P part) {
  return emplace(make_transform_reduce_task(first1, last1, first2, init, op, both, part));
}
template <IndexRangesLike R, class T, class L, class G, PartitionerLike P>
Task FlowBuilder::reduce_by_index(R range, T& init, L local, G global, P part) {
  return emplace(make_reduce_by_index_task(range, init, local, global, part));
}

}  // namespace tf
