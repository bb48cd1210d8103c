// The input ports of a join_node that joins messages with equal keys.
#pragma once

#include <cstddef>  // size_t
#include <deque>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>  // index_sequence, index_sequence_for, move

#include "heist/compat/tbb/oneapi/tbb/detail/hash_compare.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/body.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/join_ports.hpp"

namespace tbb::flow {

template <class K, class Hash = tbb_hash_compare<std::decay_t<K>>>
struct key_matching {};
using tag_matching = key_matching<tag_value>;

/// The key of a message where the node has no functions for it. A program may have one beside its message's class.
template <class K, class T>
K key_from_message(T const& t) {
  return t.key();
}

namespace detail {

template <class K>
struct message_key {
  template <class T>
  K operator()(T const& t) const {
    return key_from_message<K>(t);
  }
};

template <class Ports, std::size_t I, class K, class T>
class matching_port final : public receiver<T> {
 public:
  using key_body = node_body<K(T const&)>;

  matching_port(std::pair<Ports*, key_body const*> const& made) : ports_{*made.first}, key_{*made.second} {}

  graph& graph_reference() const override { return ports_.owner().owner_graph(); }
  /// Refused, if one with this key waits here.
  graph_task* try_put_task(T const& t) override {
    K key = key_(t);
    return taken_if(ports_.template put<I>(key, t));
  }
  key_body const& key() const noexcept { return key_; }

 private:
  Ports& ports_;
  key_body key_;
};

template <class Ports, class K, class Numbers, class... Ts>
struct matching_port_types;
template <class Ports, class K, std::size_t... I, class... Ts>
struct matching_port_types<Ports, K, std::index_sequence<I...>, Ts...> {
  using type = std::tuple<matching_port<Ports, I, K, Ts>...>;
};

template <class... Ts, class K, class Hash>
class join_ports<std::tuple<Ts...>, key_matching<K, Hash>> {
  using tuple = std::tuple<Ts...>;
  using numbers = std::index_sequence_for<Ts...>;
  using key = std::decay_t<K>;

 public:
  using type = typename matching_port_types<join_ports, K, numbers, Ts...>::type;

  explicit join_ports(join_owner& n) : join_ports{n, node_body<K(Ts const&)>{message_key<K>{}}...} {}
  template <class... Bodies>
  requires(sizeof...(Bodies) == sizeof...(Ts)) join_ports(join_owner& n, Bodies const&... keys)
      : join_ports{n, node_body<K(Ts const&)>{keys}...} {}
  join_ports(join_owner& n, node_body<K(Ts const&)> const&... keys)
      : node_{n}, all_{std::pair<join_ports*, node_body<K(Ts const&)> const*>{this, &keys}...} {}
  join_ports(join_owner& n, join_ports const& other) : join_ports{n, other, numbers{}} {}

  join_owner& owner() const noexcept { return node_; }
  type& all() noexcept { return all_; }
  bool is_ready() {
    std::lock_guard const guard{lock_};
    return !full_.empty();
  }
  bool hold(tuple& t) {
    std::lock_guard const guard{lock_};
    if (full_.empty()) return false;
    t = full_.front();
    return true;
  }
  void drop() {
    std::lock_guard const guard{lock_};
    full_.pop_front();
  }
  void let_go() noexcept {}
  void reset(reset_flags) {
    std::lock_guard const guard{lock_};
    open_.clear();
    full_.clear();
  }

  template <std::size_t I, class T>
  bool put(key const& k, T const& t) {
    {
      std::lock_guard const guard{lock_};
      entry& e = open_[k];
      auto& part = std::get<I>(e.parts);
      if (part) return false;
      part.emplace(t);
      if (++e.count != sizeof...(Ts)) return true;
      std::apply([this](auto&... p) { full_.emplace_back(std::move(*p)...); }, e.parts);
      open_.erase(k);
    }
    node_.signal();
    return true;
  }

 private:
  template <std::size_t... I>
  join_ports(join_owner& n, join_ports const& other, std::index_sequence<I...>)
      : join_ports{n, std::get<I>(other.all_).key()...} {}

  struct entry {
    std::tuple<std::optional<Ts>...> parts;
    std::size_t count = 0;
  };
  struct hash_of {
    std::size_t operator()(key const& k) const { return Hash{}.hash(k); }
  };
  struct equal_of {
    bool operator()(key const& a, key const& b) const { return Hash{}.equal(a, b); }
  };

  join_owner& node_;
  tbb::detail::spinning_lock lock_;
  std::unordered_map<key, entry, hash_of, equal_of> open_;
  std::deque<tuple> full_;
  type all_;
};

}  // namespace detail
}  // namespace tbb::flow
