// Helpers for tests of texts: they look for parts, edit a copy, catch the sentence of a refusal.
#pragma once

#include <string>
#include <utility>  // forward

#include "support/catch.hpp"

namespace heist_test {

inline bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

/// `text` with the first `what` replaced, which it must have.
inline std::string replaced(std::string text, std::string const& what, std::string const& by) {
  auto const at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

/// The text of the Error that `make()` throws; "accepted" if it throws none.
template <class Error, class Make>
std::string error_text_of(Make&& make) {
  try {
    std::forward<Make>(make)();
  } catch (Error const& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace heist_test
