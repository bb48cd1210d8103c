// Bodies of others.hpp.
#pragma once

#include "heist/locality/automatic/others.hpp"

#include <exception>
#include <utility>  // exchange, move

namespace heist::detail {

HEIST_COLD_BODY others::~others() {
  for (auto& one : all_) delete one.load(std::memory_order_acquire);  // acquire: see get()
}

HEIST_COLD_BODY void others::keep(options wanted, std::size_t workers) {
  wanted_ = std::move(wanted);
  wanted_.workers = workers;
}

HEIST_COLD_BODY core* others::made(other_policy which) const noexcept {
  other_executor* const one =
      all_[static_cast<std::size_t>(which)].load(std::memory_order_acquire);  // acquire: see get()
  return one == nullptr ? nullptr : &one->scheduler();
}

HEIST_COLD_BODY core* others::get(other_policy which) noexcept {
  if (core* const there = made(which); there != nullptr) return there;
  try {
    unique_ptr<other_executor> one = make_(which, wanted_);
    other_executor* known = nullptr;
    // acq_rel: a thread that sees the pointer sees the executor. The second of two threads destroys its own executor.
    if (all_[static_cast<std::size_t>(which)].compare_exchange_strong(known, one.get(), std::memory_order_acq_rel,
                                                                      std::memory_order_acquire))
      known = one.release();
    return &known->scheduler();
  } catch (...) {
    return nullptr;  // no threads, or no such squads: the first executor does without
  }
}

HEIST_COLD_BODY std::size_t others::number_of(worker const& w) const noexcept {
  for (std::size_t i = 0; i != other_policies; ++i) {
    if (made(static_cast<other_policy>(i)) == &w.scheduler) return i * wanted_.workers + w.number;
  }
  return workers();
}

HEIST_COLD_BODY std::string others::state_text() const {
  constexpr char const* names[other_policies] = {"cab", "replay"};
  std::string text;
  for (std::size_t i = 0; i != other_policies; ++i) {
    core const* const there = made(static_cast<other_policy>(i));
    if (there == nullptr) continue;
    text += std::string{"beside it, for what is run as under "} + names[i] + ": " + there->state_text();
  }
  return text.empty() ? text : text + "itself:\n";
}

HEIST_COLD_BODY bool others::wait_for_all(std::uint64_t& seen, unobserved_exceptions& told) {
  std::uint64_t const now =
      started_.load(std::memory_order_relaxed);  // relaxed: work that was waited for has counted it
  if (now == std::exchange(seen, now)) return false;
  for (std::size_t i = 0; i != other_policies; ++i) {
    core* const there = made(static_cast<other_policy>(i));
    if (there == nullptr) continue;
    there->wait_idle();
    if (std::exception_ptr e = there->unobserved().take()) told.keep(std::move(e));
  }
  return true;
}

}  // namespace heist::detail
