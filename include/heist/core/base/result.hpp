// A place for one value that a task produces later.
#pragma once

#include <memory>  // construct_at, destroy_at, addressof
#include <type_traits>
#include <utility>  // forward, move
#include <variant>  // monostate

namespace heist::detail {

/// The result that a task of result type R leaves: R itself, nothing for void, a pointer for a reference.
template <class R>
class result_slot {
  static_assert(!std::is_rvalue_reference_v<R>,
                "heist: a task cannot return an rvalue reference, which would dangle; fix it by returning a value.");
  using stored = std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*, std::remove_const_t<R>>;

 public:
  result_slot() noexcept {}
  result_slot(result_slot const&) = delete;
  result_slot& operator=(result_slot const&) = delete;
  ~result_slot() { reset(); }

  template <class F>
  void fill(F&& make) {
    reset();
    if constexpr (std::is_reference_v<R>) {
      value_ = std::addressof(make());
    } else {
      ::new (static_cast<void*>(std::addressof(value_))) stored(make());
    }
    full_ = true;
  }
  void reset() noexcept {
    if (full_) std::destroy_at(std::addressof(value_));
    full_ = false;
  }
  bool full() const noexcept { return full_; }

  /// Full only. The value to look at.
  std::add_lvalue_reference_t<std::add_const_t<R>> get() const noexcept {
    if constexpr (std::is_reference_v<R>) {
      return *value_;
    } else {
      return value_;
    }
  }
  /// Full only. The value to keep; the slot holds a moved-from one after it.
  R take() {
    if constexpr (std::is_reference_v<R>) {
      return *value_;
    } else {
      return std::move(value_);
    }
  }

 private:
  union {
    stored value_;
  };
  bool full_ = false;
};

template <>
class result_slot<void> {
 public:
  template <class F>
  void fill(F&& make) {
    make();
    full_ = true;
  }
  void reset() noexcept { full_ = false; }
  bool full() const noexcept { return full_; }
  void get() const noexcept {}
  void take() noexcept {}

 private:
  bool full_ = false;
};

/// void becomes std::monostate where a value is needed.
template <class R>
using value_or_monostate = std::conditional_t<std::is_void_v<R>, std::monostate, R>;

}  // namespace heist::detail
