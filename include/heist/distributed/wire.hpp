// How values travel: their bytes, and which types have any that mean the same in another process.
#pragma once

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>

#include <array>
#include <bit>       // bit_cast
#include <concepts>  // convertible_to
#include <cstddef>   // size_t
#include <cstdint>
#include <cstring>     // memcpy
#include <functional>  // reference_wrapper
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <sstream>  // stringbuf
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>  // pair, forward, move
#include <variant>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/distributed/bytes.hpp"

namespace heist {

/// A message that cannot be read: what packs and what unpacks differ.
struct wire_error : error {
  using error::error;
};

namespace distributed {

/// Where values are written to.
class writer {
 public:
  void write(void const* from, std::size_t size) {
    auto const* const p = static_cast<char const*>(from);
    text_.insert(text_.end(), p, p + size);
  }
  void reserve(std::size_t size) { text_.reserve(text_.size() + size); }
  std::size_t size() const noexcept { return text_.size(); }
  bytes take() const { return bytes{text_.data(), text_.size()}; }

 private:
  std::vector<char> text_;
};

/// Where values are read from. Throws wire_error at the end.
class reader {
 public:
  reader(char const* from, std::size_t size) noexcept : at_{from}, left_{size} {}
  explicit reader(bytes const& b) noexcept : reader{b.data(), b.size()} {}
  void read(void* to, std::size_t size) {
    need(size);
    if (size != 0) std::memcpy(to, at_, size);
    at_ += size;
    left_ -= size;
  }
  /// For the length of something: more than there are bytes is a broken message.
  std::size_t length(std::size_t bytes_each) {
    std::uint64_t n = 0;
    read(&n, sizeof n);
    if (bytes_each != 0 && n > left_ / bytes_each) reject();
    return static_cast<std::size_t>(n);
  }
  /// Throws wire_error if anything is left.
  void end() const {
    if (left_ != 0) reject();
  }

 private:
  void need(std::size_t size) const {
    if (size > left_) reject();
  }
  [[noreturn]] static void reject() {
    throw wire_error{
        "a message between processes has another size than its value; fix it by the same program on all ranks, and by "
        "a "
        "heist::wire<T> whose unpack() reads what its pack() has written."};
  }

  char const* at_;
  std::size_t left_;
};

}  // namespace distributed

/// How a T travels between processes; to be specialised for types of your own:
///
///   template <>
///   struct heist::wire<my_type> {
///     static void pack(heist::distributed::writer& to, my_type const& x);
///     static my_type unpack(heist::distributed::reader& from);
///   };
///
/// The default: trivially copyable types are sent as their bytes; containers, tuples, optional and variant by their
/// parts; other types by Boost.Serialization. For this a public member serialize(Archive&, unsigned), or a function of
/// that name beside the type, is enough. For a private or split one, say template <> inline constexpr bool
/// heist::by_boost<my_type> = true.
template <class T>
struct wire;

template <class T>
inline constexpr bool by_boost = false;

namespace distributed::detail {

// Types that hold addresses, which no other process can follow.
template <class T>
inline constexpr bool is_address =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_reference_v<T> || std::is_null_pointer_v<T>;
template <class C, class Traits>
inline constexpr bool is_address<std::basic_string_view<C, Traits>> = true;
template <class T, std::size_t N>
inline constexpr bool is_address<std::span<T, N>> = true;
template <class T>
inline constexpr bool is_address<std::reference_wrapper<T>> = true;

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;
template <class T>
inline constexpr bool is_owner = false;
template <class T, class D>
inline constexpr bool is_owner<std::unique_ptr<T, D>> = true;
template <class T>
inline constexpr bool is_owner<std::shared_ptr<T>> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

/// A container that owns its elements and can be filled one by one.
template <class T>
concept fillable = std::ranges::forward_range<T> && std::is_default_constructible_v<T> && !is_address<T> &&
                   requires(T & c, std::ranges::range_value_t<T> v) {
  typename T::value_type;
  typename T::allocator_type;
  c.insert(c.end(), std::move(v));
};

template <class T>
concept has_own_wire = requires(writer& w, reader& r, T const& x) {
  wire<T>::pack(w, x);
  { wire<T>::unpack(r) } -> std::convertible_to<T>;
};

/// Elements as they are made: the key of a map is const where it is looked at.
template <class T>
struct made_of {
  using type = std::remove_const_t<T>;
};
template <class A, class B>
struct made_of<std::pair<A const, B>> {
  using type = std::pair<A, B>;
};
template <class T>
using element = typename made_of<std::ranges::range_value_t<T>>::type;

/// Does boost know how? Members and functions that are found beside the type; the rest says by_boost.
template <class T>
concept has_serialize = requires(T& x, boost::archive::binary_oarchive& to) {
  x.serialize(to, 0u);
}
|| requires(T& x, boost::archive::binary_oarchive& to) {
  serialize(to, x, 0u);
}
|| by_boost<T>;

template <class T>
constexpr bool serializable();

template <class T>
constexpr bool elements_serializable() {
  return serializable<element<T>>();
}
template <class T, std::size_t... I>
constexpr bool members_serializable(std::index_sequence<I...>) {
  return (serializable<std::tuple_element_t<I, T>>() && ...);
}
template <class... T>
constexpr bool all_serializable(std::variant<T...> const*) {
  return (serializable<T>() && ...);
}

/// Looks into containers: may a T be sent to another process?
template <class T>
constexpr bool serializable() {
  if constexpr (has_own_wire<T>) {
    return true;
  } else if constexpr (is_address<T> || is_owner<T> || std::is_const_v<T>) {
    return false;
  } else if constexpr (is_array<T>) {
    return serializable<typename T::value_type>();
  } else if constexpr (is_tuple<T>) {
    return members_serializable<T>(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (is_optional<T>) {
    return serializable<typename T::value_type>();
  } else if constexpr (is_variant<T>) {
    return all_serializable(static_cast<T const*>(nullptr));
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    return true;
  } else if constexpr (has_serialize<T>) {
    return true;
  } else if constexpr (fillable<T>) {
    return elements_serializable<T>();
  } else {
    return false;
  }
}

/// Travels as its bytes stand.
template <class T>
inline constexpr bool is_flat = std::is_trivially_copyable_v<T> && !has_own_wire<T> && !is_tuple<T> &&
                                !is_optional<T> && !is_variant<T> && !is_array<T>;

template <class T>
concept contiguous_of_flat = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> && is_flat<element<T>>;

/// A container whose elements stand together as they travel, so a message that has nothing else needs no number of them.
template <class T>
concept plain_elements =
    contiguous_of_flat<T> && !is_flat<T> && !has_own_wire<T> && !is_array<T> && !has_serialize<T> && requires(T & x) {
  x.resize(std::size_t{});
};

template <class T>
void pack(writer& to, T const& x);
template <class T>
T unpack(reader& from);

}  // namespace distributed::detail

/// May values of this type be sent to another process?
template <class T>
inline constexpr bool serializable = distributed::detail::serializable<T>();

namespace distributed::detail {

template <class T>
void pack_elements(writer& to, T const& x) {
  auto const n = static_cast<std::uint64_t>(std::ranges::distance(x));
  to.write(&n, sizeof n);
  if constexpr (contiguous_of_flat<T>) {
    to.write(std::ranges::data(x), static_cast<std::size_t>(n) * sizeof(element<T>));
  } else {
    for (auto const& part : x) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, std::ranges::range_value_t<T>> &&
                    !std::is_same_v<element<T>, std::ranges::range_value_t<T>>) {
        pack(to, part.first), pack(to, part.second);
      } else {
        pack(to, static_cast<element<T> const&>(part));
      }
    }
  }
}

template <class T>
T unpack_elements(reader& from) {
  T x;
  if constexpr (contiguous_of_flat<T> && requires { x.resize(std::size_t{}); }) {
    std::size_t const n = from.length(sizeof(element<T>));
    x.resize(n);
    from.read(std::ranges::data(x), n * sizeof(element<T>));
  } else {
    for (std::size_t n = from.length(0); n > 0; --n) x.insert(x.end(), unpack<element<T>>(from));
  }
  return x;
}

template <class T>
void pack_by_boost(writer& to, T const& x) {
  std::stringbuf text;
  {
    boost::archive::binary_oarchive archive{text, boost::archive::no_header | boost::archive::no_codecvt};
    archive << x;
  }
  std::string const s = text.str();
  pack(to, s);
}
template <class T>
T unpack_by_boost(reader& from) {
  std::stringbuf text{unpack<std::string>(from)};
  boost::archive::binary_iarchive archive{text, boost::archive::no_header | boost::archive::no_codecvt};
  T x;
  archive >> x;
  return x;
}

template <class T>
void pack(writer& to, T const& x) {
  if constexpr (has_own_wire<T>) {
    wire<T>::pack(to, x);
  } else if constexpr (is_flat<T>) {
    to.write(std::addressof(x), sizeof(T));
  } else if constexpr (is_tuple<T>) {
    std::apply([&](auto const&... part) { (pack(to, part), ...); }, x);
  } else if constexpr (is_array<T>) {
    for (auto const& part : x) pack(to, part);
  } else if constexpr (is_optional<T>) {
    pack(to, x.has_value());
    if (x) pack(to, *x);
  } else if constexpr (is_variant<T>) {
    pack(to, static_cast<std::uint32_t>(x.index()));
    std::visit([&](auto const& part) { pack(to, part); }, x);
  } else if constexpr (has_serialize<T>) {
    pack_by_boost(to, x);
  } else {
    pack_elements(to, x);
  }
}

template <class T, std::size_t... I>
T unpack_members(reader& from, std::index_sequence<I...>) {
  return T{unpack<std::tuple_element_t<I, T>>(from)...};  // braces: in order
}
template <class T, std::size_t I = 0>
T unpack_variant(reader& from, std::uint32_t which) {
  if constexpr (I + 1 < std::variant_size_v<T>) {
    if (which != I) return unpack_variant<T, I + 1>(from, which);
  }
  return T{std::in_place_index<I>, unpack<std::variant_alternative_t<I, T>>(from)};
}

template <class T>
T unpack(reader& from) {
  if constexpr (has_own_wire<T>) {
    return wire<T>::unpack(from);
  } else if constexpr (is_flat<T>) {
    if constexpr (std::is_trivially_default_constructible_v<T>) {
      T x;
      from.read(std::addressof(x), sizeof(T));
      return x;
    } else {
      std::array<char, sizeof(T)> raw;
      from.read(raw.data(), sizeof(T));
      return std::bit_cast<T>(raw);
    }
  } else if constexpr (is_tuple<T>) {
    return unpack_members<T>(from, std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (is_array<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{((void)I, unpack<typename T::value_type>(from))...};
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (is_optional<T>) {
    if (!unpack<bool>(from)) return std::nullopt;
    return unpack<typename T::value_type>(from);
  } else if constexpr (is_variant<T>) {
    auto const which = unpack<std::uint32_t>(from);
    return unpack_variant<T>(from, which);
  } else if constexpr (has_serialize<T>) {
    return unpack_by_boost<T>(from);
  } else {
    return unpack_elements<T>(from);
  }
}

/// Values that travel as their bytes stand: where these are, and how many.
template <class T>
inline constexpr bool has_plain_bytes = is_flat<T> || plain_elements<T>;
template <class T>
std::span<char const> plain_bytes(T const& x) noexcept {
  if constexpr (plain_elements<T>) {
    return {reinterpret_cast<char const*>(std::ranges::data(x)), std::ranges::size(x) * sizeof(element<T>)};
  } else {
    return {reinterpret_cast<char const*>(std::addressof(x)), sizeof(T)};
  }
}

/// A value as the bytes of a message or of a file.
template <class T>
bytes packed(T const& x) {
  if constexpr (has_plain_bytes<T>) {
    auto const found = plain_bytes(x);
    return bytes{found.data(), found.size()};
  } else {
    writer to;
    pack(to, x);
    return to.take();
  }
}
/// Throws wire_error if these are not the bytes of one T.
template <class T>
T unpacked(bytes const& b) {
  reader from{b};
  if constexpr (plain_elements<T>) {
    T x;
    x.resize(b.size() / sizeof(element<T>));
    from.read(std::ranges::data(x), std::ranges::size(x) * sizeof(element<T>));
    from.end();
    return x;
  } else {
    T x = unpack<T>(from);
    from.end();
    return x;
  }
}

}  // namespace distributed::detail
}  // namespace heist
