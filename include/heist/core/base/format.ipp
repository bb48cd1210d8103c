// Bodies of format.hpp.
#pragma once

#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY char* write_digits(std::uint64_t number, char* end) noexcept {
  do *--end = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  return end;
}

HEIST_COLD_BODY void text_value::add_to(std::string& out) const {
  if (kind_ == kind::text) {
    out.append(text_, number_);
    return;
  }
  if (kind_ == kind::character) {
    out += static_cast<char>(number_);
    return;
  }
  bool const is_negative = kind_ == kind::with_sign && static_cast<std::int64_t>(number_) < 0;
  char digits[20];
  char* const end = digits + sizeof(digits);
  char const* const first = write_digits(is_negative ? 0 - number_ : number_, end);
  if (is_negative) out += '-';
  out.append(first, static_cast<std::size_t>(end - first));
}

HEIST_COLD_BODY std::string format_values(std::string_view pattern, text_value const* values, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i != count; ++i) {
    std::size_t const at = pattern.find("{}");
    out.append(pattern.data(), at);
    values[i].add_to(out);
    pattern.remove_prefix(at + 2);
  }
  return out.append(pattern.data(), pattern.size());
}

}  // namespace heist::detail
