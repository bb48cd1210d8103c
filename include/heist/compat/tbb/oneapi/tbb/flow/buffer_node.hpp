// buffer_node, queue_node, priority_queue_node and sequencer_node: they differ in which message is the next one.
#pragma once

#include <algorithm>  // pop_heap, push_heap
#include <cstddef>    // size_t
#include <deque>
#include <functional>  // less
#include <memory>      // make_unique, unique_ptr
#include <mutex>
#include <optional>
#include <utility>  // move
#include <vector>

#include "heist/compat/tbb/oneapi/tbb/flow/body.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/buffering.hpp"

namespace tbb::flow {

/// In any order.
template <class T>
class buffer_node : public detail::buffering_node<T> {
 public:
  explicit buffer_node(graph& g) : buffer_node(g, std::make_unique<detail::arrival_order<T>>()) {}
  template <class... S>
  explicit buffer_node(node_set<S...> const& set) : buffer_node(set.graph_reference()) {
    detail::connect(set, *this);
  }
  buffer_node(buffer_node const&) = default;

 protected:
  buffer_node(graph& g, std::unique_ptr<detail::message_order<T>> order)
      : detail::buffering_node<T>(g, std::move(order)) {}
};
template <class... S>
buffer_node(node_set<S...> const&) -> buffer_node<detail::set_message<node_set<S...>>>;

/// First in, first out.
template <class T>
class queue_node : public buffer_node<T> {
 public:
  explicit queue_node(graph& g) : buffer_node<T>(g) {}
  template <class... S>
  explicit queue_node(node_set<S...> const& set) : queue_node(set.graph_reference()) {
    detail::connect(set, *this);
  }
  queue_node(queue_node const&) = default;

 protected:
  using buffer_node<T>::buffer_node;
};
template <class... S>
queue_node(node_set<S...> const&) -> queue_node<detail::set_message<node_set<S...>>>;

namespace detail {

/// The greatest first. One that is held stays the next one, also if a greater one arrives.
template <class T, class Compare>
class greatest_first final : public message_order<T> {
 public:
  explicit greatest_first(Compare const& less) : less_(less) {}

  bool push(T const& t) override {
    heap_.push_back(t);
    std::push_heap(heap_.begin(), heap_.end(), less_);
    return true;
  }
  T const* hold() override {
    if (!held_) {
      if (heap_.empty()) return nullptr;
      std::pop_heap(heap_.begin(), heap_.end(), less_);
      held_.emplace(std::move(heap_.back()));
      heap_.pop_back();
    }
    return &*held_;
  }
  void let_go() override {
    push(*held_);
    held_.reset();
  }
  void drop() override { held_.reset(); }
  void clear() override {
    held_.reset();
    heap_.clear();
  }
  std::unique_ptr<message_order<T>> fresh() const override { return std::make_unique<greatest_first>(less_); }

 private:
  Compare less_;
  std::vector<T> heap_;
  std::optional<T> held_;
};

/// By the numbers that a function gives to messages, from 0 on. A number that has been is refused.
template <class T>
class numbered_order final : public message_order<T> {
 public:
  explicit numbered_order(node_body<std::size_t(T const&)> const& number) : number_{number} {}

  bool push(T const& t) override {
    std::size_t const n = number_(t);
    if (n < first_) return false;
    std::size_t const at = n - first_;
    while (all_.size() <= at) all_.emplace_back();
    if (all_[at]) return false;
    all_[at].emplace(t);
    return true;
  }
  T const* hold() override { return all_.empty() || !all_.front() ? nullptr : &*all_.front(); }
  void let_go() override {}
  void drop() override {
    all_.pop_front();
    ++first_;
  }
  void clear() override {
    all_.clear();
    first_ = 0;
  }
  std::unique_ptr<message_order<T>> fresh() const override { return std::make_unique<numbered_order>(number_); }

 private:
  node_body<std::size_t(T const&)> number_;
  std::size_t first_ = 0;
  std::deque<std::optional<T>> all_;
};

}  // namespace detail

/// The greatest first, by `Compare` as in std::priority_queue.
template <class T, class Compare = std::less<T>>
class priority_queue_node : public buffer_node<T> {
 public:
  explicit priority_queue_node(graph& g, Compare const& less = Compare())
      : buffer_node<T>(g, std::make_unique<detail::greatest_first<T, Compare>>(less)) {}
  template <class... S>
  explicit priority_queue_node(node_set<S...> const& set, Compare const& less = Compare())
      : priority_queue_node(set.graph_reference(), less) {
    detail::connect(set, *this);
  }
  priority_queue_node(priority_queue_node const&) = default;
};
template <class... S>
priority_queue_node(node_set<S...> const&) -> priority_queue_node<detail::set_message<node_set<S...>>>;
template <class... S, class Compare>
priority_queue_node(node_set<S...> const&, Compare const&)
    -> priority_queue_node<detail::set_message<node_set<S...>>, Compare>;

/// By the numbers that `number(message)` gives, from 0 on. It is called under the node's lock, by one thread at a time:
/// it must not use the node.
template <class T>
class sequencer_node : public queue_node<T> {
  using stored_body = detail::node_body<std::size_t(T const&)>;

 public:
  template <class Sequencer>
  sequencer_node(graph& g, Sequencer const& number)
      : queue_node<T>(g, std::make_unique<detail::numbered_order<T>>(stored_body{number})) {}
  template <class... S, class Sequencer>
  sequencer_node(node_set<S...> const& set, Sequencer const& number) : sequencer_node(set.graph_reference(), number) {
    detail::connect(set, *this);
  }
  sequencer_node(sequencer_node const&) = default;
};
template <class Body>
sequencer_node(graph&, Body) -> sequencer_node<detail::input_of<Body>>;
template <class... S, class Body>
sequencer_node(node_set<S...> const&, Body) -> sequencer_node<detail::input_of<Body>>;

}  // namespace tbb::flow
