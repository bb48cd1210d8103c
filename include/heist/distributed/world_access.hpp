// What graphs and agreements use of a world, and users do not.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <memory>
#include <utility>  // move

#include "heist/distributed/message.hpp"

namespace heist::distributed {

class port;

namespace detail {

struct world_access {
  template <class World>
  static auto const& options_of(World const& w) noexcept {
    return w.options_;
  }

  /// Adds a port, and returns its number, which is the same on all ranks.
  template <class World>
  static std::uint32_t add(World& w, std::shared_ptr<port> p) {
    return w.add(std::move(p));
  }
  template <class World>
  static void remove(World& w, std::uint32_t number) {
    w.remove(number);
  }

  /// Something is awaited from other ranks, until done_listening().
  template <class World>
  static void listens(World& w) {
    w.listens();
  }
  template <class World>
  static void done_listening(World& w) {
    w.done_listening();
  }

  /// Sends at once. `to` is another rank.
  template <class World>
  static void send(World& w, int to, message&& m) {
    w.send(to, std::move(m));
  }
  /// Sends a value when the other rank has room for it. Lent bytes that have to wait are copied, once for all ranks.
  template <class World>
  static void send_value(World& w, int to, message_head const& head, bytes& value) {
    w.send_value(to, head, value);
  }
  /// A value of a graph from a rank has been used up here.
  template <class World>
  static void used_up(World& w, int from, std::uint32_t graph, std::size_t size) {
    w.used_up(from, graph, size);
  }

  /// The most bytes that a graph ever had under way to a rank; for tests.
  template <class World>
  static std::size_t most_in_flight(World const& w) {
    return w.most_in_flight();
  }
};

}  // namespace detail
}  // namespace heist::distributed
