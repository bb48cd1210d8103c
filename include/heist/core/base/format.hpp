// Texts with values in them, for errors and reports. This is lighter than fmt: a compiler instantiates fmt's functions for
// each text in every user's file.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "heist/core/base/config.hpp"

namespace heist::detail {

/// A text, a character or an integer, for the time of one call of format_text.
class text_value {
 public:
  text_value(std::string_view text) noexcept : text_{text.data()}, number_{text.size()} {}
  text_value(std::string const& text) noexcept : text_value{std::string_view{text}} {}
  text_value(char const* text) noexcept : text_value{std::string_view{text}} {}
  text_value(char character) noexcept : number_{static_cast<unsigned char>(character)}, kind_{kind::character} {}
  template <std::integral N>
  requires(!std::same_as<N, bool>) text_value(N number)
  noexcept
      : number_{static_cast<std::uint64_t>(number)},
        kind_{std::is_signed_v<N> ? kind::with_sign : kind::without_sign} {}

  void add_to(std::string& out) const;

 private:
  enum class kind : std::uint8_t { text, character, with_sign, without_sign };

  char const* text_ = nullptr;
  std::uint64_t number_;  ///< of a text: its bytes
  kind kind_ = kind::text;
};

/// Writes the digits so that they end before `end`, and returns where they begin. At most 20. Async-signal-safe.
HEIST_RARE char* write_digits(std::uint64_t number, char* end) noexcept;

/// A text with a "{}" for each of `Count` values. The compiler counts them.
template <std::size_t Count>
class text_pattern {
 public:
  consteval text_pattern(char const* text) noexcept : text_{text} {
    std::size_t count = 0;
    for (std::size_t i = 0; text[i] != '\0'; ++i) count += text[i] == '{' && text[i + 1] == '}';
    if (count != Count) wrong_number_of_values();
  }
  char const* get() const noexcept { return text_; }

 private:
  static void wrong_number_of_values() noexcept {}  // a call ends the compilation: it is not constexpr

  char const* text_;
};

HEIST_RARE std::string format_values(std::string_view pattern, text_value const* values, std::size_t count);

/// `pattern` with the values in place of its "{}", in their order.
template <std::size_t Count>
std::string format_text(std::type_identity_t<text_pattern<Count>> pattern, text_value const (&values)[Count]) {
  return format_values(pattern.get(), values, Count);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/base/format.ipp"
#endif
