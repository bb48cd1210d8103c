// Handles of asyncs that others come after.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>   // exception_ptr
#include <functional>  // hash
#include <utility>     // exchange, move, swap

#include "heist/compat/taskflow/taskflow/core/node.hpp"

namespace tf {

/// Shares an async, which stays until its last handle is gone.
class AsyncTask {
 public:
  AsyncTask() = default;
  explicit AsyncTask(detail::node* n) noexcept : node_{n} { retain(); }
  AsyncTask(AsyncTask const& other) noexcept : node_{other.node_} { retain(); }
  AsyncTask(AsyncTask&& other) noexcept : node_{std::exchange(other.node_, nullptr)} {}
  AsyncTask& operator=(AsyncTask other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~AsyncTask() { release(node_); }

  bool empty() const noexcept { return node_ == nullptr; }
  void reset() noexcept { release(std::exchange(node_, nullptr)); }
  std::size_t hash_value() const noexcept { return std::hash<detail::node*>{}(node_); }
  /// Handles, and the executor until the task has ended.
  std::size_t use_count() const noexcept {
    return node_ == nullptr ? 0 : node_->owners.load(std::memory_order_relaxed);  // relaxed: a snapshot
  }
  bool is_done() const noexcept {
    // acquire: what the task has done
    return node_ == nullptr || node_->followers.load(std::memory_order_acquire) == detail::node::closed();
  }
  std::exception_ptr exception_ptr() const noexcept { return node_ == nullptr ? nullptr : node_->exception; }
  bool has_exception_ptr() const noexcept { return exception_ptr() != nullptr; }

  // For the code of the layer.
  detail::node* node() const noexcept { return node_; }
  static void release(detail::node* n) noexcept {
    // acq_rel: the last owner sees what the others did
    if (n != nullptr && n->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete n;
  }

 private:
  void retain() noexcept {
    if (node_ != nullptr) node_->owners.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller owns it
  }
  detail::node* node_ = nullptr;
};

template <class T>
concept AsyncTaskHandleLike = std::same_as<std::decay_t<T>, AsyncTask>;

}  // namespace tf
