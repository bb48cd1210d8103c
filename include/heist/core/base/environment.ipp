// Bodies of environment.hpp.
#pragma once

#include "heist/core/base/environment.hpp"

#include <unistd.h>  // environ

#include <charconv>      // from_chars
#include <cstdio>        // fprintf
#include <cstdlib>       // getenv
#include <system_error>  // errc

#include "heist/core/base/env.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::string_view environment_text(variable v) noexcept {
  char const* const text = std::getenv(environment_variables[static_cast<std::size_t>(v)].name);
  return text == nullptr ? std::string_view{} : std::string_view{text};
}

/// A bit for each variable, and for each sentence.
HEIST_COLD_BODY os_env::atomic<unsigned>& printed_messages() noexcept {
  static os_env::atomic<unsigned> printed{0};
  return printed;
}

/// True the first time in a process that it is called with this bit.
HEIST_COLD_BODY bool is_first_to_say(unsigned bit) noexcept {
  return (printed_messages().fetch_or(1u << bit, std::memory_order_relaxed) >> bit & 1) == 0;  // relaxed: nothing else
}

HEIST_COLD_BODY bool is_first_to_say(message which) noexcept {
  return is_first_to_say(static_cast<unsigned>(which));
}

HEIST_COLD_BODY bool means_nothing(variable v) noexcept {
  unsigned const printed = printed_messages().load(std::memory_order_relaxed);  // relaxed: as above
  return (printed >> static_cast<unsigned>(v) & 1) != 0;
}

HEIST_COLD_BODY void say_it_means_nothing(variable v) noexcept {
  auto const at = static_cast<unsigned>(v);
  if (!is_first_to_say(at)) return;
  std::fprintf(stderr, "heist: %s is '%s', which means nothing; fix it by %s, or leave it out\n",
               environment_variables[at].name, environment_text(v).data(), environment_variables[at].values);
}

/// Was `known` meant? With a letter or two wrong, or a word more.
HEIST_COLD_BODY bool resembles(std::string_view name, std::string_view known) noexcept {
  std::size_t const least = name.size() < known.size() ? name.size() : known.size();
  std::size_t const most = name.size() + known.size() - least;
  std::size_t front = 0, back = 0;
  while (front != least && name[front] == known[front]) ++front;
  while (front + back != least && name[name.size() - back - 1] == known[known.size() - back - 1]) ++back;
  if (most - front - back <= known.size() / 4) return true;
  if (least != known.size()) return false;
  return front == least ? name[front] == '_' : back == least && name[name.size() - back - 1] == '_';
}

HEIST_COLD_BODY void say_what_is_unknown() noexcept {
  constexpr std::string_view prefix = "HEIST_";
  bool says = false;
  for (char** at = ::environ; at != nullptr && *at != nullptr; ++at) {
    std::string_view name{*at};
    if (!name.starts_with(prefix)) continue;
    name = name.substr(prefix.size(), name.find('=') - prefix.size());
    char const* meant = nullptr;
    for (auto const& v : environment_variables) {
      std::string_view const known{v.name + prefix.size()};
      if (name == known) {
        meant = nullptr;
        break;
      }
      if (resembles(name, known)) meant = v.name;
    }
    if (meant == nullptr) continue;
    if (!says && !is_first_to_say(message::unknown)) return;
    says = true;
    std::fprintf(stderr, "heist: the environment sets %s, which heist does not know; fix it by %s, or leave it out\n",
                 *at, meant);
  }
}

/// All of `text`; -1 if that is no number.
HEIST_COLD_BODY double whole_number(std::string_view text) noexcept {
  double n{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && end == text.data() + text.size() ? n : -1;
}

HEIST_COLD_BODY double number_in_environment(variable v, double least, double most, double fallback) noexcept {
  std::string_view const text = environment_text(v);
  if (text.empty()) return fallback;
  if (double const n = whole_number(text); n >= least && n <= most) return n;
  say_it_means_nothing(v);
  return fallback;
}

HEIST_COLD_BODY std::size_t size_in_environment(variable v, std::size_t most, std::size_t fallback,
                                                bool unit) noexcept {
  std::string_view text = environment_text(v);
  if (text.empty()) return fallback;
  constexpr std::string_view units = "KMG";
  std::size_t const which = unit ? units.find(text.back()) : std::string_view::npos;
  unsigned const shift = which == std::string_view::npos ? 0 : 10 * (static_cast<unsigned>(which) + 1);
  if (shift != 0) text.remove_suffix(1);
  double const n = whole_number(text);
  if (n >= 1 && n <= static_cast<double>(most >> shift)) {
    auto const whole = static_cast<std::size_t>(n);
    if (static_cast<double>(whole) == n) return whole << shift;
  }
  say_it_means_nothing(v);
  return fallback;
}

HEIST_COLD_BODY bool is_set_to(variable v, std::string_view yes, std::string_view no) noexcept {
  std::string_view const text = environment_text(v);
  if (!text.empty() && text != yes && text != no) say_it_means_nothing(v);
  return text == yes;
}

}  // namespace heist::detail
