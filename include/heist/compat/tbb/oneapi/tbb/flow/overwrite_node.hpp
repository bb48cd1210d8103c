// overwrite_node and write_once_node: keep one message, which any number of successors get.
#pragma once

#include <cstddef>  // size_t
#include <mutex>
#include <optional>

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow {

/// The last one.
template <class T>
class overwrite_node : public graph_node, public receiver<T>, public sender<T> {
 public:
  using input_type = T;
  using output_type = T;

  explicit overwrite_node(graph& g) : graph_node{g} {}
  template <class... S>
  explicit overwrite_node(node_set<S...> const& set) : overwrite_node(set.graph_reference()) {
    detail::connect(set, *this);
  }
  overwrite_node(overwrite_node const& other) : overwrite_node(other.my_graph) {}

  bool is_valid() {
    std::lock_guard const guard{lock_};
    return kept_.has_value();
  }
  void clear() {
    std::lock_guard const guard{lock_};
    kept_.reset();
  }

  graph& graph_reference() const override { return this->my_graph; }
  detail::graph_task* try_put_task(T const& t) override { return keep(t, true); }
  bool try_get(T& t) override {
    std::lock_guard const guard{lock_};
    if (kept_) t = *kept_;
    return kept_.has_value();
  }
  bool try_reserve(T& t) override { return try_get(t); }
  bool try_release() override { return true; }
  bool try_consume() override { return true; }
  /// A new successor gets the message at once.
  bool register_successor(receiver<T>& r) override {
    for (;;) {
      std::optional<T> now;
      std::size_t number;
      {
        std::lock_guard const guard{lock_};
        if (!kept_ || !detail::tasks_of(this->my_graph).is_active()) {
          to_.add(r);
          return true;
        }
        now = kept_;
        number = number_;
      }
      if (!r.try_put(*now)) {
        // As a task: a receiver that pulls from here calls this function.
        detail::tasks_of(this->my_graph).spawn([this, &r](bool) {
          if (!r.register_predecessor(*this)) to_.add(r);
        });
        return true;
      }
      std::lock_guard const guard{lock_};
      if (number == number_) {
        to_.add(r);
        return true;
      }
    }
  }
  bool remove_successor(receiver<T>& r) override {
    to_.remove(r);
    return true;
  }

 protected:
  /// Refuses it if there is one already and that must stay.
  detail::graph_task* keep(T const& t, bool overwrites) {
    {
      std::lock_guard const guard{lock_};
      if (kept_ && !overwrites) return nullptr;
      kept_.emplace(t);
      ++number_;
    }
    to_.put_to_all(t);
    return detail::taken;
  }
  void reset_node(reset_flags flags) override {
    clear();
    if (detail::has(flags, rf_clear_edges)) to_.clear();
  }

 private:
  tbb::detail::spinning_lock lock_;
  std::optional<T> kept_;
  std::size_t number_ = 0;  // of the message
  detail::successor_list<T> to_{*this};
};
template <class... S>
overwrite_node(node_set<S...> const&) -> overwrite_node<detail::set_message<node_set<S...>>>;

/// The first one after clear().
template <class T>
class write_once_node : public overwrite_node<T> {
 public:
  explicit write_once_node(graph& g) : overwrite_node<T>(g) {}
  template <class... S>
  explicit write_once_node(node_set<S...> const& set) : write_once_node(set.graph_reference()) {
    detail::connect(set, *this);
  }
  write_once_node(write_once_node const& other) : write_once_node(other.my_graph) {}

  detail::graph_task* try_put_task(T const& t) override { return this->keep(t, false); }
};
template <class... S>
write_once_node(node_set<S...> const&) -> write_once_node<detail::set_message<node_set<S...>>>;

}  // namespace tbb::flow
