// copy_if, remove_if, unique: they keep some elements, in their order.
#pragma once

#include <algorithm>   // ranges::move
#include <cstddef>     // size_t
#include <functional>  // identity, invoke, equal_to
#include <iterator>
#include <memory>   // construct_at, destroy_n
#include <utility>  // forward, move
#include <vector>

#include "heist/core/base/vector.hpp"
#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/kept_bits.hpp"
#include "heist/parallel/algorithm/ranges.hpp"

namespace heist {

namespace detail {

/// Asks for all chunks. Returns how many elements are kept.
template <class Context, class Keep>
std::size_t fill_kept(Context const& c, kept_bits& kept, loop_options const& inner, Keep const& keep) {
  detail::run_all_blocks(c, kept.chunk_count(), inner, [&](auto const*, std::size_t lo, std::size_t hi) {
    for (; lo != hi; ++lo) kept.fill(lo, keep);
  });
  return kept.sum_up();
}

struct copy_if_algorithm : to_output {
  using given = arguments<2, required, required, std::identity>;
  template <class On, class I, class O, class Pred, class Proj = std::identity>
  static O run(On& on, subrange<I> from, loop_options const& wanted, O out, Pred pred, Proj proj = {}) {
    check_output<O>();
    check_function<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
    check_options(wanted);
    auto const first = detail::plain_iterator(from.first);
    auto const to = detail::plain_iterator(out);
    auto const keep = [&pred, &proj, first](std::size_t i) {
      return static_cast<bool>(std::invoke(pred, std::invoke(proj, *detail::advanced(first, i))));
    };
    std::size_t const written = detail::on_workers(on, wanted.region, [&](auto const& c) {
      loop_options const inner{.stop = wanted.stop};
      kept_bits kept{from.n, detail::workers_of(c)};
      std::size_t const n = detail::fill_kept(c, kept, inner, keep);
      HEIST_ASSERT(
          !detail::overlap(first, from.n, to, n),
          "the output of copy_if() overlaps its input, so that workers overwrite elements that other workers have yet "
          "to read; fix it by remove_if() with the opposite predicate, which works in place");
      detail::run_all_blocks(c, kept.chunk_count(), inner, [&](auto const*, std::size_t lo, std::size_t hi) {
        for (; lo != hi; ++lo) {
          auto target = detail::advanced(to, kept.position(lo));
          kept.for_each_kept(lo, [&](std::size_t i) {
            *target = *detail::advanced(first, i);
            ++target;
          });
        }
      });
      return n;
    });
    return detail::advanced(out, written);
  }
};

/// Elements that are out of the way while other elements come to their places.
template <class T>
class side_buffer {
 public:
  explicit side_buffer(kept_bits const& kept)
      : places_{kept.displaced()}, made_(kept.chunk_count()), first_{allocate_memory<T>(places_.back())} {}
  side_buffer(side_buffer const&) = delete;
  side_buffer& operator=(side_buffer const&) = delete;
  ~side_buffer() {
    for (std::size_t k = 0; k != made_.size(); ++k) std::destroy_n(begin(k), made_[k]);
    free_memory(first_, places_.back());
  }
  T* begin(std::size_t chunk) const noexcept { return first_ + places_[chunk]; }
  T* end(std::size_t chunk) const noexcept { return begin(chunk) + made_[chunk]; }
  template <class Value>
  void add(std::size_t chunk, Value&& value) {
    std::construct_at(end(chunk), std::forward<Value>(value));
    ++made_[chunk];
  }

 private:
  std::vector<std::size_t> const places_;
  std::vector<std::size_t> made_;
  T* const first_;
};

/// Moves elements of [0, n) after `first` for which keep(i) to the front, in their order. Returns how many they are.
///
/// Each chunk's to its own front, but for those on whose places other chunks' will come: these are set aside. Then all
/// go to where they belong (README.md, "Packs").
template <class On, class I, class Keep>
std::size_t pack(On& on, I first, std::size_t n, Keep const& keep, loop_options const& wanted) {
  check_options(wanted);
  return detail::on_workers(on, wanted.region, [&](auto const& c) {
    loop_options const inner{.stop = wanted.stop};
    kept_bits kept{n, detail::workers_of(c)};
    std::size_t const count = detail::fill_kept(c, kept, inner, keep);
    if (count == n) return n;
    side_buffer<std::iter_value_t<I>> buffer{kept};
    detail::run_blocks(c, kept.chunk_count(), {}, [&](auto const*, std::size_t lo, std::size_t hi) {
      for (; lo != hi; ++lo) {
        auto const at = kept.overlap_of(lo);
        std::size_t to = kept.begin(lo);
        kept.for_each_kept(lo, [&](std::size_t i) {
          if (to >= at.end && to < at.begin_again) {
            buffer.add(lo, std::ranges::iter_move(detail::advanced(first, i)));
          } else if (i != to) {
            *detail::advanced(first, to) = std::ranges::iter_move(detail::advanced(first, i));
          }
          ++to;
        });
      }
    });
    detail::run_blocks(c, kept.chunk_count(), {}, [&](auto const*, std::size_t lo, std::size_t hi) {
      for (; lo != hi; ++lo) {
        if (kept.position(lo) == kept.begin(lo)) continue;
        auto const at = kept.overlap_of(lo);
        auto const last = detail::advanced(first, kept.begin(lo) + kept.kept_in(lo));
        auto to = detail::advanced(first, kept.position(lo));
        to = std::ranges::move(detail::advanced(first, kept.begin(lo)), detail::advanced(first, at.end), to).out;
        to = std::ranges::move(buffer.begin(lo), buffer.end(lo), to).out;
        std::ranges::move(detail::advanced(first, at.begin_again), last, to);
      }
    });
    return count;
  });
}

struct remove_if_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class Pred, class Proj = std::identity>
  static I run(On& on, subrange<I> over, loop_options const& wanted, Pred pred, Proj proj = {}) {
    check_moved<I>();
    check_function<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
    auto const first = detail::plain_iterator(over.first);
    auto const keep = [&pred, &proj, first](std::size_t i) {
      return !static_cast<bool>(std::invoke(pred, std::invoke(proj, *detail::advanced(first, i))));
    };
    return over.at(detail::pack(on, first, over.n, keep, wanted));
  }
};

struct unique_algorithm : random_access {
  using given = arguments<0, std::equal_to<>, std::identity>;
  template <class On, class I, class Same = std::equal_to<>, class Proj = std::identity>
  static I run(On& on, subrange<I> over, loop_options const& wanted, Same same = {}, Proj proj = {}) {
    check_moved<I>();
    using element = std::iter_reference_t<I>;
    check_function<Same, std::invoke_result_t<Proj&, element>, std::invoke_result_t<Proj&, element>>();
    auto const first = detail::plain_iterator(over.first);
    auto const keep = [&same, &proj, first](std::size_t i) {
      return i == 0 || !static_cast<bool>(std::invoke(same, std::invoke(proj, *detail::advanced(first, i - 1)),
                                                      std::invoke(proj, *detail::advanced(first, i))));
    };
    return over.at(detail::pack(on, first, over.n, keep, wanted));
  }
};

}  // namespace detail

// Contract of all of them
//
//   Where    as for_each; functions are called for several elements at a time, for each once, before anything is
//            written or moved.
//   Throws   what a function throws, stopped_error if options.stop was asked to stop before the end, bad_alloc:
//            remove_if and unique have then changed nothing.
//   Work     n calls of the function, and a copy of each kept element, or two moves at most for remove_if and unique;
//            span: as for_each, and n / (16 workers). n bits are allocated; for remove_if and unique memory for
//            as many elements as are kept at most, besides.

/// copy_if(on, range, out, pred, proj = {}): copies the elements for which pred(proj(element)) is true, in their order.
/// Returns the end of the output. The ranges do not overlap.
inline constexpr detail::on_range<detail::copy_if_algorithm> copy_if{};
/// remove_if(on, range, pred, proj = {}): moves the elements for which it is false to the front, in their order. Returns
/// their end; the elements behind it may be assigned to and destroyed.
inline constexpr detail::on_range<detail::remove_if_algorithm> remove_if{};
/// unique(on, range, same = {}, proj = {}): of elements that are the same as the one before them, only the first stays: as
/// remove_if. `same` is an equivalence.
inline constexpr detail::on_range<detail::unique_algorithm> unique{};

}  // namespace heist
