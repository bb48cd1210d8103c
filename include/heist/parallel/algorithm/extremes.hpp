// min_element, max_element, minmax_element.
#pragma once

#include <algorithm>   // ranges::min_max_result
#include <cstddef>     // size_t
#include <functional>  // identity, invoke, less
#include <iterator>
#include <memory>   // addressof
#include <utility>  // move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
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

struct min_element_algorithm : random_access {
  using given = arguments<0, std::less<>, std::identity>;
  template <class On, class I, class Less = std::less<>, class Proj = std::identity>
  static I run(On& on, subrange<I> in, loop_options const& wanted, Less less = {}, Proj proj = {}) {
    return detail::element_or_end(in, detail::extremes_of<first_least>(on, in, less, proj, wanted).at[0]);
  }
};
struct max_element_algorithm : random_access {
  using given = arguments<0, std::less<>, std::identity>;
  template <class On, class I, class Less = std::less<>, class Proj = std::identity>
  static I run(On& on, subrange<I> in, loop_options const& wanted, Less less = {}, Proj proj = {}) {
    return detail::element_or_end(in, detail::extremes_of<first_most>(on, in, less, proj, wanted).at[0]);
  }
};
struct minmax_element_algorithm : random_access {
  using given = arguments<0, std::less<>, std::identity>;
  template <class On, class I, class Less = std::less<>, class Proj = std::identity>
  static std::ranges::min_max_result<I> run(On& on, subrange<I> in, loop_options const& wanted, Less less = {},
                                            Proj proj = {}) {
    auto const found = detail::extremes_of<first_least, last_most>(on, in, less, proj, wanted);
    return {detail::element_or_end(in, found.at[0]), detail::element_or_end(in, found.at[1])};
  }
};

}  // namespace detail

// Contract of all of them
//
//   Result   that of the std algorithm, the end of an empty range: the first of several least elements, the first of
//            several greatest, but for minmax_element the last of these.
//   Where, Throws, Work   as count_if (find.hpp).

/// min_element(on, range, less = {}, proj = {}): the first of the least elements, or the end.
inline constexpr detail::on_range<detail::min_element_algorithm> min_element{};
/// max_element(on, range, less = {}, proj = {}): the first of the greatest elements, or the end.
inline constexpr detail::on_range<detail::max_element_algorithm> max_element{};
/// minmax_element(on, range, less = {}, proj = {}): the first of the least elements and the last of the greatest, or twice
/// the end.
inline constexpr detail::on_range<detail::minmax_element_algorithm> minmax_element{};

}  // namespace heist
