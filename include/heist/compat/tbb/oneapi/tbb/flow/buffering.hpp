// What buffer_node and its like have in common: they keep messages until one successor takes them.
#pragma once

#include <deque>
#include <mutex>
#include <utility>  // forward

#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/forwarder.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow::detail {

/// `Store` has push(t), which may refuse; hold(), the next message or null, which stays the next one until drop(), which
/// removes it, or let_go(); and clear().
template <class T, class Store>
class buffering_node : public graph_node, public receiver<T>, public sender<T> {
 public:
  using input_type = T;
  using output_type = T;

  template <class... Args>
  explicit buffering_node(graph& g, Args&&... args) : graph_node{g}, store_(std::forward<Args>(args)...) {}

  graph& graph_reference() const override { return this->my_graph; }
  graph_task* try_put_task(T const& t) override {
    {
      std::lock_guard const guard{lock_};
      if (!store_.push(t)) return nullptr;
    }
    signal();
    return taken;
  }
  bool try_get(T& t) override {
    std::lock_guard const guard{lock_};
    if (is_held_) return false;
    T const* const next = store_.hold();
    if (next == nullptr) return false;
    t = *next;
    store_.drop();
    return true;
  }
  bool try_reserve(T& t) override {
    std::lock_guard const guard{lock_};
    if (is_held_) return false;
    T const* const next = store_.hold();
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
  Store const& store() const noexcept { return store_; }
  void reset_node(reset_flags flags) override {
    {
      std::lock_guard const guard{lock_};
      is_held_ = false;
      store_.clear();
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
      next = store_.hold();
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
    is_taken ? store_.drop() : store_.let_go();
  }

  std::mutex lock_;
  Store store_;
  bool is_held_ = false;  // the next message is reserved, or is being sent
  successor_list<T> to_{*this};
  forwarder forwarder_{this->my_graph};
};

/// In the order of arrival.
template <class T>
class arrival_order {
 public:
  bool push(T const& t) {
    all_.push_back(t);
    return true;
  }
  T const* hold() noexcept { return all_.empty() ? nullptr : &all_.front(); }
  void let_go() noexcept {}
  void drop() { all_.pop_front(); }
  void clear() { all_.clear(); }

 private:
  std::deque<T> all_;
};

}  // namespace tbb::flow::detail
