// JSON (RFC 8259), read strictly into plain values, and strings quoted for writing. For files that heist wrote itself
// and people may have edited or cut.
#pragma once

#include <cstddef>  // nullptr_t, size_t
#include <cstdint>  // uint64_t
#include <string>
#include <string_view>
#include <utility>  // move, pair
#include <variant>
#include <vector>

#include "heist/core/base/config.hpp"

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
  double as_double() const;
  std::string const& as_string() const { return as<std::string>("a string"); }
  array const& as_array() const { return as<array>("an array"); }
  object const& as_object() const { return as<object>("an object"); }

  /// A member of an object, nullptr if it has none of that name. Throws as as_object() does. Cost: looks at all.
  value const* find(std::string_view name) const;
  /// The same; json_error names the member that is missing.
  value const& at(std::string_view name) const;

  friend bool operator==(value const&, value const&) = default;

 private:
  [[noreturn]] HEIST_RARE void reject(char const* wanted) const;

  template <class T>
  bool is() const noexcept {
    return std::holds_alternative<T>(data_);
  }
  template <class T>
  T const& as(char const* wanted) const {
    if (auto const* found = std::get_if<T>(&data_)) return *found;
    reject(wanted);
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
std::size_t character_length(std::string_view text) noexcept;

/// Recursive descent, one function per production.
class reader {
 public:
  reader(std::string_view text, std::size_t depth) noexcept : text_(text), depth_left_(depth) {}

  value whole();

 private:
  [[noreturn]] void fail(std::string_view what) const;

  bool ends() const noexcept { return at_ == text_.size(); }
  char peek() const;
  bool take_if(char c) noexcept;
  void take(char c);
  void skip_blanks() noexcept;
  value any();
  void word(std::string_view expected);

  /// The items between brackets, separated by commas.
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

  value::array elements();
  value::object members();
  bool digits() noexcept;

  value number();
  std::string string();
  void escape(std::string& out);

  /// u and four hexadecimal digits.
  std::uint32_t code_unit();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_left_;
};

}  // namespace detail

}  // namespace heist::json

#if HEIST_HEADER_ONLY
#include "heist/core/base/json.ipp"
#endif
