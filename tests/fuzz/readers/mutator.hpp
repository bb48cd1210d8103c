// Makes inputs from examples and words: cut, doubled, mixed, with other numbers and brackets. No feedback from the
// reader: each input follows from seed and number alone, so that one can be made again.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>  // move
#include <vector>

namespace fuzz {

class mutator {
 public:
  /// At least one example. The words may be none.
  mutator(std::vector<std::string> examples, std::vector<std::string> words, std::size_t longest)
      : examples_(std::move(examples)), words_(std::move(words)), longest_(longest) {}

  std::string make(std::uint64_t seed) {
    state_ = seed;
    auto text = any(examples_);
    // Mostly few changes, so that much of the input stays whole.
    for (auto left = 1 + below(1 + below(5)); left > 0; --left) change(text);
    if (text.size() > longest_) text.resize(longest_);
    return text;
  }

 private:
  /// splitmix64.
  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15;
    auto z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t n) noexcept { return static_cast<std::size_t>(next() % n); }
  std::string const& any(std::vector<std::string> const& from) { return from[below(from.size())]; }

  struct part {
    std::size_t begin, length;
  };
  /// Some characters; often a line, a list, or the text between two commas.
  part some(std::string_view text) {
    if (text.empty()) return {0, 0};
    auto begin = below(text.size());
    if (below(3) == 0) return {begin, 1 + below(text.size() - begin)};
    static constexpr std::array<std::string_view, 4> ends = {"\n", ", ", "[]{}()<>", ";\"= "};
    auto const end_characters = ends[below(ends.size())];
    auto const before = text.find_last_of(end_characters, begin);
    begin = before == std::string_view::npos ? 0 : before;
    auto const after = text.find_first_of(end_characters, begin + 1);
    return {begin, (after == std::string_view::npos ? text.size() : after) - begin};
  }
  /// From an opening bracket to the one that closes it.
  part bracketed(std::string_view text) {
    static constexpr std::string_view opening = "[{(<", closing = "]})>";
    auto const from = text.empty() ? 0 : below(text.size());
    auto const begin = text.find_first_of(opening, from);
    if (begin == std::string_view::npos) return {0, 0};
    auto const kind = opening.find(text[begin]);
    std::size_t depth = 0;
    for (auto i = begin; i < text.size(); ++i) {
      if (text[i] == opening[kind]) ++depth;
      if (text[i] == closing[kind] && --depth == 0) return {begin, i + 1 - begin};
    }
    return {begin, text.size() - begin};
  }
  part number_in(std::string_view text) {
    auto const from = text.empty() ? 0 : below(text.size());
    auto begin = text.find_first_of("0123456789", from);
    if (begin == std::string_view::npos) begin = text.find_first_of("0123456789");
    if (begin == std::string_view::npos) return {0, 0};
    auto const end = text.find_first_not_of("0123456789", begin);
    return {begin, (end == std::string_view::npos ? text.size() : end) - begin};
  }
  std::string number() {
    static constexpr std::array<std::string_view, 26> odd = {"0",
                                                             "1",
                                                             "-1",
                                                             "2",
                                                             "3",
                                                             "7",
                                                             "64",
                                                             "255",
                                                             "256",
                                                             "4096",
                                                             "65535",
                                                             "65536",
                                                             "65537",
                                                             "16777217",
                                                             "2147483647",
                                                             "2147483648",
                                                             "4294967294",
                                                             "4294967295",
                                                             "4294967296",
                                                             "9223372036854775807",
                                                             "9223372036854775808",
                                                             "18446744073709551615",
                                                             "18446744073709551616",
                                                             "1e308",
                                                             "1e999",
                                                             "0.1"};
    return below(3) != 0 ? std::to_string(below(9)) : std::string(odd[below(odd.size())]);
  }

  void change(std::string& text) {
    auto const at = below(text.size() + 1);
    switch (below(16)) {
      case 0:  // a bit
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << below(8));
        break;
      case 1:  // a byte
        if (at < text.size()) text[at] = static_cast<char>(next());
        break;
      case 2: {
        auto const p = some(text);
        text.erase(p.begin, p.length);
        break;
      }
      case 3: {  // once more, somewhere
        auto const p = some(text);
        text.insert(at, text.substr(p.begin, p.length));
        break;
      }
      case 4: {  // once more, right there, many times
        auto const p = some(text);
        auto const copy = text.substr(p.begin, p.length);
        for (auto n = below(30); n > 0 && text.size() < longest_; --n) text.insert(p.begin, copy);
        break;
      }
      case 5:
      case 6:
      case 7: {
        auto const p = number_in(text);
        text.replace(p.begin, p.length, number());
        break;
      }
      case 8:
        if (!words_.empty()) text.insert(at, any(words_));
        break;
      case 9: {  // a word instead of something
        auto const p = some(text);
        if (!words_.empty()) text.replace(p.begin, p.length, any(words_));
        break;
      }
      case 10: {  // from another example
        auto const& other = any(examples_);
        auto const p = some(other);
        text.insert(at, other.substr(p.begin, p.length));
        break;
      }
      case 11: {  // a list, an object, an element once more, as a list wants it
        auto const p = bracketed(text);
        auto const is_tag = p.length > 0 && text[p.begin] == '<';
        if (p.length > 0) text.insert(p.begin, text.substr(p.begin, p.length) + (is_tag ? "" : ", "));
        break;
      }
      case 12: {  // one instead of another
        auto const& other = any(examples_);
        auto const p = bracketed(text), by = bracketed(other);
        text.replace(p.begin, p.length, other.substr(by.begin, by.length));
        break;
      }
      case 13:
      case 14: {  // the number of another place
        auto const p = number_in(text), by = number_in(text);
        text.replace(p.begin, p.length, text.substr(by.begin, by.length));
        break;
      }
      default:  // cut, and goes on as another, or not
        text.resize(at);
        if (auto const& other = any(examples_); below(2) == 0) text += other.substr(below(other.size() + 1));
    }
  }

  std::vector<std::string> examples_, words_;
  std::size_t longest_;
  std::uint64_t state_ = 0;
};

}  // namespace fuzz
