// The input ports of a join_node that keeps messages in queues, or leaves them where they are.
#pragma once

#include <cstddef>  // size_t
#include <deque>
#include <mutex>
#include <tuple>
#include <utility>  // index_sequence, index_sequence_for

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/predecessors.hpp"

namespace tbb::flow::detail {

/// What ports know of their node.
class join_owner {
 public:
  virtual graph& owner_graph() const = 0;
  /// A port has got something.
  virtual void signal() = 0;

 protected:
  ~join_owner() = default;
};

/// Ports have hold(t), which gives the next message, and then drop(), which removes it, or let_go().
template <class T>
class queueing_port final : public receiver<T> {
 public:
  queueing_port(join_owner& n) : node_{n} {}

  graph& graph_reference() const override { return node_.owner_graph(); }
  graph_task* try_put_task(T const& t) override {
    {
      std::lock_guard const guard{lock_};
      waiting_.push_back(t);
    }
    node_.signal();
    return taken;
  }

  bool is_ready() {
    std::lock_guard const guard{lock_};
    return !waiting_.empty();
  }
  bool hold(T& t) {
    std::lock_guard const guard{lock_};
    if (waiting_.empty()) return false;
    t = waiting_.front();
    return true;
  }
  void drop() {
    std::lock_guard const guard{lock_};
    waiting_.pop_front();
  }
  void let_go() noexcept {}
  void reset(reset_flags) {
    std::lock_guard const guard{lock_};
    waiting_.clear();
  }

 private:
  join_owner& node_;
  tbb::detail::spinning_lock lock_;
  std::deque<T> waiting_;
};

/// Refuses all messages, so that they stay at the predecessors, and reserves them there.
template <class T>
class reserving_port final : public receiver<T> {
 public:
  reserving_port(join_owner& n) : node_{n} {}

  graph& graph_reference() const override { return node_.owner_graph(); }
  graph_task* try_put_task(T const&) override { return nullptr; }
  bool register_predecessor(sender<T>& s) override {
    from_.add(s);
    node_.signal();
    return true;
  }
  bool remove_predecessor(sender<T>& s) override { return from_.remove(s); }

  bool is_ready() { return !from_.empty(); }
  bool hold(T& t) { return from_.reserve(t); }
  void drop() { from_.consume(); }
  void let_go() { from_.release(); }
  void reset(reset_flags flags) { from_.reset(flags); }

 private:
  join_owner& node_;
  predecessor_list<T> from_{*this};
};

template <class Tuple, class Policy>
class join_ports;

/// Such a port for each type.
template <template <class> class Port, class... Ts>
class independent_ports {
 public:
  using type = std::tuple<Port<Ts>...>;

  explicit independent_ports(join_owner& n) : all_{each<Ts>(n)...} {}
  independent_ports(join_owner& n, independent_ports const&) : independent_ports{n} {}

  type& all() noexcept { return all_; }
  bool is_ready() {
    return std::apply([](auto&... p) { return (p.is_ready() && ...); }, all_);
  }
  bool hold(std::tuple<Ts...>& t) { return hold(t, std::index_sequence_for<Ts...>{}); }
  void drop() {
    std::apply([](auto&... p) { (p.drop(), ...); }, all_);
  }
  void let_go() {
    std::apply([](auto&... p) { (p.let_go(), ...); }, all_);
  }
  void reset(reset_flags flags) {
    std::apply([flags](auto&... p) { (p.reset(flags), ...); }, all_);
  }

 private:
  template <std::size_t... I>
  bool hold(std::tuple<Ts...>& t, std::index_sequence<I...>) {
    std::size_t held = 0;
    if (((std::get<I>(all_).hold(std::get<I>(t)) && ++held != 0) && ...)) return true;
    ((I < held ? std::get<I>(all_).let_go() : void()), ...);
    return false;
  }

  type all_;
};

template <class... Ts>
class join_ports<std::tuple<Ts...>, queueing> : public independent_ports<queueing_port, Ts...> {
  using independent_ports<queueing_port, Ts...>::independent_ports;
};
template <class... Ts>
class join_ports<std::tuple<Ts...>, reserving> : public independent_ports<reserving_port, Ts...> {
  using independent_ports<reserving_port, Ts...>::independent_ports;
};

}  // namespace tbb::flow::detail
