// Bodies of json.hpp.
#pragma once

#include "heist/core/base/json.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

#include <charconv>      // from_chars
#include <system_error>  // errc
#include <unordered_set>

namespace heist::json {

HEIST_COLD_BODY void value::reject(char const* wanted) const {
  static constexpr char const* types[] = {"null",     "true or false", "a whole number", "a number that is not whole",
                                          "a string", "an array",      "an object"};
  throw json_error(
      heist::detail::format_text("JSON: {} is needed, but {} stands there", {wanted, types[data_.index()]}));
}

HEIST_COLD_BODY double value::as_double() const {
  return is_unsigned() ? static_cast<double>(std::get<std::uint64_t>(data_)) : as<double>("a number");
}

HEIST_COLD_BODY value const* value::find(std::string_view name) const {
  for (auto const& m : as_object())
    if (m.first == name) return &m.second;
  return nullptr;
}

HEIST_COLD_BODY value const& value::at(std::string_view name) const {
  if (auto const* found = find(name)) return *found;
  throw json_error(heist::detail::format_text("the JSON object has no member \"{}\"", {name}));
}

}  // namespace heist::json

namespace heist::json::detail {

HEIST_COLD_BODY std::size_t character_length(std::string_view text) noexcept {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const first = byte(0);
  if (first < 0x80) return 1;
  std::size_t const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  bool const overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  bool const no_character = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || no_character ? 0 : length;
}

HEIST_COLD_BODY void append_character(std::string& out, std::uint32_t code) {
  auto const add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  auto const add_rest = [&](int shift) {
    for (; shift >= 0; shift -= 6) add(0x80 | (code >> shift & 0x3f));
  };
  if (code < 0x80)
    add(code);
  else if (code < 0x800)
    add(0xc0 | code >> 6), add_rest(0);
  else if (code < 0x10000)
    add(0xe0 | code >> 12), add_rest(6);
  else
    add(0xf0 | code >> 18), add_rest(12);
}

HEIST_COLD_BODY value reader::whole() {
  auto v = any();
  skip_blanks();
  if (at_ < text_.size()) fail("something follows the end of the value; remove it");
  return v;
}

HEIST_COLD_BODY void reader::fail(std::string_view what) const {
  std::size_t line = 1, column = 1;
  for (auto const c : text_.substr(0, at_)) c == '\n' ? (++line, column = 1) : ++column;
  throw json_error(heist::detail::format_text("JSON, line {}, column {}: {}", {line, column, what}));
}

HEIST_COLD_BODY char reader::peek() const {
  if (ends()) fail("the text ends here; it was probably cut");
  return text_[at_];
}

HEIST_COLD_BODY bool reader::take_if(char c) noexcept {
  bool const here = !ends() && text_[at_] == c;
  at_ += here;
  return here;
}

HEIST_COLD_BODY void reader::take(char c) {
  if (peek() != c) fail(heist::detail::format_text("'{}' is needed here", {c}));
  ++at_;
}

HEIST_COLD_BODY void reader::skip_blanks() noexcept {
  while (!ends() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
}

HEIST_COLD_BODY value reader::any() {
  skip_blanks();
  switch (peek()) {
    case '{':
      return value(members());
    case '[':
      return value(elements());
    case '"':
      return value(string());
    case 't':
      return word("true"), value(true);
    case 'f':
      return word("false"), value(false);
    case 'n':
      return word("null"), value();
    default:
      return number();
  }
}

HEIST_COLD_BODY void reader::word(std::string_view expected) {
  for (auto const c : expected) {
    if (peek() != c) fail(heist::detail::format_text("'{}' is needed here", {expected}));
    ++at_;
  }
}

HEIST_COLD_BODY value::array reader::elements() {
  value::array result;
  list('[', ']', [&] { result.push_back(any()); });
  return result;
}

HEIST_COLD_BODY value::object reader::members() {
  value::object result;
  std::unordered_set<std::string> names;  // of an object with many members; few are compared one by one
  auto const has = [&](std::string const& name) {
    constexpr std::size_t few = 16;
    if (result.size() < few) {
      for (auto const& m : result)
        if (m.first == name) return true;
      return false;
    }
    if (names.empty())
      for (auto const& m : result) names.insert(m.first);
    return !names.insert(name).second;
  };
  list('{', '}', [&] {
    skip_blanks();
    auto const name_at = at_;
    auto name = string();
    if (has(name)) at_ = name_at, fail("the object has this member already");
    skip_blanks();
    take(':');
    result.emplace_back(std::move(name), any());
  });
  return result;
}

HEIST_COLD_BODY bool reader::digits() noexcept {
  auto const before = at_;
  while (!ends() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
  return at_ > before;
}

HEIST_COLD_BODY value reader::number() {
  auto const begin = at_;
  bool whole = !take_if('-');
  if (!take_if('0') && !digits()) fail(ends() ? "the text ends here; it was probably cut" : "no value stands here");
  if (take_if('.')) {
    whole = false;
    if (!digits()) fail("a digit is needed here");
  }
  if (take_if('e') || take_if('E')) {
    whole = false;
    if (!take_if('+')) take_if('-');
    if (!digits()) fail("a digit is needed here");
  }
  auto const* const first = text_.data() + begin;
  auto const* const last = text_.data() + at_;
  if (std::uint64_t n = 0; whole && std::from_chars(first, last, n).ec == std::errc{}) return value(n);
  double d = 0;
  if (std::from_chars(first, last, d).ec != std::errc{}) at_ = begin, fail("no double holds this number");
  return value(d);
}

HEIST_COLD_BODY std::string reader::string() {
  take('"');
  std::string out;
  while (!take_if('"')) {
    char const c = peek();
    if (c == '\\') {
      ++at_;
      escape(out);
    } else {
      if (static_cast<unsigned char>(c) < 0x20) fail("a string has no control characters; write \\n, \\t, \\u....");
      auto const length = character_length(text_.substr(at_));
      if (length == 0) fail("this is not UTF-8");
      out += text_.substr(at_, length);
      at_ += length;
    }
  }
  return out;
}

HEIST_COLD_BODY void reader::escape(std::string& out) {
  static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  auto const letter = peek();
  if (auto const i = letters.find(letter); i != std::string_view::npos) {
    out += meanings[i];
    ++at_;
    return;
  }
  if (letter != 'u') fail("no escape begins like this");
  auto code = code_unit();
  if (code >= 0xdc00 && code < 0xe000) fail("half of a surrogate pair");
  if (code >= 0xd800 && code < 0xdc00) {
    take('\\');
    auto const low = code_unit();
    if (low < 0xdc00 || low >= 0xe000) fail("half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_character(out, code);
}

HEIST_COLD_BODY std::uint32_t reader::code_unit() {
  take('u');
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    char const c = peek();
    std::uint32_t const digit = c >= '0' && c <= '9'   ? static_cast<std::uint32_t>(c - '0')
                                : c >= 'a' && c <= 'f' ? static_cast<std::uint32_t>(c - 'a' + 10)
                                : c >= 'A' && c <= 'F' ? static_cast<std::uint32_t>(c - 'A' + 10)
                                                       : 16;
    if (digit == 16) fail("four hexadecimal digits are needed here");
    code = code << 4 | digit;
    ++at_;
  }
  return code;
}

}  // namespace heist::json::detail

namespace heist::json {

HEIST_COLD_BODY value parse(std::string_view text, std::size_t depth) {
  return detail::reader(text, depth).whole();
}

HEIST_COLD_BODY std::string quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    auto const length = detail::character_length(text);
    char const c = text[0];
    if (length == 0)
      out += '?';
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += {'\\', 'u', '0', '0', static_cast<char>('0' + c / 16), "0123456789abcdef"[c % 16]};
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

}  // namespace heist::json
