// Where a value leaves a process, and where it comes in.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <memory>
#include <ranges>
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
  using prepare_memory = message (*)(message_head const& head, std::size_t size);

  incoming_part(void (*how)(event_part& self, heist::detail::run_state& of), prepare_memory memory, graph_part& of,
                std::uint32_t task, int rank) noexcept
      : event_part{how}, prepare{memory}, graph{&of}, task_there{task}, from{rank} {
    is_patient = true;  // exactly one message comes, a value or the news that there is none
  }

  /// False if it has come in this run already. If true the run goes on after bring(), and is there until then.
  [[nodiscard]] bool claim() noexcept { return word.claim() == heist::detail::event_claim::mine; }
  /// After claim().
  void receive(message&& m) {
    come = std::move(m);
    if (word.fill()) resume();
  }

  /// Returns a message with the memory of a value of so many bytes. Null: there is no such memory before the value.
  prepare_memory prepare;
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
        incoming_part{&take_value, memory(), of, task, rank} {}

  static heist::detail::runnable* run(heist::detail::runnable& task, heist::detail::fiber& self) {
    auto& r = heist::detail::begin_task(task, self);
    return static_cast<incoming_node&>(r.built()).reached(r, self);
  }

  static void take_value(event_part& part, heist::detail::run_state& of) {
    auto& me = static_cast<incoming_node&>(static_cast<incoming_part&>(part));
    bytes const data = std::exchange(me.come.data, {});
    [[maybe_unused]] void* const made = std::exchange(me.come.value, nullptr);
    if constexpr (!std::is_void_v<T>) me.value.reset();
    if (me.come.head.kind != message_kind::value) {
      of.interrupt_with(heist::detail::run_state::failed_bit);  // the reason is known where it began
    } else if constexpr (!std::is_void_v<T>) {
      try {
        if (of.interrupted()) {
        } else if (made != nullptr) {
          me.value.fill([&]() -> T { return std::move(*static_cast<T*>(made)); });
        } else {
          me.value.fill([&] { return detail::unpacked<T>(data); });
        }
      } catch (...) {
        of.fail(heist::detail::exception_of_task());
      }
    }
    if (me.come.head.kind == message_kind::value) used_up(me, data.size());
  }

 private:
  static prepare_memory memory() noexcept {
    if constexpr (std::is_void_v<T>) {
      return nullptr;
    } else if constexpr (detail::plain_elements<T>) {
      return [](message_head const& head, std::size_t size) -> message {
        if (size % sizeof(detail::element<T>) != 0) return {head, bytes{size}};
        auto const made = std::make_shared<T>();
        made->resize(size / sizeof(detail::element<T>));
        return {head, {made, reinterpret_cast<char*>(std::ranges::data(*made)), size}, made.get()};
      };
    } else {
      return nullptr;
    }
  }
};

namespace detail {

/// Types with values that may be sent from their own memory.
template <class T>
constexpr bool may_be_lent() noexcept {
  if constexpr (std::is_void_v<T>) {
    return false;
  } else {
    return plain_elements<T> || (is_flat<T> && sizeof(T) > small_value);
  }
}
}  // namespace detail

/// The task that sends a value. If the value was lent, the task ends when the last reader has finished.
struct sending_node final : heist::detail::node, heist::detail::event_part {
  static constexpr task_kind kind = task_kind::event;

  /// The lent bytes keep it. Its end ends the task.
  struct loan {
    explicit loan(sending_node& of) noexcept : part{of} {}
    loan(loan const&) = delete;
    loan& operator=(loan const&) = delete;
    ~loan() {
      if (part.word.fill()) part.resume();
    }
    sending_node& part;
  };
  /// Sends the value, or in a run that is `interrupted` the news that there is none. True if the value was lent.
  using sender = bool (*)(sending_node& self, bool interrupted);

  sending_node(sender how, graph_part& of, std::uint32_t task, std::uint32_t index_here,
               std::vector<int> const& ranks) noexcept
      : node(heist::detail::operations_of<sending_node>),
        event_part{[](event_part&, heist::detail::run_state&) {}},
        send{how},
        graph{&of},
        id{task},
        here{index_here},
        to{&ranks} {
    is_patient = true;  // the value is on its way, in a run that is interrupted, too
    text = &text_of;
  }

  static heist::detail::runnable* run(heist::detail::runnable& task, heist::detail::fiber& self) {
    auto& r = heist::detail::begin_task(task, self);
    auto& me = static_cast<sending_node&>(r.built());
    heist::detail::run_state& of = *r.graph->current;
    [[maybe_unused]] auto const claimed = me.word.claim();  // nobody else does
    bool lent = false;
    try {
      lent = me.send(me, of.interrupted());
    } catch (...) {
      of.fail(heist::detail::exception_of_task(), &r);
    }
    [[maybe_unused]] bool const waits = !lent && me.word.fill();  // it does not wait before reached()
    return me.reached(r, self);
  }
  static std::string text_of(heist::detail::outside_note const& self) {
    auto const& me = static_cast<sending_node const&>(static_cast<event_part const&>(self));
    return "the value of task #" + std::to_string(me.id) + " of a distributed graph is being sent";
  }

  sender send;
  graph_part* graph;
  std::uint32_t id, here;
  std::vector<int> const* to;
};

}  // namespace heist::distributed
