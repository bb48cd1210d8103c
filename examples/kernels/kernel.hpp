// The shared code of the kernels: their description, a context without parallelism, a parallel loop, random numbers.
#pragma once

#include <heist/heist.hpp>

#include <fmt/format.h>

#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>  // forward
#include <variant>  // monostate

namespace kernels {

/// Sizes are arguments of the kernel's constructor.
struct description {
  std::string_view name;
  std::string_view problem;
  std::string_view size_means;
  std::size_t smallest, largest;
  std::size_t test;       ///< takes milliseconds, also under a sanitizer
  std::size_t usual;      ///< takes some tenths of a second
  std::size_t published;  ///< as in the literature
  bool power_of_two = false;
  std::size_t stack = std::size_t{1} << 20;  ///< bytes that a recursion may need
};

/// A context that calls each function at once and in order. It turns a parallel version into its serial elision.
class serial_context {
 public:
  template <class... F>
  auto fork_join(F&&... f) const {
    return std::tuple<decltype(call(f))...>{call(f)...};  // braces evaluate from left to right
  }

  class scope {
   public:
    explicit scope(serial_context) {}
    template <class F>
    void fork(F&& f) {
      call(f);
    }
    void join() {}
  };

 private:
  template <class F>
  static auto call(F& f) {
    if constexpr (std::is_void_v<decltype(f(serial_context{}))>) {
      f(serial_context{});
      return std::monostate{};
    } else {
      return f(serial_context{});
    }
  }
};

template <class Context>
struct scope_for {
  using type = heist::scope<Context>;
};
template <class Context>
requires requires {
  typename Context::scope;
}
struct scope_for<Context> {
  using type = typename Context::scope;
};

/// The scope type of a context: heist::scope, unless the context defines its own.
template <class Context>
using scope_of = typename scope_for<Context>::type;

/// A problem of one size. prepare() comes before every serial() or parallel(), outside of the measured time.
template <class K>
concept kernel = requires(K k, K const c, std::size_t size) {
  { K::about } -> std::convertible_to<description>;
  K{size};
  k.prepare();
  k.serial();
  k.parallel(serial_context{});
  { c.result() == c.result() } -> std::convertible_to<bool>;
  { c.check() } -> std::same_as<std::string>;  // error text; empty: the result is right
};

/// Calls f(i) for all i of [first, last), by halving; at most `grain` calls are one task.
template <class Context, class F>
void for_range(Context ctx, std::size_t first, std::size_t last, std::size_t grain, F const& f) {
  if (last - first <= grain) {
    for (; first != last; ++first) f(first);
    return;
  }
  std::size_t const middle = first + (last - first) / 2;
  ctx.fork_join([&](Context c) { for_range(c, first, middle, grain, f); },
                [&](Context c) { for_range(c, middle, last, grain, f); });
}

/// splitmix64: the same numbers with every compiler and library.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_{seed} {}

  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t bound) { return (*this)() % bound; }
  /// In [0, 1).
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

template <class T>
std::string expect_equal(T const& got, T const& wanted) {
  return got == wanted ? std::string{} : fmt::format("the result is {} instead of {}", got, wanted);
}

}  // namespace kernels
