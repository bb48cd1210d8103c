// Objects that a task may come after: futures, ranges of them, runs of graphs (README.md, "Tasks after tasks").
#pragma once

#include <cstddef>  // size_t
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, move
#include <variant>  // monostate
#include <vector>

#include "heist/core/base/values.hpp"
#include "heist/core/executor/future.hpp"

namespace heist::detail {

/// A future that a task comes after. A handle that only gives the order is kept until start_after() has returned.
/// `VoidResults`: a task without a value counts as std::monostate. `Kept`: the handle, or a reference to the caller's.
template <class T, class Kept = shared_future<T>>
struct after_shared {
  static constexpr bool counted = false;
  Kept from;

  std::size_t size() const noexcept { return 1; }
  template <class Add>
  void fill(Add&& add) {
    future_access::state(from);  // refuses one that refers to nothing
    if constexpr (std::is_void_v<T>) {
      add(&future_access::state(from), false);
    } else {
      add(future_access::share(from), true);
    }
  }
  template <bool VoidResults>
  static auto arguments(dependency const* at, std::size_t) {
    if constexpr (!std::is_void_v<T>) {
      using reference = decltype(std::declval<result_slot<T> const&>().get());
      return std::tuple<reference>{std::as_const(static_cast<async_state<T>*>(at->on)->result).get()};
    } else if constexpr (VoidResults) {
      return std::tuple<std::monostate>{};
    } else {
      return std::tuple<>{};
    }
  }
};

template <class T>
struct after_only {
  static constexpr bool counted = false;
  future<T> from;

  std::size_t size() const noexcept { return 1; }
  template <class Add>
  void fill(Add&& add) {
    future_access::state(from);
    add(future_access::give_up(from), true);  // void, too: moves the handle's share, so no release comes first
  }
  template <bool VoidResults>
  static auto arguments(dependency const* at, std::size_t) {
    if constexpr (std::is_void_v<T> || std::is_reference_v<T>) {
      return after_shared<T>::template arguments<VoidResults>(at, 1);
    } else {
      auto& slot = static_cast<async_state<T>*>(at->on)->result;
      return std::tuple<T&&>{
          std::move(const_cast<std::remove_const_t<T>&>(std::as_const(slot).get()))};  // no other handle
    }
  }
};

/// A range of futures. `Range`: the range itself, or a reference to the caller's.
template <class Range>
struct after_range {
  static constexpr bool counted = true;
  using handle = std::remove_cvref_t<std::ranges::range_reference_t<Range>>;
  static constexpr bool given = !std::is_lvalue_reference_v<Range> && is_future<handle>;
  /// False for a view that makes its elements on demand.
  static constexpr bool lives_on = std::is_reference_v<std::ranges::range_reference_t<Range>>;
  using value = typename handle::value_type;
  Range from;

  std::size_t size() { return static_cast<std::size_t>(std::ranges::distance(from)); }
  template <class Add>
  void fill(Add&& add) {
    for (auto&& f : from) {
      future_access::state(f);
      if constexpr (std::is_void_v<value> && lives_on) {
        add(&future_access::state(f), false);
      } else if constexpr (given || !lives_on) {
        add(future_access::give_up(f), true);
      } else {
        handle copy{f};
        add(future_access::give_up(copy), true);
      }
    }
  }
  /// Links have pointers to the tasks, in which results are.
  static value_places places_of(dependency const* at, std::size_t count) noexcept {
    if (count == 0) return {};
    auto const* const task = reinterpret_cast<char const*>(at->on);
    auto const* const result = reinterpret_cast<char const*>(&static_cast<async_state<value>*>(at->on)->result);
    return {reinterpret_cast<char const*>(&at->on), sizeof(dependency), result - task};
  }
  template <bool VoidResults>
  static auto arguments(dependency const* at, std::size_t count) {
    if constexpr (std::is_void_v<value>) {
      return std::tuple<>{};
    } else {
      static_assert(!std::is_reference_v<value>,
                    "heist: a range of tasks that return references has no values to hand on; fix it by returning "
                    "pointers.");
      using seen = std::conditional_t<given, values<value, value&>, values<value>>;
      return std::tuple<seen>{values_access::make<seen>(places_of(at, count), count)};
    }
  }
};

/// The end of a run of a graph. graph/run_end.hpp has end_of_run().
template <class T>
concept has_end = requires(T const& run, core& scheduler) {
  end_of_run(run, scheduler);
};
struct after_run_base {
  static constexpr bool counted = false;
  static std::size_t size() noexcept { return 1; }
};
template <class Run>
struct after_run : after_run_base {
  explicit after_run(Run const& of) noexcept : from{of} {}
  Run const& from;

  template <class Add>
  void fill(Add&& add, core& scheduler) {
    add(end_of_run(from, scheduler), true);
  }
  template <bool VoidResults>
  static auto arguments(dependency const* at, std::size_t) {
    return after_shared<void>::template arguments<VoidResults>(at, 1);
  }
};

/// Whatever became of it: the task gets a handle.
template <class T>
struct after_handle {
  static constexpr bool counted = false, always = true;
  shared_future<T> from;

  std::size_t size() const noexcept { return 1; }
  template <class Add>
  void fill(Add&& add) {
    future_access::state(from);  // refuses one that refers to nothing
    add(future_access::give_up(from), true);
  }
  template <bool VoidResults>
  static auto arguments(dependency const* at, std::size_t) {
    return std::tuple<shared_future<T>>{future_access::one_more(*static_cast<async_state<T>*>(at->on))};
  }
};
template <class T>
struct after_handles {
  static constexpr bool counted = true, always = true;
  std::vector<shared_future<T>> from;

  std::size_t size() const noexcept { return from.size(); }
  template <class Add>
  void fill(Add&& add) {
    for (auto& f : from) {
      future_access::state(f);
      add(future_access::give_up(f), true);
    }
  }
  template <bool VoidResults>
  static auto arguments(dependency const* at, std::size_t count) {
    std::vector<shared_future<T>> all;
    all.reserve(count);
    for (std::size_t i = 0; i != count; ++i)
      all.push_back(future_access::one_more(*static_cast<async_state<T>*>(at[i].on)));
    return std::tuple<std::vector<shared_future<T>>>{std::move(all)};
  }
};
template <class Run>
struct after_run_handle : after_run<Run> {
  static constexpr bool always = true;
  using after_run<Run>::after_run;
  template <bool VoidResults>
  static auto arguments(dependency const* at, std::size_t) {
    return after_handle<void>::template arguments<VoidResults>(at, 1);
  }
};

template <class T>
concept range_of_futures = std::ranges::forward_range<T> &&
    (is_future<std::remove_cvref_t<std::ranges::range_reference_t<T>>> ||
     is_shared_future<std::remove_cvref_t<std::ranges::range_reference_t<T>>>);

/// How an argument of heist::after is kept: what lives on in the caller by reference.
template <class T>
auto after_what(T&& from) {
  using bare = std::remove_cvref_t<T>;
  if constexpr (is_shared_future<bare>) {
    return after_shared<typename bare::value_type,
                        std::conditional_t<std::is_lvalue_reference_v<T>, bare const&, bare>>{std::forward<T>(from)};
  } else if constexpr (is_future<bare>) {
    static_assert(!std::is_lvalue_reference_v<T>,
                  "heist: a future has one taker, and this one would be left without; fix it by std::move, or by "
                  "share(), which many may come after.");
    return after_only<typename bare::value_type>{std::forward<T>(from)};
  } else if constexpr (has_end<bare>) {
    return after_run<bare>{from};
  } else {
    static_assert(
        range_of_futures<T>,
        "heist: a task comes after futures, shared_futures, ranges of them and runs of graphs; fix it by what "
        "submit() or run() returned.");
    using handle = std::remove_cvref_t<std::ranges::range_reference_t<T>>;
    static_assert(!std::is_lvalue_reference_v<T> || is_shared_future<handle>,
                  "heist: a future has one taker, and those of this range would be left without; fix it by std::move "
                  "of the range, or by a range of shared_futures.");
    return after_range<T>{std::forward<T>(from)};
  }
}
/// The same of heist::after_always.
template <class T>
auto after_what_always(T&& from) {
  using bare = std::remove_cvref_t<T>;
  if constexpr (has_end<bare>) {
    return after_run_handle<bare>{from};
  } else if constexpr (is_shared_future<bare>) {
    return after_handle<typename bare::value_type>{std::forward<T>(from)};
  } else {
    using same = decltype(after_what(std::forward<T>(from)));  // refuses what cannot be
    if constexpr (is_future<bare>) {
      return after_handle<typename bare::value_type>{std::forward<T>(from)};
    } else {
      after_handles<typename same::value> all;
      for (auto&& f : from) {
        if constexpr (same::given) {
          all.from.emplace_back(std::move(f));
        } else {
          all.from.emplace_back(std::forward<decltype(f)>(f));
        }
      }
      return all;
    }
  }
}
template <class What>
inline constexpr bool comes_always = requires {
  What::always;
};

}  // namespace heist::detail
