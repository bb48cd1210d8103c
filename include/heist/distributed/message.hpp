// Messages between processes.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>

#include "heist/distributed/bytes.hpp"

namespace heist::distributed {

enum class message_kind : std::uint32_t {
  value,      ///< of a task, for the tasks here that take it
  none,       ///< there will be no such value: its run was interrupted
  interrupt,  ///< a run has failed elsewhere, or, with a task of 1, was stopped
  ended,      ///< to rank 0: this rank's part of a run has ended
  decision,   ///< from rank 0: all parts have
  offer,      ///< to rank 0: what all ranks must agree on
  answer,     ///< from rank 0: the agreed value
  received,   ///< so many bytes of values have been used up here
  left        ///< by the engine: that rank's world has ended
};

/// Values of more bytes are sent from, and received to, their own memory.
inline constexpr std::size_t small_value = 16 * 1024;

/// Travels as it stands: all processes run the same program on the same kind of machine.
struct message_head {
  message_kind kind = message_kind::value;
  std::uint32_t graph = 0;   ///< by order of creation, from 1; 0: the world
  std::uint32_t run = 0;     ///< of that graph, from 1
  std::uint32_t task = 0;    ///< value, none: by order of creation
  std::uint64_t number = 0;  ///< of all messages from that rank to this one, from 1
  std::uint64_t amount = 0;  ///< received: bytes
};

struct message {
  message_head head;
  bytes data;
  void* value = nullptr;  ///< if not null, `data` are the bytes of this value, whose type the port knows
};

}  // namespace heist::distributed
