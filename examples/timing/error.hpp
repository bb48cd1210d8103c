// The error of the reader and the checks of a netlist. Its text has the form "file:line: fault; reason; fix".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>  // runtime_error
#include <string>
#include <string_view>

namespace timing {

/// A netlist that cannot be read, written or timed. The message begins with file and line.
struct netlist_error : std::runtime_error {
  netlist_error(std::string_view file, std::uint32_t line, std::string_view text)
      : std::runtime_error{line == 0 ? fmt::format("{}: {}", file, text) : fmt::format("{}:{}: {}", file, line, text)} {
  }
};

/// `text` for a message: cut to 60 characters, with '?' instead of bytes that a terminal might interpret.
inline std::string printable(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string visible{text.substr(0, longest)};
  for (char& c : visible) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > longest) visible += "...";
  return visible;
}

}  // namespace timing
