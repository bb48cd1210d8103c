// How child-first frames know where they are in the computation, where the order is `recorded`.
#pragma once

#include <bit>      // endian
#include <cstddef>  // offsetof
#include <cstdint>
#include <cstring>  // memcpy
#include <type_traits>
#include <utility>  // exchange

#include "heist/base/config.hpp"
#include "heist/fork/child_first.hpp"
#include "heist/policy/order.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/steal_log.hpp"

namespace heist::detail {

/// What child_first_fork asks for places: a frame's context has its record where others have a position. A fork costs a
/// few stores to lines that it writes anyway.
struct recorded_places {
  using record = frame_record;
  using frame = recorded_frame;

  static bool has_record(fork_slot* position) noexcept {
    return context_access::mark_at(position) == tier_mark::recorded;
  }
  HEIST_ALWAYS_INLINE static frame_record* record_of(fork_slot* position) noexcept {
    return reinterpret_cast<frame_record*>(reinterpret_cast<std::uintptr_t>(position) -
                                           static_cast<std::uintptr_t>(tier_mark::recorded));
  }
  HEIST_ALWAYS_INLINE static fork_slot* position_of(frame_record& r) noexcept {
    // An addition: compilers do better than with a disjunction.
    return reinterpret_cast<fork_slot*>(reinterpret_cast<std::uintptr_t>(&r) +
                                        static_cast<std::uintptr_t>(tier_mark::recorded));
  }

  /// The first index for `children` more of the frame at `position`.
  HEIST_ALWAYS_INLINE static std::uint32_t reserve(fork_slot* position, std::uint32_t children) noexcept {
    return std::exchange(record_of(position)->forks, record_of(position)->forks + children);
  }
  /// `r` becomes the place of a child. Returns the position for its context.
  HEIST_ALWAYS_INLINE static fork_slot* enter(record& r, fork_slot* parent, std::uint32_t index) noexcept {
    r.parent = record_of(parent);
    set(r, index);
    return position_of(r);
  }
  /// The same for the child after the one whose place it was, and which has ended.
  HEIST_ALWAYS_INLINE static fork_slot* enter_next(record& r, fork_slot* /*parent*/) noexcept {
    set(r, r.index + 1);
    return position_of(r);
  }
  /// And while that one runs.
  static fork_slot* enter_after(record& r, record const& before, fork_slot* /*parent*/) noexcept {
    r = {before.parent, before.index + 1, 0};
    return position_of(r);
  }
  template <class Context>
  HEIST_ALWAYS_INLINE static Context child_context(fiber& child, record& r) noexcept {
    return context_access::make<Context>(child, position_of(r));
  }

 private:
  /// As one store: a fork is short.
  HEIST_ALWAYS_INLINE static void set(record& r, std::uint32_t index) noexcept {
    static_assert(offsetof(record, forks) == offsetof(record, index) + sizeof(std::uint32_t));
    if constexpr (std::endian::native == std::endian::little) {
      std::uint64_t const both = index;
      std::memcpy(reinterpret_cast<char*>(&r) + offsetof(record, index), &both, sizeof both);
    } else {
      r.index = index;
      r.forks = 0;
    }
  }
};

template <class Context, class... F>
using recorded_fork = child_first_fork_in<recorded_places, Context, F...>;

/// For a context that may have no record because it leaves the order to the executor.
template <class Context, class... F>
auto recorded_fork_of(Context const& c, F&... f) {
  fiber& on = context_access::fiber_of(c);
  fork_slot* const position = context_access::position_of(c);
  if (recorded_places::has_record(position)) return recorded_fork<Context, F...>::run(on, position, f...);
  frame_record of_no_run{nullptr, 0, 0};
  return recorded_fork<Context, F...>::run(on, recorded_places::position_of(of_no_run), f...);
}

/// Frames with such contexts may be recorded.
template <class Context>
inline constexpr bool may_be_recorded =
    std::is_same_v<Context, context> || std::is_same_v<Context, basic_context<order::recorded>>;

inline bool records(fiber const& on) noexcept {
  return on.order == fork_order::recorded;
}

// For the children of scopes.

template <class Context>
using frame_that_calls = std::conditional_t<may_be_recorded<Context>, recorded_frame, calling_frame>;

/// `frame` is about to call child number `index` of the frame at `position`.
template <class Frame>
void enter_branch(Frame& frame, fork_slot* position, std::uint32_t index) noexcept {
  if constexpr (std::is_base_of_v<recorded_frame, Frame>) recorded_places::enter(frame.place, position, index);
}

/// Gives a frame a record that has none because it belongs to no run.
template <class Context, bool = may_be_recorded<Context>>
struct scope_root {
  static fork_slot* position_of(Context const& c) noexcept { return context_access::position_of(c); }
};
template <class Context>
struct scope_root<Context, true> {
  fork_slot* position_of(Context const& c) noexcept {
    fork_slot* const position = context_access::position_of(c);
    if (!records(context_access::fiber_of(c)) || recorded_places::has_record(position)) return position;
    return recorded_places::position_of(of_no_run);
  }
  frame_record of_no_run{nullptr, 0, 0};
};

}  // namespace heist::detail
