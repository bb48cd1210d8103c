// The error message of a call that must fail.
#pragma once

#include <exception>
#include <string>

namespace timing_test {

/// The message of the exception that f() throws; "no error" when it throws none.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "no error";
}

inline bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace timing_test
