// Bytes on their way between processes.
#pragma once

#include <cstddef>  // size_t
#include <cstring>  // memcpy
#include <memory>   // shared_ptr

namespace heist::distributed {

/// A piece of memory that several messages may share; not changed once it is shared. Made without being cleared.
class bytes {
 public:
  bytes() noexcept = default;
  explicit bytes(std::size_t size) : data_{size == 0 ? nullptr : new char[size]}, size_{size} {}
  bytes(void const* from, std::size_t size) : bytes{size} {
    if (size != 0) std::memcpy(data_.get(), from, size);
  }

  char* data() noexcept { return data_.get(); }
  char const* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  std::shared_ptr<char[]> data_;
  std::size_t size_ = 0;
};

}  // namespace heist::distributed
