// Bodies of interrupt.hpp: stop tokens of interrupt states.
#pragma once

#include "heist/core/sync/interrupt.hpp"

#include <optional>
#include <utility>  // move

#include "heist/core/base/spin_lock.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

/// The stop_source behind interrupt_state::token(). A new one takes its place after interrupt_state::clear().
///
/// Threads  any.
class stop_relay {
 public:
  void request_stop() noexcept {
    // The callbacks run without the lock.
    std::stop_source now = source();
    now.request_stop();
  }
  std::stop_source source() noexcept {
    spin_guard guard{lock_};
    return source_;
  }
  /// The source of `of`, which has been cleared if its source was asked to stop and no bit is set. Throws bad_alloc.
  std::stop_source source_of(interrupt_state const& of) {
    std::stop_source now = source();
    if (!now.stop_requested() || of.any()) return now;
    std::stop_source unused;
    spin_guard guard{lock_};
    if (source_.stop_requested() && !of.any()) source_.swap(unused);
    return source_;
  }

  struct pass_on {
    stop_relay* to;
    void operator()() const noexcept { to->request_stop(); }
  };

 private:
  spin_lock<> lock_;
  std::stop_source source_;  // under the lock

 public:
  /// The last member, so the first that is destroyed: its destructor waits for a call of pass_on, which uses the other
  /// members.
  std::optional<std::stop_callback<pass_on>> from_outside;
};

HEIST_COLD_BODY std::stop_token interrupt_state::token() const {
  stop_relay* known = relay.load(std::memory_order_acquire);  // acquire: with the exchange below
  if (known == nullptr) {
    auto made = make_unique<stop_relay>();
    if (outer != nullptr) made->from_outside.emplace(outer->token(), stop_relay::pass_on{made.get()});
    // acq_rel: a thread that reads the pointer sees the object
    if (relay.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
      known = made.release();
  }
  std::stop_token token = known->source_of(*this).get_token();
  os_env::fence(std::memory_order_seq_cst);  // seq_cst: with tell_relay(); one of the two sees the other
  if (any()) known->request_stop();
  return token;
}

HEIST_COLD_BODY void interrupt_state::tell_relay() noexcept {
  os_env::fence(std::memory_order_seq_cst);                         // seq_cst: with token()
  stop_relay* const known = relay.load(std::memory_order_acquire);  // acquire: with the exchange in token()
  if (known != nullptr) known->request_stop();
}

HEIST_COLD_BODY void interrupt_state::delete_relay() noexcept {
  delete relay.exchange(nullptr, std::memory_order_relaxed);  // relaxed: no other thread uses the state
}

HEIST_COLD_BODY std::uint32_t interrupt_state::draw_number() const noexcept {
  // The time: a state that has this address later draws its number later.
  auto const drawn = static_cast<std::uint32_t>(os_env::ticks()) | 1;
  std::uint32_t none = 0;
  // relaxed: a number
  bool const is_first =
      number_.compare_exchange_strong(none, drawn, std::memory_order_relaxed, std::memory_order_relaxed);
  return is_first ? drawn : none;
}

}  // namespace heist::detail
