// Bytes on their way between processes.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstring>  // memcpy
#include <memory>   // shared_ptr

namespace heist::distributed {

/// A piece of memory that several messages may share; not changed once it is shared. Made without being cleared. A few
/// bytes stand here themselves: most values that cross are small, and to allocate for each was a good part of its cost.
/// Large values are not copied: the bytes are then those of the value itself.
class bytes {
 public:
  /// An engine may write so much before the bytes (front_room).
  static constexpr std::size_t front = 64;

  bytes() noexcept = default;
  explicit bytes(std::size_t size) : size_{size} {
    if (size <= few) return;
    auto const all = made(front + size);
    many_ = {all, all.get() + front};
    has_front_ = true;
  }
  bytes(void const* from, std::size_t size) : bytes{size} {
    if (size != 0) std::memcpy(data(), from, size);
  }
  /// The bytes of an object that `owner` keeps, more than a few. `lent`: only while their message is on its way.
  template <class Owner>
  bytes(std::shared_ptr<Owner> const& owner, char* at, std::size_t size, bool lent = false) noexcept
      : many_{owner, at}, size_{size}, is_lent_{lent} {}
  /// Some of these, at least a few.
  bytes part(std::size_t at, std::size_t size) const noexcept { return {many_, many_.get() + at, size}; }

  char* data() noexcept { return size_ > few ? many_.get() : few_.data(); }
  char const* data() const noexcept { return size_ > few ? many_.get() : few_.data(); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  bool is_lent() const noexcept { return is_lent_; }
  /// From now on the bytes may be kept: copies them if they are lent.
  void keep() {
    if (is_lent_) *this = bytes{data(), size_};
  }
  /// Where `room` bytes before data() may be written; null: there are none, or others share them.
  char* front_room(std::size_t room) noexcept {
    return has_front_ && room <= front && many_.use_count() == 1 ? many_.get() - room : nullptr;
  }

 private:
  static constexpr std::size_t few = 24;

  static std::shared_ptr<char[]> made(std::size_t size) {
#if defined(__cpp_lib_smart_ptr_for_overwrite)
    return std::make_shared_for_overwrite<char[]>(size);  // one allocation
#else
    return std::shared_ptr<char[]>{new char[size]};
#endif
  }

  std::shared_ptr<char[]> many_;
  std::size_t size_ = 0;
  bool is_lent_ = false, has_front_ = false;
  std::array<char, few> few_{};
};

}  // namespace heist::distributed
