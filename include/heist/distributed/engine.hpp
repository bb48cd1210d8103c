// Engines carry messages between processes. Models: mpi_engine, starpu_engine, in_process_engine.
#pragma once

#include <concepts>
#include <functional>
#include <memory>  // unique_ptr
#include <string>
#include <utility>  // move

#include "heist/distributed/message.hpp"

namespace heist::distributed {

/// The function that an engine calls with a message that has come from a rank.
using receiver = std::function<void(int from, message&& m)>;
/// The function that an engine may call before the bytes of a large message come. Returns the message with the memory to
/// which they go, and which the engine then gives to the receiver.
using preparer = std::function<message(message_head const& head, std::size_t size)>;

/// Carries messages, in any order. One that comes twice is dropped above it, one that is lost is missed after
/// world_options::silence.
///
///   start(receive, prepare)  from now on calls receive(from, message), and may call prepare before, on one thread of
///                            its own at a time
///   send(to, m)              any thread, not to itself; returns at once
///   listen(b)                tells whether a message is awaited. An engine that polls for messages may pause otherwise
///   stop()                   collective: all sent messages have been received; receive is not called any more
///   give_up(why)             ends the program, on all ranks
template <class E>
concept engine = requires(E& e, E const& c, receiver r, preparer p, message m, std::string const& why) {
  { c.rank() } -> std::same_as<int>;
  { c.size() } -> std::same_as<int>;
  e.start(std::move(r), std::move(p));
  e.send(int{}, std::move(m));
  e.listen(true);
  e.stop();
  e.give_up(why);
};

/// Any engine.
class any_engine {
 public:
  any_engine() = default;
  any_engine(any_engine const&) = delete;
  any_engine& operator=(any_engine const&) = delete;
  virtual ~any_engine() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void start(receiver r, preparer p) = 0;
  virtual void send(int to, message&& m) = 0;
  virtual void listen(bool awaits) = 0;
  virtual void stop() = 0;
  virtual void give_up(std::string const& why) = 0;
  virtual void with_mpi(std::function<void()> const& f) = 0;
};

template <engine E>
class engine_of final : public any_engine {
 public:
  template <class... Args>
  explicit engine_of(Args&&... args) : engine_{std::forward<Args>(args)...} {}
  int rank() const override { return engine_.rank(); }
  int size() const override { return engine_.size(); }
  void start(receiver r, preparer p) override { engine_.start(std::move(r), std::move(p)); }
  void send(int to, message&& m) override { engine_.send(to, std::move(m)); }
  void listen(bool awaits) override { engine_.listen(awaits); }
  void stop() override { engine_.stop(); }
  void give_up(std::string const& why) override { engine_.give_up(why); }
  void with_mpi(std::function<void()> const& f) override {
    if constexpr (requires { engine_.with_mpi(f); }) {
      engine_.with_mpi(f);
    } else {
      f();
    }
  }

 private:
  E engine_;
};

}  // namespace heist::distributed
