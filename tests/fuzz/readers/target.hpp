// The readers are fuzzed. A target takes any bytes, gives them to a reader, and checks the reader's result.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <stdexcept>  // runtime_error
#include <string>
#include <string_view>

#include "heist/core/base/errors.hpp"
#include "memory_budget.hpp"

namespace fuzz {

/// A promise that a reader broke.
struct finding : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct outcome {
  bool accepted = false;
  std::uint32_t round_trips = 0;  ///< comparisons of a result with the result of reading it again
};

/// A reader and its promises. When a promise is broken, run() throws `finding` or lets the reader's exception through.
/// It may also crash or not end: the drivers notice.
struct target {
  std::string_view name;
  std::size_t longest;   ///< length of the inputs that the portable driver makes
  std::uint64_t inputs;  ///< number of inputs that the portable driver makes by default
  bool has_round_trips;  ///< some input must have been read, written and read again
  outcome (*run)(std::string_view input);
};

inline void require(bool holds, std::string const& promise) {
  if (!holds) throw finding(promise);
}

/// A refusal is one readable sentence: not empty, no control characters of the file in it, and no copy of the file.
void require_message(std::string_view message);

/// The result of read(), nothing if it throws an Error; other exceptions pass. It may have at most `fixed` + `factor` *
/// `size` bytes at a time. Beyond that the allocation fails, which is a finding even if the reader takes it for a
/// refusal.
template <class Error, class Read>
auto attempt(std::size_t size, memory_limits limits, Read read) -> std::optional<decltype(read())> {
  memory_budget const budget{limits.fixed + limits.factor * size};
  try {
    auto result = read();
    require(!budget.exceeded(), "the reader allocates out of proportion to its input");
    return result;
  } catch (Error const& e) {
    require(!budget.exceeded(), "the reader allocates out of proportion to its input");
    require_message(e.what());
    return std::nullopt;
  } catch (std::bad_alloc const&) {
    if (budget.exceeded()) throw finding("the reader allocates out of proportion to its input");
    throw;
  }
}

/// True if read() throws an Error.
template <class Error, class Read>
bool rejects_call(Read read) {
  try {
    static_cast<void>(read());
  } catch (Error const&) {
    return true;
  }
  return false;
}

/// A number that depends on all of the input. Targets use it to choose a place to cut, or a question.
inline std::uint64_t digest(std::string_view input) noexcept {
  std::uint64_t h = 0xcbf29ce484222325;
  for (char const c : input) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  h ^= h >> 29;
  return h * 0xbf58476d1ce4e5b9 >> 8;
}

/// The text without blanks around it, cut somewhere; for texts of formats that end with a closing bracket.
inline std::string_view cut(std::string_view text) {
  auto const last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : digest(text) % (last + 1));
}

}  // namespace fuzz
