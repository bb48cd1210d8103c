// Where a value leaves a process, and where it comes in.
#pragma once

#include <cstdint>
#include <exception>  // make_exception_ptr
#include <string>
#include <type_traits>
#include <utility>  // exchange, move
#include <vector>

#include "heist/distributed/message.hpp"
#include "heist/distributed/wire.hpp"
#include "heist/graph/event_part.hpp"
#include "heist/graph/typed_node.hpp"

namespace heist::distributed {

class graph_part;

/// The part of an incoming value that does not depend on its type.
struct incoming_part : heist::detail::event_part {
  incoming_part(void (*how)(event_part& self, heist::detail::run_state& of), graph_part& of, std::uint32_t task,
                int rank) noexcept
      : event_part{how}, graph{&of}, task_there{task}, from{rank} {
    is_patient = true;  // exactly one message comes, a value or the news that there is none
  }

  /// False if it has come in this run already. If true the run goes on after bring(), and is there until then.
  [[nodiscard]] bool claim() noexcept { return word.claim() == event_claim::mine; }
  /// After claim().
  void receive(message&& m) {
    come = std::move(m);
    if (word.fill()) resume();
  }

  graph_part* graph;
  std::uint32_t task_there;  ///< its number
  int from;                  ///< the rank that makes it
  message come;
};

/// After the part has been unpacked, or could not be.
void used_up(incoming_part& part, std::size_t size);

/// The value of a task of another rank. It is unpacked by a worker.
template <class T>
struct incoming_node final : heist::detail::value_node<T>, incoming_part {
  static constexpr task_kind kind = task_kind::event;

  incoming_node(graph_part& of, std::uint32_t task, int rank) noexcept
      : heist::detail::value_node<T>(heist::detail::operations_of<incoming_node>),
        incoming_part{&take_value, of, task, rank} {}

  static heist::detail::runnable* run(heist::detail::runnable& task, heist::detail::fiber& self) {
    auto& r = heist::detail::begin_task(task, self);
    return static_cast<incoming_node&>(r.built()).reached(r, self);
  }

  static void take_value(event_part& part, heist::detail::run_state& of) {
    auto& me = static_cast<incoming_node&>(static_cast<incoming_part&>(part));
    bytes const data = std::move(me.come.data);
    me.come.data = {};
    if constexpr (!std::is_void_v<T>) me.value.reset();
    if (me.come.head.kind != message_kind::value) {
      of.interrupt_with(heist::detail::run_state::failed_bit);  // the reason is known where it began
    } else if constexpr (!std::is_void_v<T>) {
      try {
        if (!of.interrupted()) me.value.fill([&] { return detail::unpacked<T>(data); });
      } catch (...) {
        of.fail(heist::detail::exception_of_task());
      }
    }
    if (me.come.head.kind == message_kind::value) used_up(me, data.size());
  }
};

}  // namespace heist::distributed
