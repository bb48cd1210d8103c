// Bytes on their way between processes.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstring>  // memcpy
#include <memory>   // shared_ptr

namespace heist::distributed {

/// A piece of memory that several messages may share; not changed once it is shared. Made without being cleared. A few
/// bytes stand here themselves: most values that cross are small, and to allocate for each was a good part of its cost.
class bytes {
 public:
  bytes() noexcept = default;
  explicit bytes(std::size_t size) : size_{size} {
    if (size > few) many_ = made(size);
  }
  bytes(void const* from, std::size_t size) : bytes{size} {
    if (size != 0) std::memcpy(data(), from, size);
  }

  char* data() noexcept { return size_ > few ? many_.get() : few_.data(); }
  char const* data() const noexcept { return size_ > few ? many_.get() : few_.data(); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

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
  std::array<char, few> few_{};
};

}  // namespace heist::distributed
