// Room in a frame for a fork's data on each child, where their number is not known at compile time.
#pragma once

#include <cstddef>  // byte, size_t
#include <memory>   // destroy_at
#include <new>
#include <utility>  // forward

namespace heist::detail {

/// Up to `count` objects, in the frame itself if they are as few as usual.
template <class T, std::size_t Usual = 4>
class frame_array {
 public:
  explicit frame_array(std::size_t count) noexcept {
    if (count <= Usual) return;
    more_ = ::operator new (count * sizeof(T), std::align_val_t{alignof(T)}, std::nothrow);
    has_room_ = more_ != nullptr;
  }
  frame_array(frame_array const&) = delete;
  frame_array& operator=(frame_array const&) = delete;
  ~frame_array() {
    while (made_ != 0) std::destroy_at(&(*this)[--made_]);
    ::operator delete (more_, std::align_val_t{alignof(T)});
  }

  /// False: there is no memory.
  bool has_room() const noexcept { return has_room_; }
  template <class... Args>
  T& add(Args&&... args) {
    T* const made = ::new (at(made_)) T(std::forward<Args>(args)...);
    ++made_;
    return *made;
  }
  T& operator[](std::size_t i) noexcept { return *std::launder(static_cast<T*>(at(i))); }

 private:
  void* at(std::size_t i) noexcept {
    return static_cast<std::byte*>(more_ != nullptr ? more_ : static_cast<void*>(few_)) + i * sizeof(T);
  }

  alignas(T) std::byte few_[Usual * sizeof(T)];
  void* more_ = nullptr;
  std::size_t made_ = 0;
  bool has_room_ = true;
};

}  // namespace heist::detail
