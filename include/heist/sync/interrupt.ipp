// Bodies of interrupt.hpp: stop tokens of interrupt states.
#pragma once

#include "heist/sync/interrupt.hpp"

#include <memory>  // unique_ptr
#include <optional>
#include <utility>  // move

namespace heist::detail {

/// The stop_source behind interrupt_state::token().
struct stop_relay {
  struct pass_on {
    stop_relay* to;
    void operator()() const noexcept { to->source.request_stop(); }
  };
  std::stop_source source;
  std::optional<std::stop_callback<pass_on>> from_outside;
};

HEIST_COLD_BODY std::stop_token interrupt_state::token() const {
  stop_relay* known = relay.load(std::memory_order_acquire);  // acquire: with the exchange below
  if (known == nullptr) {
    auto made = std::make_unique<stop_relay>();
    if (outer != nullptr) made->from_outside.emplace(outer->token(), stop_relay::pass_on{made.get()});
    // acq_rel: a thread that reads the pointer sees the object
    if (relay.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
      known = made.release();
  }
  std::stop_token token = known->source.get_token();
  os_env::fence(std::memory_order_seq_cst);  // seq_cst: with tell_relay(); one of the two sees the other
  if (any()) known->source.request_stop();
  return token;
}

HEIST_COLD_BODY void interrupt_state::tell_relay() noexcept {
  os_env::fence(std::memory_order_seq_cst);                         // seq_cst: with token()
  stop_relay* const known = relay.load(std::memory_order_acquire);  // acquire: with the exchange in token()
  if (known != nullptr) known->source.request_stop();
}

HEIST_COLD_BODY void interrupt_state::delete_relay() noexcept {
  delete relay.exchange(nullptr, std::memory_order_relaxed);  // relaxed: no other thread uses the state
}

}  // namespace heist::detail
