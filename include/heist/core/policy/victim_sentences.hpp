// Names the part that a type lacks to be a victim policy, in one sentence of the compiler.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>  // conditional_t, type_identity

#include "heist/core/base/random.hpp"
#include "heist/core/policy/victim.hpp"

namespace heist::victim {

/// The part that keeps a type from being a whole_victim_policy; of several the first.
enum class missing_part : std::uint8_t {
  nothing,
  construction,
  next,
  noexcept_next,
  feedback,
  noexcept_feedback,
  begin,
  met_thief,
  wants_look,
  looked,
  callable_look,
  place
};

template <class P>
constexpr missing_part first_missing_part() noexcept {
  // clang-format off
  if constexpr (!std::default_initializable<P> || !std::movable<P>) {
    return missing_part::construction;
  } else if constexpr (!requires(P p, thief_view const& me, fast_random& random) {
                         { p.next(me, random) } -> std::same_as<std::uint32_t>;
                       }) {
    return missing_part::next;
  } else if constexpr (!requires(P p, thief_view const& me, fast_random& random) { { p.next(me, random) } noexcept; }) {
    return missing_part::noexcept_next;
  } else if constexpr (!requires(P p, std::uint32_t victim, outcome what) {
                         { p.feedback(victim, what) } -> std::same_as<void>;
                       }) {
    return missing_part::feedback;
  } else if constexpr (!victim_policy<P>) {
    return missing_part::noexcept_feedback;
  } else if constexpr (!search_policy<P> && requires { &P::begin; }) {
    return missing_part::begin;
  } else if constexpr (!thief_counting_policy<P> && requires { &P::met_thief; }) {
    return missing_part::met_thief;
  } else if constexpr (!sampling_policy<P> && requires { &P::wants_look; &P::looked; }) {
    return missing_part::callable_look;
  } else if constexpr (!sampling_policy<P> && requires { &P::wants_look; }) {
    return missing_part::looked;
  } else if constexpr (!sampling_policy<P> && requires { &P::looked; }) {
    return missing_part::wants_look;
  } else if constexpr (!whole_victim_policy<P>) {
    return missing_part::place;
  } else {
    return missing_part::nothing;
  }
  // clang-format on
}

/// Does not compile if P is no whole_victim_policy. The result's `type` is P, or else `random`, so that the compiler
/// says one thing only. (A function, because what names a class whose assertion has failed fails in its turn under
/// Clang.)
template <class P>
auto checked() noexcept {
  constexpr missing_part missing = first_missing_part<P>();
  static_assert(missing != missing_part::construction,
                "heist: the victim policy cannot be made without arguments, or cannot be moved: each worker has one of "
                "its own; fix it by a default constructor and a move constructor and assignment.");
  static_assert(missing != missing_part::next,
                "heist: the victim policy has no next() that names a worker; fix it by "
                "`std::uint32_t next(heist::victim::thief_view const&, heist::fast_random&) noexcept`.");
  static_assert(missing != missing_part::noexcept_next,
                "heist: the victim policy's next() may throw, in the middle of a search; fix it by `noexcept`.");
  static_assert(missing != missing_part::feedback,
                "heist: the victim policy has no feedback() that hears what came of an attempt; fix it by "
                "`void feedback(std::uint32_t victim, heist::victim::outcome) noexcept`, which may do nothing.");
  static_assert(missing != missing_part::noexcept_feedback,
                "heist: the victim policy's feedback() may throw, in the middle of a search; fix it by `noexcept`.");
  static_assert(missing != missing_part::begin,
                "heist: the victim policy has a begin() that heist would never call; fix it by "
                "`void begin(heist::victim::thief_view const&, heist::fast_random&) noexcept`, or by another name.");
  static_assert(missing != missing_part::met_thief,
                "heist: the victim policy has a met_thief() that heist would never call; fix it by "
                "`void met_thief(std::uint32_t victim) noexcept`, or by another name.");
  static_assert(missing != missing_part::looked,
                "heist: the victim policy has a wants_look() and no looked() that hears what was seen; fix it by "
                "`void looked(std::uint32_t victim, heist::victim::offer const&) noexcept`.");
  static_assert(missing != missing_part::wants_look,
                "heist: the victim policy has a looked() and no wants_look() that asks for it; fix it by "
                "`bool wants_look() const noexcept`.");
  static_assert(missing != missing_part::callable_look,
                "heist: the victim policy has a wants_look() or looked() that heist would never call; fix it by "
                "`bool wants_look() const noexcept` and "
                "`void looked(std::uint32_t victim, heist::victim::offer const&) noexcept`.");
  static_assert(missing != missing_part::place,
                "heist: the victim policy has a place() that heist would never call; fix it by "
                "`void place(heist::victim::thief_view const&, heist::topology::machine const&, "
                "heist::topology::squads const&) noexcept`, or by another name.");
  return std::type_identity<std::conditional_t<missing == missing_part::nothing, P, random>>{};
}

}  // namespace heist::victim
