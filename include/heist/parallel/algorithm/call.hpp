// How algorithms are called: on a range or two iterators, with arguments that may have defaults, and options at the end.
// They are objects, as those of std::ranges: found by their full name only, and can be passed on.
#pragma once

#include <algorithm>  // ranges::min_max_result, in_in_result
#include <cstddef>    // size_t
#include <iterator>
#include <ranges>
#include <tuple>  // tuple_element
#include <type_traits>
#include <utility>  // forward

#include "heist/core/executor/task_callable.hpp"
#include "heist/parallel/algorithm/options.hpp"
#include "heist/parallel/algorithm/parts.hpp"
#include "heist/parallel/algorithm/ranges.hpp"

namespace heist::detail {

/// An argument that has no default.
struct required;

/// The arguments of an algorithm between its ranges and its options: at least `Least`; the types of those that are left
/// out, or given as `{}`.
template <std::size_t Least, class... Defaults>
struct arguments {
  static constexpr bool can_be(std::size_t count) { return Least <= count && count <= sizeof...(Defaults); }
  template <std::size_t I>
  using at = std::tuple_element_t<I, std::tuple<Defaults..., required, required, required, required>>;
};

template <class Algorithm, std::size_t I>
using default_of = typename Algorithm::given::template at<I>;

/// May the first argument be of that type? It tells `(range, output)` from `(iterator, iterator)` where arrays are given.
template <class Algorithm, class... A>
inline constexpr bool first_fits = true;
template <class Algorithm, class First, class... More>
inline constexpr bool first_fits<Algorithm, First, More...> = Algorithm::template first_is<std::decay_t<First>>;

/// Options are no argument: they have a place of their own.
template <class Algorithm, class... A>
inline constexpr bool takes =
    Algorithm::given::can_be(sizeof...(A)) &&
    (!std::is_same_v<std::remove_cvref_t<A>, loop_options> && ...) && first_fits<Algorithm, A...>;

/// Iterators into R, which may not outlive it; any other result as it is.
template <class Algorithm, class R, class T>
constexpr auto borrowed(T found) {
  constexpr bool is_input = !Algorithm::returns_output;
  if constexpr (is_input && std::is_same_v<T, std::ranges::iterator_t<R>>) {
    return std::ranges::borrowed_iterator_t<R>(std::move(found));
  } else if constexpr (is_input && std::is_same_v<T, std::ranges::min_max_result<std::ranges::iterator_t<R>>>) {
    using iterator = std::ranges::borrowed_iterator_t<R>;
    return std::ranges::min_max_result<iterator>{iterator(std::move(found.min)), iterator(std::move(found.max))};
  } else {
    return found;
  }
}
template <class R1, class R2, class T>
constexpr auto borrowed_of_two(T found) {
  if constexpr (std::is_same_v<T,
                               std::ranges::in_in_result<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>>>) {
    using first = std::ranges::borrowed_iterator_t<R1>;
    using second = std::ranges::borrowed_iterator_t<R2>;
    return std::ranges::in_in_result<first, second>{first(std::move(found.in1)), second(std::move(found.in2))};
  } else {
    return found;
  }
}

/// A range or an iterator: never an executor or a context.
template <class T>
concept worked_on = std::ranges::range<T> || std::input_or_output_iterator<std::remove_cvref_t<T>>;

/// The sentence for an algorithm that is called without an executor or a context.
struct needs_place {
  // References to const and a pack: every other call fits better.
  template <worked_on First, class... More>
  constexpr rejected operator()(First const&, More const&...) const {
    static_assert(
        std::is_void_v<First>,
        "heist: this algorithm was called without the executor that it runs on, or in a task the context; fix "
        "it by the executor or context as the first argument, and the range behind it.");
    return {};
  }
};

/// Elements that can be cut anywhere.
struct random_access {
  template <class A>
  static constexpr bool first_is = true;
  static constexpr bool returns_output = false;

  template <class R>
  static constexpr auto elements(R&& r, loop_options const&) {
    return detail::subrange_of(r);
  }
  template <class I, class S>
  static constexpr auto elements(I first, S last, loop_options const&) {
    return detail::subrange_of(std::move(first), std::move(last));
  }
};
/// The same of an algorithm that writes elsewhere, from its first argument on, and returns where it has ended.
struct to_output : random_access {
  template <class A>
  static constexpr bool first_is = std::input_or_output_iterator<A>;
  static constexpr bool returns_output = true;
};
/// Elements that may have to be walked through before they are cut.
struct forward_access : random_access {
  template <class R>
  static constexpr auto elements(R&& r, loop_options const& wanted) {
    return detail::cut(r, wanted);
  }
  template <class I, class S>
  static constexpr auto elements(I first, S last, loop_options const& wanted) {
    return detail::cut(std::move(first), std::move(last), wanted);
  }
};

/// An algorithm on one range: Algorithm::run(on, elements, options, arguments...), with Algorithm::given the arguments.
template <class Algorithm>
struct on_range : needs_place {
  using needs_place::operator();

  template <class On, std::ranges::range R>
  requires(takes<Algorithm>) constexpr auto operator()(On&& on, R&& r, loop_options const& wanted = {}) const {
    return borrowed<Algorithm, R>(Algorithm::run(on, Algorithm::elements(r, wanted), wanted));
  }
  template <class On, std::ranges::range R, class A = default_of<Algorithm, 0>>
  requires(takes<Algorithm, A>) constexpr auto operator()(On&& on, R&& r, A&& a,
                                                          loop_options const& wanted = {}) const {
    return borrowed<Algorithm, R>(Algorithm::run(on, Algorithm::elements(r, wanted), wanted, std::forward<A>(a)));
  }
  template <class On, std::ranges::range R, class A = default_of<Algorithm, 0>, class B = default_of<Algorithm, 1>>
  requires(takes<Algorithm, A, B>) constexpr auto operator()(On&& on, R&& r, A&& a, B&& b,
                                                             loop_options const& wanted = {}) const {
    return borrowed<Algorithm, R>(
        Algorithm::run(on, Algorithm::elements(r, wanted), wanted, std::forward<A>(a), std::forward<B>(b)));
  }
  template <class On, std::ranges::range R, class A = default_of<Algorithm, 0>, class B = default_of<Algorithm, 1>,
            class C = default_of<Algorithm, 2>>
  requires(takes<Algorithm, A, B, C>) constexpr auto operator()(On&& on, R&& r, A&& a, B&& b, C&& c,
                                                                loop_options const& wanted = {}) const {
    return borrowed<Algorithm, R>(Algorithm::run(on, Algorithm::elements(r, wanted), wanted, std::forward<A>(a),
                                                 std::forward<B>(b), std::forward<C>(c)));
  }
  template <class On, std::ranges::range R, class A = default_of<Algorithm, 0>, class B = default_of<Algorithm, 1>,
            class C = default_of<Algorithm, 2>, class D = default_of<Algorithm, 3>>
  requires(takes<Algorithm, A, B, C, D>) constexpr auto operator()(On&& on, R&& r, A&& a, B&& b, C&& c, D&& d,
                                                                   loop_options const& wanted = {}) const {
    return borrowed<Algorithm, R>(Algorithm::run(on, Algorithm::elements(r, wanted), wanted, std::forward<A>(a),
                                                 std::forward<B>(b), std::forward<C>(c), std::forward<D>(d)));
  }

  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
  requires(takes<Algorithm>) constexpr auto operator()(On&& on, I first, S last,
                                                       loop_options const& wanted = {}) const {
    return Algorithm::run(on, Algorithm::elements(std::move(first), std::move(last), wanted), wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class A = default_of<Algorithm, 0>>
  requires(takes<Algorithm, A>) constexpr auto operator()(On&& on, I first, S last, A&& a,
                                                          loop_options const& wanted = {}) const {
    return Algorithm::run(on, Algorithm::elements(std::move(first), std::move(last), wanted), wanted,
                          std::forward<A>(a));
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class A = default_of<Algorithm, 0>,
            class B = default_of<Algorithm, 1>>
  requires(takes<Algorithm, A, B>) constexpr auto operator()(On&& on, I first, S last, A&& a, B&& b,
                                                             loop_options const& wanted = {}) const {
    return Algorithm::run(on, Algorithm::elements(std::move(first), std::move(last), wanted), wanted,
                          std::forward<A>(a), std::forward<B>(b));
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class A = default_of<Algorithm, 0>,
            class B = default_of<Algorithm, 1>, class C = default_of<Algorithm, 2>>
  requires(takes<Algorithm, A, B, C>) constexpr auto operator()(On&& on, I first, S last, A&& a, B&& b, C&& c,
                                                                loop_options const& wanted = {}) const {
    return Algorithm::run(on, Algorithm::elements(std::move(first), std::move(last), wanted), wanted,
                          std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class A = default_of<Algorithm, 0>,
            class B = default_of<Algorithm, 1>, class C = default_of<Algorithm, 2>, class D = default_of<Algorithm, 3>>
  requires(takes<Algorithm, A, B, C, D>) constexpr auto operator()(On&& on, I first, S last, A&& a, B&& b, C&& c, D&& d,
                                                                   loop_options const& wanted = {}) const {
    return Algorithm::run(on, Algorithm::elements(std::move(first), std::move(last), wanted), wanted,
                          std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), std::forward<D>(d));
  }
};

/// An algorithm on two ranges: Algorithm::run(on, elements, elements, options, arguments...).
template <class Algorithm>
struct on_two_ranges : needs_place {
  using needs_place::operator();

  template <class On, std::ranges::range R1, std::ranges::range R2>
  requires(takes<Algorithm>) constexpr auto operator()(On&& on, R1&& r1, R2&& r2,
                                                       loop_options const& wanted = {}) const {
    return borrowed_of_two<R1, R2>(Algorithm::run(on, detail::subrange_of(r1), detail::subrange_of(r2), wanted));
  }
  template <class On, std::ranges::range R1, std::ranges::range R2, class A = default_of<Algorithm, 0>>
  requires(takes<Algorithm, A>) constexpr auto operator()(On&& on, R1&& r1, R2&& r2, A&& a,
                                                          loop_options const& wanted = {}) const {
    return borrowed_of_two<R1, R2>(
        Algorithm::run(on, detail::subrange_of(r1), detail::subrange_of(r2), wanted, std::forward<A>(a)));
  }
  template <class On, std::ranges::range R1, std::ranges::range R2, class A = default_of<Algorithm, 0>,
            class B = default_of<Algorithm, 1>>
  requires(takes<Algorithm, A, B>) constexpr auto operator()(On&& on, R1&& r1, R2&& r2, A&& a, B&& b,
                                                             loop_options const& wanted = {}) const {
    return borrowed_of_two<R1, R2>(Algorithm::run(on, detail::subrange_of(r1), detail::subrange_of(r2), wanted,
                                                  std::forward<A>(a), std::forward<B>(b)));
  }
  template <class On, std::ranges::range R1, std::ranges::range R2, class A = default_of<Algorithm, 0>,
            class B = default_of<Algorithm, 1>, class C = default_of<Algorithm, 2>>
  requires(takes<Algorithm, A, B, C>) constexpr auto operator()(On&& on, R1&& r1, R2&& r2, A&& a, B&& b, C&& c,
                                                                loop_options const& wanted = {}) const {
    return borrowed_of_two<R1, R2>(Algorithm::run(on, detail::subrange_of(r1), detail::subrange_of(r2), wanted,
                                                  std::forward<A>(a), std::forward<B>(b), std::forward<C>(c)));
  }
  template <class On, std::ranges::range R1, std::ranges::range R2, class A = default_of<Algorithm, 0>,
            class B = default_of<Algorithm, 1>, class C = default_of<Algorithm, 2>, class D = default_of<Algorithm, 3>>
  requires(takes<Algorithm, A, B, C, D>) constexpr auto operator()(On&& on, R1&& r1, R2&& r2, A&& a, B&& b, C&& c,
                                                                   D&& d, loop_options const& wanted = {}) const {
    return borrowed_of_two<R1, R2>(Algorithm::run(on, detail::subrange_of(r1), detail::subrange_of(r2), wanted,
                                                  std::forward<A>(a), std::forward<B>(b), std::forward<C>(c),
                                                  std::forward<D>(d)));
  }

  template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
            std::sentinel_for<I2> S2>
  requires(takes<Algorithm>) constexpr auto operator()(On&& on, I1 first1, S1 last1, I2 first2, S2 last2,
                                                       loop_options const& wanted = {}) const {
    return Algorithm::run(on, detail::subrange_of(std::move(first1), std::move(last1)),
                          detail::subrange_of(std::move(first2), std::move(last2)), wanted);
  }
  template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
            std::sentinel_for<I2> S2, class A = default_of<Algorithm, 0>>
  requires(takes<Algorithm, A>) constexpr auto operator()(On&& on, I1 first1, S1 last1, I2 first2, S2 last2, A&& a,
                                                          loop_options const& wanted = {}) const {
    return Algorithm::run(on, detail::subrange_of(std::move(first1), std::move(last1)),
                          detail::subrange_of(std::move(first2), std::move(last2)), wanted, std::forward<A>(a));
  }
  template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
            std::sentinel_for<I2> S2, class A = default_of<Algorithm, 0>, class B = default_of<Algorithm, 1>>
  requires(takes<Algorithm, A, B>) constexpr auto operator()(On&& on, I1 first1, S1 last1, I2 first2, S2 last2, A&& a,
                                                             B&& b, loop_options const& wanted = {}) const {
    return Algorithm::run(on, detail::subrange_of(std::move(first1), std::move(last1)),
                          detail::subrange_of(std::move(first2), std::move(last2)), wanted, std::forward<A>(a),
                          std::forward<B>(b));
  }
  template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
            std::sentinel_for<I2> S2, class A = default_of<Algorithm, 0>, class B = default_of<Algorithm, 1>,
            class C = default_of<Algorithm, 2>>
  requires(takes<Algorithm, A, B, C>) constexpr auto operator()(On&& on, I1 first1, S1 last1, I2 first2, S2 last2,
                                                                A&& a, B&& b, C&& c,
                                                                loop_options const& wanted = {}) const {
    return Algorithm::run(on, detail::subrange_of(std::move(first1), std::move(last1)),
                          detail::subrange_of(std::move(first2), std::move(last2)), wanted, std::forward<A>(a),
                          std::forward<B>(b), std::forward<C>(c));
  }
  template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
            std::sentinel_for<I2> S2, class A = default_of<Algorithm, 0>, class B = default_of<Algorithm, 1>,
            class C = default_of<Algorithm, 2>, class D = default_of<Algorithm, 3>>
  requires(takes<Algorithm, A, B, C, D>) constexpr auto operator()(On&& on, I1 first1, S1 last1, I2 first2, S2 last2,
                                                                   A&& a, B&& b, C&& c, D&& d,
                                                                   loop_options const& wanted = {}) const {
    return Algorithm::run(on, detail::subrange_of(std::move(first1), std::move(last1)),
                          detail::subrange_of(std::move(first2), std::move(last2)), wanted, std::forward<A>(a),
                          std::forward<B>(b), std::forward<C>(c), std::forward<D>(d));
  }
};

}  // namespace heist::detail
