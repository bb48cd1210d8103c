// A map for code that runs seldom.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/vector.hpp"

namespace heist::detail {

/// Maps keys, which are numbers or addresses, to numbers. All cold code has this one type, which is no template: a compiler
/// instantiates each std::unordered_map in every user's file. Hashing with linear probing. A reference to a value is valid
/// until the next new key.
class number_map {
 public:
  struct place {
    std::uint64_t& value;
    bool is_new;
  };

  /// The value of `key`, which becomes `value` if it had none.
  place try_emplace(std::uint64_t key, std::uint64_t value);
  std::uint64_t& operator[](std::uint64_t key) { return try_emplace(key, 0).value; }
  /// Null if the key is not there.
  std::uint64_t const* find(std::uint64_t key) const noexcept;
  /// Removes all keys that have this value. Costs a copy of the map.
  void erase_value(std::uint64_t value);
  std::size_t size() const noexcept { return size_; }

 private:
  struct entry {
    std::uint64_t key;
    std::uint64_t value;
    bool is_used = false;
  };

  std::size_t index_of(std::uint64_t key) const noexcept;

  vector<entry> entries_;  // none, or a power of two, of which a quarter at least is free
  std::size_t size_ = 0;
};

inline std::uint64_t as_key(void const* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}
/// Also of a negative number.
constexpr std::uint64_t as_key(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/base/number_map.ipp"
#endif
