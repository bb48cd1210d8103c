// min_element, max_element, minmax_element.
#pragma once

#include <algorithm>   // ranges::min_max_result
#include <cstddef>     // size_t
#include <functional>  // identity, invoke, less
#include <iterator>
#include <memory>   // addressof
#include <utility>  // move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/ranges.hpp"

namespace heist {

namespace detail {

/// Compares elements by their index.
template <class I, class Less, class Proj>
struct index_less {
  I first;
  Less* less;
  Proj* proj;
  HEIST_ALWAYS_INLINE bool operator()(std::size_t a, std::size_t b) const {
    return static_cast<bool>(std::invoke(*less, std::invoke(*proj, *detail::advanced(first, a)),
                                         std::invoke(*proj, *detail::advanced(first, b))));
  }
};

template <class I, class Less, class Proj>
index_less(I, Less*, Proj*) -> index_less<I, Less, Proj>;

// Which of two elements is looked for, the second behind the first.
struct first_least {
  static std::size_t of(auto& less, std::size_t lower, std::size_t upper) { return less(upper, lower) ? upper : lower; }
};
struct first_most {
  static std::size_t of(auto& less, std::size_t lower, std::size_t upper) { return less(lower, upper) ? upper : lower; }
};
struct last_most {
  static std::size_t of(auto& less, std::size_t lower, std::size_t upper) { return less(upper, lower) ? lower : upper; }
};

inline constexpr std::size_t no_index = ~std::size_t{0};

/// The indices of the elements that are looked for; no_index in an empty range.
template <class... Which>
struct found_extremes {
  std::size_t at[sizeof...(Which)];
  found_extremes() noexcept {
    for (std::size_t& i : at) i = no_index;
  }
};

/// Of two elements, whichever comes first. Either may be no_index.
template <class Which, class Less>
std::size_t better_of(Less const& less, std::size_t a, std::size_t b) {
  if (a == no_index || b == no_index) return a == no_index ? b : a;
  return a < b ? Which::of(less, a, b) : Which::of(less, b, a);
}

template <class... Which, class On, class I, class Less, class Proj>
found_extremes<Which...> extremes_of(On& on, subrange<I> in, Less& by, Proj& proj, loop_options const& wanted) {
  using element = std::iter_reference_t<I>;
  check_function<Proj, element>();
  check_function<Less, std::invoke_result_t<Proj&, element>, std::invoke_result_t<Proj&, element>>();
  using result = found_extremes<Which...>;
  index_less const less{detail::plain_iterator(in.first), std::addressof(by), std::addressof(proj)};
  return detail::fold_blocks<result>(
      on, in.n, wanted,
      [less](result& all, std::size_t lo, std::size_t hi) {
        auto const compare = less;
        std::size_t k = 0;
        auto const look_for = [&]<class W>(W) {
          std::size_t best = lo;
          for (std::size_t i = lo + 1; i != hi; ++i) best = W::of(compare, best, i);
          all.at[k] = detail::better_of<W>(compare, all.at[k], best);
          ++k;
        };
        (look_for(Which{}), ...);
      },
      [less](result& all, result& other) {
        std::size_t k = 0;
        ((all.at[k] = detail::better_of<Which>(less, all.at[k], other.at[k]), ++k), ...);
      });
}

template <class I>
I element_or_end(subrange<I> const& in, std::size_t at) {
  return at == no_index ? in.end() : in.at(at);
}

}  // namespace detail

// Contract of all of them
//
//   Result   that of the std algorithm, the end of an empty range: the first of several least elements, the first of
//            several greatest, but for minmax_element the last of these.
//   Where, Throws, Work   as count_if (find.hpp).

/// The first of the least elements, or the end.
template <class On, std::ranges::range R, class Less = std::less<>, class Proj = std::identity>
auto min_element(On&& on, R&& r, Less less = {}, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::borrowed_iterator_t<R> {
  auto const in = detail::subrange_of(r);
  return detail::element_or_end(in, detail::extremes_of<detail::first_least>(on, in, less, proj, wanted).at[0]);
}
/// The first of the greatest elements, or the end.
template <class On, std::ranges::range R, class Less = std::less<>, class Proj = std::identity>
auto max_element(On&& on, R&& r, Less less = {}, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::borrowed_iterator_t<R> {
  auto const in = detail::subrange_of(r);
  return detail::element_or_end(in, detail::extremes_of<detail::first_most>(on, in, less, proj, wanted).at[0]);
}
/// The first of the least elements and the last of the greatest, or twice the end.
template <class On, std::ranges::range R, class Less = std::less<>, class Proj = std::identity>
auto minmax_element(On&& on, R&& r, Less less = {}, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::min_max_result<std::ranges::borrowed_iterator_t<R>> {
  auto const in = detail::subrange_of(r);
  auto const found = detail::extremes_of<detail::first_least, detail::last_most>(on, in, less, proj, wanted);
  return {detail::element_or_end(in, found.at[0]), detail::element_or_end(in, found.at[1])};
}

template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Less = std::less<>,
          class Proj = std::identity>
I min_element(On&& on, I first, S last, Less less = {}, Proj proj = {}, loop_options const& wanted = {}) {
  detail::iterator_pair const r{std::move(first), std::move(last)};
  return heist::min_element(on, r, std::move(less), std::move(proj), wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Less = std::less<>,
          class Proj = std::identity>
I max_element(On&& on, I first, S last, Less less = {}, Proj proj = {}, loop_options const& wanted = {}) {
  detail::iterator_pair const r{std::move(first), std::move(last)};
  return heist::max_element(on, r, std::move(less), std::move(proj), wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Less = std::less<>,
          class Proj = std::identity>
std::ranges::min_max_result<I> minmax_element(On&& on, I first, S last, Less less = {}, Proj proj = {},
                                              loop_options const& wanted = {}) {
  detail::iterator_pair const r{std::move(first), std::move(last)};
  return heist::minmax_element(on, r, std::move(less), std::move(proj), wanted);
}
// With options only.
template <class On, std::ranges::range R>
auto min_element(On&& on, R&& r, loop_options const& wanted) {
  return heist::min_element(on, std::forward<R>(r), {}, {}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
auto min_element(On&& on, I first, S last, loop_options const& wanted) {
  return heist::min_element(on, std::move(first), std::move(last), {}, {}, wanted);
}
template <class On, std::ranges::range R>
auto max_element(On&& on, R&& r, loop_options const& wanted) {
  return heist::max_element(on, std::forward<R>(r), {}, {}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
auto max_element(On&& on, I first, S last, loop_options const& wanted) {
  return heist::max_element(on, std::move(first), std::move(last), {}, {}, wanted);
}
template <class On, std::ranges::range R>
auto minmax_element(On&& on, R&& r, loop_options const& wanted) {
  return heist::minmax_element(on, std::forward<R>(r), {}, {}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
auto minmax_element(On&& on, I first, S last, loop_options const& wanted) {
  return heist::minmax_element(on, std::move(first), std::move(last), {}, {}, wanted);
}

}  // namespace heist
