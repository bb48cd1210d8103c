// Prefix sums: inclusive and exclusive, the same bits with any number of workers.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // plus
#include <iterator>
#include <memory>  // addressof
#include <optional>
#include <type_traits>
#include <utility>  // move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/leaves.hpp"
#include "heist/parallel/algorithm/options.hpp"
#include "heist/parallel/algorithm/ranges.hpp"
#include "heist/parallel/algorithm/reduce.hpp"

namespace heist {

namespace detail {

enum class scan_kind { inclusive, exclusive };

/// One scan: out[i] of at(0), ... at(i), the last of which an exclusive one leaves out; `init` before all.
///
/// In a leaf each result is op(prefix, fold of the leaf so far). The last result needs the leaf's sum anyway, and the
/// prefix can come later.
template <scan_kind Kind, class T, class At, class O, class Op>
class scanner {
  /// Can a leaf be written before it is known what comes before it, and be read again?
  static constexpr bool writes_first = std::is_arithmetic_v<T> && std::is_same_v<std::iter_reference_t<O>, T&>;
  /// So many leaves of numbers are folded at once: each addition waits for the one before in its leaf.
  static constexpr std::size_t at_once = writes_first ? 4 : 1;
  static constexpr std::size_t min_length = is_plain_arithmetic<T, Op> ? 256 : 1;

 public:
  scanner(std::size_t n, At at, O out, Op& op, std::optional<T>&& init)
      : cut_{n, min_length, 512 * at_once, 4096 / at_once}, at_{at}, out_(out), op_{op}, before_(std::move(init)) {}

  void run_alone(loop_options const& wanted) {
    for (std::size_t group = 0; group != group_count(); ++group) {
      if (wanted.stop.stop_requested()) throw_stopped();
      std::size_t const first = group * at_once;
      if constexpr (writes_first) {
        T sums[at_once];
        write_group(first, sums);
        for (std::size_t leaf = first; leaf != last_of(group); ++leaf) {
          if (before_) add_before(leaf, *before_);
          before_ = joined(before_, std::move(sums[leaf - first]));
        }
      } else {
        T sum = write(first, before_);
        before_ = joined(before_, std::move(sum));
      }
    }
  }

  template <class Context>
  void run(Context const& c, loop_options const& wanted) {
    std::size_t const grain = leaves_of_grain(wanted, cut_);
    loop_options const inner{.grain = grain == loop_options::automatic ? grain : (grain - 1) / at_once + 1,
                             .stop = wanted.stop};
    leaf_values<std::optional<T>> starts{cut_.count + 1};
    detail::run_all_blocks(c, group_count(), inner, [&](auto const*, std::size_t lo, std::size_t hi) {
      for (; lo != hi; ++lo) {
        if constexpr (writes_first) {
          T sums[at_once];
          write_group(lo * at_once, sums);
          for (std::size_t leaf = lo * at_once; leaf != last_of(lo); ++leaf)
            starts.set(leaf + 1, std::optional<T>(std::in_place, sums[leaf - lo * at_once]));
        } else {
          starts.set(lo + 1, std::optional<T>(std::in_place, sum(lo)));
        }
      }
    });
    starts.set(0, std::move(before_));
    for (std::size_t leaf = 1; leaf != cut_.count; ++leaf)
      starts[leaf] = joined(starts[leaf - 1], std::move(*starts[leaf]));
    detail::run_all_blocks(c, group_count(), inner, [&](auto const*, std::size_t lo, std::size_t hi) {
      for (std::size_t leaf = lo * at_once; leaf != last_of(hi - 1); ++leaf) {
        if constexpr (writes_first) {
          if (starts[leaf]) add_before(leaf, *starts[leaf]);
        } else {
          write(leaf, starts[leaf]);
        }
      }
    });
  }

  std::size_t group_count() const noexcept { return (cut_.count + at_once - 1) / at_once; }

 private:
  /// The end of a group's leaves.
  std::size_t last_of(std::size_t group) const noexcept {
    return (group + 1) * at_once < cut_.count ? (group + 1) * at_once : cut_.count;
  }
  std::optional<T> joined(std::optional<T> const& lower, T&& upper) {
    if (!lower) return std::optional<T>(std::in_place, std::move(upper));
    std::optional<T> all(lower);
    detail::add_to(*all, op_, std::move(upper));
    return all;
  }
  T joined(T const& lower, T const& upper) {
    T all(lower);
    detail::add_to(all, op_, upper);
    return all;
  }
  T sum(std::size_t leaf) {
    local_function<At> element = at_;
    std::size_t i = cut_.begin(leaf);
    T all = detail::sum_of<T>(element(i));
    for (std::size_t const end = cut_.end(leaf); ++i != end;) detail::add_to(all, op_, element(i));
    return all;
  }

  /// Writes a leaf that comes after `before`; if that is not given, without it. Returns the leaf's sum.
  T write(std::size_t leaf, std::optional<T> const& before) {
    if (before) {
      T const first(*before);
      return write_with(
          leaf, [&](T const& all) { return joined(first, all); }, std::addressof(first));
    }
    return write_with(
        leaf, [](T const& all) -> T const& { return all; }, nullptr);
  }
  template <class After>
  T write_with(std::size_t leaf, After after, T const* before) {
    std::size_t i = cut_.begin(leaf);
    std::size_t const end = cut_.end(leaf);
    local_function<At> element = at_;
    O out = detail::advanced(out_, i);
    T all = detail::sum_of<T>(element(i));  // read before it is written: `out` may be the range itself
    if constexpr (Kind == scan_kind::inclusive) {
      *out = after(all);
      while (++i != end) {
        detail::add_to(all, op_, element(i));
        *++out = after(all);
      }
    } else {
      if (before != nullptr) *out = *before;
      while (++i != end) {
        T next(all);
        detail::add_to(next, op_, element(i));
        *++out = after(all);
        all = std::move(next);
      }
    }
    return all;
  }

  /// Writes leaves from `leaf` on without what comes before them; four of the same length at once.
  void write_group(std::size_t leaf, T* sums) {
    std::size_t const end = last_of(leaf / at_once);
    if (end - leaf == at_once && cut_.end(end - 1) == cut_.begin(leaf) + at_once * cut_.length) {
      write_four(cut_.begin(leaf), sums);
    } else {
      for (; leaf != end; ++leaf) *sums++ = write(leaf, std::nullopt);
    }
  }
  void write_four(std::size_t const first, T* sums) {
    std::size_t const n = cut_.length;
    local_function<At> element = at_;
    Op& op = op_;
    using read = std::remove_cvref_t<element_of<At>>;
    using kept = std::conditional_t<std::is_arithmetic_v<read>, read, T>;
    // An exclusive result stands one place further; the first of a leaf is the sum before it.
    constexpr std::size_t further = Kind == scan_kind::inclusive ? 0 : 1;
    O out = detail::advanced(out_, first + further);
    T a = detail::sum_of<T>(element(first)), b = detail::sum_of<T>(element(first + n)),
      c = detail::sum_of<T>(element(first + 2 * n)), d = detail::sum_of<T>(element(first + 3 * n));
    for (std::size_t i = first + 1; i != first + n; ++i, void(++out)) {
      // Read before they are written: they may be `out`.
      kept const e = detail::sum_of<kept>(element(i)), f = detail::sum_of<kept>(element(i + n)),
                 g = detail::sum_of<kept>(element(i + 2 * n)), h = detail::sum_of<kept>(element(i + 3 * n));
      *out = a;
      *detail::advanced(out, n) = b;
      *detail::advanced(out, 2 * n) = c;
      *detail::advanced(out, 3 * n) = d;
      detail::add_to(a, op, e);
      detail::add_to(b, op, f);
      detail::add_to(c, op, g);
      detail::add_to(d, op, h);
    }
    if constexpr (Kind == scan_kind::inclusive) {
      *out = a;
      *detail::advanced(out, n) = b;
      *detail::advanced(out, 2 * n) = c;
      *detail::advanced(out, 3 * n) = d;
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
  }

  /// Completes a leaf that `write` has written without `before`.
  void add_before(std::size_t leaf, T const before) {
    std::size_t i = cut_.begin(leaf);
    O out = detail::advanced(out_, i);
    O const end = detail::advanced(out_, cut_.end(leaf));
    Op& op = op_;
    if constexpr (Kind == scan_kind::exclusive) *out++ = before;
    for (; end - out >= 4; out += 4) {
      T const a = detail::sum_of<T>(op, before, out[0]), b = detail::sum_of<T>(op, before, out[1]),
              c = detail::sum_of<T>(op, before, out[2]), d = detail::sum_of<T>(op, before, out[3]);
      out[0] = a;
      out[1] = b;
      out[2] = c;
      out[3] = d;
    }
    for (; out != end; ++out) *out = detail::sum_of<T>(op, before, *out);
  }

  leaves const cut_;
  At at_;
  O out_;
  Op& op_;
  std::optional<T> before_;
};

template <scan_kind Kind, class T, class On, class At, class O, class Op>
O scan_of(On& on, std::size_t n, At at, O out, Op& op, std::optional<T> init, loop_options const& wanted) {
  using element = element_of<At>;
  constexpr bool scans = std::is_invocable_r_v<T, Op&, T, T> && std::is_invocable_r_v<T, Op&, T, element> &&
                         std::is_convertible_v<element, T>;
  static_assert(
      scans,
      "heist: the operation of a scan must be callable with two values of the type of its results, or one and an "
      "element, which converts to it, and return one; fix its parameters, or the type of the first value.");
  constexpr bool copies = std::is_copy_constructible_v<T>;
  static_assert(copies,
                "heist: a scan writes each of its sums and goes on with it, so it needs a type that can be copied; fix "
                "it by a scan of what the elements hold, with transform_inclusive_scan.");
  static_assert(reads_again<element>,
                "heist: a scan reads its elements twice, so it cannot move out of them; fix it by the iterators "
                "themselves in place of std::move_iterator.");
  check_output<O>();
  check_place<On>();
  if constexpr (scans && copies && reads_again<element>) {
    check_options(wanted);
    if (n == 0) return out;
    HEIST_ASSERT(!detail::overlap_in_part(at.first, detail::plain_iterator(out), n),
                 "the output of a scan begins inside its input, or ends there, so that workers overwrite elements "
                 "that other workers have yet to read; fix it by an output of its own, or the whole input");
    using iterator = decltype(detail::plain_iterator(out));
    scanner<Kind, T, At, iterator, Op> scan{n, at, detail::plain_iterator(out), op, std::move(init)};
    if (scan.group_count() == 1) {
      scan.run_alone(wanted);
    } else {
      detail::on_workers(on, wanted.region, [&](auto const& c) {
        if (detail::workers_of(c) == 1) {
          scan.run_alone(wanted);
        } else {
          scan.run(c, wanted);
        }
      });
    }
  }
  return detail::advanced(out, n);
}

template <class I, class F = std::identity>
using scanned = std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>;

struct inclusive_scan_algorithm : to_output {
  using given = arguments<1, required, std::plus<>, required>;
  template <class On, class I, std::input_or_output_iterator O, class Op = std::plus<>>
  static O run(On& on, subrange<I> all, loop_options const& wanted, O out, Op op = {}) {
    return detail::scan_of<scan_kind::inclusive, std::iter_value_t<I>>(
        on, all.n, element_at{detail::plain_iterator(all.first)}, std::move(out), op, std::nullopt, wanted);
  }
  template <class On, class I, std::input_or_output_iterator O, class Op, class T>
  static O run(On& on, subrange<I> all, loop_options const& wanted, O out, Op op, T init) {
    return detail::scan_of<scan_kind::inclusive, T>(on, all.n, element_at{detail::plain_iterator(all.first)},
                                                    std::move(out), op,
                                                    std::optional<T>(std::in_place, std::move(init)), wanted);
  }
};
struct exclusive_scan_algorithm : to_output {
  using given = arguments<2, required, required, std::plus<>>;
  template <class On, class I, std::input_or_output_iterator O, class T, class Op = std::plus<>>
  static O run(On& on, subrange<I> all, loop_options const& wanted, O out, T init, Op op = {}) {
    return detail::scan_of<scan_kind::exclusive, T>(on, all.n, element_at{detail::plain_iterator(all.first)},
                                                    std::move(out), op,
                                                    std::optional<T>(std::in_place, std::move(init)), wanted);
  }
};
struct transform_inclusive_scan_algorithm : to_output {
  using given = arguments<3, required, required, required, required>;
  template <class On, class I, std::input_or_output_iterator O, class Op, class F>
  static O run(On& on, subrange<I> all, loop_options const& wanted, O out, Op op, F f) {
    return detail::scan_of<scan_kind::inclusive, scanned<I, F>>(
        on, all.n, mapped_element{detail::plain_iterator(all.first), std::addressof(f)}, std::move(out), op,
        std::nullopt, wanted);
  }
  template <class On, class I, std::input_or_output_iterator O, class Op, class F, class T>
  static O run(On& on, subrange<I> all, loop_options const& wanted, O out, Op op, F f, T init) {
    return detail::scan_of<scan_kind::inclusive, T>(
        on, all.n, mapped_element{detail::plain_iterator(all.first), std::addressof(f)}, std::move(out), op,
        std::optional<T>(std::in_place, std::move(init)), wanted);
  }
};
struct transform_exclusive_scan_algorithm : to_output {
  using given = arguments<4, required, required, required, required>;
  template <class On, class I, std::input_or_output_iterator O, class T, class Op, class F>
  static O run(On& on, subrange<I> all, loop_options const& wanted, O out, T init, Op op, F f) {
    return detail::scan_of<scan_kind::exclusive, T>(
        on, all.n, mapped_element{detail::plain_iterator(all.first), std::addressof(f)}, std::move(out), op,
        std::optional<T>(std::in_place, std::move(init)), wanted);
  }
};

}  // namespace detail

// Contract of all of them
//
//   Result   out[i] is op of all elements up to i, in their order, with `init` before them if there is one; the
//            exclusive ones leave element i out. op is associative, and need not commute. The bits are the same with
//            any number of workers (reduce.hpp). Returns the end of the output. `out` may be the range itself.
//   Where    as for_each; functions are called for several elements at a time, and `f` up to twice for each.
//   Throws   what a function throws, stopped_error if options.stop was asked to stop before the end (some results are
//            then written), bad_alloc.
//   Work     that of 2 n calls of op; span: the logarithm of n, and some microseconds of elements. As many values are
//            allocated as by reduce.

///     inclusive_scan(on, range, out, op = {})
///     inclusive_scan(on, range, out, op, init)
inline constexpr detail::on_range<detail::inclusive_scan_algorithm> inclusive_scan{};
/// exclusive_scan(on, range, out, init, op = {}): as inclusive_scan, each without its own element; the first is `init`.
inline constexpr detail::on_range<detail::exclusive_scan_algorithm> exclusive_scan{};
///     transform_inclusive_scan(on, range, out, op, f)
///     transform_inclusive_scan(on, range, out, op, f, init)
///
/// As inclusive_scan, of f(element). The results have the type of `init`, or the type that f returns.
inline constexpr detail::on_range<detail::transform_inclusive_scan_algorithm> transform_inclusive_scan{};
/// transform_exclusive_scan(on, range, out, init, op, f): as exclusive_scan, of f(element).
inline constexpr detail::on_range<detail::transform_exclusive_scan_algorithm> transform_exclusive_scan{};

}  // namespace heist
