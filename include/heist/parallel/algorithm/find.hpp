// Searches and counts: find, any_of, all_of, none_of, count, equal, mismatch, adjacent_find, is_sorted.
#pragma once

#include <algorithm>   // ranges::mismatch_result
#include <cstddef>     // size_t
#include <functional>  // identity, equal_to, invoke
#include <iterator>
#include <memory>  // addressof
#include <type_traits>
#include <utility>  // move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/ranges.hpp"

namespace heist {

namespace detail {

/// The first i of [0, n) for which is_it(i) is true, or n.
template <class On, class IsIt>
std::size_t first_index(On& on, std::size_t n, loop_options const& wanted, IsIt is_it) {
  return detail::find_index(on, n, wanted, [&is_it](std::size_t lo, std::size_t hi) {
    local_function<IsIt> here = is_it;
    return detail::first_in_block(here, lo, hi);
  });
}

template <class Pred, class Proj, class I>
struct element_test {
  Pred* pred;
  Proj* proj;
  I first;
  HEIST_ALWAYS_INLINE bool operator()(std::size_t i) const {
    return static_cast<bool>(std::invoke(*pred, std::invoke(*proj, *detail::advanced(first, i))));
  }
};

template <class Pred, class Proj, class I>
element_test(Pred*, Proj*, I) -> element_test<Pred, Proj, I>;

template <class On, class I, class Pred, class Proj>
I find_if_of(On& on, subrange<I> in, Pred& pred, Proj& proj, loop_options const& wanted) {
  check_function<Proj, std::iter_reference_t<I>>();
  check_function<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
  return in.at(detail::first_index(
      on, in.n, wanted, element_test{std::addressof(pred), std::addressof(proj), detail::plain_iterator(in.first)}));
}

template <class On, class I, class Pred, class Proj>
std::size_t count_if_of(On& on, subrange<I> in, Pred& pred, Proj& proj, loop_options const& wanted) {
  check_function<Proj, std::iter_reference_t<I>>();
  check_function<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
  element_test const test{std::addressof(pred), std::addressof(proj), detail::plain_iterator(in.first)};
  return detail::fold_blocks<std::size_t>(
      on, in.n, wanted,
      [test](std::size_t& all, std::size_t lo, std::size_t hi) {
        auto const here = test;
        std::size_t n = 0;
        for (; lo != hi; ++lo) n += here(lo) ? 1 : 0;
        all += n;
      },
      [](std::size_t& lower, std::size_t& upper) { lower += upper; });
}

template <class Value>
struct equal_to_value {
  Value const* value;
  template <class T>
  HEIST_ALWAYS_INLINE bool operator()(T&& element) const {
    return static_cast<bool>(element == *value);
  }
};

/// Element i is a number and equals `value`.
template <class I, class Value>
struct number_test {
  I first;
  Value value;
  HEIST_ALWAYS_INLINE bool operator()(std::size_t i) const { return *detail::advanced(first, i) == value; }
};

template <class On, class I, class T, class Proj>
I find_of(On& on, subrange<I> in, T const& value, Proj& proj, loop_options const& wanted) {
  if constexpr (std::contiguous_iterator<I> && std::is_same_v<Proj, std::identity> && std::is_arithmetic_v<T> &&
                std::is_same_v<std::iter_value_t<I>, T>) {
    using pointer = decltype(detail::plain_iterator(in.first));
    return in.at(
        detail::first_index(on, in.n, wanted, number_test<pointer, T>{detail::plain_iterator(in.first), value}));
  } else {
    equal_to_value<T> pred{std::addressof(value)};
    return detail::find_if_of(on, in, pred, proj, wanted);
  }
}

template <class On, class I, class Pred, class Proj>
I adjacent_find_of(On& on, subrange<I> in, Pred& pred, Proj& proj, loop_options const& wanted) {
  check_options(wanted);
  if (in.n < 2) return in.end();
  auto const first = detail::plain_iterator(in.first);
  std::size_t const at = detail::first_index(on, in.n - 1, wanted, [&pred, &proj, first](std::size_t i) {
    return static_cast<bool>(std::invoke(pred, std::invoke(proj, *detail::advanced(first, i)),
                                         std::invoke(proj, *detail::advanced(first, i + 1))));
  });
  return at == in.n - 1 ? in.end() : in.at(at);
}

template <class On, class I1, class I2, class Pred, class Proj1, class Proj2>
std::size_t mismatch_of(On& on, subrange<I1> a, subrange<I2> b, Pred& pred, Proj1& proj1, Proj2& proj2,
                        loop_options const& wanted) {
  check_function<Pred, std::invoke_result_t<Proj1&, std::iter_reference_t<I1>>,
                 std::invoke_result_t<Proj2&, std::iter_reference_t<I2>>>();
  auto const x = detail::plain_iterator(a.first);
  auto const y = detail::plain_iterator(b.first);
  return detail::first_index(on, a.n < b.n ? a.n : b.n, wanted, [&pred, &proj1, &proj2, x, y](std::size_t i) {
    return !static_cast<bool>(
        std::invoke(pred, std::invoke(proj1, *detail::advanced(x, i)), std::invoke(proj2, *detail::advanced(y, i))));
  });
}

struct find_if_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class Pred, class Proj = std::identity>
  static I run(On& on, subrange<I> in, loop_options const& wanted, Pred pred, Proj proj = {}) {
    return detail::find_if_of(on, in, pred, proj, wanted);
  }
};
struct find_if_not_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class Pred, class Proj = std::identity>
  static I run(On& on, subrange<I> in, loop_options const& wanted, Pred pred, Proj proj = {}) {
    negated is_false{std::move(pred)};
    return detail::find_if_of(on, in, is_false, proj, wanted);
  }
};
struct find_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class T, class Proj = std::identity>
  static I run(On& on, subrange<I> in, loop_options const& wanted, T const& value, Proj proj = {}) {
    return detail::find_of(on, in, value, proj, wanted);
  }
};
struct any_of_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class Pred, class Proj = std::identity>
  static bool run(On& on, subrange<I> in, loop_options const& wanted, Pred pred, Proj proj = {}) {
    return detail::find_if_of(on, in, pred, proj, wanted) != in.end();
  }
};
struct all_of_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class Pred, class Proj = std::identity>
  static bool run(On& on, subrange<I> in, loop_options const& wanted, Pred pred, Proj proj = {}) {
    return find_if_not_algorithm::run(on, in, wanted, std::move(pred), std::move(proj)) == in.end();
  }
};
struct none_of_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class Pred, class Proj = std::identity>
  static bool run(On& on, subrange<I> in, loop_options const& wanted, Pred pred, Proj proj = {}) {
    return detail::find_if_of(on, in, pred, proj, wanted) == in.end();
  }
};
struct count_if_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class Pred, class Proj = std::identity>
  static std::iter_difference_t<I> run(On& on, subrange<I> in, loop_options const& wanted, Pred pred, Proj proj = {}) {
    return static_cast<std::iter_difference_t<I>>(detail::count_if_of(on, in, pred, proj, wanted));
  }
};
struct count_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class T, class Proj = std::identity>
  static std::iter_difference_t<I> run(On& on, subrange<I> in, loop_options const& wanted, T const& value,
                                       Proj proj = {}) {
    return count_if_algorithm::run(on, in, wanted, equal_to_value<T>{std::addressof(value)}, std::move(proj));
  }
};
struct mismatch_algorithm : random_access {
  using given = arguments<0, std::equal_to<>, std::identity, std::identity>;
  template <class On, class I1, class I2, class Pred = std::equal_to<>, class Proj1 = std::identity,
            class Proj2 = std::identity>
  static std::ranges::mismatch_result<I1, I2> run(On& on, subrange<I1> a, subrange<I2> b, loop_options const& wanted,
                                                  Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) {
    std::size_t const at = detail::mismatch_of(on, a, b, pred, proj1, proj2, wanted);
    return {a.at(at), b.at(at)};
  }
};
struct equal_algorithm : random_access {
  using given = arguments<0, std::equal_to<>, std::identity, std::identity>;
  template <class On, class I1, class I2, class Pred = std::equal_to<>, class Proj1 = std::identity,
            class Proj2 = std::identity>
  static bool run(On& on, subrange<I1> a, subrange<I2> b, loop_options const& wanted, Pred pred = {}, Proj1 proj1 = {},
                  Proj2 proj2 = {}) {
    check_options(wanted);
    return a.n == b.n && detail::mismatch_of(on, a, b, pred, proj1, proj2, wanted) == a.n;
  }
};
struct adjacent_find_algorithm : random_access {
  using given = arguments<0, std::equal_to<>, std::identity>;
  template <class On, class I, class Pred = std::equal_to<>, class Proj = std::identity>
  static I run(On& on, subrange<I> in, loop_options const& wanted, Pred pred = {}, Proj proj = {}) {
    return detail::adjacent_find_of(on, in, pred, proj, wanted);
  }
};
struct is_sorted_algorithm : random_access {
  using given = arguments<0, std::less<>, std::identity>;
  template <class On, class I, class Less = std::less<>, class Proj = std::identity>
  static bool run(On& on, subrange<I> in, loop_options const& wanted, Less less = {}, Proj proj = {}) {
    auto is_descending = [&less](auto&& a, auto&& b) { return static_cast<bool>(std::invoke(less, b, a)); };
    return detail::adjacent_find_of(on, in, is_descending, proj, wanted) == in.end();
  }
};

}  // namespace detail

// Contract of all of them
//
//   Result   that of the std algorithm: of several elements that are looked for, the first.
//   Where    as for_each; functions are called for several elements at a time. Elements far behind the first match are
//            not looked at.
//   Throws   what a function throws (also for an element that a search from the front would not have come to), and
//            stopped_error if options.stop was asked to stop before the end.
//   Work     n calls of the function at most, and some microseconds of them for each worker; span: as for_each. Counts
//            and extremes allocate one small object for each helper.

/// find_if(on, range, pred, proj = {}): the first element for which pred(proj(element)) is true; the end if there is none.
inline constexpr detail::on_range<detail::find_if_algorithm> find_if{};
/// find_if_not(on, range, pred, proj = {}): the first element for which it is false.
inline constexpr detail::on_range<detail::find_if_not_algorithm> find_if_not{};
/// find(on, range, value, proj = {}): the first element that equals `value`.
inline constexpr detail::on_range<detail::find_algorithm> find{};

/// any_of(on, range, pred, proj = {}): is pred(proj(element)) true for some element?
inline constexpr detail::on_range<detail::any_of_algorithm> any_of{};
/// all_of(on, range, pred, proj = {}): for all? True of no elements.
inline constexpr detail::on_range<detail::all_of_algorithm> all_of{};
/// none_of(on, range, pred, proj = {}): for none? True of no elements.
inline constexpr detail::on_range<detail::none_of_algorithm> none_of{};

/// count_if(on, range, pred, proj = {}): how many elements there are for which pred(proj(element)) is true.
inline constexpr detail::on_range<detail::count_if_algorithm> count_if{};
/// count(on, range, value, proj = {}): how many elements equal `value`.
inline constexpr detail::on_range<detail::count_algorithm> count{};

///     mismatch(on, range1, range2, pred = {}, proj1 = {}, proj2 = {})
///
/// Where two ranges differ first. If they do not: the end of the shorter one, and the same place in the other.
inline constexpr detail::on_two_ranges<detail::mismatch_algorithm> mismatch{};
/// equal(on, range1, range2, pred = {}, proj1 = {}, proj2 = {}): have two ranges the same length, and equal elements?
inline constexpr detail::on_two_ranges<detail::equal_algorithm> equal{};

/// adjacent_find(on, range, pred = {}, proj = {}): the first element for which pred(proj(element), proj(the next one)) is
/// true; the end if there is none.
inline constexpr detail::on_range<detail::adjacent_find_algorithm> adjacent_find{};
/// is_sorted(on, range, less = {}, proj = {}): is no element less than the one before it?
inline constexpr detail::on_range<detail::is_sorted_algorithm> is_sorted{};

}  // namespace heist
