// join_node: one tuple of messages for one message at each port.
#pragma once

#include <mutex>
#include <tuple>
#include <type_traits>

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/forwarder.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/join_ports.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/matching_ports.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow {

namespace detail {

template <class P>
inline constexpr bool is_matching = false;
template <class K, class Hash>
inline constexpr bool is_matching<key_matching<K, Hash>> = true;

}  // namespace detail

template <class OutputTuple, class Policy = queueing>
class join_node : public graph_node, public sender<OutputTuple>, private detail::join_owner {
  using ports = detail::join_ports<OutputTuple, Policy>;

 public:
  using output_type = OutputTuple;
  using input_ports_type = typename ports::type;

  explicit join_node(graph& g, Policy = Policy()) : graph_node{g}, ports_{owner()} {}
  /// A function for each port: the key of a message.
  template <class... Bodies>
  requires(detail::is_matching<Policy> && sizeof...(Bodies) == std::tuple_size_v<OutputTuple>)
      join_node(graph& g, Bodies... keys)
      : graph_node{g}, ports_{owner(), keys...} {}
  template <class... S>
  explicit join_node(node_set<S...> const& set, Policy = Policy()) : join_node(set.graph_reference()) {
    detail::connect(set, *this);
  }
  template <class... S, class... Bodies>
  requires(detail::is_matching<Policy> && sizeof...(Bodies) == std::tuple_size_v<OutputTuple>)
      join_node(node_set<S...> const& set, Bodies... keys)
      : join_node(set.graph_reference(), keys...) {
    detail::connect(set, *this);
  }
  join_node(join_node const& other)
      : graph_node{other.my_graph}, sender<OutputTuple>{}, join_owner{}, ports_{owner(), other.ports_} {}

  input_ports_type& input_ports() noexcept { return ports_.all(); }
  bool try_get(OutputTuple& t) override {
    if (!begin()) return false;
    bool const has_one = ports_.hold(t);
    if (has_one) ports_.drop();
    end();
    signal();  // what came meanwhile may have found the ports taken
    return has_one;
  }
  bool register_successor(receiver<OutputTuple>& r) override {
    to_.add(r);
    signal();
    return true;
  }
  bool remove_successor(receiver<OutputTuple>& r) override {
    to_.remove(r);
    return true;
  }

 protected:
  void reset_node(reset_flags flags) override {
    end();
    ports_.reset(flags);
    if (detail::has(flags, rf_clear_edges)) to_.clear();
  }

 private:
  detail::join_owner& owner() noexcept { return *this; }
  graph& owner_graph() const override { return this->my_graph; }
  void signal() override {
    if (to_.empty() || !ports_.is_ready()) return;  // what changes that signals
    forwarder_.signal([this] { return forward(); });
  }

  /// One at a time uses what the ports hold.
  bool begin() {
    std::lock_guard const guard{lock_};
    if (is_in_use_) return false;
    is_in_use_ = true;
    return true;
  }
  void end() {
    std::lock_guard const guard{lock_};
    is_in_use_ = false;
  }
  bool forward() {
    if (to_.empty() || !begin()) return false;
    OutputTuple t{};
    bool is_taken = false;
    if (ports_.hold(t)) {
      is_taken = to_.put_to_all(t);
      is_taken ? ports_.drop() : ports_.let_go();
    }
    end();
    return is_taken;
  }

  tbb::detail::spinning_lock lock_;
  bool is_in_use_ = false;
  ports ports_;
  detail::successor_list<OutputTuple> to_{*this};
  detail::forwarder forwarder_{this->my_graph};
};

template <class... S>
join_node(node_set<order::following, S...> const&)
    -> join_node<typename detail::set_traits<node_set<order::following, S...>>::tuple>;
template <class... S, class Policy>
join_node(node_set<order::following, S...> const&, Policy)
    -> join_node<typename detail::set_traits<node_set<order::following, S...>>::tuple, Policy>;
template <class... S>
join_node(node_set<order::preceding, S...> const&) -> join_node<detail::set_message<node_set<order::preceding, S...>>>;
template <class... S, class Policy>
join_node(node_set<order::preceding, S...> const&, Policy)
    -> join_node<detail::set_message<node_set<order::preceding, S...>>, Policy>;

}  // namespace tbb::flow
