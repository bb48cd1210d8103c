// Handles to the tasks of a distributed graph.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/distributed/graph_core.hpp"
#include "heist/fwd.hpp"
#include "heist/graph/input.hpp"
#include "heist/graph/task.hpp"

namespace heist {

class distributed_graph;

namespace distributed::detail {
struct placed_access;
}

/// A task of a distributed graph that leaves a value of type T: known on all ranks, and run by one.
///
/// Threads  as the graph: built by one thread at a time.
template <class T>
class placed {
 public:
  /// Refers to nothing.
  placed() noexcept = default;

  /// The rank that runs it.
  int rank() const noexcept { return rank_; }
  /// Does this process run it?
  bool here() const noexcept { return core_ != nullptr && core_->rank() == rank_; }
  /// The task's value of the last run. Throws graph_error on other ranks, and where it has not run, was skipped, or its
  /// value was taken. Must not be called while the graph runs.
  std::add_lvalue_reference_t<std::add_const_t<T>> result() const {
    if (!here()) {
      throw graph_error{"the value of " + checked().name_of(id_) + " is on rank " + std::to_string(rank_) +
                        ", not on rank " + std::to_string(checked().rank()) +
                        "; fix it by asking here() first, or by a task on this rank that takes the value."};
    }
    if (!local_.valid()) {
      throw graph_error{
          checked().name_of(id_) +
          " has no value in a graph that was restarted, because only tasks that were saved need it; fix it "
          "by saving it, too, or by a task that returns it."};
    }
    return local_.result();
  }

  /// Names the task, for pictures, traces and messages. To be called on all ranks.
  placed& name(std::string_view text) {
    checked().name(id_, std::string{text});
    if (local_.valid()) local_.name(text);
    return *this;
  }

  /// This task runs before each of `others`, which are on the same rank. Throws graph_error if one is not.
  template <class... Others>
  placed& precede(Others const&... others) {
    (order(*this, others), ...);
    return *this;
  }
  /// This task runs after each of `others`, which are on the same rank. Throws graph_error if one is not.
  template <class... Others>
  placed& succeed(Others const&... others) {
    (order(others, *this), ...);
    return *this;
  }

 private:
  friend class distributed_graph;
  friend struct distributed::detail::placed_access;
  template <class>
  friend class placed;
  placed(distributed::graph_core& core, int rank, std::uint32_t id) noexcept : core_{&core}, rank_{rank}, id_{id} {}

  distributed::graph_core& checked() const {
    if (core_ == nullptr) {
      throw graph_error{
          "this handle refers to no task: it was default made; fix it by using the handle that emplace() returned."};
    }
    return *core_;
  }

  template <class A, class B>
  static void order(placed<A> const& from, placed<B> const& to) {
    if (from.core_ == nullptr || from.core_ != to.core_) {
      throw graph_error{
          "an order between tasks that are not both in the same graph; fix it by their own graph's tasks."};
    }
    if (from.rank_ != to.rank_) {
      throw graph_error{"an order without a value between ranks " + std::to_string(from.rank_) + " and " +
                        std::to_string(to.rank_) + " (" + from.core_->name_of(from.id_) + ", " +
                        from.core_->name_of(to.id_) + "); fix it by giving the one task to the other as an argument."};
    }
    from.core_->changed(from.id_, to.id_);
    if (from.local_.valid() && to.local_.valid()) task<>{from.local_}.precede(task<>{to.local_});
  }

  distributed::graph_core* core_ = nullptr;
  int rank_ = 0;
  std::uint32_t id_ = 0;
  task<T> local_;
};

namespace distributed::detail {

/// For tests.
struct placed_access {
  template <class T>
  static task<T> const& local_of(placed<T> const& p) noexcept {
    return p.local_;
  }
};

template <class A>
inline constexpr bool is_placed = false;
template <class T>
inline constexpr bool is_placed<placed<T>> = true;
template <class A>
inline constexpr bool is_placed_input = is_placed<A>;
template <class T>
inline constexpr bool is_placed_input<heist::detail::take_of<placed<T>>> = true;
template <class T>
inline constexpr bool is_placed_input<heist::detail::each_of<placed<T>>> = true;

}  // namespace distributed::detail
}  // namespace heist
