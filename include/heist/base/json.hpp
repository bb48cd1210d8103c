// JSON (RFC 8259), read strictly into plain values, and strings quoted for writing. For files that heist wrote itself
// and people may have edited or cut.
#pragma once

#include <fmt/format.h>

#include <charconv>  // from_chars
#include <cstddef>   // nullptr_t, size_t
#include <cstdint>   // uint64_t
#include <string>
#include <string_view>
#include <system_error>  // errc
#include <unordered_set>
#include <utility>  // move, pair
#include <variant>
#include <vector>

#include "heist/base/errors.hpp"

namespace heist::json {

/// A JSON value. Whole numbers from 0 to 2^64 - 1 written without point and exponent are kept exactly; all others are
/// doubles. Objects keep the order of their members and have none twice.
///
/// The as_...() throw json_error, which names both types, if the value is something else.
class value {
 public:
  using array = std::vector<value>;
  using member = std::pair<std::string, value>;
  using object = std::vector<member>;

  value() noexcept = default;
  explicit value(bool b) noexcept : data_(b) {}
  explicit value(std::uint64_t n) noexcept : data_(n) {}
  explicit value(double d) noexcept : data_(d) {}
  explicit value(std::string s) noexcept : data_(std::move(s)) {}
  explicit value(array a) noexcept : data_(std::move(a)) {}
  explicit value(object o) noexcept : data_(std::move(o)) {}

  bool is_null() const noexcept { return is<std::nullptr_t>(); }
  bool is_bool() const noexcept { return is<bool>(); }
  bool is_unsigned() const noexcept { return is<std::uint64_t>(); }
  bool is_number() const noexcept { return is<std::uint64_t>() || is<double>(); }
  bool is_string() const noexcept { return is<std::string>(); }
  bool is_array() const noexcept { return is<array>(); }
  bool is_object() const noexcept { return is<object>(); }

  bool as_bool() const { return as<bool>("true or false"); }
  std::uint64_t as_unsigned() const { return as<std::uint64_t>("a whole number from 0 to 2^64 - 1"); }
  /// Any number, rounded to a double.
  double as_double() const {
    return is_unsigned() ? static_cast<double>(std::get<std::uint64_t>(data_)) : as<double>("a number");
  }
  std::string const& as_string() const { return as<std::string>("a string"); }
  array const& as_array() const { return as<array>("an array"); }
  object const& as_object() const { return as<object>("an object"); }

  /// A member of an object, nullptr if it has none of that name. Throws as as_object() does. Cost: looks at all.
  value const* find(std::string_view name) const {
    for (auto const& m : as_object())
      if (m.first == name) return &m.second;
    return nullptr;
  }
  /// The same; json_error names the member that is missing.
  value const& at(std::string_view name) const {
    if (auto const* found = find(name)) return *found;
    throw json_error(fmt::format("the JSON object has no member \"{}\"", name));
  }

  friend bool operator==(value const&, value const&) = default;

 private:
  template <class T>
  bool is() const noexcept {
    return std::holds_alternative<T>(data_);
  }
  template <class T>
  T const& as(char const* wanted) const {
    if (auto const* found = std::get_if<T>(&data_)) return *found;
    static constexpr char const* types[] = {"null",     "true or false", "a whole number", "a number that is not whole",
                                            "a string", "an array",      "an object"};
    throw json_error(fmt::format("JSON: {} is needed, but {} stands there", wanted, types[data_.index()]));
  }

  std::variant<std::nullptr_t, bool, std::uint64_t, double, std::string, array, object> data_{nullptr};
};

/// Reads a text that is one JSON value and nothing else.
///
/// Throws json_error, which names line and column, for anything that RFC 8259 does not allow, and beyond it for texts
/// that are not UTF-8, members that appear twice, numbers that no double holds, and more than `depth` arrays and
/// objects inside each other. Cost: O(length) time and memory.
value parse(std::string_view text, std::size_t depth = 64);

/// A JSON string, in quotes. Bytes that are not UTF-8 become question marks.
std::string quote(std::string_view text);

namespace detail {

/// Length of the UTF-8 character at the start of a text that is not empty, 0 if there is none.
inline std::size_t character_length(std::string_view text) noexcept {
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

inline void append_character(std::string& out, std::uint32_t code) {
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

/// Recursive descent, one function per production.
class reader {
 public:
  reader(std::string_view text, std::size_t depth) noexcept : text_(text), depth_left_(depth) {}

  value whole() {
    auto v = any();
    skip_blanks();
    if (at_ < text_.size()) fail("something follows the end of the value; remove it");
    return v;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    std::size_t line = 1, column = 1;
    for (auto const c : text_.substr(0, at_)) c == '\n' ? (++line, column = 1) : ++column;
    throw json_error(fmt::format("JSON, line {}, column {}: {}", line, column, what));
  }

  bool ends() const noexcept { return at_ == text_.size(); }
  char peek() const {
    if (ends()) fail("the text ends here; it was probably cut");
    return text_[at_];
  }
  bool take_if(char c) noexcept {
    bool const here = !ends() && text_[at_] == c;
    at_ += here;
    return here;
  }
  void take(char c) {
    if (peek() != c) fail(fmt::format("'{}' is needed here", c));
    ++at_;
  }
  void skip_blanks() noexcept {
    while (!ends() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }

  value any() {
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

  void word(std::string_view expected) {
    for (auto const c : expected) {
      if (peek() != c) fail(fmt::format("'{}' is needed here", expected));
      ++at_;
    }
  }

  /// What stands between brackets, separated by commas.
  template <class One>
  void list(char open, char close, One one) {
    if (depth_left_ == 0) fail("too many arrays and objects are inside each other");
    --depth_left_;
    take(open);
    skip_blanks();
    if (!take_if(close)) {
      do {
        one();
        skip_blanks();
        peek();
      } while (take_if(','));
      take(close);
    }
    ++depth_left_;
  }

  value::array elements() {
    value::array result;
    list('[', ']', [&] { result.push_back(any()); });
    return result;
  }

  value::object members() {
    value::object result;
    std::unordered_set<std::string> names;  // only of objects with many members; few are compared one by one
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

  bool digits() noexcept {
    auto const before = at_;
    while (!ends() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > before;
  }

  value number() {
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

  std::string string() {
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

  void escape(std::string& out) {
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

  /// u and four hexadecimal digits.
  std::uint32_t code_unit() {
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

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_left_;
};

}  // namespace detail

inline value parse(std::string_view text, std::size_t depth) {
  return detail::reader(text, depth).whole();
}

inline std::string quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    auto const length = detail::character_length(text);
    char const c = text[0];
    if (length == 0)
      out += '?';
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

}  // namespace heist::json
