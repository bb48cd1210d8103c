// The logic of one cell output: an expression such as "!(A|(B1&B2))" becomes a truth table of at most six inputs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>  // logic_error
#include <string>
#include <string_view>

namespace timing {

/// Bit k is the output when input i has the value of bit i of k.
using truth_table = std::uint64_t;

inline constexpr std::size_t most_inputs = 6;

/// How an output follows one input: not at all, in its direction, against it, or in both ways (exclusive or).
enum class sense : std::uint8_t { none, positive, negative, both };

/// The truth table in which input i is true: every other block of 2^i bits.
constexpr truth_table variable(std::size_t input) noexcept {
  constexpr std::array<truth_table, most_inputs> masks{0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0,
                                                       0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000};
  return masks[input];
}

/// Reads an expression of pin names, `!`, `&`, `^`, `|`, `0`, `1` and parentheses; `|` binds weakest.
class logic_expression {
 public:
  logic_expression(std::string_view text, std::span<std::string const> pinned) : text_{text}, pinned_{pinned} {}

  /// Throws std::logic_error when the cell table itself is wrong; user input never comes here.
  truth_table table() {
    auto const result = alternatives();
    if (at_ != text_.size()) fail();
    return result;
  }

 private:
  truth_table alternatives() {
    auto result = differences();
    while (accept('|')) result |= differences();
    return result;
  }

  truth_table differences() {
    auto result = factors();
    while (accept('^')) result ^= factors();
    return result;
  }

  truth_table factors() {
    auto result = factor();
    while (accept('&')) result &= factor();
    return result;
  }

  truth_table factor() {
    if (accept('!')) return ~factor();
    if (accept('(')) {
      auto const inner = alternatives();
      if (!accept(')')) fail();
      return inner;
    }
    if (accept('0')) return 0;
    if (accept('1')) return ~truth_table{0};
    return pin();
  }

  truth_table pin() {
    auto const first = at_;
    while (at_ < text_.size() && std::string_view{"!&^|()"}.find(text_[at_]) == std::string_view::npos) ++at_;
    auto const name = text_.substr(first, at_ - first);
    for (std::size_t i = 0; i < pinned_.size() && i < most_inputs; ++i) {
      if (pinned_[i] == name) return variable(i);
    }
    fail();
  }

  bool accept(char c) noexcept {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void fail() const { throw std::logic_error{"cell table: bad function " + std::string{text_}}; }

  std::string_view text_;
  std::span<std::string const> pinned_;
  std::size_t at_ = 0;
};

/// How the output of a truth table follows input `input`.
constexpr sense sense_of(truth_table function, std::size_t input) noexcept {
  auto const mask = variable(input);
  auto const when_true = function & mask;
  auto const when_false = (function << (std::size_t{1} << input)) & mask;
  bool const rises = (when_true & ~when_false) != 0;
  bool const falls = (when_false & ~when_true) != 0;
  if (rises && falls) return sense::both;
  if (rises) return sense::positive;
  return falls ? sense::negative : sense::none;
}

}  // namespace timing
