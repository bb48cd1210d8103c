// The receivers to which a sender pushes.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <mutex>
#include <vector>

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/endpoints.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/graph.hpp"

namespace tbb::flow::detail {

/// Threads: any. A receiver with two edges is there twice.
template <class T>
class successor_list {
 public:
  explicit successor_list(sender<T>& owner) : owner_{owner} {}

  bool empty() const {
    std::lock_guard const guard{lock_};
    return edges_.empty();
  }
  void add(receiver<T>& r) {
    {
      std::lock_guard const guard{lock_};
      if (edge* const leaving = find(r, state::leaving)) {
        leaving->is = state::back;
        return;
      }
      edges_.insert(r.priority() != no_priority ? edges_.begin() : edges_.end(), edge{&r, state::pushes});
    }
    if (r.is_continue_receiver()) r.register_predecessor(owner_);
  }
  /// Also where the edge pulls.
  void remove(receiver<T>& r) {
    bool const pushed = erase(r);
    if (!pushed || r.is_continue_receiver()) r.remove_predecessor(owner_);
  }
  void clear() {
    std::lock_guard const guard{lock_};
    edges_.clear();
  }

  /// False: no one took it.
  bool put_to_all(T const& t) {
    bool is_taken = false;
    snapshot const now{*this};
    for (receiver<T>* const r : now) is_taken |= offer(*r, t);
    return is_taken;
  }
  /// To the first one that takes it.
  bool put_to_one(T const& t) {
    snapshot const now{*this};
    for (receiver<T>* const r : now) {
      if (offer(*r, t)) return true;
    }
    return false;
  }

 private:
  /// While the receiver decides to pull, it may ask for messages already, and give the edge back.
  enum class state : unsigned char { pushes, leaving, back };
  struct edge {
    receiver<T>* to;
    state is;
  };

  class snapshot {
   public:
    explicit snapshot(successor_list const& list) {
      std::lock_guard const guard{list.lock_};
      size_ = list.edges_.size();
      if (size_ > few_.size()) many_.resize(size_);
      first_ = size_ > few_.size() ? many_.data() : few_.data();
      for (std::size_t i = 0; i != size_; ++i) first_[i] = list.edges_[i].to;
    }
    snapshot(snapshot const&) = delete;
    snapshot& operator=(snapshot const&) = delete;
    receiver<T>* const* begin() const noexcept { return first_; }
    receiver<T>* const* end() const noexcept { return first_ + size_; }

   private:
    std::size_t size_;
    receiver<T>** first_;
    std::array<receiver<T>*, 8> few_;
    std::vector<receiver<T>*> many_;
  };

  /// Makes the edge pull if the receiver refuses the message and wants that.
  bool offer(receiver<T>& r, T const& t) {
    if (r.try_put(t)) return true;
    {
      std::lock_guard const guard{lock_};
      edge* const e = find(r, state::pushes);
      if (e == nullptr) return false;  // another message has made it pull
      e->is = state::leaving;
    }
    bool const pulls = r.register_predecessor(owner_);
    std::lock_guard const guard{lock_};
    if (edge* const e = find(r, state::back)) {
      e->is = state::pushes;
    } else if (edge* const l = find(r, state::leaving)) {
      if (pulls) {
        edges_.erase(edges_.begin() + (l - edges_.data()));
      } else {
        l->is = state::pushes;
      }
    }
    return false;
  }

  edge* find(receiver<T>& r, state is) noexcept {
    for (edge& e : edges_) {
      if (e.to == &r && e.is == is) return &e;
    }
    return nullptr;
  }
  bool erase(receiver<T>& r) {
    std::lock_guard const guard{lock_};
    for (auto at = edges_.begin(); at != edges_.end(); ++at) {
      if (at->to == &r) {
        edges_.erase(at);
        return true;
      }
    }
    return false;
  }

  sender<T>& owner_;
  mutable tbb::detail::spinning_lock lock_;
  std::vector<edge> edges_;
};

/// The sender part of a node that pushes what it has at once, and keeps nothing for successors.
template <class T>
class pushing_sender : public sender<T> {
 public:
  bool register_successor(receiver<T>& r) override {
    to_.add(r);
    return true;
  }
  bool remove_successor(receiver<T>& r) override {
    to_.remove(r);
    return true;
  }

 protected:
  void reset_successors(reset_flags flags) {
    if (has(flags, rf_clear_edges)) to_.clear();
  }
  successor_list<T> to_{*this};
};

}  // namespace tbb::flow::detail
