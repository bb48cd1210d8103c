// Cuts structural Verilog into tokens: names (plain or escaped), 1'b0 and 1'b1, and single characters.
#pragma once

#include "error.hpp"

#include <algorithm>  // min
#include <cstdint>
#include <string>
#include <string_view>

namespace timing {

enum class token_kind : std::uint8_t { name, constant, sign, end };

struct token {
  token_kind kind = token_kind::end;
  std::string_view text;    // of an escaped name: without the backslash
  bool is_escaped = false;  // an escaped name is never a keyword
  std::uint32_t line = 1;

  bool is(char c) const noexcept { return kind == token_kind::sign && text.front() == c; }
  bool is_keyword(std::string_view word) const noexcept {
    return kind == token_kind::name && !is_escaped && text == word;
  }
};

/// The text must outlive the lexer. Throws netlist_error for bytes that are no Verilog of this subset.
class lexer {
 public:
  lexer(std::string_view file, std::string_view text) : file_{file}, text_{text} {}

  token next() {
    skip_blanks();
    if (at_ == text_.size()) return {token_kind::end, {}, false, line_};
    char const c = text_[at_];
    if (c == '\\') return escaped();
    if (is_letter(c)) return plain();
    if (is_digit(c)) return constant();
    if (std::string_view{"(),;.="}.find(c) != std::string_view::npos) {
      return {token_kind::sign, text_.substr(at_++, 1), false, line_};
    }
    reject(c);
  }

 private:
  static constexpr std::size_t longest_name = 4096;

  static bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  static bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

  void skip_blanks() {
    while (at_ < text_.size()) {
      auto const rest = text_.substr(at_, 2);
      if (is_blank(rest.front())) {
        line_ += rest.front() == '\n' ? 1 : 0;
        ++at_;
      } else if (rest == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest == "/*") {
        skip_block();
      } else {
        return;
      }
    }
  }

  void skip_block() {
    auto const begin = line_;
    auto const end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) {
      throw netlist_error{file_, begin, "the comment that begins here has no end: the file may be cut; add '*/'"};
    }
    for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }

  token plain() {
    auto const first = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '$')) ++at_;
    return name(first, false);
  }

  token escaped() {
    auto const first = ++at_;
    while (at_ < text_.size() && text_[at_] > ' ' && text_[at_] <= '~') ++at_;
    if (at_ == first) throw netlist_error{file_, line_, "a backslash begins a name, but none follows; remove it"};
    return name(first, true);
  }

  token name(std::size_t first, bool is_escaped) const {
    auto const text = text_.substr(first, at_ - first);
    if (text.size() > longest_name) {
      throw netlist_error{
          file_, line_,
          fmt::format("the name '{}' has {} characters, more than {}: the file may be damaged; shorten it",
                      printable(text), text.size(), longest_name)};
    }
    return {token_kind::name, text, is_escaped, line_};
  }

  token constant() {
    auto const end = std::min(text_.find_first_of(" \t\r\n\f();,.=", at_), text_.size());
    auto const text = text_.substr(at_, end - at_);
    if (text != "1'b0" && text != "1'b1") {
      throw netlist_error{
          file_, line_,
          fmt::format("'{}' is no constant of a gate-level netlist; write 1'b0 or 1'b1", printable(text))};
    }
    at_ = end;
    return {token_kind::constant, text, false, line_};
  }

  [[noreturn]] void reject(char c) const {
    if (c == '[') {
      throw netlist_error{file_, line_,
                          "vectors like [7:0] are not read: gates connect single nets; "
                          "let the synthesis tool write one net per bit (\"bit-blast\")"};
    }
    auto const visible =
        c > ' ' && c <= '~' ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02X}", static_cast<unsigned char>(c));
    throw netlist_error{file_, line_,
                        fmt::format("unexpected {}: only structural Verilog is read (module, input, output, wire, "
                                    "assign, cells); remove it or give the gate-level netlist",
                                    visible)};
  }

  std::string file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace timing
