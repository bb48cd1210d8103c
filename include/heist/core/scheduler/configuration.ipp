// Bodies of configuration.hpp.
#pragma once

#include "heist/core/scheduler/configuration.hpp"

#include <cstdio>  // fputs, snprintf
#include <string_view>

#include "heist/core/base/environment.hpp"
#include "heist/core/policy/placement.hpp"
#include "heist/core/scheduler/reduced_start.hpp"

#ifdef __clang__
#define HEIST_COMPILER __VERSION__
#else
#define HEIST_COMPILER "GCC " __VERSION__
#endif
#if !defined(NDEBUG) || defined(HEIST_CHECKS)
#define HEIST_ASSERTIONS "on"
#else
#define HEIST_ASSERTIONS "off"
#endif

namespace heist {
namespace detail {

/// Adds the value that holds for a variable, and whether the environment set it.
HEIST_COLD_BODY void add_setting(std::string& text, variable v, std::string_view value) {
  std::string_view const set = environment_text(v);
  text.append("  ").append(environment_variables[static_cast<std::size_t>(v)].name).append("=").append(value);
  if (means_nothing(v)) {
    text.append("  (default: '").append(set).append("' means nothing)");
  } else if (!set.empty()) {
    text.append("  (set)");
  }
  text.append("\n");
}

HEIST_COLD_BODY void print_configuration() {
  static constinit os_env::atomic<bool> printed{false};
  if (printed.exchange(true, std::memory_order_relaxed)) return;  // relaxed: nothing else
  std::fputs(configuration_text().c_str(), stderr);
}

}  // namespace detail

HEIST_COLD_BODY std::string configuration_text() {
  using detail::add_setting;
  using detail::environment_text;
  using detail::variable;
  detail::placement where{options{}, true};
  std::size_t const workers = where.usable_workers();
  where.place(options{}, workers);
  char numbers[4][32];
  std::size_t const values[] = {workers, where.squads().members.size(), detail::stack_size_left_open(),
                                detail::max_fibers_left_open()};
  for (std::size_t i = 0; i != 4; ++i) std::snprintf(numbers[i], sizeof numbers[i], "%zu", values[i]);
  std::string text{"heist " HEIST_VERSION ", "};
  text.append(HEIST_HEADER_ONLY ? "header-only" : "heist::compiled")
      .append(", assertions " HEIST_ASSERTIONS ", compiled by " HEIST_COMPILER "\n  machine: ")
      .append(where.machine().to_text())
      .append("\n  workers of an executor: ")
      .append(numbers[0])
      .append(", squads: ")
      .append(numbers[1])
      .append("\n");
  std::size_t const workers_left =
      detail::made_with_less::workers.load(std::memory_order_relaxed);  // relaxed: for people
  std::size_t const stack_left =
      detail::made_with_less::stack_size.load(std::memory_order_relaxed);  // relaxed: for people
  char left[96];
  if (workers_left != 0) {
    std::snprintf(left, sizeof left, "  an executor got %zu workers: the system refused threads\n", workers_left);
    text.append(left);
  }
  if (stack_left != 0) {
    std::snprintf(left, sizeof left, "  an executor got stacks of %zu bytes: the system refused memory\n", stack_left);
    text.append(left);
  }
  add_setting(text, variable::workers, numbers[0]);
  add_setting(text, variable::stack_size, numbers[2]);
  add_setting(text, variable::max_fibers, numbers[3]);
  add_setting(text, variable::pin, detail::pinned({}) ? "pus" : "none");
  for (variable const v :
       {variable::topology, variable::trace, variable::report, variable::watchdog, variable::display_env})
    add_setting(text, v, detail::means_nothing(v) ? "" : environment_text(v));
  return text;
}

}  // namespace heist

#undef HEIST_COMPILER
#undef HEIST_ASSERTIONS
