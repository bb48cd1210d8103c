// std::unique_ptr as heist's own code uses it, without the std::tuple inside. A compiler instantiates that tuple for each
// type, and an executor has thirty of them.
#pragma once

#include <cstddef>  // nullptr_t, size_t
#include <type_traits>

namespace heist::detail {

template <class T>
struct default_delete {
  void operator()(T* p) const noexcept {
    static_assert(sizeof(T) != 0, "heist: a unique_ptr deletes a type of which only the name is known here.");
    delete p;
  }
};

template <class T>
struct default_delete<T[]> {
  void operator()(T* p) const noexcept { delete[] p; }
};

/// Owns an object, or with T[] an array. The part of std::unique_ptr that heist needs.
template <class T, class Deleter = default_delete<T>>
class unique_ptr {
 public:
  using element = std::remove_extent_t<T>;

  unique_ptr() noexcept = default;
  unique_ptr(std::nullptr_t) noexcept {}
  explicit unique_ptr(element* p) noexcept : pointer_{p} {}
  unique_ptr(element* p, Deleter deleter) noexcept : pointer_{p}, deleter_{deleter} {}
  unique_ptr(unique_ptr&& other) noexcept : pointer_{other.release()}, deleter_{other.deleter_} {}
  /// Of a derived type, whose base has a virtual destructor.
  template <class Derived>
  requires std::is_base_of_v<T, Derived> unique_ptr(unique_ptr<Derived>&& other)
  noexcept : pointer_{other.release()} {
    static_assert(std::has_virtual_destructor_v<T>, "heist: it will be deleted as an object of its base.");
  }
  unique_ptr& operator=(unique_ptr&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~unique_ptr() {
    if (pointer_ != nullptr) deleter_(pointer_);
  }

  element* get() const noexcept { return pointer_; }
  element* operator->() const noexcept { return pointer_; }
  element& operator*() const noexcept { return *pointer_; }
  element& operator[](std::size_t i) const noexcept { return pointer_[i]; }
  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  friend bool operator==(unique_ptr const& p, std::nullptr_t) noexcept { return p.pointer_ == nullptr; }

  [[nodiscard]] element* release() noexcept {
    element* const p = pointer_;
    pointer_ = nullptr;
    return p;
  }
  void swap(unique_ptr& other) noexcept {
    element* const p = pointer_;
    pointer_ = other.pointer_;
    other.pointer_ = p;
  }
  void reset(element* p = nullptr) noexcept {
    element* const old = pointer_;
    pointer_ = p;
    if (old != nullptr) deleter_(old);
  }

 private:
  element* pointer_ = nullptr;
  [[no_unique_address]] Deleter deleter_{};
};

template <class T, class... Args>
requires(!std::is_array_v<T>) unique_ptr<T> make_unique(Args&&... args) {
  return unique_ptr<T>{new T(static_cast<Args&&>(args)...)};
}
/// `count` elements, of which each is zero or made by its default constructor.
template <class T>
requires std::is_array_v<T> unique_ptr<T> make_unique(std::size_t count) {
  return unique_ptr<T>{new std::remove_extent_t<T>[count]()};
}
/// The same, but numbers have no value yet.
template <class T>
requires std::is_array_v<T> unique_ptr<T> make_unique_for_overwrite(std::size_t count) {
  return unique_ptr<T>{new std::remove_extent_t<T>[count]};
}

}  // namespace heist::detail
