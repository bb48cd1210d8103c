// Stands for parallel/algorithm/division.hpp: the questions that a loop asks its context, which tests/model/loops.cpp
// makes itself.
#pragma once

#include <cstddef>

namespace heist::detail {

enum class split_mode { tasks, continuations, fixed };

template <class Context>
split_mode split_mode_of(Context const& c) noexcept {
  return c.has_history ? split_mode::fixed : split_mode::tasks;
}
/// As shipped: with an empty stack, too, a thief counts as having asked if the first fork would not be plain.
template <class Context>
bool asked(Context const& c, split_mode) noexcept {
  return !c.on->tasks.fork_is_plain(c.on->tasks.first());
}
template <class Context>
std::size_t workers_of(Context const& c) noexcept {
  return c.workers;
}
template <class Context>
std::size_t workers_of_part(Context const& c, split_mode) noexcept {
  return workers_of(c);
}

}  // namespace heist::detail
