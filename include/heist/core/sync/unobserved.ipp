// Bodies of unobserved.hpp.
#pragma once

#include "heist/core/sync/unobserved.hpp"

#include <cstdio>   // fprintf
#include <utility>  // exchange, move

namespace heist::detail {

HEIST_COLD_BODY void unobserved_exceptions::closing::operator()(unobserved_exceptions* all) const noexcept {
  all->close();
  all->release();
}

HEIST_COLD_BODY void unobserved_exceptions::release() noexcept {
  // acq_rel: the last owner sees the effects of all
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

HEIST_COLD_BODY void unobserved_exceptions::keep(std::exception_ptr e) noexcept {
  bool closed = false;
  {
    spin_guard guard{lock_};
    closed = closed_;
    if (!closed && !first_) {
      first_ = std::move(e);
      return;
    }
    if (!closed) ++others_;
  }
  if (closed) say(e, 0);
}

HEIST_COLD_BODY std::exception_ptr unobserved_exceptions::take() noexcept {
  spin_guard guard{lock_};
  others_ = 0;
  return std::exchange(first_, nullptr);
}

HEIST_COLD_BODY void unobserved_exceptions::close() noexcept {
  std::exception_ptr e;
  std::uint64_t others = 0;
  {
    spin_guard guard{lock_};
    closed_ = true;
    e = std::exchange(first_, nullptr);
    others = others_;
  }
  if (e) say(e, others);
}

HEIST_COLD_BODY void unobserved_exceptions::say(std::exception_ptr const& e, std::uint64_t others) noexcept {
  char const* const fix =
      "fix it by get() on the task's future or the graph's run, or by wait_idle() before the executor is destroyed";
  try {
    std::rethrow_exception(e);
  } catch (std::exception const& known) {
    std::fprintf(stderr, "heist: a task has thrown an exception that no caller asked for: %s (%s", known.what(), fix);
  } catch (...) {
    std::fprintf(stderr, "heist: a task has thrown an exception that no caller asked for, of a type of its own (%s",
                 fix);
  }
  if (others != 0) {
    std::fprintf(stderr, "; %llu more were thrown after it)\n", static_cast<unsigned long long>(others));
  } else {
    std::fprintf(stderr, ")\n");
  }
}

HEIST_COLD_BODY unobserved_reference::~unobserved_reference() {
  if (to_ != nullptr) to_->release();
}

HEIST_COLD_BODY void unobserved_reference::refer(unobserved_exceptions& to) noexcept {
  if (to_ == &to) return;
  if (to_ != nullptr) to_->release();
  to.retain();
  to_ = &to;
}

HEIST_COLD_BODY void unobserved_reference::keep(std::exception_ptr e) const noexcept {
  if (e && to_ != nullptr) to_->keep(std::move(e));
}

}  // namespace heist::detail
