// Bodies of synthetic.hpp.
#pragma once

#include "heist/core/topology/synthetic.hpp"

#include <optional>

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

namespace heist::topology::detail {

HEIST_COLD_BODY char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

HEIST_COLD_BODY bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

HEIST_COLD_BODY bool is_alpha(char c) noexcept {
  return lower(c) >= 'a' && lower(c) <= 'z';
}

HEIST_COLD_BODY bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

HEIST_COLD_BODY std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 120;
  std::string out = "\"";
  for (char const c : text.substr(0, longest)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > longest ? "...\"" : "\"");
}

[[noreturn]] HEIST_COLD_BODY void bad_description(std::string_view text, std::string_view why) {
  throw topology_error(
      heist::detail::format_text("{} does not describe a machine: {}; name the levels from the outside in, e.g. {}",
                                 {in_quotes(text), why, "\"package:2 l3:1 core:4 pu:2\""}));
}

/// True if `name` is the beginning of `whole`, and at least two letters.
HEIST_COLD_BODY bool abbreviates(std::string_view name, std::string_view whole) noexcept {
  return name.size() >= 2 && whole.substr(0, name.size()) == name;
}

/// The level that hwloc takes the name for; nothing if it is not a level of processors, caches or memory.
HEIST_COLD_BODY std::optional<level_kind> kind_named(std::string_view name) {
  std::string word;
  for (char const c : name) word += lower(c);
  if (word.size() >= 2 && word[0] == 'l' && word[1] >= '1' && word[1] <= '5') {
    auto const depth = word[1] - '1';
    std::string_view suffix = std::string_view(word).substr(2);
    bool const instructions = !suffix.empty() && suffix[0] == 'i';
    if (!suffix.empty() && (suffix[0] == 'i' || suffix[0] == 'd' || suffix[0] == 'u')) suffix.remove_prefix(1);
    if (std::string_view("cache").substr(0, suffix.size()) != suffix || (instructions && depth > 2))
      return std::nullopt;
    return static_cast<level_kind>(static_cast<int>(instructions ? level_kind::l1i : level_kind::l1) + depth);
  }
  if (abbreviates(word, "numanode") || abbreviates(word, "node")) return level_kind::numa;
  if (abbreviates(word, "package") || abbreviates(word, "socket")) return level_kind::package;
  if (abbreviates(word, "die")) return level_kind::die;
  if (abbreviates(word, "core")) return level_kind::core;
  if (abbreviates(word, "pu")) return level_kind::pu;
  if (word == "tile" || word == "module") return level_kind::group;
  while (word.size() > 2 && is_digit(word.back())) word.pop_back();
  if (abbreviates(word, "group")) return level_kind::group;
  return std::nullopt;
}

/// Reads a description word by word; every error names the text, the reason and a right example.
class synthetic_reader {
 public:
  explicit synthetic_reader(std::string_view text) : text_(text) {}

  std::vector<synthetic_level> read() {
    std::vector<synthetic_level> levels;
    std::uint64_t pus = 1;
    std::uint64_t attached = 0;
    bool any = false;
    skip_space();
    if (peek() == '(') attributes(nullptr);  // those of the whole machine: its memory
    for (skip_space(); !at_end(); skip_space()) {
      levels.push_back(peek() == '[' ? attached_node() : level());
      auto const& last = levels.back();
      any = any || !last.attached;
      if (last.count > max_described_pus || pus * last.count > max_described_pus)
        fail(heist::detail::format_text("it has more than {} PUs", {max_described_pus}));
      pus *= last.count;
      if (last.attached) attached += pus;
      if (levels.size() > max_words || attached > max_described_pus) fail("it has too many levels");
    }
    if (!any) fail("it names no level");
    return levels;
  }

 private:
  static constexpr std::size_t max_size_digits = 10;
  static constexpr std::size_t max_words = 64;  // hwloc allows 128 levels; real machines have ten

  bool at_end() const noexcept { return pos_ == text_.size(); }
  char peek() const noexcept { return at_end() ? '\0' : text_[pos_]; }
  void skip_space() noexcept {
    while (is_space(peek())) ++pos_;
  }
  [[noreturn]] void fail(std::string_view why) const { bad_description(text_, why); }
  std::string_view rest_of_word() const noexcept {
    auto end = pos_;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    return text_.substr(pos_, end - pos_);
  }
  void end_of_word() const {
    if (!at_end() && !is_space(peek()) && peek() != '[')
      fail(heist::detail::format_text("{} is in the way", {in_quotes(rest_of_word())}));
  }

  std::string name() {
    auto const begin = pos_;
    while (is_alpha(peek()) || (pos_ > begin && is_digit(peek()))) ++pos_;
    return std::string(text_.substr(begin, pos_ - begin));
  }

  std::uint64_t number() {
    if (!is_digit(peek()))
      fail(heist::detail::format_text("{} is not a number of instances", {in_quotes(rest_of_word())}));
    std::uint64_t n = 0;
    for (; is_digit(peek()); ++pos_)
      if (n <= max_described_pus) n = n * 10 + static_cast<std::uint64_t>(peek() - '0');
    if (n == 0) fail("a level has 0 instances");
    return n;
  }

  synthetic_level level() {
    synthetic_level result;
    auto const word = rest_of_word();
    if (auto const word_name = name(); !word_name.empty()) {
      auto const kind = kind_named(word_name);
      if (!kind)
        fail(heist::detail::format_text("{} is not a level (package, numa, die, group, l3, l2, l1, core, pu)",
                                        {in_quotes(word_name)}));
      if (peek() != ':') fail(heist::detail::format_text("{} is not of the form name:count", {in_quotes(word)}));
      result.kind = *kind;
      ++pos_;
    }
    result.count = number();
    if (peek() == '(') attributes(&result.bytes);
    end_of_word();
    return result;
  }

  synthetic_level attached_node() {
    synthetic_level result;
    result.attached = true;
    ++pos_;
    auto const kind = kind_named(name());
    if (peek() == '(') attributes(nullptr);
    result.kind = level_kind::numa;
    if (kind != level_kind::numa || peek() != ']')
      fail("what stands in brackets is not a NUMA node such as \"[numa]\"");
    ++pos_;
    return result;
  }

  /// `(key=value key=value)`. Keeps the size of a cache. Memory sizes and operating system indices are left out:
  /// nothing depends on them in a machine that is only described.
  void attributes(std::uint64_t* bytes) {
    auto const end = text_.find(')', pos_);
    if (end == std::string_view::npos) fail("a parenthesis is not closed");
    for (++pos_; pos_ < end;) {
      auto const begin = pos_;
      while (!is_space(text_[pos_]) && pos_ < end) ++pos_;
      auto const word = text_.substr(begin, pos_ - begin);
      auto const equals = word.find('=');
      auto const key = word.substr(0, equals);
      if (equals == std::string_view::npos || !is_known_attribute(key))
        fail(heist::detail::format_text(
            "{} is not an attribute; those known are size=, memory=, memorysidecachesize=, indexes=",
            {in_quotes(word)}));
      if (key == "size" && bytes != nullptr) *bytes = size_in_bytes(word.substr(equals + 1));
      while (pos_ < end && is_space(text_[pos_])) ++pos_;
    }
    pos_ = end + 1;
  }

  static bool is_known_attribute(std::string_view key) noexcept {
    return key == "size" || key == "memory" || key == "memorysidecachesize" || key == "indexes";
  }

  /// Digits and an optional unit.
  std::uint64_t size_in_bytes(std::string_view value) const {
    std::size_t i = 0;
    std::uint64_t bytes = 0;
    for (; i < value.size() && is_digit(value[i]) && i <= max_size_digits; ++i)
      bytes = bytes * 10 + static_cast<std::uint64_t>(value[i] - '0');
    std::string unit;
    for (char const c : value.substr(i)) unit += lower(c);
    if (unit == "kb") bytes *= 1000;
    if (unit == "mb") bytes *= 1000 * 1000;
    if (unit == "gb") bytes *= 1000 * 1000 * 1000;
    if (unit == "kib") bytes <<= 10;
    if (unit == "mib") bytes <<= 20;
    if (unit == "gib") bytes <<= 30;
    bool const known =
        unit.empty() || unit == "kb" || unit == "kib" || unit == "mb" || unit == "mib" || unit == "gb" || unit == "gib";
    if (i == 0 || i > max_size_digits || !known)
      fail(heist::detail::format_text("{} is not a size such as 32MiB", {in_quotes(value)}));
    return bytes;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
};

/// Gives names to levels that are plain numbers, by hwloc's rule: a NUMA node first, then a package, cores, and up to
/// four caches. The rest are groups.
HEIST_COLD_BODY void name_plain_levels(std::vector<synthetic_level>& levels, std::string_view text) {
  std::vector<synthetic_level*> nested;
  bool memory_attached = false;
  for (auto& level : levels) {
    if (level.attached) memory_attached = true;
    if (!level.attached) nested.push_back(&level);
  }
  if (nested.back()->kind == level_kind::plain) nested.back()->kind = level_kind::pu;
  nested.pop_back();
  std::size_t plain = 0;
  for (auto const* level : nested) plain += level->kind == level_kind::plain ? 1 : 0;
  if (plain == 0) return;
  if (plain != nested.size()) bad_description(text, "some levels have names and some have none");
  auto const take = [&](std::size_t most) {
    auto const n = plain < most ? plain : most;
    plain -= n;
    return n;
  };
  auto const numas = take(memory_attached ? 0 : 1), packages = take(1), cores = take(1), caches = take(4);
  std::vector<level_kind> names(plain, level_kind::group);
  names.insert(names.end(), packages, level_kind::package);
  names.insert(names.end(), numas, level_kind::numa);
  if (caches >= 3) names.push_back(level_kind::l3);
  if (caches >= 1) names.push_back(level_kind::l2);
  if (caches >= 2) names.push_back(level_kind::l1);
  if (caches >= 4) names.push_back(level_kind::l1i);
  names.insert(names.end(), cores, level_kind::core);
  for (std::size_t i = 0; i < nested.size(); ++i) nested[i]->kind = names[i];
}

/// Refuses levels that no machine has: no PU at the end, a level twice, a package inside a core.
HEIST_COLD_BODY void check_order(std::vector<synthetic_level> const& levels, std::string_view text) {
  bool seen[static_cast<std::size_t>(level_kind::l3i) + 1] = {};
  auto const was = [&](level_kind kind) -> bool& { return seen[static_cast<std::size_t>(kind)]; };
  bool attached = false;
  for (auto const& level : levels) {
    attached = attached || level.attached;
    if (level.attached) continue;
    if (was(level_kind::pu)) bad_description(text, "a level stands below pu");
    if (was(level.kind) && level.kind != level_kind::group) bad_description(text, "a level is named twice");
    bool const wrong_place =
        (level.kind == level_kind::package && (was(level_kind::core) || was(level_kind::die) || was(level_kind::l2))) ||
        (level.kind == level_kind::l3 && (was(level_kind::l2) || was(level_kind::l1) || was(level_kind::core))) ||
        (level.kind == level_kind::l2 && was(level_kind::l1));
    if (wrong_place) bad_description(text, "a larger part stands inside a smaller one");
    was(level.kind) = true;
  }
  if (!was(level_kind::pu)) bad_description(text, "the last level is not pu");
  if (attached && was(level_kind::numa)) bad_description(text, "NUMA nodes are a level and also attached in brackets");
}

HEIST_COLD_BODY machine build(std::vector<synthetic_level> const& levels, std::size_t pus) {
  machine m;
  m.pus.resize(pus);
  auto const assign = [&](std::int32_t pu::*index, std::size_t width) {
    for (std::size_t i = 0; i < pus; ++i) m.pus[i].*index = static_cast<std::int32_t>(i / (pus / width));
  };
  for (std::size_t i = 0; i < pus; ++i) m.pus[i].os_index = static_cast<std::uint32_t>(i);
  assign(&pu::core, pus);
  assign(&pu::numa, 1);
  std::size_t width = 1;
  for (auto const& level : levels) {
    width *= static_cast<std::size_t>(level.count);
    auto const bytes_or = [&](std::uint64_t usual) { return level.bytes != 0 ? level.bytes : usual; };
    switch (level.kind) {  // sizes that are not given are hwloc's
      case level_kind::package:
        assign(&pu::package, width);
        break;
      case level_kind::numa:
        assign(&pu::numa, width);
        break;
      case level_kind::core:
        assign(&pu::core, width);
        break;
      case level_kind::l3:
        assign(&pu::l3, width), m.l3_bytes = bytes_or(std::uint64_t{16} << 20);
        break;
      case level_kind::l2:
        assign(&pu::l2, width), m.l2_bytes = bytes_or(std::uint64_t{4} << 20);
        break;
      case level_kind::l1:
        m.l1d_bytes = bytes_or(std::uint64_t{32} << 10);
        break;
      default:
        break;
    }
    if (level.kind >= level_kind::l1 && level.kind <= level_kind::l5) m.line_bytes = 64;
  }
  return m;
}

}  // namespace heist::topology::detail

namespace heist::topology {

HEIST_COLD_BODY machine parse(std::string_view text) {
  auto levels = detail::synthetic_reader(text).read();
  detail::name_plain_levels(levels, text);
  detail::check_order(levels, text);
  std::size_t pus = 1;
  for (auto const& level : levels) pus *= static_cast<std::size_t>(level.count);
  return detail::build(levels, pus);
}

}  // namespace heist::topology
