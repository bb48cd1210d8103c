// Bodies of squad_scope.hpp.
#pragma once

#include "heist/locality/squads/squad_scope.hpp"

#include <utility>  // exchange

#include "heist/core/scheduler/core.hpp"
#include "heist/locality/policy/boundary_level.hpp"

namespace heist::detail {

HEIST_COLD_BODY child_group::child_group(inter_frame const& parent, interrupt_state const* outer, inter_join& joined,
                                         scope_child* oldest, std::uint32_t children) noexcept
    : inter_task{&run, parent, oldest->number, outer}, join_{&joined}, first_{oldest}, count_{children} {
  if (count_ > 1) set_leaf();
}

HEIST_COLD_BODY runnable* child_group::run(runnable& task, fiber& self) {
  auto& group = static_cast<child_group&>(task);
  group.run_children(self, false);
  group.join_->child_ended();
  return nullptr;
}

HEIST_COLD_BODY void child_group::run_children(fiber& self, bool in_place) noexcept {
  scope_base& of_all = *first_->in;
  run_on(self, in_place, [&](fiber& here, fork_slot* position) {
    if (count_ == 1) {
      if (!of_all.stopped()) first_->call(here, position);
      first_->discard(here);
      return;
    }
    scope_base of_group{here, position, fork_way::child_first, false};
    scope_child* at = first_;
    for (std::uint32_t i = 0; i != count_; ++i) {
      scope_child& child = *std::exchange(at, at->next);  // it is gone when it has run
      if (of_all.stopped()) {
        child.discard(here);
      } else {
        child.in = &of_group;
        of_group.start_or_call(child);
      }
    }
    try {
      of_group.join();
    } catch (...) {
      of_all.keep_exception();
    }
  });
}

HEIST_COLD_BODY squad_scope::squad_scope(scope_base& of) noexcept
    : pending_children{&start_all, of.on->not_started},
      of_{of},
      parent_{*context_access::unmarked<inter_frame>(of.position)},
      extension_{squads_of(of.on->scheduler)} {
  of.on->not_started = this;
  extension_.add_entry(*this);
}

/// The scope is not always the youngest: scopes enter the list with their first child.
HEIST_COLD_BODY squad_scope::~squad_scope() {
  extension_.leave(*this);
  pending_children** at = &of_.on->not_started;
  while (*at != this) at = &(*at)->older;
  *at = older;
}

HEIST_COLD_BODY void squad_scope::fork(scope_child& child) {
  child.number = parent_.spawned++;
  bool first = false, deals = false;
  {
    spin_guard guard{lock_};
    first = collected_.count == 0;
    collected_.add(child);
    own_ = member_of(*of_.on->worker).in;
    forked_at_ = os_env::ticks();
    deals = collected_.count == enough_waiting || parent_.run->how() != division::by_level;
  }
  if (first) extension_.squads.collect_begins();
  if (deals) start();
}

HEIST_COLD_BODY bool squad_scope::has_collected() noexcept {
  spin_guard guard{lock_};
  return collected_.count != 0;
}

HEIST_COLD_BODY scope_children squad_scope::take_collected() noexcept {
  spin_guard guard{lock_};
  if (collected_.count != 0) extension_.squads.collect_ends();
  return std::exchange(collected_, {});
}

/// A profile knows each child by itself.
HEIST_COLD_BODY std::size_t squad_scope::groups(std::size_t children) const noexcept {
  return parent_.run->how() == division::by_level ? parent_.run->groups(children) : children;
}

HEIST_COLD_BODY void squad_scope::start() noexcept {
  scope_children left = take_collected();
  std::size_t const n = left.count;
  std::size_t const many = groups(n);
  for (std::size_t i = 0; i != many; ++i) {
    auto const size =
        static_cast<std::uint32_t>(tier::flat_group_begin(n, many, i + 1) - tier::flat_group_begin(n, many, i));
    if (may_suspend(*of_.on->worker) && start_group(left, size, *member_of(*of_.on->worker).in)) continue;
    scope_child* const oldest = left.first;
    for (std::uint32_t k = 0; k != size; ++k) left.take();
    child_group{parent_, &of_.stop, join_, oldest, size}.run_children(*of_.on, true);
  }
}

HEIST_COLD_BODY bool squad_scope::start_group(scope_children& of, std::uint32_t size, squad& own) noexcept {
  child_group* group = nullptr;
  try {
    group = new child_group(parent_, &of_.stop, join_, of.first, size);
  } catch (...) {
    return false;
  }
  for (std::uint32_t k = 0; k != size; ++k) of.take();
  {
    spin_guard guard{lock_};
    group->older = std::exchange(groups_, group);
  }
  join_.outstanding.fetch_add(1, std::memory_order_relaxed);  // relaxed: child_ended() decides
  group->start(own);
  return true;
}

HEIST_COLD_BODY bool squad_scope::claim() noexcept {
  spin_guard guard{lock_};
  if (!may_claim_ || collected_.count == 0 || os_env::ticks() - forked_at_ < patience) return false;
  may_claim_ = false;
  claimed_ = std::exchange(collected_, {});
  claimed_in_ = own_;
  extension_.squads.collect_ends();
  join_.outstanding.fetch_add(1, std::memory_order_relaxed);  // relaxed: under the lock, before the frame waits
  return true;
}

/// By the head that has claimed them; the frame may wait for them meanwhile, not more.
HEIST_COLD_BODY void squad_scope::distribute_claimed() noexcept {
  std::size_t const n = claimed_.count, many = groups(n);
  bool without_memory = false;
  for (std::size_t i = 0; i != many && !without_memory; ++i) {
    auto const size =
        static_cast<std::uint32_t>(tier::flat_group_begin(n, many, i + 1) - tier::flat_group_begin(n, many, i));
    without_memory = !start_group(claimed_, size, *claimed_in_);
  }
  bool frame_has_them = false;
  {
    spin_guard guard{lock_};
    may_claim_ = !without_memory;
    if (without_memory) {
      frame_has_them = collected_.count != 0;
      claimed_.append(std::exchange(collected_, {}));
      collected_ = std::exchange(claimed_, {});
    }
  }
  if (without_memory && !frame_has_them) extension_.squads.collect_begins();
  join_.child_ended();  // last: the scope may be gone
}

HEIST_COLD_BODY void squad_scope::wait_for_groups() {
  scope_base::waiting const now{of_};
  do {
    while (has_collected()) start();  // children that run here may fork more
    join_.child_ended();
    join_.wait(*of_.on, parent_);
    while (groups_ != nullptr) delete std::exchange(groups_, groups_->older);
    join_.outstanding.store(1, std::memory_order_relaxed);  // relaxed: no other thread has it now
    join_.all_ended.reset();
  } while (has_collected());  // given back by a head without memory; no other head claims them then
}

HEIST_COLD_BODY void squad_scope::wait() {
  wait_for_groups();
  of_.wait_for_forked();
}

HEIST_COLD_BODY profiled_scope::profiled_scope(scope_base& of) noexcept
    : of_{of}, frame_{*context_access::unmarked<profile_frame>(of.position)} {}

HEIST_COLD_BODY bool profiled_scope::calls_at_once() noexcept {
  return of_.on->worker->deque.size_snapshot() >= enough_waiting;
}

HEIST_COLD_BODY void profiled_scope::call_at_once(erased_child& child) noexcept {
  measurement_pause const paused{&frame_};
  std::uint32_t const index = frame_.spawn(1);
  of_.call_child(*of_.on, [&](fiber& here, fork_slot* top) {
    call_measured(frame_.run(), frame_.task(), index, child.identity, here, top,
                  [&child](fiber& there, fork_slot* position) { child.call(there, position); });
  });
}

HEIST_COLD_BODY runnable* profiled_scope::run_child(runnable& task, fiber& self) {
  self.worker->report_pending_count();
  auto& child = static_cast<scope_child&>(task);
  scope_base& in = *child.in;
  if (!in.stopped()) {
    auto const& frame = *context_access::unmarked<profile_frame>(in.position);
    in.call_child(self, [&](fiber& here, fork_slot* top) {
      call_measured(frame.run(), frame.task(), child.number, child.operations->identity, here, top,
                    [&child](fiber& there, fork_slot* position) { child.call(there, position); });
    });
  }
  child.discard(self);
  in.joined.ended();
  return nullptr;
}

HEIST_COLD_BODY void profiled_scope::fork(scope_child& child) {
  child.number = frame_.spawn(1);
  child.run = &run_child;
  ++of_.forked;
  of_.on->scheduler.push(*of_.on->worker, static_cast<runnable&>(child));
}

HEIST_COLD_BODY void profiled_scope::wait() {
  if (of_.forked == 0 && of_.joined.nothing_since()) return;
  measurement_pause const paused{&frame_};
  of_.wait_for_forked();
}

}  // namespace heist::detail
