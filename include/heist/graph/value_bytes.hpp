// How large the values are that flow along edges: what graphs that remember count as touched by tasks that declare nothing.
#pragma once

#include <cstdint>
#include <type_traits>

namespace heist {

/// How many bytes a value of type T has: its own, or those that it holds, of contiguous containers of plain things. To be
/// specialised for types that hold theirs otherwise:
///
///     template <>
///     struct heist::value_bytes<image> {
///       static std::uint64_t of(image const& i) noexcept { return i.width() * i.height() * 4; }
///     };
///
/// `of` is called after the task that has left the value, by its worker, and throws nothing. Without a member `of`
/// nothing is known.
template <class T>
struct value_bytes {};

template <class T>
requires requires(T const& v) {
  typename T::value_type;
  v.data();
  v.size();
  requires std::is_trivially_copyable_v<typename T::value_type>;
}
struct value_bytes<T> {
  static std::uint64_t of(T const& v) noexcept {
    return static_cast<std::uint64_t>(v.size()) * sizeof(typename T::value_type);
  }
};

template <class T>
requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !requires(T const& v) {
  v.data();
  v.size();
}) struct value_bytes<T> {
  static std::uint64_t of(T const&) noexcept { return sizeof(T); }
};

namespace detail {

template <class T>
concept sized_value = requires(T const& v) {
  value_bytes<T>::of(v);
};

}  // namespace detail
}  // namespace heist
