// A callable to keep: moves, does not copy, and stores small callables in place.
#pragma once

#include <cstddef>  // byte, max_align_t
#include <new>
#include <type_traits>
#include <utility>  // exchange, forward, move

namespace heist {

template <class Signature>
class unique_function;

/// As std::move_only_function of C++23, for the few places that need one.
///
/// Cost  no allocation for callables of up to four pointers that move without throwing.
template <class R, class... Args>
class unique_function<R(Args...)> {
  static constexpr std::size_t inline_size = 4 * sizeof(void*);

 public:
  unique_function() noexcept = default;
  unique_function(std::nullptr_t) noexcept {}

  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, unique_function> &&
           std::is_invocable_r_v<R, std::decay_t<F>&, Args...>) unique_function(F&& f) {
    using stored = std::decay_t<F>;
    if constexpr (sizeof(stored) <= inline_size && alignof(stored) <= alignof(std::max_align_t) &&
                  std::is_nothrow_move_constructible_v<stored>) {
      ::new (static_cast<void*>(storage_)) stored(std::forward<F>(f));
      operations_ = &in_place<stored>;
    } else {
      ::new (static_cast<void*>(storage_))(stored*)(new stored(std::forward<F>(f)));
      operations_ = &on_heap<stored>;
    }
  }

  unique_function(unique_function&& other) noexcept { take(other); }
  unique_function& operator=(unique_function&& other) noexcept {
    if (this != &other) {
      clear();
      take(other);
    }
    return *this;
  }
  ~unique_function() { clear(); }

  explicit operator bool() const noexcept { return operations_ != nullptr; }
  /// Must not be empty.
  R operator()(Args... args) { return operations_->call(storage_, std::forward<Args>(args)...); }

 private:
  struct operations {
    R (*call)(void* at, Args&&... args);
    void (*move)(void* from, void* to) noexcept;  // leaves nothing at `from`
    void (*destroy)(void* at) noexcept;
  };

  template <class F>
  static constexpr operations in_place{
      [](void* at, Args&&... args) -> R { return (*static_cast<F*>(at))(std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept {
        ::new (to) F(std::move(*static_cast<F*>(from)));
        static_cast<F*>(from)->~F();
      },
      [](void* at) noexcept { static_cast<F*>(at)->~F(); }};
  template <class F>
  static constexpr operations on_heap{
      [](void* at, Args&&... args) -> R { return (**static_cast<F**>(at))(std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept { ::new (to)(F*)(*static_cast<F**>(from)); },
      [](void* at) noexcept { delete *static_cast<F**>(at); }};

  void take(unique_function& other) noexcept {
    operations_ = std::exchange(other.operations_, nullptr);
    if (operations_ != nullptr) operations_->move(other.storage_, storage_);
  }
  void clear() noexcept {
    if (operations_ != nullptr) operations_->destroy(storage_);
    operations_ = nullptr;
  }

  operations const* operations_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[inline_size];
};

}  // namespace heist
