// How algorithms take their ranges, and how they call what users give them.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // invoke, identity
#include <iterator>
#include <memory>  // to_address
#include <ranges>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/fork/fork_join.hpp"

namespace heist::detail {

/// `n` elements from `first` on.
template <class I>
struct subrange {
  I first;
  std::size_t n;

  I at(std::size_t i) const { return first + static_cast<std::iter_difference_t<I>>(i); }
  I end() const { return at(n); }
};

/// Iterators with random access. The standard libraries of C++20 call a std::move_iterator an input iterator.
template <class I>
inline constexpr bool has_random_access = std::random_access_iterator<I>;
template <class I>
inline constexpr bool has_random_access<std::move_iterator<I>> = has_random_access<I>;

/// Can an element that gives this be read again? False if it is moved out of.
template <class Reference>
inline constexpr bool reads_again =
    !std::is_rvalue_reference_v<Reference> || std::is_trivially_copyable_v<std::remove_cvref_t<Reference>>;

// Of anything else nothing is returned, so that a compiler says the sentence and little more.
template <class I, class S>
requires std::sentinel_for<S, I>
auto subrange_of(I first, S last) {
  constexpr bool can = has_random_access<I> && std::sized_sentinel_for<S, I>;
  static_assert(can,
                "heist: algorithms need iterators with random access, so that a range can be cut anywhere; fix it by "
                "a std::vector, std::array, std::deque or std::span of the elements.");
  if constexpr (can) {
    auto const n = last - first;
    HEIST_ASSERT(n >= 0,
                 "a pair of iterators in the wrong order: the end comes before the beginning; fix it by swapping "
                 "them");
    return subrange<I>{std::move(first), n < 0 ? 0 : static_cast<std::size_t>(n)};
  }
}

template <std::ranges::range R>
auto subrange_of(R&& r) {
  constexpr bool can = has_random_access<std::ranges::iterator_t<R>> && std::ranges::sized_range<R>;
  static_assert(can,
                "heist: algorithms need a range with random access and a known size, so that it can be cut anywhere; "
                "fix it by a std::vector, std::array, std::deque or std::span of the elements.");
  if constexpr (can) {
    return subrange<std::ranges::iterator_t<R>>{std::ranges::begin(r), static_cast<std::size_t>(std::ranges::size(r))};
  }
}

/// Does a reference stand for a bit, beside which the others of its word are written, too?
template <class I>
inline constexpr bool writes_whole_words =
    std::is_class_v<std::iter_reference_t<I>>&& std::is_same_v<std::iter_value_t<I>, bool>;

/// Elements that several workers write, each another one.
template <class I>
constexpr void check_written() {
  static_assert(!writes_whole_words<I>,
                "heist: the elements of this range are bits, and a word of them cannot be written by two threads at "
                "once; fix it by a std::vector<char> in place of a std::vector<bool>.");
}
/// Elements that change places.
template <class I>
constexpr void check_moved() {
  static_assert(std::is_assignable_v<std::iter_reference_t<I>, std::iter_value_t<I>>,
                "heist: this algorithm moves the elements of its range to other places, and they cannot be assigned "
                "to; fix it by a range that is not const.");
  check_written<I>();
}

/// Are some elements of [a, a + n) also of [b, b + m)? Known of elements that lie side by side.
template <class I, class O>
bool overlap([[maybe_unused]] I const& a, [[maybe_unused]] std::size_t n, [[maybe_unused]] O const& b,
             [[maybe_unused]] std::size_t m) noexcept {
  if constexpr (std::contiguous_iterator<I> && std::contiguous_iterator<O>) {
    if (n == 0 || m == 0) return false;
    void const volatile* const first = std::to_address(a);
    void const volatile* const last = std::to_address(a) + n;
    void const volatile* const out = std::to_address(b);
    void const volatile* const out_end = std::to_address(b) + m;
    return std::less<>{}(out, last) && std::less<>{}(first, out_end);
  } else {
    return false;
  }
}
/// The same of two ranges that do not begin with the same element.
template <class I, class O>
bool overlap_in_part(I const& a, O const& b, std::size_t n) noexcept {
  if constexpr (std::contiguous_iterator<I> && std::contiguous_iterator<O>) {
    void const volatile* const first = std::to_address(a);
    void const volatile* const out = std::to_address(b);
    return first != out && detail::overlap(a, n, b, n);
  } else {
    return false;
  }
}

/// Where something is written to: an iterator with random access.
template <class O>
constexpr void check_output() {
  static_assert(std::random_access_iterator<O>,
                "heist: algorithms write through iterators with random access, several places at a time; fix it by "
                "the begin() of a std::vector of the right size instead of an inserter.");
  if constexpr (std::random_access_iterator<O>) check_written<O>();
}

/// A pointer where elements lie side by side: compilers do most with those.
template <class I>
HEIST_ALWAYS_INLINE auto plain_iterator(I const& i) {
  if constexpr (std::contiguous_iterator<I>) {
    return std::to_address(i);
  } else {
    return i;
  }
}
/// The iterator `n` elements further.
template <class I>
HEIST_ALWAYS_INLINE I advanced(I const& i, std::size_t n) {
  return i + static_cast<std::iter_difference_t<I>>(n);
}

/// Calls step(i) for each iterator from first + lo up to first + hi. Iterators of classes are counted, see
/// HEIST_UNROLL.
template <class I, class Step>
HEIST_ALWAYS_INLINE void walk(I const& first, std::size_t lo, std::size_t hi, Step&& step) {
  auto at = detail::advanced(first, lo);
  if constexpr (std::is_pointer_v<I>) {
    auto const end = detail::advanced(first, hi);
    HEIST_UNROLL
    for (; at != end; ++at) step(at);
  } else {
    HEIST_UNROLL
    for (; lo != hi; ++lo, void(++at)) step(at);
  }
}

/// A copy of a small function object, which compilers keep in registers; a reference to any other.
template <class F>
using local_function =
    std::conditional_t<std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F> && sizeof(F) <= 64, F, F&>;

/// A predicate turned round. std::not_fn would use the `!` of what the predicate returns, which need only convert to
/// bool.
template <class Pred>
struct negated {
  Pred pred;
  template <class... Args>
  HEIST_ALWAYS_INLINE auto operator()(Args&&... args)
      -> decltype(static_cast<bool>(std::invoke(pred, std::forward<Args>(args)...))) {
    return !static_cast<bool>(std::invoke(pred, std::forward<Args>(args)...));
  }
};
template <class Pred>
negated(Pred) -> negated<Pred>;

/// Element i; f(element i); f of two elements i. Function objects, so that they can be copied into registers.
template <class I>
struct element_at {
  I first;
  HEIST_ALWAYS_INLINE decltype(auto) operator()(std::size_t i) const { return *detail::advanced(first, i); }
};
template <class I, class F>
struct mapped_element {
  I first;
  F* f;
  HEIST_ALWAYS_INLINE decltype(auto) operator()(std::size_t i) const {
    return std::invoke(*f, *detail::advanced(first, i));
  }
};
template <class I1, class I2, class F>
struct mapped_pair {
  I1 first;
  I2 second;
  F* f;
  HEIST_ALWAYS_INLINE decltype(auto) operator()(std::size_t i) const {
    return std::invoke(*f, *detail::advanced(first, i), *detail::advanced(second, i));
  }
};

// For compilers that deduce nothing for aggregates.
template <class I>
element_at(I) -> element_at<I>;
template <class I, class F>
mapped_element(I, F*) -> mapped_element<I, F>;
template <class I1, class I2, class F>
mapped_pair(I1, I2, F*) -> mapped_pair<I1, I2, F>;

template <class F, class Context, class... Args>
inline constexpr bool body_needs_context = !std::is_invocable_v<F&, Args...>;

/// Calls f(args...), or f(*c, args...) if only that is possible.
template <class Context, class F, class... Args>
HEIST_ALWAYS_INLINE void call_body(F& f, Context const* c, Args&&... args) {
  if constexpr (std::is_invocable_v<F&, Args...>) {
    static_assert(result_of_task<std::invoke_result_t<F&, Args...>>::is_result);
    std::invoke(f, std::forward<Args>(args)...);
  } else {
    static_assert(result_of_task<std::invoke_result_t<F&, Context const&, Args...>>::is_result);
    std::invoke(f, *c, std::forward<Args>(args)...);
  }
}

template <class F, class Context, class... Args>
constexpr void check_body() {
  // The second is looked at only if the first does not do: a generic body may not compile with a context.
  static_assert(
      std::disjunction_v<std::is_invocable<F&, Args...>, std::is_invocable<F&, Context, Args...>>,
      "heist: the body of a loop must be callable with what the loop gives it, or with a context and that: an "
      "element for for_each, an index for for_each_index, the ends of a block for for_each_block, two "
      "heist::index_range for for_each_block_2d; fix its "
      "parameters.");
}

template <class F, class... Args>
constexpr void check_function() {
  static_assert(std::is_invocable_v<F&, Args...>,
                "heist: a function, predicate, comparison or projection of an algorithm must be callable with the "
                "elements of its ranges; fix its parameters.");
}

}  // namespace heist::detail
