// The environment variables that heist reads. A number must be the whole text of its variable.
#pragma once

#include <cstddef>  // size_t
#include <string_view>

#include "heist/core/base/config.hpp"

namespace heist::detail {

/// All of them, in the order of environment_variables.
enum class variable : unsigned char {
  workers,
  stack_size,
  max_fibers,
  pin,
  topology,
  trace,
  report,
  watchdog,
  display_env
};

struct environment_variable {
  char const* name;
  char const* values;  ///< its values, for the sentence "fix it by ..."
};
inline constexpr environment_variable environment_variables[] = {
    {"HEIST_WORKERS", "a number of workers from 1 on"},
    {"HEIST_STACK_SIZE", "a number of bytes, also with K, M or G behind it (4M)"},
    {"HEIST_MAX_FIBERS", "a number of fibers from 1 to 67108864"},
    {"HEIST_PIN", "pus or none"},
    {"HEIST_TOPOLOGY",
     "a synthetic description of hwloc (package:2 l3:1 core:4 pu:1), or the name of an XML file of hwloc"},
    {"HEIST_TRACE", "the name of a file, or -"},
    {"HEIST_REPORT", "the name of a file, or -"},
    {"HEIST_WATCHDOG", "a number from 0.001 to 1000000, in seconds"},
    {"HEIST_DISPLAY_ENV", "1 or 0"},
};

/// The text of a variable; empty if it is not set.
std::string_view environment_text(variable v) noexcept;

/// Sentences that a process prints once, apart from those about values that mean nothing.
enum class message : unsigned { no_display = 29, no_trace = 30, unknown = 31 };
/// True the first time in a process.
HEIST_RARE bool is_first_to_say(message which) noexcept;
/// Says on stderr that the text of `v` means nothing, once in a process.
HEIST_RARE void say_it_means_nothing(variable v) noexcept;
/// Has that been said?
bool means_nothing(variable v) noexcept;
/// Reports on stderr, once in a process, which variables are set whose names resemble those of heist. A program may
/// have variables of its own that begin with HEIST_.
HEIST_RARE void say_what_is_unknown() noexcept;

/// The number that the whole text of `v` is, from `least` to `most`; `fallback` if it is not set, or means nothing, which is
/// said.
double number_in_environment(variable v, double least, double most, double fallback) noexcept;
/// The same of a whole number from 1 on. `unit`: may K, M or G follow?
std::size_t size_in_environment(variable v, std::size_t most, std::size_t fallback, bool unit = false) noexcept;
/// Is it set to `yes`? Says so if it is neither that nor `no`.
bool is_set_to(variable v, std::string_view yes, std::string_view no) noexcept;

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/base/environment.ipp"
#endif
