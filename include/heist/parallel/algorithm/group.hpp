// histogram, group_by: elements by a common key.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <functional>  // identity, invoke, less
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>  // move
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/pack.hpp"
#include "heist/parallel/algorithm/ranges.hpp"
#include "heist/parallel/algorithm/stable_sort.hpp"

namespace heist {

namespace detail {

[[noreturn]] HEIST_RARE void throw_no_bin(std::string const& bin, std::size_t bins);

template <class On, class I, class BinOf>
std::vector<std::size_t> histogram_of(On& on, subrange<I> in, std::size_t bins, BinOf& bin_of,
                                      loop_options const& wanted) {
  using bin = std::invoke_result_t<BinOf&, std::iter_reference_t<I>>;
  static_assert(std::integral<std::remove_cvref_t<bin>>,
                "heist: a histogram needs the number of each element's bin; fix it by a function that returns an "
                "integer.");
  auto const first = detail::plain_iterator(in.first);
  using counts = std::vector<std::size_t>;
  counts all = detail::fold_blocks<counts>(
      on, in.n, wanted,
      [&bin_of, first, bins](counts& n, std::size_t lo, std::size_t hi) {
        if (n.empty()) n.resize(bins);
        for (; lo != hi; ++lo) {
          auto const k = std::invoke(bin_of, *detail::advanced(first, lo));
          if (static_cast<std::uintmax_t>(k) >= bins) detail::throw_no_bin(std::to_string(k), bins);
          ++n[static_cast<std::size_t>(k)];
        }
      },
      [](counts& lower, counts& upper) {
        if (lower.empty()) {
          lower = std::move(upper);
        } else if (!upper.empty()) {
          for (std::size_t k = 0; k != lower.size(); ++k) lower[k] += upper[k];
        }
      });
  all.resize(bins);
  return all;
}

/// The number of bins is given by value: it may be a bit-field.
struct histogram_algorithm : needs_place {
  using needs_place::operator();
  using counts = std::vector<std::size_t>;

  template <class On, std::ranges::range R, class BinOf = std::identity>
  counts operator()(On&& on, R&& r, std::size_t bins, BinOf bin_of = {}, loop_options const& wanted = {}) const {
    return detail::histogram_of(on, detail::subrange_of(r), bins, bin_of, wanted);
  }
  template <class On, std::ranges::range R>
  counts operator()(On&& on, R&& r, std::size_t bins, loop_options const& wanted) const {
    return (*this)(on, r, bins, std::identity{}, wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class BinOf = std::identity>
  counts operator()(On&& on, I first, S last, std::size_t bins, BinOf bin_of = {},
                    loop_options const& wanted = {}) const {
    return detail::histogram_of(on, detail::subrange_of(std::move(first), std::move(last)), bins, bin_of, wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
  counts operator()(On&& on, I first, S last, std::size_t bins, loop_options const& wanted) const {
    return (*this)(on, std::move(first), std::move(last), bins, std::identity{}, wanted);
  }
};

}  // namespace detail

/// Elements with the same key.
template <class Key, class T>
struct group {
  Key key;
  std::vector<T> elements;  ///< in the order of the range
};

namespace detail {

struct group_by_algorithm : random_access {
  using given = arguments<1, required>;
  template <class On, class I, class KeyOf>
  static auto run(On& on, subrange<I> in, loop_options const& wanted, KeyOf key_of) {
    using reference = std::iter_reference_t<I>;
    using key = std::remove_cvref_t<std::invoke_result_t<KeyOf&, reference>>;
    using element = std::iter_value_t<I>;
    auto const first = detail::plain_iterator(in.first);
    auto const key_at = [&key_of, first](std::size_t i) -> decltype(auto) {
      return std::invoke(key_of, *detail::advanced(first, i));
    };
    detail::check_options(wanted);
    std::vector<group<key, element>> groups;
    if (in.n == 0) return groups;
    detail::on_workers(on, wanted.region, [&](auto const& c) {
      loop_options const inner{.stop = wanted.stop};
      std::vector<std::size_t> order(in.n);
      detail::run_all_blocks(c, in.n, inner, [&](auto const*, std::size_t lo, std::size_t hi) {
        for (; lo != hi; ++lo) order[lo] = lo;
      });
      auto const less = [&key_at](std::size_t a, std::size_t b) { return static_cast<bool>(key_at(a) < key_at(b)); };
      heist::stable_sort(c, order, less, std::identity{}, inner);
      // The groups begin where the key is another one than before.
      detail::kept_bits begins{in.n, detail::workers_of(c)};
      std::size_t const count =
          detail::fill_kept(c, begins, inner, [&](std::size_t i) { return i == 0 || less(order[i - 1], order[i]); });
      std::vector<std::size_t> begin(count + 1, in.n);
      detail::run_all_blocks(c, begins.chunk_count(), inner, [&](auto const*, std::size_t lo, std::size_t hi) {
        for (; lo != hi; ++lo) {
          std::size_t at = begins.position(lo);
          begins.for_each_kept(lo, [&](std::size_t i) { begin[at++] = i; });
        }
      });
      groups.reserve(count);
      for (std::size_t k = 0; k != count; ++k) groups.push_back({key_at(order[begin[k]]), {}});
      detail::run_all_blocks(c, count, inner, [&](auto const*, std::size_t lo, std::size_t hi) {
        for (; lo != hi; ++lo) {
          groups[lo].elements.reserve(begin[lo + 1] - begin[lo]);
          for (std::size_t i = begin[lo]; i != begin[lo + 1]; ++i)
            groups[lo].elements.push_back(*detail::advanced(first, order[i]));
        }
      });
    });
    return groups;
  }
};

}  // namespace detail

/// histogram(on, range, bins, bin_of = {}): how many elements belong to each of `bins` bins: bin_of(element) says to
/// which, the element itself by default.
///
/// Throws  algorithm_error for an element of a bin that does not exist, what bin_of throws, stopped_error if options.stop
///         was asked to stop before the end, bad_alloc.
/// Work    n calls of bin_of, and the bins once for each piece; span: as for_each, and the bins. As many counts are
///         allocated as there are bins, for each piece that another worker has taken.
inline constexpr detail::histogram_algorithm histogram{};

/// group_by(on, range, key_of): copies the elements into groups with the same key_of(element), in the order of the keys,
/// which `<` compares.
///
/// Throws  what a function or a copy throws, stopped_error if options.stop was asked to stop before the end, bad_alloc.
/// Work    a stable sort of n pointers, and n copies; span: that of the sort, and of the largest group. Two pointers for
///         each element are allocated, and the groups.
inline constexpr detail::on_range<detail::group_by_algorithm> group_by{};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/algorithm/group.ipp"
#endif
