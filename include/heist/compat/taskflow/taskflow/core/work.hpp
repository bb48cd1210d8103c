// The callable of a task, whatever its type.
#pragma once

#include <cstddef>
#include <exception>  // exception_ptr
#include <new>
#include <type_traits>
#include <utility>  // forward

namespace tf {

class Graph;

namespace detail {

struct invocation;

/// Owns a callable. `Body` has call(invocation&), and may have ended(exception_ptr) and graph().
class work {
 public:
  work() noexcept = default;
  work(work const&) = delete;
  work& operator=(work const&) = delete;
  ~work() { reset(); }

  template <class Body, class... Args>
  Body& emplace(Args&&... args) {
    reset();
    if constexpr (fits<Body>) {
      ::new (static_cast<void*>(place_)) Body{std::forward<Args>(args)...};
    } else {
      ::new (static_cast<void*>(place_)) Body* {new Body{std::forward<Args>(args)...}};
    }
    is_ = &operations_of<Body>;
    return in<Body>(place_);
  }
  void reset() noexcept {
    if (is_ != nullptr) is_->destroy(place_);
    is_ = nullptr;
  }

  explicit operator bool() const noexcept { return is_ != nullptr; }
  void call(invocation& i) { is_->call(place_, i); }
  /// The task has ended with all its children.
  void ended(std::exception_ptr const& e) {
    if (is_ != nullptr && is_->ended != nullptr) is_->ended(place_, e);
  }
  /// The graph that belongs to the callable: of a subflow, a module. Null for the others.
  Graph* graph() noexcept { return is_ == nullptr || is_->graph == nullptr ? nullptr : is_->graph(place_); }

 private:
  static constexpr std::size_t room = 5 * sizeof(void*);
  template <class Body>
  static constexpr bool fits = sizeof(Body) <= room && alignof(Body) <= alignof(std::max_align_t);

  struct operations {
    void (*call)(void* place, invocation& i);
    void (*ended)(void* place, std::exception_ptr const& e);
    Graph* (*graph)(void* place);
    void (*destroy)(void* place) noexcept;
  };

  template <class Body>
  static Body& in(void* place) noexcept {
    if constexpr (fits<Body>) {
      return *static_cast<Body*>(place);
    } else {
      return **static_cast<Body**>(place);
    }
  }
  template <class Body>
  static void call_in(void* place, invocation& i) {
    in<Body>(place).call(i);
  }
  template <class Body>
  static void destroy_in(void* place) noexcept {
    if constexpr (fits<Body>) {
      in<Body>(place).~Body();
    } else {
      delete &in<Body>(place);
    }
  }
  template <class Body>
  static constexpr operations make() noexcept {
    operations made{&call_in<Body>, nullptr, nullptr, &destroy_in<Body>};
    if constexpr (requires(Body & b, std::exception_ptr const& e) { b.ended(e); })
      made.ended = [](void* place, std::exception_ptr const& e) { in<Body>(place).ended(e); };
    if constexpr (requires(Body & b) { b.graph(); })
      made.graph = [](void* place) -> Graph* { return &in<Body>(place).graph(); };
    return made;
  }
  template <class Body>
  static constexpr operations operations_of = make<Body>();

  alignas(std::max_align_t) std::byte place_[room];
  operations const* is_ = nullptr;
};

}  // namespace detail
}  // namespace tf
