// limiter_node: passes so many messages, and one more for each decrement.
#pragma once

#include <cstddef>  // size_t
#include <mutex>

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/forwarder.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/predecessors.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow {

namespace detail {

/// Takes numbers by which the count goes down; negative ones raise it.
template <class Node, class Number>
class decrement_port final : public receiver<Number> {
 public:
  explicit decrement_port(Node& n) : node_{n} {}
  graph& graph_reference() const override { return node_.graph_reference(); }
  graph_task* try_put_task(Number const& n) override {
    node_.decrement(static_cast<long long>(n));
    return taken;
  }
  void reset(reset_flags) {}

 private:
  Node& node_;
};

/// Goes down by one when all predecessors have sent their message.
template <class Node>
class decrement_port<Node, continue_msg> final : public continue_receiver {
 public:
  explicit decrement_port(Node& n) : node_{n} {}
  graph& graph_reference() const override { return node_.graph_reference(); }
  void reset(reset_flags flags) { this->reset_receiver(flags); }

 private:
  graph_task* execute() override {
    node_.decrement(1);
    return taken;
  }

  Node& node_;
};

}  // namespace detail

template <class T, class Decrement = continue_msg>
class limiter_node : public graph_node, public receiver<T>, public sender<T> {
 public:
  using input_type = T;
  using output_type = T;

  limiter_node(graph& g, std::size_t threshold) : graph_node{g}, threshold_{threshold} {}
  template <class... S>
  limiter_node(node_set<S...> const& set, std::size_t threshold) : limiter_node(set.graph_reference(), threshold) {
    detail::connect(set, *this);
  }
  limiter_node(limiter_node const& other) : limiter_node(other.my_graph, other.threshold_) {}

  receiver<Decrement>& decrementer() noexcept { return decrementer_; }

  graph& graph_reference() const override { return this->my_graph; }
  detail::graph_task* try_put_task(T const& t) override {
    if (!take_place()) return nullptr;
    if (to_.put_to_all(t)) return detail::taken;
    give_back();
    signal();
    return nullptr;
  }
  bool register_predecessor(sender<T>& s) override {
    from_.add(s);
    signal();
    return true;
  }
  bool remove_predecessor(sender<T>& s) override { return from_.remove(s); }
  bool register_successor(receiver<T>& r) override {
    to_.add(r);
    signal();
    return true;
  }
  bool remove_successor(receiver<T>& r) override {
    to_.remove(r);
    return true;
  }

 protected:
  void reset_node(reset_flags flags) override {
    {
      std::lock_guard const guard{lock_};
      count_ = 0;
    }
    from_.reset(flags);
    decrementer_.reset(flags);
    if (detail::has(flags, rf_clear_edges)) to_.clear();
  }

 private:
  template <class, class>
  friend class detail::decrement_port;

  void decrement(long long by) {
    std::size_t const amount = by < 0 ? -static_cast<std::size_t>(by) : static_cast<std::size_t>(by);
    {
      std::lock_guard const guard{lock_};
      if (by >= 0) {
        count_ -= amount < count_ ? amount : count_;
      } else {
        std::size_t const free = threshold_ - count_;
        count_ += amount < free ? amount : free;
      }
    }
    signal();
  }

  bool take_place() {
    std::lock_guard const guard{lock_};
    if (count_ >= threshold_) return false;
    ++count_;
    return true;
  }
  void give_back() {
    std::lock_guard const guard{lock_};
    if (count_ != 0) --count_;
  }
  bool is_open() {
    std::lock_guard const guard{lock_};
    return count_ < threshold_;
  }

  void signal() {
    if (from_.empty() || to_.empty() || !is_open()) return;  // what changes that later signals
    forwarder_.signal([this] { return forward(); });
  }
  bool forward() {
    if (from_.empty() || to_.empty() || !take_place()) return false;
    T t{};
    if (!from_.reserve(t)) {
      give_back();
      return false;
    }
    if (to_.put_to_all(t)) {
      from_.consume();
      return true;
    }
    from_.release();
    give_back();
    return false;
  }

  std::size_t const threshold_;
  tbb::detail::spinning_lock lock_;
  std::size_t count_ = 0;  // of passed messages, and of those that are being passed
  detail::predecessor_list<T> from_{*this};
  detail::successor_list<T> to_{*this};
  detail::decrement_port<limiter_node, Decrement> decrementer_{*this};
  detail::forwarder forwarder_{this->my_graph};
};
template <class... S>
limiter_node(node_set<S...> const&, std::size_t) -> limiter_node<detail::set_message<node_set<S...>>>;

}  // namespace tbb::flow
