// Forks of frames in the tiers. Bodies of squad_extension.
#pragma once

#include <algorithm>  // max
#include <cstddef>    // size_t
#include <cstdint>
#include <span>

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/fork/parent_first.hpp"
#include "heist/core/fork/remote.hpp"
#include "heist/core/fork/scope_base.hpp"
#include "heist/locality/region/frame_array.hpp"
#include "heist/locality/squads/inter_task.hpp"
#include "heist/locality/squads/profile_frame.hpp"
#include "heist/locality/squads/squad_extension.hpp"
#include "heist/locality/squads/squad_scope.hpp"

namespace heist::detail {

/// Every child goes to a squad's pool, and the frame is suspended until all have ended.
HEIST_COLD_BODY void inter_squad_fork(fiber& self, inter_frame& frame, std::span<erased_child* const> children) {
  auto const count = static_cast<std::uint32_t>(children.size());
  std::uint32_t const first = frame.spawned;
  frame.spawned += count;
  inter_join join{count};
  if (frame_array<inter_child> tasks{count}; tasks.has_room() && may_suspend(*self.worker)) {
    for (std::uint32_t i = 0; i != count; ++i) tasks.add(*children[i], frame, first + i, self.interrupt, join);
    // The head's end of a pool is the youngest: so it continues with the first, in the order of the serial program. Its
    // own squad's are dealt last: another head that finds them finds its own first.
    squad& own = *member_of(*self.worker).in;
    for (std::uint32_t i = count; i-- != 0;) tasks[i].start_elsewhere(own);
    for (std::uint32_t i = count; i-- != 0;) tasks[i].start_here(own);
    join.wait(self, frame);
    return;
  }
  for (std::uint32_t i = 0; i != count; ++i)
    inter_child{*children[i], frame, first + i, self.interrupt, join}.run_in_place(self);
}

/// Some children of a frame that is profiled, from one on, in parallel: the first is called, the rest can be stolen.
struct profiled_children {
  using context_type = basic_context<order::parent_first>;

  void operator()(context_type c) const {
    fiber& self = context_access::fiber_of(c);
    fork_slot* const position = context_access::position_of(c);
    if (left.size() == 1) return call_first(self, position);
    auto const first = [this](context_type of_child) {
      call_first(context_access::fiber_of(of_child), context_access::position_of(of_child));
    };
    profiled_children const rest{run, parent, index + 1, left.subspan(1)};
    parent_first_fork<context_type, decltype(first), profiled_children const>::run(self, position, first, rest);
  }
  void call_first(fiber& self, fork_slot* position) const {
    erased_child& child = *left.front();
    call_measured(*run, parent, index, child.identity, self, position,
                  [&child](fiber& here, fork_slot* there) { child.call(here, there); });
  }

  region_run* run;
  std::uint32_t parent, index;
  std::span<erased_child* const> left;
};

/// Traditional, parent-first.
HEIST_COLD_BODY void profiled_fork(fiber& self, profile_frame& frame, std::span<erased_child* const> children) {
  measurement_pause const paused{&frame};
  std::uint32_t const first = frame.spawn(static_cast<std::uint32_t>(children.size()));
  profiled_children const all{&frame.run(), frame.task(), first, children};
  all(context_access::make<profiled_children::context_type>(self, frame.position()));
}

HEIST_COLD_BODY place_to_fork squad_extension::way_of_fork(fiber& of, fork_slot* position, bool divide) noexcept {
  if (!of.runs_here()) {  // the frame is another task's, which may run
    if (fiber& here = fiber_of_caller(of); &here != &of) {
      return {here.rule_of_task() != nullptr ? fork_way::child_first : fork_way::parent_first, &here,
              position_here(here)};
    }
  }
  if (context_access::mark_at(position) == inter_mark) {
    auto const& frame = *context_access::unmarked<inter_frame>(position);
    if (frame.run->how() == division::by_hand && !divide)
      return {fork_way::child_first, &of, context_access::marked(frame.position, position_mark::child_first)};
  }
  return {fork_way::by_extension, &of, position};
}

HEIST_COLD_BODY void squad_extension::fork(fiber& self, fork_slot* position, std::span<erased_child* const> children) {
  if (context_access::mark_at(position) == profiled_mark) {
    profiled_fork(self, *context_access::unmarked<profile_frame>(position), children);
  } else {
    inter_squad_fork(self, *context_access::unmarked<inter_frame>(position), children);
  }
}

HEIST_COLD_BODY fork_way squad_extension::way_of_scope(fiber&, fork_slot* position) noexcept {
  switch (context_access::mark_at(position)) {
    case position_mark::plain:
      return fork_way::parent_first;
    case position_mark::child_first:
      return fork_way::child_first;
    case inter_mark:
      return context_access::unmarked<inter_frame>(position)->run->how() == division::by_hand ? fork_way::child_first
                                                                                              : fork_way::by_extension;
    default:
      return fork_way::by_extension;
  }
}

HEIST_COLD_BODY unique_ptr<extension_scope> squad_extension::make_scope(scope_base& of, bool) {
  if (context_access::mark_at(of.position) == profiled_mark) return make_unique<profiled_scope>(of);
  return make_unique<squad_scope>(of);
}

HEIST_COLD_BODY bool squad_extension::may_queue(fiber const& here, fork_way way) const noexcept {
  return way == fork_way::parent_first && here.rule_of_task() == nullptr;
}

HEIST_COLD_BODY bool squad_extension::has_history(fork_slot* position) const noexcept {
  position_mark const mark = context_access::mark_at(position);
  return mark == inter_mark || mark == profiled_mark;
}

/// Those of the largest squad.
HEIST_COLD_BODY std::size_t squad_extension::workers_of_part() const noexcept {
  std::size_t most = 0;
  for (auto const& peers : peers_) most = std::max(most, peers.size());
  return most;
}

HEIST_COLD_BODY void squad_extension::footprint(fork_slot* position, std::uint64_t bytes) noexcept {
  if (context_access::mark_at(position) == profiled_mark)
    context_access::unmarked<profile_frame>(position)->declare(bytes);
}

}  // namespace heist::detail
