// How child-first frames know where they are in the computation, where the order is `recorded`.
#pragma once

#include <array>
#include <bit>      // endian
#include <cstddef>  // offsetof
#include <cstdint>
#include <cstring>  // memcpy
#include <memory>   // addressof
#include <tuple>
#include <type_traits>
#include <utility>  // exchange, index_sequence

#include "heist/core/base/config.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/fork/child_first.hpp"
#include "heist/core/fork/fork_traits.hpp"
#include "heist/core/fork/remote.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/locality/replay/replay_extension.hpp"
#include "heist/locality/replay/steal_log.hpp"

namespace heist::detail {

/// The mark of frame positions where steals are noted: the position is a frame_record. No basic_context of the order
/// `recorded` is without one.
inline constexpr position_mark recorded_mark = position_mark::of_extension;

/// Runs children of a frame that follows a steal tree or has designated, or that has nothing to steal below.
void special_fork(fiber& self, frame_record& record, fork_slot* position, std::span<erased_child* const> children);

/// The places for child_first_fork: a frame's context has its record where other orders have a position. A fork costs a
/// few stores to lines that it writes anyway.
struct recorded_places {
  using record = frame_record;
  using frame = recorded_frame;

  static bool has_record(fork_slot* position) noexcept { return context_access::mark_at(position) == recorded_mark; }
  HEIST_ALWAYS_INLINE static frame_record* record_of(fork_slot* position) noexcept {
    return reinterpret_cast<frame_record*>(reinterpret_cast<std::uintptr_t>(position) -
                                           static_cast<std::uintptr_t>(recorded_mark));
  }
  HEIST_ALWAYS_INLINE static fork_slot* position_of(frame_record& r) noexcept {
    // An addition: compilers do better than with a disjunction.
    return reinterpret_cast<fork_slot*>(reinterpret_cast<std::uintptr_t>(&r) +
                                        static_cast<std::uintptr_t>(recorded_mark));
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

  /// A child whose caller resumes elsewhere.
  static void ended(frame const& f) noexcept { end_of_work(f.place.parent); }

  static std::uint32_t index_of(record const& r) noexcept { return r.index; }

  /// While a frame waits for its children: notes the worker that continues with it after `last`, the join's last index.
  /// Calls below may have forked further with the frame's context.
  class joining {
   public:
    joining(fiber& self, fork_slot* position, std::uint32_t last) noexcept
        : on_{self}, record_{*record_of(position)}, last_{last} {}
    joining(joining const&) = delete;
    joining& operator=(joining const&) = delete;
    ~joining() {
      if (before_ != none) steal_log::note(&record_, last_, on_.worker->number, before_, true);
    }
    void about_to_wait() noexcept {
      if (before_ != none) return;
      before_ = on_.worker->number;
      end_of_work(&record_);
    }

   private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    fiber& on_;
    frame_record const& record_;
    std::uint32_t const last_;
    std::uint32_t before_ = none;  ///< who left it
  };

  static constexpr bool may_be_special = true;
  struct without_context;
  /// Does the frame follow a steal tree, or has it designated?
  HEIST_ALWAYS_INLINE static bool is_special(fork_slot* position) noexcept { return record_of(position)->is_special(); }
  template <class Context, class... F>
  static fork_values<Context, F...> special_fork(fiber& self, fork_slot* position, F&... f) {
    return fork_erased<Context>(
        [&](auto children) { detail::special_fork(self, *record_of(position), position, children); }, f...);
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

/// Forks without a place, in a strict run: they are calls, because no worker steals there. A thief would end the
/// rest of the frame on a worker that does not have the turn.
class in_place_if {
 public:
  in_place_if(fiber& self, bool strict) noexcept : on_{self}, more_{strict ? std::uint32_t{1} : 0} {
    on_.no_migrate += more_;
  }
  in_place_if(in_place_if const&) = delete;
  in_place_if& operator=(in_place_if const&) = delete;
  ~in_place_if() { on_.no_migrate -= more_; }

 private:
  fiber& on_;
  std::uint32_t const more_;
};

/// A frame that belongs to no run, of code on fiber `here` that has no context of its own.
struct recorded_places::without_context {
  explicit without_context(fiber& here) noexcept : strict{here, must_not_migrate(here)} {}
  fork_slot* position() noexcept { return position_of(of_no_run); }
  frame_record of_no_run{nullptr, 0, 0};
  in_place_if strict;
};

template <>
struct root_frame<basic_context<order::recorded>> {
  explicit root_frame(fiber&) noexcept {}
  fork_slot* position() noexcept { return recorded_places::position_of(of_no_run); }
  frame_record of_no_run{nullptr, 0, 0};
};

template <>
struct external_frame<basic_context<order::recorded>> : recorded_places::without_context {
  using without_context::without_context;
};

template <>
struct fork_traits<order::recorded> : fork_traits<order::of_executor> {
  using region_context = basic_context<order::recorded>;

  static fork_way way_of_scope(fiber&, fork_slot*) noexcept { return fork_way::by_extension; }
  template <class Context, class... F>
  HEIST_ALWAYS_INLINE static auto fork_join(Context const& c, F&&... f) {
    return child_first_fork_in<recorded_places, Context, forked_callable<F>...>::run(
        context_access::fiber_of(c), context_access::position_of(c), f...);
  }
  template <class Context, class... F>
  static auto inter_fork(Context const& c, F&&... f) {
    return fork_join(c, std::forward<F>(f)...);
  }
};

}  // namespace heist::detail
