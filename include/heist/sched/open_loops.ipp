// Bodies of open_loops.hpp.
#pragma once

#include "heist/sched/open_loops.hpp"

#include "heist/sched/open_loop.hpp"

namespace heist::detail {

HEIST_BODY open_loops::~open_loops() {
  open_loop* l = first_.load(std::memory_order_relaxed);  // relaxed: nobody else has it
  while (l != nullptr) {
    open_loop& now = *l;
    l = now.next_of_all;
    now.free(now);
  }
}

HEIST_BODY open_loop* open_loops::claim() noexcept {
  open_loop* l = first_.load(std::memory_order_acquire);  // acquire: pairs with add()
  while (l != nullptr && !l->claim()) l = l->next_of_all;
  return l;
}

HEIST_BODY open_loop* open_loops::enter_one(open_loop& first) noexcept {
  open_loop* l = &first;
  while (l != nullptr && !(l->left.may_enter() && l->left.enter())) l = l->next_of_all;
  return l;
}

HEIST_BODY bool open_loops::may_enter() const noexcept {
  open_loop const* l = first_.load(std::memory_order_acquire);  // acquire: as above
  while (l != nullptr && !l->left.may_enter()) l = l->next_of_all;
  return l != nullptr;
}

HEIST_BODY void open_loops::add(open_loop& l) noexcept {
  l.next_of_all = first_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  // release: the loop is complete
  while (!first_.compare_exchange_weak(l.next_of_all, &l, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace heist::detail
