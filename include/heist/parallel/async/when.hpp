// when_all and when_any (README.md, "Tasks after tasks").
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <iterator>  // size
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>  // forward
#include <vector>

#include "heist/parallel/async/after.hpp"
#include "heist/parallel/async/ready.hpp"

namespace heist {
namespace detail {

struct any_state;
/// One of those of which the first is waited for; lies in the block of the state. It has no share in the task. The
/// first task to end takes all links from the state's inherited_stop before it releases its own share.
struct any_link : dependency {
  explicit any_link(async_base& state) noexcept : dependency{state, nullptr, true} { wake = &wake_up; }
  static void wake_up(completion_waiter& self) noexcept;
};
static_assert(sizeof(any_link) == sizeof(dependency));

/// Done when the first of its links is woken; lives until the last is.
struct any_state final : async_state<std::size_t> {
  explicit any_state(async_place const& at) noexcept;
  any_link* first_link() noexcept { return reinterpret_cast<any_link*>(this + 1); }
  /// The first one is the result.
  void finish(std::size_t which) noexcept;

  os_env::atomic<bool> over{false};
};

/// One that is to wait for the first of `count` tasks; the caller owns a share. Throws bad_alloc.
any_state& make_any(async_base& first, std::size_t count);
/// The next one, by its number. False if no more are needed: one is done, or missing (null).
bool add_to_any(any_state& any, std::size_t index, std::size_t count, async_base* task) noexcept;

[[noreturn]] void reject_any_of_nothing();

/// The results of the tasks, as a tuple; of ranges as a vector.
struct gather_tuple {
  template <class... V>
  auto operator()(V&&... v) const {
    return std::tuple<kept<V>...>{std::forward<V>(v)...};
  }

 private:
  template <class V>
  using kept = std::conditional_t<std::is_lvalue_reference_v<V> && !std::is_const_v<std::remove_reference_t<V>>, V,
                                  std::remove_cvref_t<V>>;
};
template <class T>
struct gather_vector {
  template <class Reference>
  std::vector<T> operator()(values<T, Reference> from) const {
    std::vector<T> all;
    all.reserve(from.size());
    for (auto& v : from) {
      if constexpr (std::is_const_v<std::remove_reference_t<Reference>>) {
        all.push_back(v);
      } else {
        all.push_back(std::move(v));
      }
    }
    return all;
  }
};

/// The executor of the first of them that has one.
inline core& scheduler_of_first(async_base* const* all, std::size_t count) {
  for (std::size_t i = 0; i != count; ++i) {
    if (all[i]->scheduler != nullptr) return scheduler_of(*all[i]);
  }
  return scheduler_of(*all[0]);
}
template <class Range>
core& scheduler_of_first(Range& all) {
  for (auto&& f : all) {
    if (async_base& task = future_access::state(f); task.scheduler != nullptr) return scheduler_of(task);
  }
  return scheduler_of(future_access::state(*std::ranges::begin(all)));
}

}  // namespace detail

/// Returns a future that is ready when all these tasks are. Its value is a tuple of their results, std::monostate for
/// void. If tasks have failed, it has the first exception in this order. Pass futures by std::move, and
/// shared_futures as copies. The executor of the first task completes it, and must still exist. If that is a
/// make_ready_future(), the next one is asked.
template <class First, class... More>
requires(detail::is_future<std::remove_cvref_t<First>> ||
         detail::is_shared_future<std::remove_cvref_t<First>>) auto when_all(First&& first, More&&... more) {
  detail::async_base* const all[]{&detail::future_access::state(first), &detail::future_access::state(more)...};
  detail::core& scheduler = detail::scheduler_of_first(all, std::size(all));
  return detail::submit_after<context, detail::no_stop, true>(
      scheduler, after(std::forward<First>(first), std::forward<More>(more)...).what, detail::gather_tuple{});
}

/// when_all() of a range: a future of a vector of the results, or of void if they are void. Of an empty range it is
/// ready at once.
template <detail::range_of_futures Range>
auto when_all(Range&& all) {
  using value = typename std::remove_cvref_t<std::ranges::range_reference_t<Range>>::value_type;
  if (std::ranges::begin(all) == std::ranges::end(all)) {
    if constexpr (std::is_void_v<value>) {
      return make_ready_future();
    } else {
      return make_ready_future(std::vector<value>());
    }
  }
  detail::core& scheduler = detail::scheduler_of_first(all);
  if constexpr (std::is_void_v<value>) {
    return detail::submit_after<context, detail::no_stop, false>(scheduler, after(std::forward<Range>(all)).what,
                                                                 [] {});
  } else {
    return detail::submit_after<context, detail::no_stop, false>(scheduler, after(std::forward<Range>(all)).what,
                                                                 detail::gather_vector<value>{});
  }
}

/// Returns a future that is ready when the first of these futures is, with a value or an exception. Its value is the
/// number of that future, from 0. The futures keep their results. Each when_any() keeps a small block at each future
/// until that future is ready. Throws executor_error for an empty range.
template <detail::range_of_futures Range>
future<std::size_t> when_any(Range&& all) {
  auto const size = static_cast<std::size_t>(std::ranges::distance(all));
  if (size == 0) detail::reject_any_of_nothing();
  detail::any_state& any = detail::make_any(detail::future_access::state(*std::ranges::begin(all)), size);
  future<std::size_t> result = detail::future_access::make<std::size_t>(any);
  std::size_t index = 0;
  for (auto&& f : all) {
    if (!detail::add_to_any(any, index++, size, f.valid() ? &detail::future_access::state(f) : nullptr)) break;
  }
  return result;
}
/// As above.
template <class T, class... More>
future<std::size_t> when_any(detail::future_base<T> const& first, detail::future_base<More> const&... more) {
  constexpr std::size_t size = 1 + sizeof...(More);
  detail::async_base* const each[size]{&detail::future_access::state(first), &detail::future_access::state(more)...};
  detail::any_state& any = detail::make_any(*each[0], size);
  for (std::size_t i = 0; i != size && detail::add_to_any(any, i, size, each[i]); ++i) {
  }
  return detail::future_access::make<std::size_t>(any);
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/async/when.ipp"
#endif
