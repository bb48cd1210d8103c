// The senders from which a receiver pulls.
#pragma once

#include <deque>
#include <mutex>

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/endpoints.hpp"

namespace tbb::flow::detail {

/// Threads: any; only one at a time reserves.
template <class T>
class predecessor_list {
 public:
  explicit predecessor_list(receiver<T>& owner) : owner_{owner} {}

  bool empty() const {
    std::lock_guard const guard{lock_};
    return from_.empty();
  }
  void add(sender<T>& s) {
    std::lock_guard const guard{lock_};
    from_.push_back(&s);
  }
  bool remove(sender<T>& s) {
    std::lock_guard const guard{lock_};
    for (auto at = from_.begin(); at != from_.end(); ++at) {
      if (*at == &s) {
        from_.erase(at);
        return true;
      }
    }
    return false;
  }

  /// Asks one after the other. Edges to those that have nothing push again.
  bool get(T& t) {
    return ask([&](sender<T>& s) { return s.try_get(t); }) != nullptr;
  }
  bool reserve(T& t) {
    reserved_ = ask([&](sender<T>& s) { return s.try_reserve(t); });
    return reserved_ != nullptr;
  }
  void consume() { reserved_->try_consume(); }
  void release() { reserved_->try_release(); }

  /// For a receiver's reset: all edges push again, or are gone.
  void reset(reset_flags flags) {
    std::deque<sender<T>*> all;
    {
      std::lock_guard const guard{lock_};
      all.swap(from_);
    }
    if (has(flags, rf_clear_edges)) return;
    for (sender<T>* const s : all) s->register_successor(owner_);
  }

 private:
  template <class Ask>
  sender<T>* ask(Ask has_one) {
    while (sender<T>* const s = take()) {
      if (has_one(*s)) {
        add(*s);
        return s;
      }
      s->register_successor(owner_);
    }
    return nullptr;
  }
  sender<T>* take() {
    std::lock_guard const guard{lock_};
    if (from_.empty()) return nullptr;
    sender<T>* const s = from_.front();
    from_.pop_front();
    return s;
  }

  receiver<T>& owner_;
  mutable tbb::detail::spinning_lock lock_;
  std::deque<sender<T>*> from_;
  sender<T>* reserved_ = nullptr;
};

}  // namespace tbb::flow::detail
