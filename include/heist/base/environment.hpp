// Reads environment variables. A number must be the whole text of its variable.
#pragma once

#include <charconv>  // from_chars
#include <cstdlib>   // getenv
#include <optional>
#include <string_view>
#include <system_error>  // errc

namespace heist::detail {

/// The text of a variable; empty if it is not set.
inline std::string_view environment_text(char const* variable) noexcept {
  char const* const text = std::getenv(variable);
  return text == nullptr ? std::string_view{} : std::string_view{text};
}

/// All of `text` as a number from `least` to `most`; nothing if it is something else, or has something behind it.
template <class Number>
std::optional<Number> whole_number(std::string_view text, Number least, Number most) noexcept {
  Number n{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || !(n >= least && n <= most)) return std::nullopt;
  return n;
}

}  // namespace heist::detail
