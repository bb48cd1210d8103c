// Values on cache lines of their own.
#pragma once

namespace tf {

template <class T>
class alignas(128) CachelineAligned {
 public:
  T data;
  T& get() noexcept { return data; }
  T const& get() const noexcept { return data; }
};

}  // namespace tf
