// What buffer_node and its like have in common: they keep messages until one successor takes them.
#pragma once

#include <deque>
#include <memory>  // make_unique, unique_ptr
#include <mutex>
#include <utility>  // move

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/forwarder.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow::detail {

/// The messages of a node, and which is the next one.
template <class T>
class message_order {
 public:
  message_order() = default;
  message_order(message_order const&) = delete;
  message_order& operator=(message_order const&) = delete;
  virtual ~message_order() = default;

  /// False: it refuses the message.
  virtual bool push(T const& t) = 0;
  /// The next message, or null. It stays the next one until drop(), which removes it, or let_go().
  virtual T const* hold() = 0;
  virtual void let_go() = 0;
  virtual void drop() = 0;
  virtual void clear() = 0;
  /// An empty one of this kind.
  virtual std::unique_ptr<message_order> fresh() const = 0;
};

template <class T>
class buffering_node : public graph_node, public receiver<T>, public sender<T> {
 public:
  using input_type = T;
  using output_type = T;

  buffering_node(graph& g, std::unique_ptr<message_order<T>> order) : graph_node{g}, order_{std::move(order)} {}
  buffering_node(buffering_node const& other) : buffering_node(other.my_graph, other.order_->fresh()) {}

  graph& graph_reference() const override { return this->my_graph; }
  graph_task* try_put_task(T const& t) override {
    {
      std::lock_guard const guard{lock_};
      if (!order_->push(t)) return nullptr;
    }
    signal();
    return taken;
  }
  bool try_get(T& t) override {
    std::lock_guard const guard{lock_};
    if (is_held_) return false;
    T const* const next = order_->hold();
    if (next == nullptr) return false;
    t = *next;
    order_->drop();
    return true;
  }
  bool try_reserve(T& t) override {
    std::lock_guard const guard{lock_};
    if (is_held_) return false;
    T const* const next = order_->hold();
    if (next == nullptr) return false;
    t = *next;
    is_held_ = true;
    return true;
  }
  bool try_release() override {
    end_hold(false);
    signal();
    return true;
  }
  bool try_consume() override {
    end_hold(true);
    signal();
    return true;
  }
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
      is_held_ = false;
      order_->clear();
    }
    if (has(flags, rf_clear_edges)) to_.clear();
  }

 private:
  void signal() {
    if (to_.empty()) return;  // one that comes later signals
    forwarder_.signal([this] { return forward(); });
  }
  bool forward() {
    T const* next;
    {
      std::lock_guard const guard{lock_};
      if (is_held_) return false;
      next = order_->hold();
      if (next == nullptr) return false;
      is_held_ = true;
    }
    bool is_taken = false;
    try {
      is_taken = to_.put_to_one(*next);
    } catch (...) {
      end_hold(false);
      throw;
    }
    end_hold(is_taken);
    return is_taken;
  }
  void end_hold(bool is_taken) {
    std::lock_guard const guard{lock_};
    if (!is_held_) return;
    is_held_ = false;
    is_taken ? order_->drop() : order_->let_go();
  }

  tbb::detail::spinning_lock lock_;
  std::unique_ptr<message_order<T>> const order_;
  bool is_held_ = false;  // the next message is reserved, or is being sent
  successor_list<T> to_{*this};
  forwarder forwarder_{this->my_graph};
};

/// In the order of arrival.
template <class T>
class arrival_order final : public message_order<T> {
 public:
  bool push(T const& t) override {
    all_.push_back(t);
    return true;
  }
  T const* hold() override { return all_.empty() ? nullptr : &all_.front(); }
  void let_go() override {}
  void drop() override { all_.pop_front(); }
  void clear() override { all_.clear(); }
  std::unique_ptr<message_order<T>> fresh() const override { return std::make_unique<arrival_order>(); }

 private:
  std::deque<T> all_;
};

}  // namespace tbb::flow::detail
