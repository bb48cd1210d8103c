// The two ends of an edge.
#pragma once

#include <cstddef>  // size_t
#include <mutex>

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/graph.hpp"

namespace tbb::flow {

namespace detail {
/// A receiver says with one of these whether it has taken a message: null is no.
struct graph_task {};
inline graph_task taken_task;
inline graph_task* const taken = &taken_task;
inline graph_task* taken_if(bool is) noexcept {
  return is ? taken : nullptr;
}
}  // namespace detail

template <class T>
class receiver;

/// An edge pushes: the sender offers messages by try_put(). If the receiver refuses one and register_predecessor() says
/// yes, the edge pulls: the receiver asks by try_get() or try_reserve(). If there is nothing, it calls
/// register_successor(), and the edge pushes again.
template <class T>
class sender {
 public:
  using output_type = T;
  using successor_type = receiver<T>;

  sender() = default;
  sender(sender const&) = delete;
  sender& operator=(sender const&) = delete;
  virtual ~sender() = default;

  virtual bool try_get(T&) { return false; }
  /// The message stays the caller's until it consumes or releases it.
  virtual bool try_reserve(T&) { return false; }
  virtual bool try_release() { return false; }
  virtual bool try_consume() { return false; }
  virtual bool register_successor(receiver<T>& r) = 0;
  virtual bool remove_successor(receiver<T>& r) = 0;
};

template <class T>
class receiver {
 public:
  using input_type = T;
  using predecessor_type = sender<T>;

  receiver() = default;
  receiver(receiver const&) = delete;
  receiver& operator=(receiver const&) = delete;
  virtual ~receiver() = default;

  /// False: the message was refused.
  bool try_put(T const& t) { return try_put_task(t) != nullptr; }
  virtual detail::graph_task* try_put_task(T const& t) = 0;
  virtual graph& graph_reference() const = 0;
  virtual bool register_predecessor(sender<T>&) { return false; }
  virtual bool remove_predecessor(sender<T>&) { return false; }
  /// It counts its predecessors, also those that push.
  virtual bool is_continue_receiver() { return false; }
  /// Senders offer messages first to those that have one.
  virtual node_priority_t priority() const { return no_priority; }
};

/// Calls execute() each time when it has got as many messages as it has predecessors.
class continue_receiver : public receiver<continue_msg> {
 public:
  explicit continue_receiver(std::size_t predecessors = 0) : first_{predecessors}, predecessors_{predecessors} {}
  /// Without the predecessors that edges have added to `other`.
  continue_receiver(continue_receiver const& other) : continue_receiver{other.first_} {}

  detail::graph_task* try_put_task(continue_msg const&) override {
    {
      std::lock_guard const guard{lock_};
      if (++got_ < predecessors_) return detail::taken;
      got_ = 0;
    }
    execute();
    return detail::taken;
  }
  bool register_predecessor(sender<continue_msg>&) override {
    std::lock_guard const guard{lock_};
    ++predecessors_;
    return true;
  }
  bool remove_predecessor(sender<continue_msg>&) override {
    std::lock_guard const guard{lock_};
    if (predecessors_ != 0) --predecessors_;
    return true;
  }
  bool is_continue_receiver() override { return true; }

 protected:
  virtual detail::graph_task* execute() = 0;
  void reset_receiver(reset_flags flags) {
    std::lock_guard const guard{lock_};
    got_ = 0;
    if (detail::has(flags, rf_clear_edges)) predecessors_ = first_;
  }

 private:
  tbb::detail::spinning_lock lock_;
  std::size_t const first_;
  std::size_t predecessors_, got_ = 0;
};

}  // namespace tbb::flow

/// Names by which programs write receivers of their own.
namespace tbb::detail::d2 {
using flow::detail::graph_task;
inline graph_task* const SUCCESSFULLY_ENQUEUED = flow::detail::taken;
template <class T>
bool register_predecessor(flow::receiver<T>& r, flow::sender<T>& s) {
  return r.register_predecessor(s);
}
template <class T>
bool remove_predecessor(flow::receiver<T>& r, flow::sender<T>& s) {
  return r.remove_predecessor(s);
}
}  // namespace tbb::detail::d2
